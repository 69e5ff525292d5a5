// SPDX-License-Identifier: Apache-2.0
/*
 * Finishing with NEON, which divides: every operation is that of the definition. Its conversion to f16 rounds half to
 * even. Of two channels nothing is here.
 */
#if defined(__aarch64__)

#include "step/finish.h"

#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 16 }; /* pixels that go together */

/* The samples of one to four channels, plane by plane. */
typedef struct split {
    uint8x16_t of[4];
} split;

INLINE uint8x16_t turn(uint8x16_t v)
{
    v = vrev64q_u8(v);
    return vextq_u8(v, v, 8);
}

INLINE split load_pixels(const uint8_t *at, size_t channels, bool flip)
{
    split s = {{vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0), vdupq_n_u8(0)}};
    if (channels == 1) {
        s.of[0] = vld1q_u8(at);
    } else if (channels == 3) {
        uint8x16x3_t v = vld3q_u8(at);
        s = (split){{v.val[0], v.val[1], v.val[2], s.of[3]}};
    } else {
        uint8x16x4_t v = vld4q_u8(at);
        s = (split){{v.val[0], v.val[1], v.val[2], v.val[3]}};
    }
    for (size_t c = 0; flip && c < channels; c++)
        s.of[c] = turn(s.of[c]);
    return s;
}

INLINE void store_pixels(split s, size_t channels, uint8_t *to)
{
    if (channels == 1)
        vst1q_u8(to, s.of[0]);
    else if (channels == 3)
        vst3q_u8(to, (uint8x16x3_t){{s.of[0], s.of[1], s.of[2]}});
    else
        vst4q_u8(to, (uint8x16x4_t){{s.of[0], s.of[1], s.of[2], s.of[3]}});
}

/* Four samples of a channel. */
INLINE float32x4_t finish_four(const mr__finisher *f, size_t c, uint16x4_t samples)
{
    float32x4_t value = vdivq_f32(vcvtq_f32_u32(vmovl_u16(samples)), vdupq_n_f32(255.0f));
    if (f->normalize)
        value = vdivq_f32(vsubq_f32(value, vdupq_n_f32(f->mean[c])), vdupq_n_f32(f->std[c]));
    return value;
}

INLINE uint16x4_t round_half(float32x4_t value, mr_dtype dtype)
{
    if (dtype == MR_F16)
        return vreinterpret_u16_f16(vcvt_f16_f32(value));
    uint32x4_t bits = vreinterpretq_u32_f32(value), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vshrn_n_u32(vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff))), 16);
}

/* Sixteen samples of a channel, as four vectors. */
typedef struct floats {
    float32x4_t of[4];
} floats;

INLINE floats finish_sixteen(const mr__finisher *f, size_t c, uint8x16_t samples)
{
    uint16x8_t lower = vmovl_u8(vget_low_u8(samples)), upper = vmovl_high_u8(samples);
    return (floats){{finish_four(f, c, vget_low_u16(lower)), finish_four(f, c, vget_high_u16(lower)),
                     finish_four(f, c, vget_low_u16(upper)), finish_four(f, c, vget_high_u16(upper))}};
}

INLINE void store_plane(floats v, mr_dtype dtype, uint8_t *to)
{
    for (size_t i = 0; i < 4; i++) {
        if (dtype == MR_F32)
            vst1q_f32((void *)(to + 16 * i), v.of[i]);
        else
            vst1_u16((void *)(to + 8 * i), round_half(v.of[i], dtype));
    }
}

INLINE void planes_of(const mr__finisher *f, mr_dtype dtype, size_t channels, const uint8_t *row, size_t n, bool flip,
                      uint8_t *to, size_t plane)
{
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i; /* the last ones may be made twice */
        split s = load_pixels(row + i * channels, channels, flip);
        uint8_t *begin = to + (flip ? n - GROUP - i : i) * f->number_nbytes;
        for (size_t c = 0; c < channels; c++, begin += plane) {
            if (dtype == MR_U8)
                vst1q_u8(begin, s.of[c]);
            else
                store_plane(finish_sixteen(f, c, s.of[c]), dtype, begin);
        }
    }
}

