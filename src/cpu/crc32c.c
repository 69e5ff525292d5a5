// SPDX-License-Identifier: Apache-2.0
/*
 * Eight bytes at a time ("slicing by 8"): tables[k][v] is what the byte v becomes once k more bytes of zero have
 * followed it.
 *
 * A CRC is linear: the entry of v is the XOR of the entries of its bits. So the tables are written here as 64 numbers:
 * BYTES has those of the bits 0 to 7. They are one chain. It begins with the polynomial, 0x82f63b78 (bit 7 of table
 * 0), and each follows by one step of the register, v >> 1, XOR the polynomial where a bit dropped out: from the right
 * to the left, table after table. The test makes the tables by that step alone, and holds them against these.
 */
#include "cpu/crc32c.h"

#include "base/bytes.h"

#define BYTE(v, a, b, c, d, e, f, g, h)                                                                                \
    (((v)&1 ? a : 0) ^ ((v)&2 ? b : 0) ^ ((v)&4 ? c : 0) ^ ((v)&8 ? d : 0) ^ ((v)&16 ? e : 0) ^ ((v)&32 ? f : 0) ^     \
     ((v)&64 ? g : 0) ^ ((v)&128 ? h : 0))
#define BYTES_4(v, ...)                                                                                                \
    BYTE(v, __VA_ARGS__), BYTE((v) + 1, __VA_ARGS__), BYTE((v) + 2, __VA_ARGS__), BYTE((v) + 3, __VA_ARGS__)
#define BYTES_16(v, ...)                                                                                               \
    BYTES_4(v, __VA_ARGS__), BYTES_4((v) + 4, __VA_ARGS__), BYTES_4((v) + 8, __VA_ARGS__),                             \
        BYTES_4((v) + 12, __VA_ARGS__)
#define BYTES_64(v, ...)                                                                                               \
    BYTES_16(v, __VA_ARGS__), BYTES_16((v) + 16, __VA_ARGS__), BYTES_16((v) + 32, __VA_ARGS__),                        \
        BYTES_16((v) + 48, __VA_ARGS__)
#define BYTES(...)                                                                                                     \
    {                                                                                                                  \
        BYTES_64(0, __VA_ARGS__), BYTES_64(64, __VA_ARGS__), BYTES_64(128, __VA_ARGS__), BYTES_64(192, __VA_ARGS__)    \
    }

static const uint32_t tables[8][256] = {
    BYTES(0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78),
    BYTES(0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9),
    BYTES(0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743),
    BYTES(0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f),
    BYTES(0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c),
    BYTES(0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6),
    BYTES(0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4),
    BYTES(0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664),
};

static uint32_t crc32c_c(uint32_t crc, const uint8_t *bytes, size_t nbytes)
{
    crc = ~crc;
    for (; nbytes >= 8; nbytes -= 8, bytes += 8) {
        uint32_t low = crc ^ mr__load_le32(bytes), high = mr__load_le32(bytes + 4);
        crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
              tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
    }
    for (; nbytes != 0; nbytes--, bytes++)
        crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 255];
    return ~crc;
}

void mr__crc32c_init_c(mr__crc32c *table)
{
    table->add = crc32c_c;
}

void mr__crc32c_init(mr__crc32c *table, mr__cpu_flags cpu)
{
    mr__crc32c_init_c(table);
#if defined(__x86_64__)
    mr__crc32c_init_x86(table, cpu);
#elif defined(__aarch64__)
    mr__crc32c_init_arm(table, cpu);
#endif
}
