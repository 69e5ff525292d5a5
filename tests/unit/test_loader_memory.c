// SPDX-License-Identifier: Apache-2.0
/* The cap on memory, held against what the system says the process has. */
#include "test.h"

#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is there beside what the loader allocates: stacks, what the heap keeps, code that is first used. */
#define BESIDE ((uint64_t)24 << 20)

#define CAP ((uint64_t)160 << 20)

static test_folder folder;
static mr_dataset *source;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    for (size_t i = 0; i < 24; i++) {
        char name[64];
        uint32_t side = i % 6 == 0 ? 1800 : 300 + 40 * (uint32_t)i;
        picture_file file = pack_image(i % 3 == 0 ? PACK_PNG_3 : PACK_JPEG, side, side * 3 / 4, i);
        snprintf(name, sizeof name, "source/%02zu.%s", i, i % 3 == 0 ? "png" : "jpg");
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

/* VmHWM or VmRSS of this process. */
static uint64_t status_nbytes(const char *field)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoull(line + strlen(field) + 1, NULL, 10);
    fclose(file);
    return kib << 10;
}

/* From now on the highest is counted anew. */
static bool reset_highest(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file != NULL && fputs("5", file) >= 0;
    return file != NULL && fclose(file) == 0 && done;
}

static void the_cap_is_kept(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); // what a sanitizer keeps is not ours
#endif
    if (!reset_highest())
        skip();
    uint64_t before = status_nbytes("VmRSS:");
    mr_loader_options o = {
        .struct_size = sizeof o, .batch = 32, .slots = 2, .epochs = 4, .threads = 2, .memory_nbytes = CAP};
    mr_loader *loader = loading_new(source, "rrc(224) flip normalize(imagenet)", &o);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    mr_loader_stats s = {.struct_size = sizeof s};
    assert_int_equal(mr_loader_get_stats(loader, &s), 0);
    uint64_t highest = status_nbytes("VmHWM:");
    mr_loader_free(loader);
    assert_int_equal(sum.result, 0);
    assert_int_equal(sum.samples, 4 * 24);
    assert_true(s.memory_nbytes <= CAP);
    if (highest > before + CAP + BESIDE)
        fail_msg("%llu bytes before, %llu at the most: beyond the cap of %llu", (unsigned long long)before,
                 (unsigned long long)highest, (unsigned long long)CAP);
}

/* An image that does not fit is no bad sample, since with fewer threads it might: the loader says what to give. */
static void one_that_is_too_large_is_the_caps_fault(void **state)
{
    (void)state;
    picture_file file = pack_image(PACK_PNG_3, 2400, 1600, 7);
    test_folder_write(&folder, "large/0.png", file.bytes, file.nbytes);
    free(file.bytes);
    for (size_t i = 1; i < 8; i++) {
        char name[64];
        file = pack_image(PACK_PNG_3, 60, 40, i);
        snprintf(name, sizeof name, "large/%zu.png", i);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
    mr_dataset *large = pack_open(&folder, "large", MR_LAYOUT_FOLDER);
    static const uint64_t caps[] = {(uint64_t)36 << 20, (uint64_t)300 << 20};
    for (size_t i = 0; i < 2; i++) {
        mr_loader_options o = {.struct_size = sizeof o, .batch = 4, .epochs = 1, .threads = 2, .bad = MR_BAD_REPLACE};
        o.memory_nbytes = caps[i];
        mr_loader *loader = loading_new(large, "resize(32)", &o);
        loading_sum sum = loading_run(loader, UINT64_MAX);
        if (sum.result != (i == 0 ? MR_ENOMEM : 0))
            fail_msg("%d: %s", sum.result, mr_loader_detail(loader));
        assert_int_equal(sum.replaced, 0);
        if (i == 0) {
            assert_contains(mr_loader_detail(loader), "0.png");
            assert_contains(mr_loader_detail(loader), "memory_nbytes");
        }
        mr_loader_free(loader);
    }
    mr_dataset_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_is_kept),
        cmocka_unit_test(one_that_is_too_large_is_the_caps_fault),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
