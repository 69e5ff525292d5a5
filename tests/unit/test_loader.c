// SPDX-License-Identifier: Apache-2.0
/* What a loader gives: the same bytes however they are made, in order, each position once. */
#include "test.h"

#include "fake_clock.h"
#include "loading.h"
#include "pack_make.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 61, SIDE = 40, LARGE = 20 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source, *packed;

/* Alone in its class of pixels: forms that all decode to the same. */
static void write_images(void)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        char name[64];
        bool jpeg = i % 2 == 0;
        uint32_t width = 30 + (uint32_t)(i * 7 % SIDE), height = 30 + (uint32_t)(i * 5 % SIDE);
        if (i == LARGE) // so large that it is read in part
            width = height = 160;
        picture_file file = pack_image(jpeg ? PACK_JPEG : PACK_PNG_3, width, height, i);
        snprintf(name, sizeof name, "source/%c/%03zu.%s", "abc"[i % 3], i, jpeg ? "jpg" : "png");
        test_folder_write(&folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    write_images();
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    packed = pack_three_forms(source, &folder, "packed");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(packed);
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(void)
{
    return (mr_loader_options){OPTIONS, .batch = 8, .seed = 7, .epochs = 2, .threads = 2};
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8, 32};
    mr_loader_options o = plain();
    loading_sum first = loading_all(source, RECIPE, &o);
    assert_int_equal(first.samples, 2 * SAMPLES);
    assert_int_equal(first.batches, 16);
    assert_int_equal(first.pads, 2 * 3);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        o.threads = threads[i];
        assert_true(loading_all(source, RECIPE, &o).hash == first.hash);
    }
    o.seed = 8;
    assert_true(loading_all(source, RECIPE, &o).hash != first.hash);
}

static void layout_and_form_do_not_matter(void **state)
{
    (void)state;
    static const char *const forms[] = {NULL, "l3", "raw", "original+l3", "raw+l3+original"};
    mr_loader_options o = plain();
    uint64_t wanted = loading_all(source, RECIPE, &o).hash;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        o.form = forms[i];
        o.check_all = false;
        assert_true(loading_all(packed, RECIPE, &o).hash == wanted);
        o.check_all = true;
        assert_true(loading_all(packed, RECIPE, &o).hash == wanted);
    }
}

static void way_of_reading_does_not_matter(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    uint64_t wanted = loading_all(source, RECIPE, &o).hash;
    for (int reading = MR_READ_AUTO; reading <= MR_READ_AHEAD; reading++)
        for (uint32_t depth = 1; depth <= 5; depth += 4) {
            o.reading = (mr_reading)reading;
            o.read_depth = depth;
            assert_true(loading_all(source, RECIPE, &o).hash == wanted);
            assert_true(loading_all(packed, RECIPE, &o).hash == wanted);
        }
}

static void sim_gives_the_same(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    uint64_t wanted = loading_all(source, RECIPE, &o).hash;
    o.device = "sim";
    for (o.threads = 1; o.threads < 6; o.threads += 2)
        assert_true(loading_all(source, RECIPE, &o).hash == wanted);
}

static void ranks_add_up(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    uint64_t wanted = loading_all(source, RECIPE, &o).hash;
    o.has_rank = true;
    for (o.world = 1; o.world <= 7; o.world++) {
        loading_sum all = {0};
        uint64_t batches = 0;
        for (o.rank = 0; o.rank < o.world; o.rank++) {
            loading_sum sum = loading_all(source, RECIPE, &o);
            all.hash += sum.hash;
            all.samples += sum.samples;
            assert_true(o.rank == 0 || sum.batches == batches);
            batches = sum.batches;
        }
        assert_true(all.hash == wanted);
        assert_int_equal(all.samples, 2 * SAMPLES);
    }
}

