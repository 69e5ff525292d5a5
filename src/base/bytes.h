// SPDX-License-Identifier: Apache-2.0
/* Loads and stores of a stated byte order at any alignment; compilers make one instruction of each. */
#ifndef MR_BASE_BYTES_H
#define MR_BASE_BYTES_H

#include <stdint.h>

static inline uint16_t mr__load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t mr__load_le24(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline uint32_t mr__load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t mr__load_le64(const uint8_t *p)
{
    return (uint64_t)mr__load_le32(p) | (uint64_t)mr__load_le32(p + 4) << 32;
}

static inline uint16_t mr__load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t mr__load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void mr__store_le16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void mr__store_le32(uint8_t *p, uint32_t v)
{
    mr__store_le16(p, (uint16_t)v);
    mr__store_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void mr__store_le64(uint8_t *p, uint64_t v)
{
    mr__store_le32(p, (uint32_t)v);
    mr__store_le32(p + 4, (uint32_t)(v >> 32));
}

static inline void mr__store_be16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void mr__store_be32(uint8_t *p, uint32_t v)
{
    mr__store_be16(p, (uint16_t)(v >> 16));
    mr__store_be16(p + 2, (uint16_t)v);
}

#endif
