// SPDX-License-Identifier: Apache-2.0
/* Decks play tapes: on an OpenCL device that is really there, if there is one, and on the fake one of the tests. */
#include "test.h"

#include "fake_opencl.h"
#include "files.h"
#include "kernel/lane/pass.h"
#include "opencl_play.h"
#include "picture.h"
#include "taping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fake_opencl fake;
static const char *library; /* NULL: the machine's own */

/* --- passes --- */

static mr_hooks plain_hooks(void)
{
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    return hooks;
}

static const char *const recipes[] = {
    "resize(31x17)",
    "resize(64, filter=lanczos)",
    "resize(40x30, filter=nearest)",
    "rrc(32) flip normalize(imagenet)",
    "short(24) center(16) normalize(imagenet) dtype(f16)",
    "short(24) center(16) dtype(bf16) layout(nhwc)",
    "center(200x1, fill=7)",
    "crop(5, pad=90, border=edge)",
    "resize(20) pad(5, border=symmetric) vflip(1)",
    "resize(20) resize(30) flip resize(10)",
};

static const uint32_t sizes[][2] = {{1, 1}, {1, 37}, {37, 1}, {61, 53}, {64, 64}, {130, 5}};

static void play_all(const mr__cl_options *options)
{
    opencl_play cl;
    mr__detail detail;
    assert_int_equal(opencl_play_open(&cl, options, &detail), 0);
    taping how = {.play = opencl_play_tape, .user = &cl};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
            mr_image image = picture_make(sizes[s][0], sizes[s][1], 3, 8, s + 1);
            (void)taping_recipe(&how, recipes[r], &image, 7 * r);
            mr_image_fini(&image, NULL);
        }
    assert_true(mr__cl_deck_kernel_ns(cl.deck, MR__KERNELS_ALL) > 0);
    opencl_play_close(&cl);
}

static void passes_give_the_same(void **state)
{
    (void)state;
    play_all(&(mr__cl_options){0});
    play_all(&(mr__cl_options){.in_place = true});
    play_all(&(mr__cl_options){.sends = true});
    play_all(&(mr__cl_options){.groups_max = 3, .in_place = true});
}

/* --- decks --- */

enum { SIDE = 97, SAMPLE_NBYTES = SIDE * SIDE, ARENA_NBYTES = 1 << 20, SAMPLES = 8 };

/* A deck with a tape that fills samples of the batch. */
typedef struct filler {
    mr_hooks hooks;
    mr__cl_player *player;
    mr__cl_deck *deck;
    mr__tape tape;
    opencl_wait wait;
    mr__detail detail;
} filler;

static void add_deck(filler *f)
{
    assert_int_equal(mr__cl_deck_new(f->player, ARENA_NBYTES, ARENA_NBYTES / 2, &f->deck, &f->detail), 0);
    mr__tape_init(&f->tape, &f->hooks, mr__cl_deck_bytes(f->deck), ARENA_NBYTES / 2, ARENA_NBYTES, SAMPLES);
    opencl_wait_init(&f->wait);
}

static void filler_init(filler *f, mr__cl_options options)
{
    memset(f, 0, sizeof *f);
    f->hooks = plain_hooks();
    options.hooks = &f->hooks;
    options.library = library;
    int result = mr__cl_player_open(&options, &f->player, &f->detail);
    if (result != 0)
        fail_msg("%s", f->detail.text);
    add_deck(f);
}

static void filler_fini(filler *f)
{
    mr__tape_fini(&f->tape);
    mr__cl_deck_free(f->deck);
    mr__cl_player_close(f->player);
    if (library != NULL)
        assert_int_equal(fake.check(), 0);
}

/* A call that fills `width` x `height` bytes at `to`. */
static void call_fill(mr__tape *tape, uint64_t to, bool in_arena, uint32_t width, uint32_t height, uint8_t value)
{
    mr__order_place place = {.to = to,
                             .to_row = width,
                             .to_pixel = 1,
                             .to_plane = 1,
                             .in_arena = in_arena,
                             .number_nbytes = 1,
                             .from = {.channels = 1},
                             .canvas_width = width,
                             .canvas_height = height,
                             .fill = value};
    mr__tape_call_of(tape, MR__KERNEL_place, &place, sizeof place, MR__CANVAS_GROUPS(width, height));
}

/* Sample i is filled with value + i; number `refused` says so in its word. */
static void write_tape(filler *f, uint32_t count, uint8_t value, uint32_t refused)
{
    mr__tape_begin(&f->tape);
    for (uint32_t i = 0; i < count; i++) {
        (void)mr__tape_open(&f->tape);
        call_fill(&f->tape, (uint64_t)i * SAMPLE_NBYTES, false, SIDE, SIDE, (uint8_t)(value + i));
        if (i == refused)
            call_fill(&f->tape, mr__tape_status(&f->tape), true, 4, 1, 1);
        assert_int_equal(mr__tape_close(&f->tape), i);
    }
    assert_int_equal(mr__tape_end(&f->tape), 0);
}