/* Every place of every batch is what the preparer makes of its sample. */
static void places_are_what_a_preparer_makes(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    mr_recipe *recipe = loading_recipe(RECIPE);
    mr_loader *loader = loading_new(packed, RECIPE, &o);
    mr_preparer *preparer;
    mr_batch *batch;
    assert_int_equal(mr_preparer_new(source, recipe, &o, &preparer, NULL, 0), 0);
    while (mr_loader_next(loader, &batch) == 0 && batch != NULL) {
        size_t nbytes = batch->output.sample_nbytes;
        void *wanted = malloc(nbytes);
        for (uint32_t i = 0; i < batch->count; i++) {
            assert_int_equal(mr_preparer_run(preparer, batch->ordinals[i], batch->epoch, 0, wanted), 0);
            assert_memory_equal((const uint8_t *)batch->images + i * nbytes, wanted, nbytes);
            mr_sample sample = {.struct_size = sizeof sample};
            mr_label label;
            assert_int_equal(mr_dataset_sample(source, batch->ordinals[i], &sample), 0);
            assert_int_equal(batch->labels[i], sample.label.integer);
            assert_int_equal(mr_batch_label(batch, i, &label), 0);
            assert_int_equal(label.integer, sample.label.integer);
        }
        free(wanted);
        mr_batch_release(batch);
    }
    mr_preparer_free(preparer);
    mr_loader_free(loader);
    mr_recipe_free(recipe);
}

static void orders_are_what_they_say(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.order = MR_ORDER_SEQUENTIAL;
    o.epochs = 1;
    mr_loader *loader = loading_new(source, RECIPE, &o);
    mr_batch *batch;
    uint64_t next = 0;
    while (mr_loader_next(loader, &batch) == 0 && batch != NULL) {
        assert_true(batch->last == (next + batch->count == SAMPLES));
        for (uint32_t i = 0; i < batch->count; i++, next++)
            assert_int_equal(batch->ordinals[i], next);
        mr_batch_release(batch);
    }
    assert_int_equal(next, SAMPLES);
    mr_loader_free(loader);
}

static void the_last_can_be_dropped(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.drop_last = true;
    loading_sum sum = loading_all(source, RECIPE, &o);
    assert_int_equal(sum.batches, 14);
    assert_int_equal(sum.samples, 2 * 56);
    assert_int_equal(sum.pads, 0);
    o.batch = SAMPLES + 1;
    char detail[240];
    mr_loader *loader;
    mr_recipe *recipe = loading_recipe(RECIPE);
    assert_int_equal(mr_loader_new(source, recipe, &o, &loader, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, "dropped");
    mr_recipe_free(recipe);
}

/* A consumer that keeps batches, and gives them back in another order, sees none change meanwhile. */
static void batches_are_kept_until_released(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.slots = 4;
    o.epochs = 3;
    uint64_t wanted = loading_all(source, RECIPE, &o).hash, got = 0;
    mr_loader *loader = loading_new(source, RECIPE, &o);
    mr_batch *held[3] = {NULL};
    uint64_t hash[3] = {0};
    for (size_t n = 0;; n++) {
        size_t at = n * 5 % 3;
        if (held[at] != NULL) {
            assert_true(mr_batch_hash(held[at]) == hash[at]);
            mr_batch_release(held[at]);
        }
        assert_int_equal(mr_loader_next(loader, &held[at]), 0);
        if (held[at] == NULL)
            break;
        hash[at] = mr_batch_hash(held[at]);
        got += hash[at] * (held[at]->epoch + 1);
    }
    assert_true(got == wanted);
    mr_loader_free(loader);
}

static void all_outputs_come(void **state)
{
    (void)state;
    static const char *const recipes[] = {
        "rrc(24) dtype(u8)",
        "rrc(24) layout(nhwc)",
        "short(26) center(24) normalize(imagenet) dtype(f16)",
        "short(26) crop(24, pad=2) flip vflip normalize(imagenet) dtype(bf16) layout(nhwc)",
        "convert(gray) resize(20x16) pad(3) dtype(f32)",
        "convert(gray) rrc(24)",
        "pad(to=160) dtype(u8)",
        "orient convert(rgba) center(64)",
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        mr_loader_options o = plain();
        loading_sum a = loading_all(source, recipes[i], &o);
        o.form = "l3";
        o.threads = 3;
        loading_sum b = loading_all(packed, recipes[i], &o);
        o.form = "raw";
        loading_sum c = loading_all(packed, recipes[i], &o);
        assert_int_equal(a.samples, 2 * SAMPLES);
        assert_true(a.hash == b.hash && a.hash == c.hash && a.result == 0);
    }
}

/* A bit of the pixels of one raw record, in a copy of the packed dataset. */
static mr_dataset *open_flipped_large(void)
{
    char path[512];
    uint32_t raw;
    uint64_t ordinal;
    mr_record record = {.struct_size = sizeof record};
    pack_copy(&folder, "packed", "flipped");
    mr_dataset *flipped = pack_open(&folder, "flipped", MR_LAYOUT_PACKED);
    assert_int_equal(mr_dataset_find_form(flipped, "raw", &raw), 0);
    for (ordinal = 0; record.width != 160; ordinal++)
        assert_int_equal(mr_dataset_record(flipped, ordinal, raw, &record), 0);
    mr_dataset_file(flipped, record.file, path, sizeof path);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)(record.offset + record.nbytes / 2), SEEK_SET);
    int byte = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(byte ^ 1, file);
    assert_int_equal(fclose(file), 0);
    return flipped;
}

