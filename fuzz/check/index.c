// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a JPEG's row index. The input is a JPEG; its last bytes are also what an index is forged with.
 * 1. An index has at most 512 bytes, and is the same whatever stood in new memory.
 * 2. With it a region is what it is without; the other decoder takes it, too.
 * 3. Forged entries, and forged heads, with the right hashes: an error, or pixels that do not depend on new memory.
 * 4. Where damage is accepted a bad index changes nothing.
 */
#include "check.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    MOST = 512,
    HEAD = 32,
    HASH = 8,
    AT_STEP = 6,
    AT_COUNT = 8,
    AT_BITS = 10,
    AT_JPEG_NBYTES = 16,
    AT_JPEG_HASH = 24
};

typedef struct row_index {
    uint8_t bytes[MOST];
    size_t nbytes;
} row_index;

static int make_index(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, row_index *out)
{
    const void *index = decoder;
    size_t index_nbytes = 1;
    *out = (row_index){.nbytes = 0};
    int result = mr_decoder_index(decoder, bytes, nbytes, &index, &index_nbytes);
    FUZZ_REQUIRE(result != MR_EINTERNAL, "%s", mr_decoder_detail(decoder));
    FUZZ_REQUIRE((result == 0) == (mr_decoder_detail(decoder)[0] == '\0'), "detail '%s'", mr_decoder_detail(decoder));
    FUZZ_REQUIRE(result == 0 || (index == decoder && index_nbytes == 1), "a failed call wrote its result");
    if (result != 0)
        return result;
    FUZZ_REQUIRE(index_nbytes <= MOST, "an index of %zu bytes", index_nbytes);
    out->nbytes = index_nbytes;
    if (index_nbytes != 0)
        memcpy(out->bytes, index, index_nbytes);
    return 0;
}

static void put_u64(uint8_t *p, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* The hashes as they must be for this JPEG. */
static void seal(row_index *index, const uint8_t *bytes, size_t nbytes)
{
    put_u64(index->bytes + AT_JPEG_NBYTES, nbytes);
    put_u64(index->bytes + AT_JPEG_HASH, XXH3_64bits(bytes, nbytes));
    put_u64(index->bytes + index->nbytes - HASH, XXH3_64bits(index->bytes, index->nbytes - HASH));
}

/* Entries of another's making: some bytes changed, or all taken from the input's end. */
static row_index forge_entries(const row_index *good, const uint8_t *bytes, size_t nbytes, fuzz_draw *draw)
{
    row_index index = *good;
    size_t room = index.nbytes - HEAD - HASH, n = nbytes < room ? nbytes : room;
    if (fuzz_draw_below(draw, 4) == 0)
        memcpy(index.bytes + HEAD, bytes + nbytes - n, n);
    else
        for (uint32_t i = 0; i <= fuzz_draw_below(draw, 4); i++)
            index.bytes[HEAD + fuzz_draw_below(draw, (uint32_t)room)] ^= (uint8_t)fuzz_draw_u64(draw);
    seal(&index, bytes, nbytes);
    return index;
}

/* Bits of the entries, from the lowest of each byte on. */
static uint64_t get_bits(const uint8_t *bytes, size_t at, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < width; i++, at++)
        value |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << i;
    return value;
}

static void set_bits(uint8_t *bytes, size_t at, uint32_t width, uint64_t value)
{
    for (uint32_t i = 0; i < width; i++, at++)
        bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~(1u << at % 8)) | (uint32_t)(value >> i & 1) << at % 8);
}

/* The first marker, or fill byte before one, from `at` on; with `kind` not 0, of that kind. The length: none. */
static size_t find_marker(const uint8_t *bytes, size_t nbytes, size_t at, uint8_t kind)
{
    while (at + 1 < nbytes && (bytes[at] != 0xff || bytes[at + 1] == 0 || (kind != 0 && bytes[at + 1] != kind)))
        at++;
    return at + 1 < nbytes ? at : nbytes;
}

/*
 * An entry that is aimed at a marker, or at fill bytes: the next one behind the entry before. The entry that follows is
 * moved by as much the other way, so that the others stay right. What does not fit the bits is cut off.
 */
