// SPDX-License-Identifier: Apache-2.0
/* What L3 weighs against the JPEG files it was made from. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* From the byte behind a scan's header to the next marker that is no restart. */
static size_t scan_end(const uint8_t *bytes, size_t nbytes, size_t at)
{
    for (; at + 1 < nbytes; at++)
        if (bytes[at] == 0xff && bytes[at + 1] != 0 && bytes[at + 1] != 0xff && (bytes[at + 1] & 0xf8) != 0xd0)
            return at;
    return nbytes;
}

size_t jpeg_entropy_nbytes(const uint8_t *bytes, size_t nbytes)
{
    size_t total = 0, at = 2; // behind SOI
    while (at + 4 <= nbytes && bytes[at] == 0xff && bytes[at + 1] != 0xd9) {
        bool is_scan = bytes[at + 1] == 0xda;
        if (bytes[at + 1] == 0xff) { // fill bytes may stand before a marker
            at++;
            continue;
        }
        at += 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
        if (is_scan && at < nbytes) {
            size_t end = scan_end(bytes, nbytes, at);
            total += end - at;
            at = end;
        }
    }
    return total;
}

static void weigh(contest *c, size_t k, double *ratios)
{
    size_line *line = &c->size[c->size_count++];
    *line = (size_line){.name = c->coding[k].name};
    for (size_t i = 0; i < c->pictures; i++) {
        ratios[i] = (double)c->slots[i].stored[k].nbytes / (double)c->slots[i].stored[1].nbytes;
        line->mean += ratios[i] / (double)c->pictures;
        line->worst = ratios[i] > line->worst ? ratios[i] : line->worst;
        line->within += ratios[i] <= 1.10 ? 1 / (double)c->pictures : 0;
    }
    line->total = c->coding[k].nbytes / c->coding[1].nbytes;
    line->median = median(ratios, c->pictures);
    line->p95 = quantile(ratios, c->pictures, 0.95);
    line->entropy_total = c->jpeg_entropy_nbytes > 0 ? c->coding[k].nbytes / c->jpeg_entropy_nbytes : 0;
}

/* Not every file can be written again; its L3 then has no such section, though it was asked for. */
static void count_origins(contest *c, size_t k)
{
    mr_decoder *decoder = NULL;
    size_t without = 0;
    if (mr_decoder_new(NULL, &decoder) != 0)
        need(NULL);
    for (size_t i = 0; i < c->pictures; i++) {
        const blob *stored = &c->slots[i].stored[k];
        mr_info info = {.struct_size = sizeof info};
        without += mr_decoder_info(decoder, stored->bytes, stored->nbytes, &info) != 0 || !info.has_origin;
    }
    if (without != 0)
        contest_note(c, "%zu of the %zu files cannot be written again byte for byte", without, c->pictures);
    mr_decoder_free(decoder);
}

void weigh_jpegs(contest *c)
{
    double *ratios = need(malloc(c->pictures * sizeof *ratios));
    for (size_t i = 0; i < c->pictures; i++)
        c->jpeg_entropy_nbytes += (double)jpeg_entropy_nbytes(c->source[i]->bytes, c->source[i]->nbytes);
    for (size_t k = 1; k < c->coding_count && c->size_count < sizeof c->size / sizeof *c->size; k++) {
        weigh(c, k, ratios);
        if (c->coding[k].l3.origin)
            count_origins(c, k);
    }
    free(ratios);
}
