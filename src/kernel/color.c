// SPDX-License-Identifier: Apache-2.0
/* The portable kernels, and the choice of kernels. */
#include "kernel/color.h"

#include "kernel/color_pixel.h"

#include <string.h>

static bool are_bits(const uint8_t table[256], uint8_t keep, uint8_t turn)
{
    uint32_t other = 0;
    for (uint32_t v = 0; v < 256; v++)
        other |= ((v & keep) ^ turn) ^ table[v];
    return other == 0;
}

/* Whether values from `first` on are turned round, and all others as they were. */
static bool are_above(const uint8_t table[256], uint32_t first)
{
    uint32_t other = 0;
    for (uint32_t v = 0; v < 256; v++)
        other |= (v < first ? v : 255 - v) ^ table[v];
    return other == 0;
}

static mr__tables_kind kind_of(mr__color_tables *tables, uint32_t channels)
{
    const uint8_t *table = tables->table[0];
    if (channels == 3 && (memcmp(table, tables->table[1], 256) != 0 || memcmp(table, tables->table[2], 256) != 0))
        return MR__TABLES_THREE;
    tables->turn = table[0];
    tables->keep = table[0] ^ table[255];
    if (are_bits(table, tables->keep, tables->turn))
        return tables->keep == 255 && tables->turn == 0 ? MR__TABLES_NOTHING : MR__TABLES_BITS;
    uint32_t first = 0;
    while (first < 256 && table[first] == first)
        first++;
    tables->first = (uint8_t)first;
    return first < 256 && are_above(table, first) ? MR__TABLES_ABOVE : MR__TABLES_ONE;
}

void mr__color_tables_init(mr__color_tables *tables, uint8_t (*table)[256], uint32_t channels)
{
    channels = channels == 3 ? 3 : 1;
    memcpy(tables->table, table, channels * sizeof *table);
    tables->kind = kind_of(tables, channels);
    uint32_t used = tables->kind == MR__TABLES_THREE ? 3 : tables->kind == MR__TABLES_ONE ? 1 : 0;
    for (uint32_t c = 0; c < used; c++)
        for (uint32_t v = 0; v < 256; v++)
            tables->change[c][v] = tables->table[c][v] ^ (v % 128 < 16 ? 0 : tables->table[c][v - 16]);
}

static void bits_c(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    uint8_t keep = tables->keep, turn = tables->turn;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)((from[i] & keep) ^ turn);
}

/* 255 - v is v with all its bits turned. No branch: nobody can guess it. */
static void above_c(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    uint8_t first = tables->first;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(from[i] ^ (0 - (from[i] >= first)));
}

static void one_c(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = tables->table[0][from[i]];
}

static void three_c(const mr__color_tables *tables, const uint8_t *from, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < 3 * n; i += 3) {
        to[i] = tables->table[0][from[i]];
        to[i + 1] = tables->table[1][from[i + 1]];
        to[i + 2] = tables->table[2][from[i + 2]];
    }
}

static void grayscale_c(const uint8_t *from, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < 3 * n; i += 3)
        to[i] = to[i + 1] = to[i + 2] = (uint8_t)mr__gray(from[i], from[i + 1], from[i + 2]);
}

static void saturation_c(const uint8_t *from, size_t n, float factor, uint8_t *to)
{
    for (size_t i = 0; i < 3 * n; i += 3) {
        uint32_t gray = mr__gray(from[i], from[i + 1], from[i + 2]);
        for (size_t c = i; c < i + 3; c++)
            to[c] = mr__blend(gray, from[c], factor);
    }
}

static void hue_c(const uint8_t *from, size_t n, uint32_t turn, uint8_t *to)
{
    for (size_t i = 0; i < 3 * n; i += 3) {
        mr__hsv color = mr__hsv_of(from[i], from[i + 1], from[i + 2]);
        color.h = (color.h + turn) & 255u;
        mr__hsv_to_rgb(color, to + i);
    }
}

static void permute_c(const uint8_t *from, size_t n, uint32_t order, uint8_t *to)
{
    for (size_t i = 0; i < 3 * n; i += 3) {
        const uint8_t pixel[4] = {from[i], from[i + 1], from[i + 2], 0};
        for (size_t c = 0; c < 3; c++)
            to[i + c] = pixel[order >> (2 * c) & 3u];
    }
}

