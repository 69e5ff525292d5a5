// SPDX-License-Identifier: Apache-2.0
#include "loading.h"

#include "test.h"

#include <stdlib.h>

mr_recipe *loading_recipe(const char *text)
{
    mr_recipe *recipe;
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    return recipe;
}

mr_loader *loading_new(mr_dataset *dataset, const char *text, const mr_loader_options *options)
{
    char detail[240];
    mr_loader *loader;
    mr_recipe *recipe = loading_recipe(text);
    if (mr_loader_new(dataset, recipe, options, &loader, detail, sizeof detail) != 0)
        fail_msg("%s", detail);
    mr_recipe_free(recipe);
    return loader;
}

static void check_pads(const mr_batch *b)
{
    for (uint32_t i = b->count; i < b->size; i++) {
        assert_int_equal(b->mask[i], MR_MASK_PAD);
        assert_int_equal(b->labels[i], -1);
        assert_true(b->ordinals[i] == UINT64_MAX && b->positions[i] == UINT64_MAX);
        assert_string_equal(mr_batch_key(b, i), "");
    }
}

static void add(loading_sum *sum, const mr_batch *b)
{
    check_pads(b);
    assert_int_equal((uintptr_t)b->images % 64, 0);
    assert_int_equal(b->images_nbytes, b->size * b->output.sample_nbytes);
    for (uint32_t i = 0; i < b->count; i++) {
        assert_int_not_equal(b->mask[i], MR_MASK_PAD);
        sum->skipped += b->mask[i] == MR_MASK_SKIPPED;
        sum->replaced += b->mask[i] == MR_MASK_REPLACED;
        assert_true(i == 0 || b->positions[i] > b->positions[i - 1]);
    }
    sum->hash += mr_batch_hash(b) * (b->epoch + 1);
    sum->batches++;
    sum->samples += b->count;
    sum->pads += b->size - b->count;
}

loading_sum loading_run(mr_loader *loader, uint64_t most)
{
    loading_sum sum = {0};
    mr_batch *batch = NULL;
    while (sum.batches < most && (sum.result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        add(&sum, batch);
        mr_batch_release(batch);
    }
    if (sum.result != 0)
        assert_string_not_equal(mr_loader_detail(loader), "");
    return sum;
}

loading_sum loading_all(mr_dataset *dataset, const char *recipe, const mr_loader_options *options)
{
    mr_loader *loader = loading_new(dataset, recipe, options);
    loading_sum sum = loading_run(loader, UINT64_MAX);
    mr_loader_free(loader);
    return sum;
}

static void *count_alloc(void *user, size_t nbytes, size_t align)
{
    loading_counter *c = user;
    atomic_fetch_add(&c->allocated, 1);
    return aligned_alloc(align, (nbytes + align - 1) / align * align);
}

static void count_free(void *user, void *block)
{
    (void)user;
    free(block);
}

mr_hooks loading_hooks(loading_counter *counter)
{
    return (mr_hooks){.struct_size = sizeof(mr_hooks), .user = counter, .alloc = count_alloc, .free = count_free};
}