INLINE void store_quads(const floats v[4], size_t i, mr_dtype dtype, size_t channels, uint8_t *to)
{
    if (dtype == MR_F32 && channels == 3)
        vst3q_f32((void *)to, (float32x4x3_t){{v[0].of[i], v[1].of[i], v[2].of[i]}});
    else if (dtype == MR_F32)
        vst4q_f32((void *)to, (float32x4x4_t){{v[0].of[i], v[1].of[i], v[2].of[i], v[3].of[i]}});
    else if (channels == 3)
        vst3_u16((void *)to, (uint16x4x3_t){{round_half(v[0].of[i], dtype), round_half(v[1].of[i], dtype),
                                             round_half(v[2].of[i], dtype)}});
    else
        vst4_u16((void *)to, (uint16x4x4_t){{round_half(v[0].of[i], dtype), round_half(v[1].of[i], dtype),
                                             round_half(v[2].of[i], dtype), round_half(v[3].of[i], dtype)}});
}

/* Three or four channels. */
INLINE void pixels_of(const mr__finisher *f, mr_dtype dtype, size_t channels, const uint8_t *row, size_t n, bool flip,
                      uint8_t *to)
{
    size_t pixel = channels * f->number_nbytes;
    for (size_t i = 0; i < n; i += GROUP) {
        i = n - i < GROUP ? n - GROUP : i;
        split s = load_pixels(row + i * channels, channels, flip);
        uint8_t *begin = to + (flip ? n - GROUP - i : i) * pixel;
        if (dtype == MR_U8) {
            store_pixels(s, channels, begin);
            continue;
        }
        floats v[4];
        for (size_t c = 0; c < 4; c++)
            v[c] = finish_sixteen(f, c < channels ? c : 0, s.of[c < channels ? c : 0]);
        for (size_t q = 0; q < 4; q++)
            store_quads(v, q, dtype, channels, begin + 4 * q * pixel);
    }
}

#define KERNELS(name, dtype, planes_c, pixels_c)                                                                       \
    static void planes_##name##_neon(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to,      \
                                     size_t plane)                                                                     \
    {                                                                                                                  \
        if (n < GROUP || f->channels == 2)                                                                             \
            planes_c(f, row, n, flip, to, plane);                                                                      \
        else if (f->channels == 1)                                                                                     \
            planes_of(f, dtype, 1, row, n, flip, to, plane);                                                           \
        else if (f->channels == 3)                                                                                     \
            planes_of(f, dtype, 3, row, n, flip, to, plane);                                                           \
        else                                                                                                           \
            planes_of(f, dtype, 4, row, n, flip, to, plane);                                                           \
    }                                                                                                                  \
    static void pixels_##name##_neon(const mr__finisher *f, const uint8_t *row, size_t n, bool flip, uint8_t *to,      \
                                     size_t plane)                                                                     \
    {                                                                                                                  \
        if (n < GROUP || f->channels == 2)                                                                             \
            pixels_c(f, row, n, flip, to, plane);                                                                      \
        else if (f->channels == 1)                                                                                     \
            planes_of(f, dtype, 1, row, n, flip, to, plane);                                                           \
        else if (f->channels == 3)                                                                                     \
            pixels_of(f, dtype, 3, row, n, flip, to);                                                                  \
        else                                                                                                           \
            pixels_of(f, dtype, 4, row, n, flip, to);                                                                  \
    }

KERNELS(u8, MR_U8, mr__finish_planes_u8_c, mr__finish_pixels_u8_c)
KERNELS(f32, MR_F32, mr__finish_planes_f32_c, mr__finish_pixels_f32_c)
KERNELS(f16, MR_F16, mr__finish_planes_half_c, mr__finish_pixels_half_c)
KERNELS(bf16, MR_BF16, mr__finish_planes_half_c, mr__finish_pixels_half_c)

void mr__finish_kernels_init_neon(mr__finish_kernels *kernels, mr__cpu_flags cpu)
{
    if ((cpu & MR__CPU_NEON) == 0)
        return;
    kernels->of[MR_U8][MR_NCHW] = planes_u8_neon;
    kernels->of[MR_U8][MR_NHWC] = pixels_u8_neon;
    kernels->of[MR_F32][MR_NCHW] = planes_f32_neon;
    kernels->of[MR_F32][MR_NHWC] = pixels_f32_neon;
    kernels->of[MR_F16][MR_NCHW] = planes_f16_neon;
    kernels->of[MR_F16][MR_NHWC] = pixels_f16_neon;
    kernels->of[MR_BF16][MR_NCHW] = planes_bf16_neon;
    kernels->of[MR_BF16][MR_NHWC] = pixels_bf16_neon;
}

#else
typedef int mr__no_neon_here; /* ISO C wants a declaration in every file */
#endif
