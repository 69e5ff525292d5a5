// SPDX-License-Identifier: Apache-2.0
/* What is in batches beside pixels: labels of all kinds, lists, keys, orders with repeats and weights. */
#include "test.h"

#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 12 };

#define RECIPE "center(8) dtype(u8)"

/* By sample: whole, lists of either kind, text, none. */
static const char *const labels[SAMPLES] = {
    "0", "1 2 3", "0.5 -1", "cat", "255", "-1", "2147483647", "9007199254740993 4", "", "21840", "1e3 2 0.25", "256",
};

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    char list[2048] = "";
    test_folder_init_in_memory(&folder);
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64], line[96];
        picture_file file = pack_image(PACK_PNG_3, 9, 9, i);
        snprintf(name, sizeof name, "source/%02zu.png", i);
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        snprintf(line, sizeof line, "%02zu.png\t%s\n", i, labels[i]);
        strcat(list, line);
        free(file.bytes);
    }
    test_folder_write(&folder, "labels", list, strlen(list));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static mr_dataset *open_with_labels(void)
{
    char path[512], list[512];
    const char *paths[] = {test_folder_path(&folder, "source", path)};
    mr_dataset_options o = {.struct_size = sizeof o,
                            .index = MR_INDEX_NONE,
                            .layout = MR_LAYOUT_FOLDER,
                            .list = test_folder_path(&folder, "labels", list)};
    mr_dataset *dataset;
    assert_int_equal(mr_dataset_new(&o, &dataset), 0);
    if (mr_dataset_open(dataset, paths, 1) != 0)
        fail_msg("%s", mr_dataset_detail(dataset));
    return dataset;
}

static mr_loader_options in_order(uint32_t batch)
{
    return (mr_loader_options){.struct_size = sizeof(mr_loader_options),
                               .batch = batch,
                               .epochs = 1,
                               .threads = 2,
                               .order = MR_ORDER_SEQUENTIAL};
}

static void labels_pass_untouched(void **state)
{
    (void)state;
    static const int64_t whole[SAMPLES] = {0, 0, 0, 0, 255, -1, 2147483647, 0, -1, 21840, 0, 256};
    mr_dataset *dataset = open_with_labels();
    mr_loader_options o = in_order(16);
    mr_loader *loader = loading_new(dataset, RECIPE, &o);
    mr_batch *b;
    mr_label label;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        char key[16];
        snprintf(key, sizeof key, "%02u.png", i);
        assert_int_equal(b->labels[i], whole[i]);
        assert_string_equal(mr_batch_key(b, i), key);
    }
    assert_int_equal(mr_batch_label(b, 3, &label), 0);
    assert_true(label.kind == MR_LABEL_TEXT && label.count == 3 && memcmp(label.values, "cat", 3) == 0);
    assert_int_equal(mr_batch_label(b, SAMPLES, &label), MR_EARGUMENT);
    mr_batch_release(b);
    mr_loader_free(loader);
    mr_dataset_free(dataset);
}

static void lists_are_values_and_offsets(void **state)
{
    (void)state;
    static const uint64_t offsets[17] = {0, 1, 4, 6, 6, 7, 8, 9, 11, 11, 12, 15, 16, 16, 16, 16, 16};
    static const double reals[] = {0, 1,     2,    3, 0.5,  -1, 255, -1, 2147483647, 9007199254740992.0,
                                   4, 21840, 1000, 2, 0.25, 256};
    mr_dataset *dataset = open_with_labels();
    mr_loader_options o = in_order(16);
    mr_loader *loader = loading_new(dataset, RECIPE, &o);
    mr_batch_lists lists = {.struct_size = sizeof lists};
    mr_batch *b;
    assert_int_equal(mr_loader_next(loader, &b), 0);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(mr_batch_get_lists(b, &lists), 0);
        assert_true(lists.kind == MR_LABEL_FLOATS && lists.integers == NULL);
        assert_memory_equal(lists.offsets, offsets, sizeof offsets);
        assert_memory_equal(lists.reals, reals, sizeof reals);
    }
    mr_loader_free(loader);
    o.batch = 2; // 0 | 1 2 3 are whole; then 0.5 -1 | cat; 255 | -1 are no lists
    loader = loading_new(dataset, RECIPE, &o);
    static const mr_label_kind kinds[] = {MR_LABEL_INTS, MR_LABEL_FLOATS, MR_LABEL_NONE, MR_LABEL_INTS};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(mr_loader_next(loader, &b), 0);
        assert_int_equal(mr_batch_get_lists(b, &lists), 0);
        assert_int_equal(lists.kind, kinds[i]);
        if (i == 3)
            assert_true(lists.integers[0] == 2147483647 && lists.integers[1] == INT64_C(9007199254740993));
        mr_batch_release(b);
    }
    mr_loader_free(loader);
    mr_dataset_free(dataset);
}

static uint64_t hash_of(const mr_batch *b, uint32_t place)
{
    uint32_t side = b->output.width, channels = b->output.channels;
    mr_image image = {side,
                      b->output.height,
                      channels,
                      8,
                      (ptrdiff_t)(side * channels),
                      (uint8_t *)b->images + place * b->output.sample_nbytes};
    return mr_image_hash(&image);
}

/* The same sample in a row, each time with other random numbers; what a preparer makes of that repeat. */
static void repeats_differ(void **state)
{
    (void)state;
    static const char recipe_text[] = "rrc(8) flip layout(nhwc) dtype(u8)";
    mr_dataset *dataset = open_with_labels();
    mr_loader_options o = in_order(6);
    o.order = MR_ORDER_REPEATED;
    o.repeats = 3;
    mr_recipe *recipe = loading_recipe(recipe_text);
    mr_loader *loader = loading_new(dataset, recipe_text, &o);
    mr_preparer *preparer;
    mr_batch *b;
    uint8_t wanted[8 * 8 * 3];
    assert_int_equal(mr_preparer_new(dataset, recipe, &o, &preparer, NULL, 0), 0);
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(b->ordinals[i], b->ordinals[i / 3 * 3]);
            assert_true(i % 3 == 0 || hash_of(b, i) != hash_of(b, i - 1));
            assert_int_equal(mr_preparer_run(preparer, b->ordinals[i], 0, i % 3, wanted), 0);
            assert_memory_equal((uint8_t *)b->images + i * sizeof wanted, wanted, sizeof wanted);
        }
        mr_batch_release(b);
    }
    mr_preparer_free(preparer);
    mr_loader_free(loader);
    mr_recipe_free(recipe);
    mr_dataset_free(dataset);
}

static void weights_count(void **state)
{
    (void)state;
    mr_dataset *dataset = open_with_labels();
    double weights[SAMPLES] = {[2] = 1, [7] = 3};
    uint64_t seen[SAMPLES] = {0};
    mr_loader_options o = in_order(100);
    o.order = MR_ORDER_WEIGHTED;
    o.weights = weights;
    o.draws = 4000;
    mr_loader *loader = loading_new(dataset, RECIPE, &o);
    mr_batch *b;
    while (mr_loader_next(loader, &b) == 0 && b != NULL) {
        for (uint32_t i = 0; i < b->count; i++)
            seen[b->ordinals[i]]++;
        mr_batch_release(b);
    }
    assert_int_equal(seen[2] + seen[7], 4000);
    assert_true(seen[7] > 2850 && seen[7] < 3150);
    mr_loader_free(loader);
    mr_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_pass_untouched),
        cmocka_unit_test(lists_are_values_and_offsets),
        cmocka_unit_test(repeats_differ),
        cmocka_unit_test(weights_count),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
