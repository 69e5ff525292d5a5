// SPDX-License-Identifier: Apache-2.0
/* The definition, the portable kernels, and the choice of kernels. */
#include "step/finish.h"

#include <string.h>

/* Samples of this size do not stay in a cache until their batch is complete. */
enum { STREAM_NBYTES = 128 << 10 };

/* Every operation is torch's, in its order. */
static float finish_value(const mr__finisher *f, uint32_t channel, float value, float most)
{
    float share = value / most;
    if (!f->normalize)
        return share;
    float centered = share - f->mean[channel];
    return centered / f->std[channel];
}

static uint16_t half_of(const mr__finisher *f, float value)
{
    return f->dtype == MR_F16 ? mr__f16_from_f32(value) : mr__bf16_from_f32(value);
}

void mr__finish_pixels_u8_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    size_t channels = f->channels;
    (void)plane;
    if (!flip) {
        memcpy(to, row, n * channels);
        return;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < channels; c++)
            to[(n - 1 - i) * channels + c] = row[i * channels + c];
}

void mr__finish_planes_u8_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    for (size_t c = 0; c < f->channels; c++, to += plane)
        for (size_t i = 0; i < n; i++)
            to[flip ? n - 1 - i : i] = row[i * f->channels + c];
}

/* Numbers of `nbytes` bytes, which the compiler knows, from a table of 256 for each channel. */
static inline __attribute__((always_inline)) void look_up(const uint8_t *table, size_t nbytes, size_t channels,
                                                          const uint8_t *row, size_t n, bool flip, bool planes,
                                                          uint8_t *to, size_t plane)
{
    for (size_t c = 0; c < channels; c++) {
        const uint8_t *of_channel = table + c * 256 * nbytes;
        size_t step = planes ? nbytes : nbytes * channels;
        uint8_t *begin = planes ? to + c * plane : to + c * nbytes;
        for (size_t i = 0; i < n; i++)
            memcpy(begin + (flip ? n - 1 - i : i) * step, of_channel + row[i * channels + c] * nbytes, nbytes);
    }
}

void mr__finish_planes_f32_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    look_up((const void *)f->floats, sizeof(float), f->channels, row, n, flip, true, to, plane);
}

void mr__finish_pixels_f32_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    look_up((const void *)f->floats, sizeof(float), f->channels, row, n, flip, false, to, plane);
}

void mr__finish_planes_half_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    look_up((const void *)f->halves, sizeof(uint16_t), f->channels, row, n, flip, true, to, plane);
}

void mr__finish_pixels_half_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    look_up((const void *)f->halves, sizeof(uint16_t), f->channels, row, n, flip, false, to, plane);
}

/* One 16-bit sample; as u8 its upper half, as mr_image_convert has it. */
static void put_u16(const mr__finisher *f, uint32_t channel, uint16_t value, uint8_t *to)
{
    if (f->dtype == MR_U8) {
        *to = (uint8_t)(value >> 8);
        return;
    }
    float number = finish_value(f, channel, value, 65535.0f);
    uint16_t half = half_of(f, number);
    if (f->dtype == MR_F32)
        memcpy(to, &number, sizeof number);
    else
        memcpy(to, &half, sizeof half);
}

static void finish_u16_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    const uint16_t *samples = (const void *)row;
    bool planes = f->layout == MR_NCHW;
    size_t step = planes ? f->number_nbytes : f->number_nbytes * f->channels;
    for (uint32_t c = 0; c < f->channels; c++) {
        uint8_t *begin = to + c * (planes ? plane : f->number_nbytes);
        for (size_t i = 0; i < n; i++)
            put_u16(f, c, samples[i * f->channels + c], begin + (flip ? n - 1 - i : i) * step);
    }
}

static void copy_u16_c(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to, size_t plane)
{
    size_t nbytes = 2 * (size_t)f->channels;
    (void)plane;
    for (size_t i = 0; i < n; i++)
        memcpy(to + (flip ? n - 1 - i : i) * nbytes, row + i * nbytes, nbytes);
}

static void end_c(void)
{
}

