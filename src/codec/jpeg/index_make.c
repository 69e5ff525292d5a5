// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/index.h"

#include "base/size.h"
#include "codec/jpeg/turbo.h"
#include "kernel/hash.h"

typedef struct making {
    mr__jpeg_reader reader;
    mr__jpeg_scans kernels;
    mr__jpeg_lane lanes[MR__JPEG_MCU_MAX]; /* of one MCU; nothing is kept of it */
    uint32_t unit_count;
    mr__jpeg_place place;
    mr__jpeg_row *rows;
} making;

static void make_lanes(making *m)
{
    const mr__jpeg_coefficients *f = m->reader.frame;
    for (uint32_t i = 0; i < f->components; i++) {
        uint32_t blocks = mr__jpeg_across(f, i) * mr__jpeg_down(f, i);
        for (uint32_t k = 0; k < blocks; k++)
            m->lanes[m->unit_count++] = (mr__jpeg_lane){.part = (uint8_t)i};
    }
}

/* Notes where a row begins; a restart before it has been read already. */
static int note_row(making *m, uint32_t y)
{
    mr__jpeg_row *row = &m->rows[y];
    if (!mr__jpeg_place_move(&m->place, &m->reader, &row->at)) {
        m->reader.fault = MR__JPEG_OVER;
        return mr__jpeg_reader_fail(&m->reader);
    }
    memcpy(row->before, m->reader.before, sizeof row->before);
    return 0;
}

static int pass_mcus(void *user, uint32_t x, uint32_t y, uint32_t count)
{
    making *m = user;
    int result = x == 0 ? note_row(m, y) : 0;
    if (result == 0 && !m->kernels.skip(&m->reader, m->lanes, m->unit_count, count))
        result = mr__jpeg_reader_fail(&m->reader);
    return result;
}

static int pass_restart(void *user, uint32_t number)
{
    making *m = user;
    return mr__jpeg_reader_restart(&m->reader, number);
}

static const mr__jpeg_visitor passing = {pass_mcus, pass_restart};

static int read_rows(mr__call *call, mr__jpeg_direct *direct, mr__jpeg_walk *walk, mr__jpeg_row **rows)
{
    making m = {.unit_count = 0};
    size_t left;
    int result = mr__jpeg_coefficients_reserve(call, &direct->work);
    // At most 65,535 rows: no overflow.
    if (result == 0)
        result = mr__call_reserve(call, &direct->samples, walk->scan.mcus_h * sizeof *m.rows);
    if (result != 0)
        return result;
    m.rows = *rows = (mr__jpeg_row *)(void *)direct->samples.bytes;
    mr__jpeg_scans_init(&m.kernels, call->cpu);
    mr__jpeg_reader_init(&m.reader, walk, direct->work.data.bytes, (void *)direct->work.tables.bytes);
    make_lanes(&m);
    result = mr__jpeg_scan_each(&walk->scan, &passing, &m);
    return result == 0 ? mr__jpeg_reader_end(&m.reader, &left) : result;
}

/* Up to the first scan; *one tells whether it has everything. */
static int find_scan(mr__call *call, mr__jpeg_coefficients *frame, mr__jpeg_walk *walk, bool *one)
{
    mr_info info = {.struct_size = sizeof info};
    bool more;
    int result = mr__jpeg_info(call, &info);
    if (result == 0)
        result = mr__jpeg_holds(call, &info);
    if (result == 0)
        result = mr__jpeg_walk_init(walk, call, frame);
    if (result == 0)
        result = mr__jpeg_walk_next(walk, &more);
    *one = result == 0 && !frame->progressive && walk->scan.count == frame->components;
    return result;
}

int mr__jpeg_index_make(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    mr__jpeg_state *state = call->state;
    mr__jpeg_coefficients frame;
    mr__jpeg_walk walk;
    mr__jpeg_row *rows = NULL;
    bool one = false;
    *nbytes = 0;
    int result = find_scan(call, &frame, &walk, &one);
    if (result == 0 && one && walk.scan.mcus_h > 1)
        result = read_rows(call, &state->direct, &walk, &rows);
    if (result == MR_EUNSUPPORTED) { // what is libjpeg-turbo's to decode has no index
        mr__detail_clear(call->detail);
        return 0;
    }
    if (result != 0 || rows == NULL)
        return result;
    result = mr__call_reserve(call, buffer, MR__JPEG_INDEX_NBYTES_MAX);
    if (result == 0) {
        mr__jpeg_index_key key = {call->nbytes, mr__hash_by(call->bytes, call->nbytes, call->cpu)};
        *nbytes = mr__jpeg_index_write(rows, walk.scan.mcus_h, frame.components, key, buffer->bytes);
    }
    return result;
}
