// SPDX-License-Identifier: Apache-2.0
/*
 * Units of L3's DCT mode. An input holds a unit (two bytes of length, then its bytes) or 64 blocks as far as it goes;
 * what is decoded is copied to the output, and the time has that in it. A unit is like one of a photograph of quality
 * 90: about 1,500 bytes.
 */
#include "codec/l3/dct_unit_isa.h"
#include "kernels.h"

#include <string.h>

/* Bytes of a call, less than the coefficients of a unit. */
enum { PART = 6144 };

typedef const char *decode_function(mr__l3_unit *unit, const uint8_t *bytes, size_t nbytes, unsigned columns,
                                    unsigned rows, const uint16_t quant[64], unsigned bands);
typedef size_t encode_function(const int16_t *blocks, size_t pitch, unsigned columns, unsigned rows, uint8_t *to);

/* Noise to coefficients, smaller with every frequency and in every other block. */
static void make_blocks(int16_t blocks[64 * 64], const uint8_t *noise)
{
    memset(blocks, 0, 64 * 64 * sizeof *blocks);
    for (size_t i = 0; i < 64 * 48; i++) {
        size_t z = i % 48, block = i / 48;
        int range = 200 / (int)(1 + z * z / 4) + (z < 24 && block % 2 == 0 ? 2 : 0);
        blocks[64 * block + z] = (int16_t)((noise[i] - 128) * range / 128);
    }
}

static void prepare_unit(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    (void)nbytes;
    static int16_t blocks[64 * 64];
    static uint8_t coded[MR__L3_UNIT_NBYTES_MAX];
    make_blocks(blocks, bytes);
    size_t length = mr__l3_unit_encode(blocks, 8, 8, 8, coded, 0);
    length = length <= PART - 2 ? length : PART - 2;
    bytes[0] = (uint8_t)length;
    bytes[1] = (uint8_t)(length >> 8);
    memcpy(bytes + 2, coded, length);
}

static void call_decode(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static mr__l3_unit unit;
    uint16_t quant[64];
    for (unsigned z = 0; z < 64; z++)
        quant[z] = (uint16_t)(3 + z / 2);
    size_t length = in[0][0] | (size_t)in[0][1] << 8;
    const char *why = ((decode_function *)function)(&unit, in[0] + 2, length, 8, 8, quant, 64);
    for (unsigned at = 0; at < 64; at++)
        if (why != NULL || (unit.bands >> at & 1) == 0)
            memset(unit.coef[at], why != NULL, sizeof unit.coef[at]);
    memcpy(out[0], unit.coef, nbytes);
}

static void prepare_blocks(uint8_t *bytes, size_t input, size_t nbytes)
{
    (void)input;
    static int16_t blocks[64 * 64];
    make_blocks(blocks, bytes);
    memcpy(bytes, blocks, nbytes);
}

/* 48 blocks, and the first 16 again. */
static void call_encode(kernel_function *function, uint8_t *const out[], const uint8_t *const in[], size_t nbytes)
{
    static int16_t blocks[64 * 64];
    static uint8_t coded[MR__L3_UNIT_NBYTES_MAX];
    memcpy(blocks, in[0], nbytes);
    memcpy((uint8_t *)blocks + nbytes, in[0], sizeof blocks - nbytes);
    size_t length = ((encode_function *)function)(blocks, 8, 8, 8, coded);
    memset(out[0], 0, nbytes);
    memcpy(out[0], coded, length < nbytes ? length : nbytes);
}

static size_t list(mr__cpu_flags cpu, kernel k[KERNEL_LIST_MAX])
{
    mr__l3_unit_kernels table;
    mr__l3_unit_encoder encoder;
    mr__l3_unit_kernels_init(&table, cpu);
    mr__l3_unit_encoder_init(&encoder, cpu);
    k[0] = (kernel){.name = "l3_unit_decode",
                    .function = (kernel_function *)table.decode,
                    .call = call_decode,
                    .prepare = prepare_unit,
                    .unit = PART,
                    .inputs = 1,
                    .outputs = 1,
                    .in_slack = MR__L3_UNIT_SLACK};
    k[1] = k[0];
    memcpy(k[1].name, "l3_unit_encode", sizeof "l3_unit_encode");
    k[1].function = (kernel_function *)encoder.encode;
    k[1].call = call_encode;
    k[1].prepare = prepare_blocks;
    return 2;
}

const kernel_table kernels_l3_unit = {"l3 unit", list};