/* Raw pixels have no checksum but that of the whole record: it is compared wherever all of it is read. */
static void damage_to_raw_pixels(void **state)
{
    (void)state;
    mr_dataset *flipped = open_flipped_large();
    mr_loader_options o = plain();
    o.form = "raw";
    o.bad = MR_BAD_REPLACE;
    o.epochs = 1;
    assert_int_equal(loading_all(flipped, "resize(24)", &o).replaced, 1);
    o.check_all = true;
    assert_int_equal(loading_all(flipped, RECIPE, &o).replaced, 1);
    mr_dataset_free(flipped);
    pack_remove(&folder, "flipped");
}

static void the_steady_state_allocates_nothing(void **state)
{
    (void)state;
    static const char *const forms[] = {NULL, "l3", "raw"};
    for (size_t i = 0; i < 3; i++) {
        loading_counter c = {0};
        mr_hooks hooks = loading_hooks(&c);
        mr_loader_options o = plain();
        o.hooks = &hooks;
        o.epochs = 24;
        o.threads = 1; // so that what it keeps has seen every image
        o.read_depth = 1;
        o.form = forms[i];
        mr_loader *loader = loading_new(packed, "short(26) center(24) normalize(imagenet)", &o);
        assert_int_equal(loading_run(loader, 16).batches, 16);
        unsigned before = atomic_load(&c.allocated);
        assert_true(before != 0);
        assert_int_equal(loading_run(loader, UINT64_MAX).samples, 22 * SAMPLES);
        assert_int_equal(atomic_load(&c.allocated), before);
        mr_loader_free(loader);
    }
}

static uint64_t bytes_of(const char *form)
{
    mr_loader_options o = plain();
    mr_loader_stats s = {.struct_size = sizeof s};
    o.form = form;
    o.check_all = true;
    mr_loader *loader = loading_new(packed, RECIPE, &o);
    loading_run(loader, UINT64_MAX);
    assert_int_equal(mr_loader_get_stats(loader, &s), 0);
    mr_loader_free(loader);
    return s.stored_nbytes;
}

/* Every second sample from each: neither alone, and as much as the other half leaves. */
static void forms_are_mixed_evenly(void **state)
{
    (void)state;
    uint64_t l3 = bytes_of("l3"), raw = bytes_of("raw"), even = bytes_of("l3+raw"), odd = bytes_of("raw+l3");
    assert_true(l3 < even && even < raw);
    assert_int_equal(even + odd, l3 + raw);
}

/* Who waits in pieces gets the same. */
static void waiting_in_pieces(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    o.epochs = 1;
    mr_batch *batch = NULL;
    mr_loader *loader = loading_new(source, RECIPE, &o);
    uint64_t hash = 0, batches = 0;
    do {
        int waited;
        while ((waited = mr_loader_wait(loader, 1000)) == MR_ETIMEOUT)
            ;
        assert_int_equal(waited, 0);
        assert_int_equal(mr_loader_next(loader, &batch), 0);
        hash += batch != NULL ? mr_batch_hash(batch) : 0;
        batches += batch != NULL;
        mr_batch_release(batch);
    } while (batch != NULL);
    assert_int_equal(batches, 8);
    assert_true(hash == loading_all(source, RECIPE, &o).hash);
    assert_int_equal(mr_loader_wait(loader, 0), 0); // the end is there
    mr_loader_stop(loader);
    assert_int_equal(mr_loader_wait(loader, UINT64_MAX), 0);
    assert_int_equal(mr_loader_wait(NULL, 0), MR_EARGUMENT);
    mr_loader_free(loader);
}