void mr__finish_kernels_init(mr__finish_kernels *kernels, mr__cpu_flags cpu)
{
    mr__finish_kernel *const half[2] = {mr__finish_planes_half_c, mr__finish_pixels_half_c};
    *kernels = (mr__finish_kernels){.of =
                                        {
                                            [MR_U8] = {mr__finish_planes_u8_c, mr__finish_pixels_u8_c},
                                            [MR_F32] = {mr__finish_planes_f32_c, mr__finish_pixels_f32_c},
                                            [MR_F16] = {half[0], half[1]},
                                            [MR_BF16] = {half[0], half[1]},
                                        },
                                    .end = end_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__finish_kernels_init_avx2(kernels, cpu);
#elif defined(__aarch64__)
    mr__finish_kernels_init_neon(kernels, cpu);
#endif
}

static void make_tables(mr__finisher *f)
{
    for (uint32_t c = 0; c < f->channels; c++)
        for (uint32_t v = 0; v < 256; v++) {
            f->floats[c][v] = finish_value(f, c, (float)v, 255.0f);
            f->halves[c][v] = half_of(f, f->floats[c][v]);
        }
}

/* Infinite numbers may come of this for numbers that are extreme; then the comparison says no. */
static void make_constants(mr__finisher *f)
{
    for (uint32_t i = 0; i < sizeof f->high / sizeof *f->high; i++) {
        uint32_t c = i % f->channels;
        float by = f->normalize ? f->std[c] : 255.0f, high = 1.0f / by;
        float low = (float)(1.0 / (double)by - (double)high), down = f->normalize ? 0x1p-24f : 1.0f;
        f->mean24[i] = f->normalize ? f->mean[c] * 0x1p24f : 0.0f;
        f->high[i] = high * down;
        f->low[i] = low * down;
    }
}

/* Whether a kernel gives what the portable one does for every value of every channel. */
static bool is_exact(const mr__finisher *f, mr__finish_kernel *kernel, mr__finish_kernel *portable)
{
    uint8_t row[32 * 4], out[2][32 * 4 * sizeof(float)];
    for (uint32_t first = 0; first < 256; first += 32) {
        for (uint32_t i = 0; i < 32 * f->channels; i++)
            row[i] = (uint8_t)(first + i / f->channels);
        memset(out, 0, sizeof out);
        portable(f, row, 32, false, out[0], 32 * f->number_nbytes);
        kernel(f, row, 32, false, out[1], 32 * f->number_nbytes);
        if (memcmp(out[0], out[1], sizeof out[0]) != 0)
            return false;
    }
    return true;
}

void mr__finisher_init(mr__finisher *f, const mr__finish *finish, mr__cpu_flags cpu)
{
    mr__finish_kernels best, portable;
    const mr_output *o = &finish->output;
    *f = (mr__finisher){.dtype = o->dtype, .layout = o->layout, .channels = o->channels, .depth = finish->depth};
    f->normalize = finish->normalize;
    f->as_is = f->dtype == MR_U8 && f->layout == MR_NHWC && f->depth == 8;
    memcpy(f->mean, finish->mean, sizeof f->mean);
    memcpy(f->std, finish->std, sizeof f->std);
    f->number_nbytes = o->dtype == MR_U8 ? 1 : o->dtype == MR_F32 ? sizeof(float) : sizeof(uint16_t);
    f->stream = o->sample_nbytes >= STREAM_NBYTES;
    f->run = finish_u16_c;
    f->end = end_c;
    if (f->depth == 16)
        return;
    make_tables(f);
    make_constants(f);
    mr__finish_kernels_init(&best, cpu);
    mr__finish_kernels_init(&portable, 0);
    f->run = best.of[f->dtype][f->layout];
    f->end = best.end;
    if (!is_exact(f, f->run, portable.of[f->dtype][f->layout]))
        f->run = portable.of[f->dtype][f->layout];
}

void mr__finisher_init_as_is(mr__finisher *f, uint32_t channels, uint32_t depth, mr__cpu_flags cpu)
{
    mr__finish_kernels best;
    mr__finish_kernels_init(&best, cpu);
    *f = (mr__finisher){.dtype = MR_U8, .layout = MR_NHWC, .channels = channels, .depth = depth, .as_is = true};
    f->number_nbytes = depth / 8;
    f->run = depth == 16 ? copy_u16_c : best.of[MR_U8][MR_NHWC];
    f->end = best.end;
}
