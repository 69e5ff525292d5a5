// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/scan_kernels.h"

#include <string.h>

static int check_codes(mr__jpeg_writer *w)
{
    if (w->sink == NULL || (w->seen & MR__CODE_NONE) == 0)
        return 0;
    return mr__call_fail(w->sink->call, MR_ECORRUPT,
                         "damaged JPEG: a coefficient has no code in the Huffman tables of the scan at byte %zu",
                         w->scan->at);
}

static int write_mcus(void *user, uint32_t x, uint32_t y, uint32_t count)
{
    mr__jpeg_writer *w = user;
    mr__jpeg_unit units[MR__JPEG_MCU_MAX];
    uint32_t n = mr__jpeg_scan_units(w->scan, w->frame, x, y, units);
    int result = w->write(w, units, n, count);
    return result == 0 ? check_codes(w) : result;
}

static int end_interval(mr__jpeg_writer *w)
{
    int result = w->sink != NULL ? mr__jpeg_sink_room(w->sink) : 0;
    if (result == 0)
        mr__jpeg_writer_end_run(w);
    memset(w->before, 0, sizeof w->before);
    if (result == 0)
        result = check_codes(w);
    return result == 0 && w->sink != NULL ? mr__jpeg_sink_align(w->sink) : result;
}

static int write_restart(void *user, uint32_t number)
{
    mr__jpeg_writer *w = user;
    uint8_t marker[2] = {0xff, (uint8_t)(MR__JPEG_RST0 + (number - 1) % 8)};
    int result = end_interval(w);
    return result == 0 && w->sink != NULL ? mr__jpeg_sink_bytes(w->sink, marker, 2) : result;
}

static const mr__jpeg_visitor writing = {write_mcus, write_restart};

static int run(mr__jpeg_writer *w)
{
    int result = mr__jpeg_scan_each(w->scan, &writing, w);
    return result == 0 ? end_interval(w) : result;
}

static void init(mr__jpeg_writer *w, const mr__jpeg_walk *walk)
{
    const mr__jpeg_scan *s = &walk->scan;
    w->scan = s;
    w->frame = walk->frame;
    memset(w->before, 0, sizeof w->before);
    w->seen = w->end_run = w->kept = 0;
    mr__jpeg_scans kernels;
    mr__jpeg_scans_init(&kernels, walk->call->cpu);
    w->find = kernels.find;
    w->write = walk->frame->progressive ? mr__jpeg_write_progressive(s, w->sink == NULL)
               : w->sink != NULL        ? kernels.write
                                        : kernels.count;
    for (uint32_t i = 0; w->sink != NULL && i < s->count; i++) {
        if (s->first == 0 && s->high == 0)
            mr__huffman_writer_init(&w->dc[i], &walk->huffman[0][s->dc[i]]);
        if (s->last != 0)
            mr__huffman_writer_init(&w->ac[i], &walk->huffman[1][s->ac[i]]);
    }
}

int mr__jpeg_scan_write(const mr__jpeg_walk *walk, mr__jpeg_sink *sink)
{
    mr__jpeg_writer w;
    w.sink = sink;
    w.counts = NULL;
    init(&w, walk);
    return run(&w);
}

int mr__jpeg_scan_count(const mr__jpeg_walk *walk, mr__jpeg_counts *counts)
{
    mr__jpeg_writer w;
    w.sink = NULL;
    w.counts = counts;
    memset(counts, 0, sizeof *counts);
    init(&w, walk);
    return run(&w);
}
