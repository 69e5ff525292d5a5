// SPDX-License-Identifier: Apache-2.0
/* Passes beside torchvision: every byte that it makes, by its hash. */
#include "test.h"

#include "../golden/augment_golden.h"
#include "base/hash.h"
#include "picture.h"
#include "step/augment.h"

#include <stdlib.h>
#include <string.h>

enum { CASES = sizeof golden_cases / sizeof *golden_cases };

static mr__pass pass_of(size_t i)
{
    mr__pass p = {.width = golden_cases[i].width, .height = golden_cases[i].height};
    p.crop = (mr_rect){golden_cases[i].crop_x, golden_cases[i].crop_y, golden_cases[i].crop_width,
                       golden_cases[i].crop_height};
    p.to_width = golden_cases[i].to_width;
    p.to_height = golden_cases[i].to_height;
    p.filter = (mr_filter)golden_cases[i].filter;
    p.window = (mr_rect){golden_cases[i].window_x, golden_cases[i].window_y, golden_cases[i].window_width,
                         golden_cases[i].window_height};
    p.flip_x = golden_cases[i].flip_x;
    p.flip_y = golden_cases[i].flip_y;
    p.x = golden_cases[i].pad[0];
    p.y = golden_cases[i].pad[1];
    p.canvas_width = p.x + p.window.width + golden_cases[i].pad[2];
    p.canvas_height = p.y + p.window.height + golden_cases[i].pad[3];
    memset(p.fill, (int)golden_cases[i].fill, sizeof p.fill);
    p.border = (mr_border)golden_cases[i].border;
    return p;
}

static mr__finish finish_of(size_t i, const mr__pass *pass)
{
    mr__finish f = {.depth = 8, .normalize = golden_cases[i].numbers != 0};
    mr_dtype dtype = (mr_dtype)golden_cases[i].dtype;
    size_t number = dtype == MR_U8 ? 1 : dtype == MR_F32 ? 4 : 2;
    f.output = (mr_output){sizeof f.output,
                           pass->canvas_width,
                           pass->canvas_height,
                           golden_cases[i].channels,
                           (mr_batch_layout)golden_cases[i].layout,
                           dtype,
                           0};
    f.output.sample_nbytes = number * pass->canvas_width * pass->canvas_height * golden_cases[i].channels;
    memcpy(f.mean, golden_numbers[golden_cases[i].numbers].mean, sizeof golden_numbers->mean);
    memcpy(f.std, golden_numbers[golden_cases[i].numbers].std, sizeof golden_numbers->std);
    return f;
}

static void check(size_t i, mr__cpu_flags cpu)
{
    mr__chain chain = {.count = 1};
    chain.pass[0] = pass_of(i);
    mr__finish finish = finish_of(i, &chain.pass[0]);
    mr__augment *augment = NULL;
    mr__detail detail = {""};
    mr_image image, part;
    mr_hooks hooks;
    void *slot = NULL;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(posix_memalign(&slot, 64, finish.output.sample_nbytes), 0);
    assert_int_equal(
        mr_image_init(&image, golden_cases[i].width, golden_cases[i].height, golden_cases[i].channels, 8, NULL), 0);
    picture_noise(image.pixels, mr_image_row_nbytes(&image) * image.height, 7);
    assert_int_equal(mr_image_crop(&image, mr__pass_region(&chain.pass[0]), &part), 0);
    assert_int_equal(mr__augment_new(&hooks, cpu, &finish, &augment), 0);
    assert_int_equal(mr__augment_run(augment, &chain, &part, slot, &detail), 0);
    if (mr__hash(slot, finish.output.sample_nbytes) != golden_cases[i].hash)
        print_message("case %zu is not torchvision's\n", i);
    assert_true(mr__hash(slot, finish.output.sample_nbytes) == golden_cases[i].hash);
    mr__augment_free(augment);
    mr_image_fini(&image, NULL);
    free(slot);
}

static void equals_torchvision(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        check(i, mr__cpu_detect());
        check(i, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_torchvision)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
