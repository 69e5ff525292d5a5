// SPDX-License-Identifier: Apache-2.0
/*
 * Whether a JPEG can be as large as it says.
 *
 * A Huffman code has at least one bit, so that a block cannot be coded in less than
 * - 2 bits in a sequential image: a code for the DC coefficient, and one more for the AC coefficients or their end;
 * - 1 bit in the first scan of a progressive one, if that has the DC coefficients: their code, or a bit that refines
 *   them. Where it has not, nothing is said here: one code can end 32,767 blocks, and libjpeg finds the fault anyhow.
 * Arithmetic coding has no such bound: many blocks can share a bit.
 *
 * Only the components of the first scan count, because libjpeg does not ask for the others, and only the blocks that
 * have pixels: where a scan interleaves components, it has more.
 */
#include "codec/jpeg/header.h"

#include "base/size.h"

enum { BLOCK = 8 };

/* The blocks of one component. */
static uint64_t count_blocks(const mr__jpeg_header *h, const mr__jpeg_component *c)
{
    uint32_t most_h = 1, most_v = 1;
    for (size_t i = 0; i < h->component_count; i++) {
        most_h = h->component[i].h > most_h ? h->component[i].h : most_h;
        most_v = h->component[i].v > most_v ? h->component[i].v : most_v;
    }
    // At most 65,535 pixels a side, and factors of 4: only the last product needs more than 32 bits.
    return (uint64_t)mr__ceil_div((uint32_t)h->width * c->h, most_h * BLOCK) *
           mr__ceil_div((uint32_t)h->height * c->v, most_v * BLOCK);
}

/* The blocks of the component with this id; of the smallest, where a broken header has several. */
static uint64_t count_blocks_of(const mr__jpeg_header *h, uint8_t id)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < h->component_count; i++) {
        uint64_t count = h->component[i].id == id ? count_blocks(h, &h->component[i]) : UINT64_MAX;
        least = count < least ? count : least;
    }
    return least != UINT64_MAX ? least : 0;
}

/* The fewest bits of a block in the first scan; 0 where there is no telling. */
static uint32_t least_bits(const mr__jpeg_header *h, const mr__jpeg_segment *scan, size_t count)
{
    if (h->frame == MR__JPEG_SOF0 || h->frame == MR__JPEG_SOF1)
        return 2;
    return h->frame == MR__JPEG_SOF2 && scan->bytes[1 + 2 * count] == 0 ? 1 : 0;
}

int mr__jpeg_holds(mr__call *call, const mr_info *info)
{
    mr__jpeg_header h;
    mr__jpeg_segment scan;
    int result = mr__jpeg_header_read(call, &h);
    size_t at = h.scan_at;
    if (result == 0)
        result = mr__jpeg_next_segment(call, &at, &scan);
    if (result != 0)
        return result;
    size_t count = scan.nbytes != 0 ? scan.bytes[0] : 0;
    if (count < 1 || count > MR__JPEG_COMPONENT_MAX || scan.nbytes != 1 + 2 * count + 3)
        return 0; // libjpeg has a word for it
    uint64_t blocks = 0, left = call->nbytes - at;
    for (size_t i = 0; i < count; i++)
        blocks += count_blocks_of(&h, scan.bytes[1 + 2 * i]);
    // At most 4 components of 65,500 / 8 blocks a side: no overflow.
    if (blocks * least_bits(&h, &scan, count) <= left * 8)
        return 0;
    return mr__call_fail(call, MR_ETRUNCATED,
                         "truncated JPEG: %llu bytes of image data from byte %zu on cannot hold %u x %u pixels",
                         (unsigned long long)left, at, info->width, info->height);
}
