// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include "test.h"

#include "loader/loader.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool devices_is_bad(size_t i)
{
    return i % 10 == 3 || i % 10 == 6;
}

void devices_make_folder(const test_folder *folder, const char *to, size_t count, bool spoiled)
{
    for (size_t i = 0; i < count; i++) {
        char name[64];
        bool jpeg = i % 2 == 0;
        picture_file file =
            pack_image(jpeg ? PACK_JPEG : PACK_PNG_3, 30 + (uint32_t)(i * 7 % 40), 30 + (uint32_t)(i * 5 % 40), i);
        if (spoiled && devices_is_bad(i))
            file.nbytes = i % 10 == 3 ? file.nbytes / 2 : 0;
        snprintf(name, sizeof name, "%s/%c/%03zu.%s", to, "abc"[i % 3], i, jpeg ? "jpg" : "png");
        test_folder_write(folder, name, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

void devices_keep_cache_in(const test_folder *folder)
{
    char path[512];
    assert_int_equal(setenv("XDG_CACHE_HOME", test_folder_path(folder, "cache", path), 1), 0);
}

const char *devices_machine(const test_folder *folder, const char *text)
{
    static char device[600];
    char path[512];
    test_folder_write(folder, "machine.json", text, strlen(text));
    snprintf(device, sizeof device, "sim:%s", test_folder_path(folder, "machine.json", path));
    return device;
}

static void put(devices_tape *tape, const void *bytes, size_t nbytes)
{
    if (tape->nbytes + nbytes > tape->capacity) {
        tape->capacity = 2 * tape->capacity + nbytes;
        tape->bytes = realloc(tape->bytes, tape->capacity);
        assert_non_null(tape->bytes);
    }
    memcpy(tape->bytes + tape->nbytes, bytes, nbytes);
    tape->nbytes += nbytes;
}

static void put_batch(devices_tape *tape, mr_batch *b)
{
    uint64_t numbers[] = {b->epoch, b->number, b->position, b->count, b->size, b->last, mr_batch_hash(b)};
    put(tape, numbers, sizeof numbers);
    put(tape, b->labels, b->size * sizeof *b->labels);
    put(tape, b->ordinals, b->size * sizeof *b->ordinals);
    put(tape, b->positions, b->size * sizeof *b->positions);
    put(tape, b->mask, b->size);
    put(tape, b->images, b->images_nbytes);
    tape->batches++;
}

void devices_run(mr_loader *loader, uint64_t most, devices_tape *tape)
{
    mr_batch *batch = NULL;
    uint64_t before = mr__team_now_ns(loader);
    for (uint64_t n = 0; n < most; n++) {
        tape->result = mr_loader_next(loader, &batch);
        if (tape->result != 0 || batch == NULL)
            break;
        uint64_t now = mr__team_now_ns(loader);
        if (now - before > tape->gap_ns)
            tape->gap_ns = now - before;
        before = now;
        put_batch(tape, batch);
        mr_batch_release(batch);
    }
    snprintf(tape->detail, sizeof tape->detail, "%s", tape->result != 0 ? mr_loader_detail(loader) : "");
    tape->stats.struct_size = sizeof tape->stats;
    assert_int_equal(mr_loader_get_stats(loader, &tape->stats), 0);
}

devices_tape devices_all(mr_dataset *dataset, const char *recipe, const mr_loader_options *options)
{
    devices_tape tape = {0};
    mr_loader *loader = loading_new(dataset, recipe, options);
    devices_run(loader, UINT64_MAX, &tape);
    mr_loader_free(loader);
    return tape;
}

void devices_tape_fini(devices_tape *tape)
{
    free(tape->bytes);
    *tape = (devices_tape){0};
}

void devices_compare(const devices_tape *got, const devices_tape *wanted, const char *what)
{
    if (got->result != wanted->result)
        fail_msg("%s: %s after %zu batches: %s", what, mr_error_name(got->result), got->batches, got->detail);
    if (got->batches != wanted->batches || got->nbytes != wanted->nbytes)
        fail_msg("%s: %zu batches, not %zu", what, got->batches, wanted->batches);
    for (size_t i = 0; i < got->nbytes; i++)
        if (got->bytes[i] != wanted->bytes[i])
            fail_msg("%s: byte %zu of %zu, in batch %zu, is another one", what, i, got->nbytes,
                     i / (got->nbytes / got->batches));
}

/* 1. Random machines. */

static double between(uint64_t *seed, double from, double to)
{
    return from + (to - from) * picture_random_below(seed, 1000) / 1000.0;
}

static size_t write_faults(uint64_t *seed, char *text, size_t nbytes)
{
    size_t at = (size_t)snprintf(text, nbytes, ", \"faults\": [");
    uint32_t count = 1 + picture_random_below(seed, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t after = picture_random_below(seed, 60), back = 1 + picture_random_below(seed, 3000);
        const char *comma = i != 0 ? ", " : "";
        switch (picture_random_below(seed, 6)) {
        case 0:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"lost\", \"after\": %u}", comma, after);
            break;
        case 1:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"lost\", \"after\": %u, \"back_ms\": %u}",
                                   comma, after, back);
            break;
        case 2:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"hang\", \"after\": %u}", comma, after);
            break;
        case 3:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"hang\", \"after\": %u, \"back_ms\": %u}",
                                   comma, after, back);
            break;
        case 4:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"wrong\", \"after\": %u, \"every\": %u}",
                                   comma, after, 1 + after / 7);
            break;
        default:
            at += (size_t)snprintf(text + at, nbytes - at, "%s{\"kind\": \"freeze\", \"at_ms\": %u, \"for_ms\": %u}",
                                   comma, after, back);
        }
    }
    return at + (size_t)snprintf(text + at, nbytes - at, "]");
}

void devices_random(uint64_t *seed, uint32_t count, bool faults, char text[16384])
{
    size_t nbytes = 16384, at = 0;
    at += (size_t)snprintf(text, nbytes, "{\"seed\": %u, \"devices\": [", picture_random_below(seed, 1 << 20));
    for (uint32_t d = 0; d < count; d++) {
        uint32_t lanes = 1 + picture_random_below(seed, d == 0 ? 8 : 3), group = 1 + picture_random_below(seed, 20);
        uint32_t launch = picture_random_below(seed, 3) == 0 ? 0 : picture_random_below(seed, 2000);
        at += (size_t)snprintf(text + at, nbytes - at,
                               "%s{\"name\": \"d%u\", \"kind\": \"%s\", \"lanes\": %u, \"speed\": %.3f, "
                               "\"jitter\": %.2f, \"launch_us\": %u, \"group\": %u, \"depth\": %u",
                               d != 0 ? ", " : "", d, d == 0 ? "cpu" : "accelerator", lanes,
                               d == 0 ? 1.0 : between(seed, 0.05, 16), between(seed, 0, 1), d == 0 ? 0 : launch,
                               d == 0 ? 1 : group, 1 + picture_random_below(seed, 4));
        if (d != 0 && picture_random_below(seed, 3) == 0)
            at += (size_t)snprintf(text + at, nbytes - at, ", \"memory_mb\": %.3f", between(seed, 0.01, 3));
        if (d != 0 && faults)
            at += write_faults(seed, text + at, nbytes - at);
        at += (size_t)snprintf(text + at, nbytes - at, "}");
    }
    snprintf(text + at, nbytes - at, "], \"cost\": {\"default\": {\"us\": %.1f, \"spread\": %.2f}}}",
             between(seed, 20, 3000), between(seed, 0, 1));
}
