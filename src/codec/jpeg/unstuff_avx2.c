// SPDX-License-Identifier: Apache-2.0
/* 32 bytes are copied before anybody looks at them: those behind an ff are overwritten by what really follows. */
#if defined(__x86_64__)

#include "codec/jpeg/scan_kernels.h"

#include <immintrin.h>

__attribute__((target("avx2,bmi"))) size_t mr__jpeg_unstuff_avx2(const uint8_t *from, size_t nbytes, uint8_t *to,
                                                                 size_t *to_nbytes)
{
    const uint8_t *p = from, *end = from + nbytes;
    uint8_t *q = to;
    const __m256i ff = _mm256_set1_epi8(-1);
    while (end - p > 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
        uint32_t found = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, ff));
        _mm256_storeu_si256((__m256i *)(void *)q, bytes);
        size_t plain = found == 0 ? 32 : (size_t)__builtin_ctz(found);
        p += plain;
        q += plain;
        if (found == 0)
            continue;
        if (p[1] != 0) {
            *to_nbytes = (size_t)(q - to);
            return (size_t)(p - from);
        }
        p += 2;
        q += 1;
    }
    size_t rest, taken = mr__jpeg_unstuff_c(p, (size_t)(end - p), q, &rest);
    *to_nbytes = (size_t)(q - to) + rest;
    return (size_t)(p - from) + taken;
}

#endif
