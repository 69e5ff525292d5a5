// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes of a row index: doc/format-jpeg-index.md.
 *
 * Invariants:
 * 1. Whatever the bytes are, mr__jpeg_index_next reads only inside them: an entry has fewer than 8 * 8 - 7 bits to each
 *    field, and the 8 bytes of the hash stand behind the last one.
 * 2. One index has one spelling: widths are the least that do, the step is the least that fits, unused bits are 0. Only
 *    the last of these is checked on reading.
 */
#include "codec/jpeg/index.h"

#include "base/hash.h"
#include "base/size.h"

enum { HEAD_NBYTES = 32, HASH_NBYTES = 8 };
enum { DELTA_BITS_MAX = 40, BEFORE_BITS_MAX = 16 };
enum { AT_MAGIC = 0, AT_VERSION = 4, AT_COMPONENTS = 5, AT_STEP = 6, AT_COUNT = 8, AT_DELTA_BITS = 10 };
enum { AT_BEFORE_BITS = 11, AT_RESERVED = 14, AT_JPEG_NBYTES = 16, AT_JPEG_HASH = 24 };
enum { VERSION = 1 };

static const uint8_t magic[4] = {0x8a, 'M', 'R', 'I'};

static uint32_t entry_bits(const mr__jpeg_index *index)
{
    uint32_t bits = index->delta_bits;
    for (uint32_t i = 0; i < index->components; i++)
        bits += index->before_bits[i];
    return bits;
}

/* The whole index; count and widths are small: no overflow. */
static size_t nbytes_of(const mr__jpeg_index *index)
{
    return HEAD_NBYTES + ((size_t)index->count * entry_bits(index) + 7) / 8 + HASH_NBYTES;
}

/* How many bits a number takes: 0 takes none. */
static uint8_t width_of(uint64_t value)
{
    return (uint8_t)(value != 0 ? 64 - __builtin_clzll(value) : 0);
}

/* And one with a sign. */
static uint8_t signed_width_of(int32_t value)
{
    return value != 0 ? (uint8_t)(width_of(value < 0 ? ~(uint32_t)value : (uint32_t)value) + 1) : 0;
}

/* The index of every step-th row, but for its key. */
static mr__jpeg_index measure(const mr__jpeg_row *rows, uint32_t count, uint32_t components, uint32_t step)
{
    mr__jpeg_index index = {.components = components, .step = step, .count = (count - 1) / step};
    for (uint32_t y = step; y < count; y += step) {
        uint8_t width = width_of(rows[y].at - rows[y - step].at);
        index.delta_bits = width > index.delta_bits ? width : index.delta_bits;
        for (uint32_t i = 0; i < components; i++) {
            width = signed_width_of(rows[y].before[i]);
            index.before_bits[i] = width > index.before_bits[i] ? width : index.before_bits[i];
        }
    }
    return index;
}

static bool can_be(const mr__jpeg_index *index)
{
    bool fits = index->delta_bits >= 1 && index->delta_bits <= DELTA_BITS_MAX;
    for (uint32_t i = 0; i < MR__JPEG_PLANE_MAX; i++)
        fits &= index->before_bits[i] <= (i < index->components ? BEFORE_BITS_MAX : 0);
    return fits;
}

/* The lowest `width` bits of a value, at most 40, behind *at bits: each byte's lowest bit comes first. */
static void put_bits(uint8_t *bytes, size_t *at, uint64_t value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++, (*at)++)
        bytes[*at / 8] = (uint8_t)(bytes[*at / 8] | (value >> i & 1) << *at % 8);
}

static uint64_t get_bits(const uint8_t *bytes, size_t *at, uint32_t width)
{
    if (width == 0)
        return 0;
    uint64_t value = mr__load_le64(bytes + *at / 8) >> *at % 8 & ((UINT64_C(1) << width) - 1);
    *at += width;
    return value;
}

