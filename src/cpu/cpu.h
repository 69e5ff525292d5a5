// SPDX-License-Identifier: Apache-2.0
#ifndef MR_CPU_CPU_H
#define MR_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which instructions kernels may be chosen from. A kernel table is filled portable first, then upward by these. */
enum {
    MR__CPU_SSE41 = 1u << 0, /* with SSSE3 */
    MR__CPU_AVX2 = 1u << 1,
    MR__CPU_BMI2 = 1u << 2,
    MR__CPU_FAST_PDEP = 1u << 3, /* BMI2, and not in microcode (AMD before Zen 3) */
    MR__CPU_AVX512 = 1u << 4,    /* F, BW, VL, DQ, VBMI */
    MR__CPU_GFNI = 1u << 5,
    MR__CPU_NEON = 1u << 6,
    MR__CPU_CRC32C = 1u << 7, /* SSE4.2; the CRC extension of aarch64 */
    MR__CPU_FMA = 1u << 8     /* FMA and F16C; with AVX2 */
};

typedef uint32_t mr__cpu_flags;

/* What this processor and its operating system allow, masked by the environment's MILLRACE_CPU. */
mr__cpu_flags mr__cpu_detect(void);

/* The mask a MILLRACE_CPU text stands for ("portable", "sse41", "avx2", ...); false when it is not known. */
bool mr__cpu_mask_from_text(const char *text, mr__cpu_flags *mask);

#endif
