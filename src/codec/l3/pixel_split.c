// SPDX-License-Identifier: Apache-2.0
#include "codec/l3/pixel_split.h"

#define SPLIT(type, name, channels)                                                                                    \
    static void split##channels##_##name##_c(const void *pixels, size_t n, void *const channel[4])                     \
    {                                                                                                                  \
        for (size_t c = 0; c < (channels); c++) {                                                                      \
            const type *from = (const type *)pixels + c;                                                               \
            type *to = channel[c];                                                                                     \
            for (size_t x = 0; x < n; x++)                                                                             \
                to[x] = from[x * (channels)];                                                                          \
        }                                                                                                              \
    }

SPLIT(uint8_t, u8, 1)
SPLIT(uint8_t, u8, 2)
SPLIT(uint8_t, u8, 3)
SPLIT(uint8_t, u8, 4)
SPLIT(uint16_t, u16, 1)
SPLIT(uint16_t, u16, 2)
SPLIT(uint16_t, u16, 3)
SPLIT(uint16_t, u16, 4)

void mr__l3_split_init(mr__l3_split *table, mr__cpu_flags cpu)
{
    *table = (mr__l3_split){{{NULL, split1_u8_c, split2_u8_c, split3_u8_c, split4_u8_c},
                             {NULL, split1_u16_c, split2_u16_c, split3_u16_c, split4_u16_c}}};
    mr__l3_split_init_avx2(table, cpu);
}