static void write_head(const mr__jpeg_index *index, uint8_t *bytes)
{
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    bytes[AT_VERSION] = VERSION;
    bytes[AT_COMPONENTS] = (uint8_t)index->components;
    mr__store_le16(bytes + AT_STEP, (uint16_t)index->step);
    mr__store_le16(bytes + AT_COUNT, (uint16_t)index->count);
    bytes[AT_DELTA_BITS] = index->delta_bits;
    memcpy(bytes + AT_BEFORE_BITS, index->before_bits, sizeof index->before_bits);
    mr__store_le64(bytes + AT_JPEG_NBYTES, index->key.nbytes);
    mr__store_le64(bytes + AT_JPEG_HASH, index->key.hash);
}

size_t mr__jpeg_index_write(const mr__jpeg_row *rows, uint32_t count, uint32_t components, mr__jpeg_index_key key,
                            uint8_t bytes[MR__JPEG_INDEX_NBYTES_MAX])
{
    uint32_t step = 1;
    if (count < 2)
        return 0;
    // One entry always fits: at step count - 1 at the latest.
    mr__jpeg_index index = measure(rows, count, components, step);
    while (step < count - 1 && nbytes_of(&index) > MR__JPEG_INDEX_NBYTES_MAX)
        index = measure(rows, count, components, ++step);
    if (!can_be(&index))
        return 0;
    size_t at = 0, nbytes = nbytes_of(&index);
    index.key = key;
    memset(bytes, 0, nbytes);
    write_head(&index, bytes);
    for (uint32_t y = step; y < count; y += step) {
        put_bits(bytes + HEAD_NBYTES, &at, rows[y].at - rows[y - step].at, index.delta_bits);
        for (uint32_t i = 0; i < components; i++)
            put_bits(bytes + HEAD_NBYTES, &at, (uint32_t)rows[y].before[i], index.before_bits[i]);
    }
    mr__store_le64(bytes + nbytes - HASH_NBYTES, mr__hash(bytes, nbytes - HASH_NBYTES));
    return nbytes;
}

static void read_head(mr__jpeg_index *index, const uint8_t *bytes)
{
    *index = (mr__jpeg_index){.key = {mr__load_le64(bytes + AT_JPEG_NBYTES), mr__load_le64(bytes + AT_JPEG_HASH)},
                              .components = bytes[AT_COMPONENTS],
                              .step = mr__load_le16(bytes + AT_STEP),
                              .count = mr__load_le16(bytes + AT_COUNT),
                              .delta_bits = bytes[AT_DELTA_BITS],
                              .entries = bytes + HEAD_NBYTES};
    memcpy(index->before_bits, bytes + AT_BEFORE_BITS, sizeof index->before_bits);
}

/* Whether the bits between the last entry and the hash are 0. */
static bool ends_clean(const mr__jpeg_index *index)
{
    size_t bits = (size_t)index->count * entry_bits(index);
    return bits % 8 == 0 || index->entries[bits / 8] >> bits % 8 == 0;
}

const char *mr__jpeg_index_read(mr__jpeg_index *index, const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < HEAD_NBYTES + HASH_NBYTES || nbytes > MR__JPEG_INDEX_NBYTES_MAX)
        return "cannot have this length";
    if (memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
        return "does not begin as one does";
    if (mr__hash(bytes, nbytes - HASH_NBYTES) != mr__load_le64(bytes + nbytes - HASH_NBYTES))
        return "is damaged or cut: its hash differs";
    if (bytes[AT_VERSION] != VERSION)
        return "is of a later version";
    read_head(index, bytes);
    bool fits = mr__load_le16(bytes + AT_RESERVED) == 0 && index->components >= 1 &&
                index->components <= MR__JPEG_PLANE_MAX && index->step >= 1 && index->count >= 1 && can_be(index);
    if (!fits || nbytes != nbytes_of(index) || !ends_clean(index))
        return "has numbers that cannot be";
    return NULL;
}

void mr__jpeg_index_next(const mr__jpeg_index *index, uint32_t number, mr__jpeg_row *row)
{
    size_t at = (size_t)(number - 1) * entry_bits(index);
    row->at += get_bits(index->entries, &at, index->delta_bits);
    for (uint32_t i = 0; i < index->components; i++) {
        uint32_t width = index->before_bits[i];
        uint32_t value = (uint32_t)get_bits(index->entries, &at, width),
                 half = width != 0 ? UINT32_C(1) << (width - 1) : 0;
        row->before[i] = (int32_t)(value ^ half) - (int32_t)half;
    }
}
