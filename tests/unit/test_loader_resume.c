// SPDX-License-Identifier: Apache-2.0
/* Stopped anywhere, gone on with another world, batch or number of threads: the stream is the undisturbed one. */
#include "test.h"

#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 97, EPOCHS = 3, RANKS_MAX = 7 };

#define RECIPE "rrc(12) flip dtype(u8)"

static test_folder folder;
static mr_dataset *source;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64];
        picture_file file = pack_image(PACK_PNG_3, 13 + (uint32_t)i % 5, 14, i);
        snprintf(name, sizeof name, "source/%c/%03zu.png", "ab"[i % 2], i);
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

/* What was seen at each position of each epoch: a hash, 0 for nothing. */
typedef struct stream {
    uint64_t hash[EPOCHS][SAMPLES];
} stream;

static uint64_t hash_place(const mr_batch *b, uint32_t place)
{
    mr_image image = {.width = (uint32_t)b->output.sample_nbytes,
                      .height = 1,
                      .channels = 1,
                      .depth = 8,
                      .stride = (ptrdiff_t)b->output.sample_nbytes,
                      .pixels = (uint8_t *)b->images + place * b->output.sample_nbytes};
    return mr_image_hash(&image) ^ (uint64_t)b->labels[place] ^ b->ordinals[place] << 32;
}

/* One batch of a rank into the stream; false at the end. Each position must be new. */
static bool take(mr_loader *loader, stream *s)
{
    mr_batch *b;
    if (mr_loader_next(loader, &b) != 0)
        fail_msg("%s", mr_loader_detail(loader));
    if (b == NULL)
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        assert_true(b->epoch < EPOCHS && b->positions[i] < SAMPLES);
        assert_true(s->hash[b->epoch][b->positions[i]] == 0);
        s->hash[b->epoch][b->positions[i]] = hash_place(b, i);
    }
    mr_batch_release(b);
    return true;
}

static mr_loader_options random_options(uint64_t *random)
{
    mr_loader_options o = {.struct_size = sizeof o, .seed = 11, .epochs = EPOCHS, .has_rank = true};
    o.world = 1 + picture_random_below(random, RANKS_MAX);
    o.batch = 1 + picture_random_below(random, 9);
    o.threads = 1 + picture_random_below(random, 3);
    o.slots = 2 + picture_random_below(random, 3);
    if (picture_random_below(random, 3) == 0)
        o.device = "sim";
    return o;
}

/* All ranks of one world from a state on, for some batches; the state they end with, "" at the end of all. */
static void run_world(mr_loader_options o, stream *s, char *state, uint64_t batches)
{
    char next[512] = "", first[512] = "";
    for (o.rank = 0; o.rank < o.world; o.rank++) {
        mr_loader *loader = loading_new(source, RECIPE, &o);
        bool more = true;
        if (*state != '\0' && mr_loader_restore(loader, state) != 0)
            fail_msg("%s", mr_loader_detail(loader));
        for (uint64_t i = 0; i < batches && more; i++)
            more = take(loader, s);
        assert_true(mr_loader_state(loader, next, sizeof next) < sizeof next);
        if (!more)
            *next = '\0';
        if (o.rank == 0)
            memcpy(first, next, sizeof first);
        assert_string_equal(next, first);
        mr_loader_free(loader);
    }
    memcpy(state, next, sizeof next);
}

static void stops_and_worlds_do_not_show(void **state)
{
    (void)state;
    uint64_t random = 5;
    stream *whole = calloc(1, sizeof *whole), *parts = calloc(1, sizeof *parts);
    char at[512] = "";
    run_world((mr_loader_options){.struct_size = sizeof(mr_loader_options),
                                  .seed = 11,
                                  .epochs = EPOCHS,
                                  .has_rank = true,
                                  .world = 1,
                                  .batch = 10},
              whole, at, UINT64_MAX);
    for (size_t run = 0; run < (test_quick() ? 3 : 12); run++) {
        memset(parts, 0, sizeof *parts);
        *at = '\0';
        do
            run_world(random_options(&random), parts, at, 1 + picture_random_below(&random, 9));
        while (*at != '\0');
        assert_memory_equal(parts, whole, sizeof *whole);
    }
    free(whole);
    free(parts);
}

/* The same loader is sent back, while it prepares what comes next. */
static void it_can_be_sent_elsewhere(void **state)
{
    (void)state;
    mr_loader_options o = {.struct_size = sizeof o, .batch = 10, .seed = 11, .epochs = EPOCHS, .threads = 2};
    mr_loader *loader = loading_new(source, RECIPE, &o);
    char begin[512], later[512];
    mr_loader_state(loader, begin, sizeof begin);
    loading_sum first = loading_run(loader, 7);
    mr_loader_state(loader, later, sizeof later);
    loading_sum rest = loading_run(loader, UINT64_MAX);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(mr_loader_restore(loader, begin), 0);
        assert_true(loading_run(loader, 7).hash == first.hash);
        assert_int_equal(mr_loader_restore(loader, later), 0);
        assert_true(loading_run(loader, UINT64_MAX).hash == rest.hash);
    }
    mr_batch *batch;
    assert_int_equal(mr_loader_restore(loader, begin), 0);
    assert_int_equal(mr_loader_next(loader, &batch), 0);
    assert_int_equal(mr_loader_restore(loader, begin), MR_EARGUMENT);
    assert_contains(mr_loader_detail(loader), "released");
    mr_batch_release(batch);
    assert_int_equal(mr_loader_restore(loader, begin), 0);
    mr_loader_free(loader);
}

static void a_state_of_another_is_refused(void **state)
{
    (void)state;
    mr_loader_options o = {.struct_size = sizeof o, .batch = 10, .seed = 11};
    mr_loader *a = loading_new(source, RECIPE, &o), *b;
    char text[512];
    mr_loader_state(a, text, sizeof text);
    b = loading_new(source, "rrc(12) dtype(u8)", &o);
    assert_int_equal(mr_loader_restore(b, text), MR_EARGUMENT);
    assert_contains(mr_loader_detail(b), "recipe");
    mr_loader_free(b);
    o.seed = 12;
    b = loading_new(source, RECIPE, &o);
    assert_int_equal(mr_loader_restore(b, text), MR_EARGUMENT);
    assert_contains(mr_loader_detail(b), "seed");
    assert_int_equal(mr_loader_restore(b, "no state"), MR_EARGUMENT);
    assert_int_equal(loading_run(b, 3).batches, 3); // it goes on as if nobody had asked
    mr_loader_free(b);
    mr_loader_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_and_worlds_do_not_show),
        cmocka_unit_test(it_can_be_sent_elsewhere),
        cmocka_unit_test(a_state_of_another_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