static row_index forge_aim(const row_index *good, const uint8_t *bytes, size_t nbytes, fuzz_draw *draw)
{
    row_index index = *good;
    uint8_t *entries = index.bytes + HEAD;
    uint32_t width = index.bytes[AT_BITS], bits = 0;
    uint32_t count = index.bytes[AT_COUNT] | (uint32_t)index.bytes[AT_COUNT + 1] << 8;
    size_t scan = find_marker(bytes, nbytes, 0, 0xda);
    for (int i = 0; i < 4; i++)
        bits += index.bytes[AT_BITS + i];
    uint64_t at = nbytes - scan > 4 ? (scan + 2 + (bytes[scan + 2] << 8 | bytes[scan + 3])) * UINT64_C(8) : 0;
    size_t number = fuzz_draw_below(draw, count);
    for (size_t i = 0; i < number; i++)
        at += get_bits(entries, i * bits, width);
    uint64_t aim = find_marker(bytes, nbytes, (size_t)(at / 8) + 1, 0) * UINT64_C(8) + fuzz_draw_below(draw, 24);
    uint64_t moved = aim - at - get_bits(entries, number * bits, width);
    set_bits(entries, number * bits, width, aim - at);
    if (number + 1 < count)
        set_bits(entries, (number + 1) * bits, width, get_bits(entries, (number + 1) * bits, width) - moved);
    seal(&index, bytes, nbytes);
    return index;
}

/* A head with other numbers, as long as it says as far as that goes. */
static row_index forge_head(const row_index *good, const uint8_t *bytes, size_t nbytes, fuzz_draw *draw)
{
    row_index index = *good;
    uint64_t value = fuzz_draw_u64(draw);
    switch (fuzz_draw_below(draw, 3)) {
    case 0: // another step, and the entries that go with it
        index.bytes[AT_STEP] = (uint8_t)(1 + value % 9);
        break;
    case 1:
        index.bytes[AT_BITS + value % 4] = (uint8_t)(value >> 8) % 42;
        break;
    default:
        memcpy(index.bytes + AT_COUNT, &value, 2);
    }
    uint32_t bits = 0, count = index.bytes[AT_COUNT] | (uint32_t)index.bytes[AT_COUNT + 1] << 8;
    for (int i = 0; i < 4; i++)
        bits += index.bytes[AT_BITS + i];
    size_t length = HEAD + HASH + ((size_t)count * bits + 7) / 8;
    index.nbytes = length <= MOST ? length : MOST;
    seal(&index, bytes, nbytes);
    return index;
}

typedef struct subject {
    mr_decoder *decoder[2];
    fuzz_heap heap[2];
    const uint8_t *bytes;
    size_t nbytes;
    mr_decode_hints hints;
} subject;

static fuzz_outcome decode_with(const subject *s, int i, const row_index *index, bool accept)
{
    mr_decode_hints h = s->hints;
    h.accept_damaged = accept;
    h.index = index != NULL ? index->bytes : NULL;
    h.index_nbytes = index != NULL ? index->nbytes : 0;
    return fuzz_decode(s->decoder[i], s->bytes, s->nbytes, &h);
}

/* 3 and 4 */
static void check_forged(const subject *s, const row_index *forged)
{
    fuzz_outcome a = decode_with(s, 0, forged, false), b = decode_with(s, 1, forged, false);
    FUZZ_REQUIRE(a.result == b.result && a.hash == b.hash, "a forged index: %s, then %s", a.detail, b.detail);
    a = decode_with(s, 0, forged, true);
    b = decode_with(s, 0, NULL, true);
    FUZZ_REQUIRE(a.result == b.result, "damage is accepted: %s; without the index: %s", a.detail, b.detail);
}

/* 2 */
static void check_same(const subject *s, const row_index *index)
{
    fuzz_outcome without = decode_with(s, 0, NULL, false), with = decode_with(s, 1, index, false);
    FUZZ_REQUIRE(without.result == with.result && without.hash == with.hash, "without: '%s', with its index: '%s'",
                 without.detail, with.detail);
}