static void blend_c(const uint8_t *from, const uint8_t *other, size_t n, float alpha, uint8_t *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = mr__blend(from[i], other[i], alpha);
}

static uint64_t sum_c(const uint8_t *from, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += from[i];
    return sum;
}

static uint64_t sum_gray_c(const uint8_t *from, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < 3 * n; i += 3)
        sum += mr__gray(from[i], from[i + 1], from[i + 2]);
    return sum;
}

static void widen(uint8_t range[2], uint8_t value)
{
    range[0] = value < range[0] ? value : range[0];
    range[1] = value > range[1] ? value : range[1];
}

static void range_1_c(const uint8_t *from, size_t n, uint8_t range[1][2])
{
    for (size_t i = 0; i < n; i++)
        widen(range[0], from[i]);
}

static void range_3_c(const uint8_t *from, size_t n, uint8_t range[3][2])
{
    for (size_t i = 0; i < 3 * n; i += 3)
        for (size_t c = 0; c < 3; c++)
            widen(range[c], from[i + c]);
}

void mr__color_kernels_init(mr__color_kernels *kernels, mr__cpu_flags cpu)
{
    *kernels = (mr__color_kernels){
        .bits = bits_c,
        .above = above_c,
        .one = one_c,
        .three = three_c,
        .grayscale = grayscale_c,
        .saturation = saturation_c,
        .hue = hue_c,
        .permute = permute_c,
        .blend = blend_c,
        .sum = sum_c,
        .sum_gray = sum_gray_c,
        .range_1 = range_1_c,
        .range_3 = range_3_c,
    };
    (void)cpu;
#if defined(__x86_64__)
    mr__color_kernels_init_avx2(kernels, cpu);
    mr__color_tables_kernels_init_avx2(kernels, cpu);
    mr__color_kernels_init_avx512(kernels, cpu);
    mr__color_hue_kernels_init_avx512(kernels, cpu);
#elif defined(__aarch64__)
    mr__color_kernels_init_neon(kernels, cpu);
    mr__color_hue_kernels_init_neon(kernels, cpu);
#endif
}

void mr__color_apply(const mr__color_kernels *kernels, const mr__color_tables *tables, const uint8_t *from, size_t n,
                     uint32_t channels, uint8_t *to)
{
    switch (tables->kind) {
    case MR__TABLES_NOTHING:
        if (to != from)
            memcpy(to, from, n * channels);
        break;
    case MR__TABLES_BITS:
        kernels->bits(tables, from, n * channels, to);
        break;
    case MR__TABLES_ABOVE:
        kernels->above(tables, from, n * channels, to);
        break;
    case MR__TABLES_ONE:
        kernels->one(tables, from, n * channels, to);
        break;
    case MR__TABLES_THREE:
        kernels->three(tables, from, n, to);
        break;
    }
}

void mr__color_count_1(mr__color_counts *counts, const uint8_t *from, size_t n)
{
    size_t i = 0;
    for (; i + MR__COUNTERS <= n; i += MR__COUNTERS) {
#pragma GCC unroll 4
        for (size_t k = 0; k < MR__COUNTERS; k++)
            counts->of[k][0][from[i + k]]++;
    }
    for (; i < n; i++)
        counts->of[0][0][from[i]]++;
}

void mr__color_count_3(mr__color_counts *counts, const uint8_t *from, size_t n)
{
    size_t i = 0;
    for (; i + MR__COUNTERS <= n; i += MR__COUNTERS) {
#pragma GCC unroll 4
        for (size_t k = 0; k < MR__COUNTERS; k++) {
            counts->of[k][0][from[3 * (i + k)]]++;
            counts->of[k][1][from[3 * (i + k) + 1]]++;
            counts->of[k][2][from[3 * (i + k) + 2]]++;
        }
    }
    for (; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            counts->of[0][c][from[3 * i + c]]++;
}

void mr__color_count_sum(const mr__color_counts *counts, uint32_t channels, uint32_t (*histogram)[256])
{
    for (uint32_t c = 0; c < channels && c < 3; c++)
        for (uint32_t v = 0; v < 256; v++) {
            uint32_t sum = 0;
            for (size_t k = 0; k < MR__COUNTERS; k++)
                sum += counts->of[k][c][v];
            histogram[c][v] = sum;
        }
}
