// SPDX-License-Identifier: Apache-2.0
/* The four kinds of scan of a progressive image: DC and AC coefficients, their upper bits and then one bit more. */
#include "codec/jpeg/bands_read.h"

static bool fits(int32_t value)
{
    return value >= -INT16_MAX && value <= INT16_MAX;
}

/* Scans of one component pass over its padding. */
static void clear_padding(const mr__jpeg_plane *p)
{
    for (uint32_t y = 0; y < p->padded_h; y++) {
        uint32_t x = y < p->blocks_h ? p->blocks_w : 0;
        memset(p->blocks + ((size_t)y * p->padded_w + x) * 64, 0, (size_t)(p->padded_w - x) * 64 * sizeof *p->blocks);
    }
}

/* The first scan of a component: its blocks hold anything before. */
static bool read_dc_first(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            uint32_t length;
            mr__bits_fill(&b);
            uint32_t size = mr__bits_take_symbol(&b, r->dc[u->part], &length);
            if (length == 0)
                return stop(r, &b, MR__JPEG_BAD_CODE);
            int32_t dc = r->before[u->part] + mr__bits_take_value(&b, size);
            if (!fits(dc) || !fits(dc * (1 << r->scan->low)))
                return stop(r, &b, MR__JPEG_STRANGE);
            r->before[u->part] = dc;
            memset(u->block, 0, 64 * sizeof *u->block);
            u->block[0] = (int16_t)(dc * (1 << r->scan->low));
            u->block += u->step;
        }
        if (mr__jpeg_reader_is_over(r, &b))
            return stop(r, &b, MR__JPEG_OVER);
    }
    r->bits = b;
    return true;
}

static bool read_dc_more(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    mr__bits b = r->bits;
    for (uint32_t m = 0; m < mcus; m++) {
        for (mr__jpeg_unit *u = units; u < units + unit_count; u++) {
            mr__bits_fill(&b);
            // The bit was 0, also in a negative number's two's complement.
            u->block[0] = (int16_t)(u->block[0] + (int32_t)(mr__bits_take(&b, 1) << r->scan->low));
            u->block += u->step;
        }
        if (mr__jpeg_reader_is_over(r, &b))
            return stop(r, &b, MR__JPEG_OVER);
    }
    r->bits = b;
    return true;
}

static bool read_bands_c(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    return read_bands(r, units, mcus);
}

static bool refine_bands_c(mr__jpeg_reader *r, mr__jpeg_unit *units, uint32_t unit_count, uint32_t mcus)
{
    (void)unit_count; // one
    return refine_bands(r, units, mcus, false);
}

void mr__jpeg_bands_init(mr__jpeg_bands *table, mr__cpu_flags cpu)
{
    *table = (mr__jpeg_bands){read_bands_c, refine_bands_c};
    (void)cpu;
#if defined(__x86_64__)
    mr__jpeg_bands_init_avx2(table, cpu);
#endif
}

mr__jpeg_read_mcus *mr__jpeg_read_progressive(mr__jpeg_reader *r, uint32_t codes[1 << MR__BAND_BITS])
{
    const mr__jpeg_scan *s = r->scan;
    mr__jpeg_bands kernels;
    if (s->first == 0 && s->high == 0 && s->count == 1)
        clear_padding(&r->frame->plane[s->component[0]]);
    if (s->first == 0)
        return s->high == 0 ? read_dc_first : read_dc_more;
    mr__jpeg_bands_init(&kernels, r->call->cpu);
    mr__band_codes_init(codes, &r->ac[0]->table, s);
    r->codes = codes;
    return s->high == 0 ? kernels.first : kernels.more;
}