static int play(filler *f, uint64_t nbytes, const mr__cl_piece *pieces, size_t count)
{
    return mr__cl_deck_play(f->deck, &f->tape, nbytes, pieces, count, opencl_wait_played, &f->wait, &f->detail);
}

static bool is_filled(const uint8_t *bytes, size_t nbytes, uint8_t value)
{
    for (size_t i = 0; i < nbytes; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static uint8_t *batch_of(size_t nbytes)
{
    uint8_t *batch = aligned_alloc(64, (nbytes + 63) / 64 * 64);
    assert_non_null(batch);
    memset(batch, 0x5a, nbytes);
    return batch;
}

static void pieces_go_where_they_are_wanted(mr__cl_options options)
{
    filler f;
    uint8_t *batch = batch_of(SAMPLES * SAMPLE_NBYTES);
    filler_init(&f, options);
    /* The pieces: 1 and 2, side by side; 5; of 6 nothing. */
    mr__cl_piece pieces[] = {{1 * SAMPLE_NBYTES, SAMPLE_NBYTES, batch + 1 * SAMPLE_NBYTES},
                             {2 * SAMPLE_NBYTES, SAMPLE_NBYTES, batch + 2 * SAMPLE_NBYTES},
                             {5 * SAMPLE_NBYTES, SAMPLE_NBYTES, batch + 5 * SAMPLE_NBYTES},
                             {6 * SAMPLE_NBYTES, 0, batch + 6 * SAMPLE_NBYTES}};
    for (uint8_t round = 0; round < 3; round++) {
        write_tape(&f, 6, (uint8_t)(10 * round), UINT32_MAX);
        assert_int_equal(play(&f, SAMPLES * SAMPLE_NBYTES, pieces, 4), 0);
        assert_int_equal(opencl_wait_for(&f.wait, &f.detail), 0);
        for (uint32_t i = 1; i < 6; i += i == 2 ? 3 : 1)
            assert_true(is_filled(batch + i * SAMPLE_NBYTES, SAMPLE_NBYTES, (uint8_t)(10 * round + i)));
        assert_true(is_filled(batch + 6 * SAMPLE_NBYTES, 2 * SAMPLE_NBYTES, 0x5a));
        if (!options.in_place)
            assert_true(is_filled(batch + 3 * SAMPLE_NBYTES, 2 * SAMPLE_NBYTES, 0x5a));
    }
    /* Elsewhere in memory, in another order: they are not in place. */
    mr__cl_piece crossed[] = {{0, SAMPLE_NBYTES, batch + SAMPLE_NBYTES}, {SAMPLE_NBYTES, SAMPLE_NBYTES, batch}};
    write_tape(&f, 2, 90, UINT32_MAX);
    assert_int_equal(play(&f, 2 * SAMPLE_NBYTES, crossed, 2), 0);
    assert_int_equal(opencl_wait_for(&f.wait, &f.detail), 0);
    assert_true(is_filled(batch, SAMPLE_NBYTES, 91));
    assert_true(is_filled(batch + SAMPLE_NBYTES, SAMPLE_NBYTES, 90));
    assert_int_equal(play(&f, SAMPLE_NBYTES, crossed, 2), MR_EARGUMENT);
    filler_fini(&f);
    free(batch);
}

static void pieces_go_everywhere(void **state)
{
    (void)state;
    pieces_go_where_they_are_wanted((mr__cl_options){0});
    pieces_go_where_they_are_wanted((mr__cl_options){.in_place = true});
    pieces_go_where_they_are_wanted((mr__cl_options){.sends = true});
    pieces_go_where_they_are_wanted((mr__cl_options){.groups_max = 1});
}

static void words_tell_what_was_refused(void **state)
{
    filler f;
    (void)state;
    for (int sends = 0; sends < 2; sends++) {
        filler_init(&f, (mr__cl_options){.sends = sends != 0});
        for (uint32_t refused = 0; refused < SAMPLES; refused += 3) {
            write_tape(&f, SAMPLES, 1, refused);
            assert_int_equal(play(&f, SAMPLES * SAMPLE_NBYTES, NULL, 0), 0);
            assert_int_equal(opencl_wait_for(&f.wait, &f.detail), 0);
            mr__tape_begin(&f.tape); // the next one may be written while they are looked at
            for (uint32_t i = 0; i < SAMPLES; i++)
                assert_int_equal(mr__tape_refused(f.wait.words, i), i == refused);
        }
        filler_fini(&f);
    }
}

static void nothing_can_be_played(void **state)
{
    filler f;
    (void)state;
    for (int sends = 0; sends < 2; sends++) {
        filler_init(&f, (mr__cl_options){.sends = sends != 0});
        write_tape(&f, 0, 0, UINT32_MAX);
        assert_int_equal(play(&f, 0, NULL, 0), 0);
        assert_int_equal(opencl_wait_for(&f.wait, &f.detail), 0);
        assert_int_equal(mr__cl_deck_kernel_ns(f.deck, MR__KERNELS_ALL), 0);
        filler_fini(&f);
    }
}

static void decks_play_side_by_side(void **state)
{
    filler f[2];
    uint8_t *batch = batch_of(2 * SAMPLES * SAMPLE_NBYTES);
    (void)state;
    filler_init(&f[0], (mr__cl_options){.in_place = true});
    f[1] = (filler){.hooks = f[0].hooks, .player = f[0].player};
    add_deck(&f[1]);
    for (uint8_t round = 0; round < (library == NULL ? 50 : 5); round++) {
        for (size_t d = 0; d < 2; d++) {
            uint8_t *half = batch + d * SAMPLES * SAMPLE_NBYTES;
            write_tape(&f[d], SAMPLES, (uint8_t)(round + 100 * d), UINT32_MAX);
            mr__cl_piece piece = {0, (uint64_t)SAMPLES * SAMPLE_NBYTES, half};
            assert_int_equal(play(&f[d], SAMPLES * SAMPLE_NBYTES, &piece, 1), 0);
        }
        for (size_t d = 0; d < 2; d++) {
            assert_int_equal(opencl_wait_for(&f[d].wait, &f[d].detail), 0);
            for (size_t i = 0; i < SAMPLES; i++)
                assert_true(is_filled(batch + (d * SAMPLES + i) * SAMPLE_NBYTES, SAMPLE_NBYTES,
                                      (uint8_t)(round + 100 * d + i)));
        }
    }
    mr__tape_fini(&f[1].tape);
    mr__cl_deck_free(f[1].deck);
    filler_fini(&f[0]);
    free(batch);
}

static void too_much_is_said(void **state)
{
    filler f;
    mr__cl_deck *deck;
    (void)state;
    filler_init(&f, (mr__cl_options){0});
    uint64_t most = mr__cl_player_facts(f.player)->alloc_nbytes;
    if (most < UINT32_MAX) {
        assert_int_equal(mr__cl_deck_new(f.player, UINT32_MAX, UINT32_MAX, &deck, &f.detail), MR_ENOMEM);
        assert_contains(f.detail.text, "MiB failed: CL_INVALID_BUFFER_SIZE");
    }
    write_tape(&f, 1, 1, UINT32_MAX);
    assert_int_equal(play(&f, most + 1, NULL, 0), MR_ENOMEM);
    assert_int_equal(play(&f, SAMPLE_NBYTES, NULL, 0), 0);
    assert_int_equal(opencl_wait_for(&f.wait, &f.detail), 0);
    filler_fini(&f);
}

/* --- what is there --- */

static void devices_are_listed(void **state)
{
    mr_hooks hooks = plain_hooks();
    mr__cl_options options = {.hooks = &hooks};
    mr__cl_entry entries[8];
    mr__detail detail;
    size_t count = 0;
    (void)state;
    assert_int_equal(mr__cl_list(&options, entries, 8, &count, &detail), 0);
    assert_true(count >= 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].number, i);
        assert_int_equal(entries[i].usable, entries[i].why[0] == 0);
        assert_true(entries[i].platform[0] != 0 && entries[i].facts.name[0] != 0 && entries[i].facts.units != 0);
    }
    options.number = 1000;
    mr__cl_player *player;
    assert_int_equal(mr__cl_player_open(&options, &player, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "there is no OpenCL device 1000");
}

static bool is_there(void)
{
    mr_hooks hooks = plain_hooks();
    mr__cl_entry entry;
    mr__detail detail;
    size_t count;
    int result = mr__cl_list(&(mr__cl_options){.hooks = &hooks}, &entry, 1, &count, &detail);
    if (result != 0 || !entry.usable)
        printf("on the fake device alone: %s\n", result != 0 ? detail.text : entry.why);
    return result == 0 && entry.usable;
}

int main(void)
{
    const struct CMUnitTest anywhere[] = {
        cmocka_unit_test(pieces_go_everywhere),  cmocka_unit_test(words_tell_what_was_refused),
        cmocka_unit_test(nothing_can_be_played), cmocka_unit_test(decks_play_side_by_side),
        cmocka_unit_test(too_much_is_said),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test(devices_are_listed),
        cmocka_unit_test(passes_give_the_same),
    };
    static const char *const kinds[] = {"kind=discrete", "kind=integrated", "kind=cpu"};
    test_folder cache;
    int result = 0;
    test_folder_init_in_memory(&cache);
    setenv("XDG_CACHE_HOME", cache.path, 1);
    if (is_there()) {
        result |= cmocka_run_group_tests(real, NULL, NULL);
        result |= cmocka_run_group_tests(anywhere, NULL, NULL);
    }
    fake = fake_opencl_open();
    library = MILLRACE_FAKE_OPENCL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fake.reset();
        assert_int_equal(fake.configure(kinds[i]), 0);
        result |= cmocka_run_group_tests_name(kinds[i], anywhere, NULL, NULL);
    }
    test_folder_fini(&cache);
    return result;
}
