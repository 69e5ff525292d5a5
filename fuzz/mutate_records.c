// SPDX-License-Identifier: Apache-2.0
/* TFRecord files: the data of a record is changed, or the file, and most of the time the sums made right again. */
#include "mutate.h"

#include <string.h>

enum { HEAD = 12, TAIL = 4, DATA_MAX = 4096 };

static uint32_t sum(const uint8_t *bytes, size_t nbytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint64_t get(const uint8_t *bytes, size_t nbytes)
{
    uint64_t value = 0;
    for (size_t i = nbytes; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static void put(uint8_t *bytes, uint64_t value, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

bool fuzz_is_tfrecord(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= HEAD + TAIL && get(bytes + 8, 4) == sum(bytes, 8);
}

/* The end of the record at `at`; `nbytes` where there is none. */
static size_t end_of(const uint8_t *bytes, size_t nbytes, size_t at)
{
    if (nbytes - at < HEAD + TAIL || get(bytes + at, 8) > nbytes - at - HEAD - TAIL)
        return nbytes;
    return at + HEAD + (size_t)get(bytes + at, 8) + TAIL;
}

static void mend(uint8_t *bytes, size_t nbytes)
{
    for (size_t at = 0, end; nbytes - at >= HEAD + TAIL; at = end) {
        end = end_of(bytes, nbytes, at);
        put(bytes + at + 8, sum(bytes + at, 8), 4);
        put(bytes + end - TAIL, sum(bytes + at + HEAD, end - at - HEAD - TAIL), 4);
    }
}

/* One record, and its length with it. */
static size_t mutate_data(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    uint8_t data[DATA_MAX];
    size_t at = 0, end = end_of(bytes, nbytes, 0);
    for (uint32_t skip = seed % 4; skip > 0 && end < nbytes; skip--) {
        at = end;
        end = end_of(bytes, nbytes, at);
    }
    if (end - at < HEAD + TAIL || end - at - HEAD - TAIL > DATA_MAX)
        return LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
    size_t old = end - at - HEAD - TAIL, room = old + (max_nbytes - nbytes);
    memcpy(data, bytes + at + HEAD, old);
    size_t now = LLVMFuzzerMutate(data, old, room < DATA_MAX ? room : DATA_MAX);
    memmove(bytes + at + HEAD + now, bytes + at + HEAD + old, nbytes - at - HEAD - old);
    memcpy(bytes + at + HEAD, data, now);
    put(bytes + at, now, 8);
    return nbytes - old + now;
}

size_t fuzz_mutate_tfrecord(uint8_t *bytes, size_t nbytes, size_t max_nbytes, uint32_t seed)
{
    nbytes = seed / 16 % 8 == 0 ? LLVMFuzzerMutate(bytes, nbytes, max_nbytes)
                                : mutate_data(bytes, nbytes, max_nbytes, seed / 128);
    if (seed / 16 % 16 != 1)
        mend(bytes, nbytes);
    return nbytes;
}
