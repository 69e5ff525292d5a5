// SPDX-License-Identifier: Apache-2.0
/* What libFuzzer calls to change an input: forms with checksums get them made right again, most of the time. */
#include "mutate.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nbytes, size_t max_nbytes, unsigned int seed);

/* doc/format-raw.md: the hash of the first 56 bytes of the header stands in the next eight, little-endian. */
static void mend_raw(uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 64 || memcmp(bytes, "\x8aMRR\r\n\x1a\n", 8) != 0)
        return;
    uint64_t hash = XXH3_64bits(bytes, 56);
    for (int i = 0; i < 8; i++)
        bytes[56 + i] = (uint8_t)(hash >> 8 * i);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t nbytes, size_t max_nbytes, unsigned int seed)
{
    bool plain = seed % 16 == 0;
    if (!plain && fuzz_is_tfrecord(bytes, nbytes))
        return fuzz_mutate_tfrecord(bytes, nbytes, max_nbytes, seed);
    if (!plain && fuzz_is_png(bytes, nbytes))
        return fuzz_mutate_png(bytes, nbytes, max_nbytes, seed);
    if (!plain && fuzz_is_l3(bytes, nbytes))
        return fuzz_mutate_l3(bytes, nbytes, max_nbytes, seed);
    if (seed % 4 != 0 && fuzz_is_jpeg(bytes, nbytes))
        return fuzz_mutate_jpeg(bytes, nbytes, max_nbytes, seed);
    if (!plain && fuzz_is_tar(bytes, nbytes))
        return fuzz_mutate_tar(bytes, nbytes, max_nbytes, seed);
    nbytes = LLVMFuzzerMutate(bytes, nbytes, max_nbytes);
    if (!plain)
        mend_raw(bytes, nbytes);
    return nbytes;
}
