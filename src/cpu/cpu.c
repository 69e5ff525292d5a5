// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu.h"

#include <millrace/system.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each name allows what its line says and nothing above it; the last line of a family allows all of it. */
static const struct level {
    const char *name;
    mr__cpu_flags mask;
} levels[] = {
    {"portable", 0},
    {"sse41", MR__CPU_SSE41},
    {"avx2", MR__CPU_SSE41 | MR__CPU_CRC32C | MR__CPU_AVX2 | MR__CPU_FMA | MR__CPU_BMI2 | MR__CPU_FAST_PDEP},
    {"avx2-slowpdep", MR__CPU_SSE41 | MR__CPU_CRC32C | MR__CPU_AVX2 | MR__CPU_FMA | MR__CPU_BMI2},
    {"avx512", MR__CPU_SSE41 | MR__CPU_CRC32C | MR__CPU_AVX2 | MR__CPU_FMA | MR__CPU_BMI2 | MR__CPU_FAST_PDEP |
                   MR__CPU_AVX512 | MR__CPU_GFNI},
    {"neon", MR__CPU_NEON | MR__CPU_CRC32C},
    {"all", UINT32_MAX},
};

static const struct level names[] = {
    {"sse41", MR__CPU_SSE41},         {"avx2", MR__CPU_AVX2},     {"bmi2", MR__CPU_BMI2},
    {"fast-pdep", MR__CPU_FAST_PDEP}, {"avx512", MR__CPU_AVX512}, {"gfni", MR__CPU_GFNI},
    {"neon", MR__CPU_NEON},           {"crc32c", MR__CPU_CRC32C}, {"fma", MR__CPU_FMA},
};

bool mr__cpu_mask_from_text(const char *text, mr__cpu_flags *mask)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(text, levels[i].name) == 0) {
            *mask = levels[i].mask;
            return true;
        }
    }
    return false;
}

#if defined(__x86_64__)
#include <cpuid.h>

/* F16C has no name in the compilers' own lists that all of them know: bit 29 of leaf 1. It needs what AVX2 needs. */
static bool has_fma(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c >> 29 & 1u) != 0;
}

/*
 * PDEP and PEXT run in microcode, hundreds of cycles, on AMD families below 0x19 (Zen 3) and on what others make of
 * them (Hygon). So only makers that are known to do better are trusted.
 */
static bool has_fast_pdep(void)
{
    bool fast_amd = __builtin_cpu_is("amd") && !__builtin_cpu_is("amdfam15h") && !__builtin_cpu_is("amdfam17h");
    return __builtin_cpu_supports("bmi2") && (__builtin_cpu_is("intel") || fast_amd);
}

static mr__cpu_flags probe(void)
{
    mr__cpu_flags flags = 0;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3"))
        flags |= MR__CPU_SSE41;
    if (__builtin_cpu_supports("sse4.2"))
        flags |= MR__CPU_CRC32C;
    if (__builtin_cpu_supports("avx2"))
        flags |= MR__CPU_AVX2;
    if (has_fma())
        flags |= MR__CPU_FMA;
    if (__builtin_cpu_supports("bmi2"))
        flags |= MR__CPU_BMI2;
    if (has_fast_pdep())
        flags |= MR__CPU_FAST_PDEP;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi"))
        flags |= MR__CPU_AVX512;
    if (__builtin_cpu_supports("gfni"))
        flags |= MR__CPU_GFNI;
    return flags;
}

#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

static mr__cpu_flags probe(void)
{
    mr__cpu_flags flags = MR__CPU_NEON; // part of every aarch64
    if ((getauxval(AT_HWCAP) & HWCAP_CRC32) != 0)
        flags |= MR__CPU_CRC32C;
    return flags;
}

#else
#error "Millrace is built for Linux on x86-64 and aarch64; see README.md, Platforms"
#endif

mr__cpu_flags mr__cpu_detect(void)
{
    mr__cpu_flags mask = UINT32_MAX;
    const char *text = getenv("MILLRACE_CPU");
    // An unknown name masks everything: a typing error is then seen as slowness, never as a wrong result.
    if (text != NULL && text[0] != '\0' && !mr__cpu_mask_from_text(text, &mask))
        mask = 0;
    return probe() & mask;
}

/* The names in a table whose bits `flags` has, separated by spaces; as snprintf writes and returns. */
static size_t join(const struct level *table, size_t count, mr__cpu_flags flags, char *text, size_t nbytes)
{
    char all[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if ((table[i].mask & flags) == table[i].mask)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? " " : "", table[i].name);
    return (size_t)snprintf(text, nbytes, "%s", used ? all : "portable");
}

size_t mr_cpu_text(char *text, size_t nbytes)
{
    return join(names, sizeof names / sizeof *names, mr__cpu_detect(), text, nbytes);
}

size_t mr_cpu_names(char *text, size_t nbytes)
{
    return join(levels, sizeof levels / sizeof *levels, UINT32_MAX, text, nbytes);
}