/* Looks elsewhere for so long, twice, while all batches are lent; then takes one. It waited for how long. */
static double wait_twice(mr_loader *loader, mr_batch **lent, fake_clock *clock, uint64_t away_ns)
{
    mr_loader_stats before = {.struct_size = sizeof before}, after = before;
    assert_int_equal(mr_loader_get_stats(loader, &before), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mr_loader_wait(loader, 1000), MR_ETIMEOUT);
        fake_clock_advance(clock, away_ns);
    }
    mr_batch_release(*lent);
    assert_int_equal(mr_loader_next(loader, lent), 0);
    assert_int_equal(mr_loader_get_stats(loader, &after), 0);
    return after.consumer_stall_seconds - before.consumer_stall_seconds;
}

/* Who is back at once has waited all the time; who was away for a second has not. By a clock that the test moves. */
static void waiting_is_told_truly(void **state)
{
    (void)state;
    fake_clock clock = {.now_ns = 1000};
    mr_hooks hooks = fake_clock_hooks(&clock);
    mr_loader_options o = plain();
    mr_batch *batches[2];
    o.slots = 2;
    o.hooks = &hooks;
    mr_loader *loader = loading_new(source, RECIPE, &o);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(mr_loader_next(loader, &batches[i]), 0);
    assert_float_equal(wait_twice(loader, &batches[0], &clock, 30000000), 0.06, 1e-9);
    assert_float_equal(wait_twice(loader, &batches[1], &clock, 1000000000), 0, 1e-9);
    for (size_t i = 0; i < 2; i++)
        mr_batch_release(batches[i]);
    mr_loader_free(loader);
}

/* All are lent: waiting ends when its time is over, and the loader's own time is counted from when he came. */
static void waiting_for_what_is_lent(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    mr_batch *batches[2], *none;
    o.slots = 2;
    o.timeout_ns = 1000000000; // long beside a wait, and beside what a busy machine takes for a batch
    mr_loader *loader = loading_new(source, RECIPE, &o);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(mr_loader_next(loader, &batches[i]), 0);
    assert_int_equal(mr_loader_wait(loader, 1000000), MR_ETIMEOUT);
    while (mr_loader_wait(loader, 1000000) == MR_ETIMEOUT)
        ;
    assert_int_equal(mr_loader_next(loader, &none), MR_ETIMEOUT);
    assert_contains(mr_loader_detail(loader), "all 2 batches");
    mr_batch_release(batches[0]);
    assert_int_equal(mr_loader_next(loader, &batches[0]), 0);
    for (size_t i = 0; i < 2; i++)
        mr_batch_release(batches[i]);
    mr_loader_free(loader);
}

static void stats_tell_what_happened(void **state)
{
    (void)state;
    mr_loader_options o = plain();
    mr_loader_stats s = {.struct_size = sizeof s};
    mr_loader *loader = loading_new(source, RECIPE, &o);
    loading_run(loader, UINT64_MAX);
    assert_int_equal(mr_loader_get_stats(loader, &s), 0);
    assert_int_equal(s.samples, 2 * SAMPLES);
    assert_int_equal(s.batches, 16);
    assert_int_equal(s.threads, 2);
    assert_true(s.seconds > 0 && s.core_seconds > 0 && s.first_batch_seconds > 0 && s.stored_nbytes > 0);
    assert_int_equal(s.reads_cached + s.reads_waited, 2 * SAMPLES);
    for (uint32_t i = 0; i < s.stage_count; i++)
        if (strcmp(s.stages[i].name, "decode") == 0 || strcmp(s.stages[i].name, "augment") == 0)
            assert_int_equal(s.stages[i].count, 2 * SAMPLES);
    assert_non_null(s.bottleneck);
    mr_loader_free(loader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(layout_and_form_do_not_matter),
        cmocka_unit_test(way_of_reading_does_not_matter),
        cmocka_unit_test(sim_gives_the_same),
        cmocka_unit_test(ranks_add_up),
        cmocka_unit_test(places_are_what_a_preparer_makes),
        cmocka_unit_test(orders_are_what_they_say),
        cmocka_unit_test(the_last_can_be_dropped),
        cmocka_unit_test(batches_are_kept_until_released),
        cmocka_unit_test(all_outputs_come),
        cmocka_unit_test(damage_to_raw_pixels),
        cmocka_unit_test(the_steady_state_allocates_nothing),
        cmocka_unit_test(forms_are_mixed_evenly),
        cmocka_unit_test(waiting_in_pieces),
        cmocka_unit_test(waiting_is_told_truly),
        cmocka_unit_test(waiting_for_what_is_lent),
        cmocka_unit_test(stats_tell_what_happened),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