static void check_subject(subject *s, fuzz_draw *draw)
{
    row_index index[2];
    mr_image shape;
    int result = make_index(s->decoder[0], s->bytes, s->nbytes, &index[0]);
    FUZZ_REQUIRE(result == make_index(s->decoder[1], s->bytes, s->nbytes, &index[1]), "another code");
    FUZZ_REQUIRE(memcmp(&index[0], &index[1], sizeof index[0]) == 0, "the index depends on new memory");
    if (result != 0 || index[0].nbytes == 0)
        return;
    s->hints = fuzz_draw_hints(draw);
    s->hints.accept_damaged = false;
    if (mr_decoder_shape(s->decoder[0], s->bytes, s->nbytes, &s->hints, &shape) != 0)
        return;
    for (int i = 0; i < 3; i++) {
        s->hints.region = fuzz_draw_region(draw, shape.width, shape.height);
        check_same(s, &index[0]);
        static row_index (*const forge[])(const row_index *, const uint8_t *, size_t,
                                          fuzz_draw *) = {forge_head, forge_entries, forge_entries, forge_aim};
        row_index forged = forge[fuzz_draw_below(draw, 4)](&index[0], s->bytes, s->nbytes, draw);
        check_forged(s, &forged);
    }
}

void fuzz_check_index(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    if (form != MR_FORM_NONE && mr_form_probe(bytes, nbytes) != form)
        return;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    subject s = {.heap = {{.fill = 0x5a}, {.fill = 0xa5}}, .bytes = bytes, .nbytes = nbytes};
    for (int i = 0; i < 2; i++)
        s.decoder[i] = fuzz_decoder_new(setting, &s.heap[i]);
    check_subject(&s, &draw);
    for (int i = 0; i < 2; i++) {
        mr_decoder_free(s.decoder[i]);
        FUZZ_REQUIRE(s.heap[i].blocks == 0, "%lld blocks are left", (long long)s.heap[i].blocks);
    }
}

/* Makes an index and uses it. */
static int run_all(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, fuzz_draw draw)
{
    row_index index;
    mr_image shape;
    int result = make_index(decoder, bytes, nbytes, &index);
    if (result != 0 || index.nbytes == 0)
        return result;
    mr_decode_hints h = {.struct_size = sizeof h, .index = index.bytes, .index_nbytes = index.nbytes};
    result = mr_decoder_shape(decoder, bytes, nbytes, &h, &shape);
    if (result != 0)
        return result;
    h.region = fuzz_draw_region(&draw, shape.width, shape.height);
    return fuzz_decode(decoder, bytes, nbytes, &h).result;
}

static uint64_t run_failing(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes, uint64_t fail_at,
                            bool fail_on, int *calm)
{
    fuzz_heap heap = {.fill = 0xa5};
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    if (setting->arm != NULL)
        setting->arm(&heap);
    mr_decoder *decoder = fuzz_decoder_new(setting, &heap);
    heap.fail_at = fail_at != 0 ? heap.calls + fail_at : 0;
    heap.fail_on = fail_on;
    uint64_t before = heap.calls;
    int result = run_all(decoder, bytes, nbytes, draw);
    uint64_t calls = heap.calls - before;
    if (fail_at == 0)
        *calm = result;
    FUZZ_REQUIRE(result == *calm || result == MR_ENOMEM, "allocation %llu fails: %s", (unsigned long long)fail_at,
                 mr_decoder_detail(decoder));
    heap.fail_at = 0;
    FUZZ_REQUIRE(run_all(decoder, bytes, nbytes, draw) == *calm, "with memory again: %s", mr_decoder_detail(decoder));
    mr_decoder_free(decoder);
    if (setting->arm != NULL)
        setting->arm(NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    return calls;
}

void fuzz_check_index_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    if (mr_form_probe(bytes, nbytes) != MR_FORM_JPEG || (form != MR_FORM_NONE && form != MR_FORM_JPEG))
        return;
    int calm = 0;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    uint64_t calls = run_failing(setting, bytes, nbytes, 0, false, &calm);
    for (uint64_t i = 1; setting->every && i <= calls; i++)
        run_failing(setting, bytes, nbytes, i, false, &calm);
    for (int i = 0; i < 3 && calls != 0; i++)
        run_failing(setting, bytes, nbytes, 1 + fuzz_draw_u64(&draw) % calls, fuzz_draw_below(&draw, 2) == 0, &calm);
}
