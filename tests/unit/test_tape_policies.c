// SPDX-License-Identifier: Apache-2.0
/* Policies, augmix, and steps of all kinds in a row, by kernels: the host's bytes. */
#include "test.h"

#include "picture.h"
#include "taping_run.h"

#include <stdio.h>

static const char *const policies[] = {
    "randaug(16, 30)",
    "randaug(2, 9)",
    "randaug(3, 30, filter=bicubic, fill=99)",
    "randaug(3, 999, bins=1000)",
    "autoaug(imagenet)",
    "autoaug(cifar10, filter=bilinear)",
    "autoaug(svhn)",
    "trivialaug(1000)",
    "trivialaug(2, filter=bicubic)",
    "augmix(10, width=10, depth=3, alpha=0.01)",
    "augmix(1, width=1, depth=1, alpha=1000, few=yes)",
    "augmix",
    "augmix(5, width=6) rotate(20..20) equalize(1) augmix(8, filter=nearest)",
};

static const char *const rows[] = {
    "jitter(0.4, 0.4, 0.4, 0.1) rotate(-30..30, filter=bilinear) blur(3) perspective(0.3, 1) grayscale(0.5)",
    "blur(3) sharpness(5, 1) rotate(33..33, filter=bicubic) flip(1) jitter(0.9, 0.9, 0.9, 0.5) vflip(1)",
    "rotate(20..20) equalize(1) center(27x25) rotate(30..30, filter=bilinear)",
    "elastic(30, sigma=1) contrast(0.5..0.5) elastic(30, sigma=1) noise(0.1) erase(1)",
    "invert(1) rotate(90..90, expand=yes) autocontrast(1) rotate(180..180) posterize(3, 1) rotate(90..90, expand=yes)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {64, 64}, {700, 3}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void run_texts(void **state, const char *const *texts, size_t count, uint64_t keys)
{
    for (size_t t = 0; t < count; t++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            mr_image image = picture_make(sizes[s][0], sizes[s][1], 3, 8, s + 1);
            char text[300];
            for (uint64_t key = 0; key < keys; key++) {
                taping how = taping_by(state, key + t);
                snprintf(text, sizeof text, key % 2 == 0 ? "%s center(%ux%u)" : "rrc(40x33) %s center(%ux%u)", texts[t],
                         sizes[s][0], sizes[s][1]);
                (void)taping_recipe(&how, text, &image, key);
            }
            mr_image_fini(&image, NULL);
        }
}

static void policies_give_the_same(void **state)
{
    run_texts(state, policies, COUNT(policies), test_quick() ? 4 : 12);
}

static void rows_give_the_same(void **state)
{
    run_texts(state, rows, COUNT(rows), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_give_the_same),
        cmocka_unit_test(rows_give_the_same),
    };
    return taping_run(tests, COUNT(tests));
}
