// SPDX-License-Identifier: Apache-2.0
/* The portable kernels, and the choice of kernels. */
#include "step/resample.h"

static uint8_t round_u8(int32_t sum)
{
    int32_t value = sum >> MR__RESAMPLE_BITS;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static uint16_t round_u16(double sum)
{
    return (uint16_t)(sum < 0.0 ? 0.0 : sum >= 65535.0 ? 65535.0 : sum + 0.5);
}

static const int32_t half = 1 << (MR__RESAMPLE_BITS - 1);

/* With a number of channels that the compiler knows. */
#define INLINE static inline __attribute__((always_inline))

INLINE void across_u8(const mr__resample_axis *axis, size_t channels, const uint8_t *from, uint8_t *to)
{
    for (uint32_t x = 0; x < axis->out; x++, to += channels) {
        const uint8_t *at = from + axis->first[x] * channels;
        const int32_t *weights = axis->weights + x * axis->pitch;
        int32_t sum[4] = {half, half, half, half};
        for (uint32_t i = 0; i < axis->count[x]; i++, at += channels)
            for (size_t c = 0; c < channels; c++)
                sum[c] += weights[i] * at[c];
        for (size_t c = 0; c < channels; c++)
            to[c] = round_u8(sum[c]);
    }
}

void mr__resample_across_u8_c(const mr__resample_axis *axis, uint32_t channels, const uint8_t *const from[2],
                              uint8_t *const to[2], uint8_t *scratch)
{
    (void)scratch;
    for (size_t row = 0; row < (from[0] == from[1] ? 1 : 2); row++) {
        if (channels == 1)
            across_u8(axis, 1, from[row], to[row]);
        else if (channels == 2)
            across_u8(axis, 2, from[row], to[row]);
        else if (channels == 3)
            across_u8(axis, 3, from[row], to[row]);
        else
            across_u8(axis, 4, from[row], to[row]);
    }
}

static void across_u16_c(const mr__resample_axis *axis, uint32_t channels, const uint8_t *const from[2],
                         uint8_t *const to[2], uint8_t *scratch)
{
    (void)scratch;
    for (size_t row = 0; row < (from[0] == from[1] ? 1 : 2); row++) {
        const uint16_t *samples = (const void *)from[row];
        uint16_t *out = (void *)to[row];
        for (uint32_t x = 0; x < axis->out; x++) {
            const uint16_t *at = samples + (size_t)axis->first[x] * channels;
            const double *weights = axis->weights16 + x * axis->pitch;
            double sum[4] = {0.0, 0.0, 0.0, 0.0};
            for (uint32_t i = 0; i < axis->count[x]; i++, at += channels)
                for (uint32_t c = 0; c < channels; c++)
                    sum[c] += at[c] * weights[i];
            for (uint32_t c = 0; c < channels; c++)
                *out++ = round_u16(sum[c]);
        }
    }
}

/* So many samples at a time go down together: their sums stay close. */
enum { BLOCK = 64 };

void mr__resample_down_u8_c(const mr__resample_axis *axis, uint32_t y, const uint8_t *const *rows, uint8_t *to,
                            size_t n)
{
    const int32_t *weights = axis->weights + y * axis->pitch;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t some = n - at < BLOCK ? n - at : BLOCK;
        int32_t sum[BLOCK];
        for (size_t s = 0; s < some; s++)
            sum[s] = half;
        for (uint32_t i = 0; i < axis->count[y]; i++)
            for (size_t s = 0; s < some; s++)
                sum[s] += weights[i] * rows[i][at + s];
        for (size_t s = 0; s < some; s++)
            to[at + s] = round_u8(sum[s]);
    }
}

static void down_u16_c(const mr__resample_axis *axis, uint32_t y, const uint8_t *const *rows, uint8_t *to, size_t n)
{
    const double *weights = axis->weights16 + y * axis->pitch;
    uint16_t *out = (void *)to;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t some = n - at < BLOCK ? n - at : BLOCK;
        double sum[BLOCK] = {0.0};
        for (uint32_t i = 0; i < axis->count[y]; i++) {
            const uint16_t *row = (const uint16_t *)(const void *)rows[i] + at;
            for (size_t s = 0; s < some; s++)
                sum[s] += row[s] * weights[i];
        }
        for (size_t s = 0; s < some; s++)
            out[at + s] = round_u16(sum[s]);
    }
}

/* color * alpha / 255, rounded; exact for all of them. */
void mr__resample_premultiply_u8_c(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++, from += channels, to += channels) {
        uint32_t alpha = from[channels - 1];
        for (uint32_t c = 0; c + 1 < channels; c++) {
            uint32_t product = from[c] * alpha + 128;
            to[c] = (uint8_t)(((product >> 8) + product) >> 8);
        }
        to[channels - 1] = (uint8_t)alpha;
    }
}

/* color * 255 / alpha, rounded down and at most 255; as it is where alpha is 0. */
void mr__resample_unpremultiply_u8_c(const uint8_t *from, uint32_t channels, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++, from += channels, to += channels) {
        uint32_t alpha = from[channels - 1];
        for (uint32_t c = 0; c + 1 < channels; c++) {
            uint32_t color = alpha == 0 || alpha == 255 ? from[c] : 255u * from[c] / alpha;
            to[c] = (uint8_t)(color > 255 ? 255 : color);
        }
        to[channels - 1] = (uint8_t)alpha;
    }
}

void mr__resample_init(mr__resample *table, mr__cpu_flags cpu)
{
    *table = (mr__resample){
        .across = mr__resample_across_u8_c,
        .across16 = across_u16_c,
        .down = mr__resample_down_u8_c,
        .down16 = down_u16_c,
        .premultiply = mr__resample_premultiply_u8_c,
        .unpremultiply = mr__resample_unpremultiply_u8_c,
    };
    (void)cpu;
#if defined(__x86_64__)
    mr__resample_init_avx2(table, cpu);
#elif defined(__aarch64__)
    mr__resample_init_neon(table, cpu);
#endif
}
