// SPDX-License-Identifier: Apache-2.0
/*
 * Decoding by libjpeg-turbo with its defaults (slow integer transform, fancy upsampling, block smoothing), which are
 * djpeg's and Pillow's. The order is: header, start (which reads all scans, where there are several), columns, rows to
 * skip, rows to keep; nothing after the last row of the region is decoded.
 *
 * What is wrong after the last pixel, a missing end marker for one, is a warning: the pixels are all there. Where there
 * are several scans a missing end marker is an error, because nobody knows what came before it.
 */
#include "codec/jpeg/header.h"
#include "codec/jpeg/turbo_region.h"

#include "base/size.h"

#include <string.h>

/* Rows asked of libjpeg at once; it gives at most four at a time. */
enum { ROWS_AT_ONCE = 8 };

typedef struct job {
    mr__jpeg_state *state;
    const mr__request *request;
    const mr_image *to;
    mr__columns columns; /* that libjpeg puts out */
    bool is_cmyk;
    bool told; /* that the data ends too early */
} job;

/* An error, or a warning where damage is accepted. */
static void check_ended(job *j)
{
    mr__turbo *t = &j->state->turbo;
    if (!t->ended || j->told)
        return;
    if (!t->accept_damaged)
        mr__turbo_throw(t, mr__turbo_fail_ended(t, "a marker"));
    mr__call_warn(t->call, "truncated JPEG: what is there ends at byte %zu", mr__turbo_offset(t));
    j->told = true;
}

/* The blocks of the scan at hand. */
static uint64_t count_blocks(j_decompress_ptr cinfo)
{
    const jpeg_component_info *first = cinfo->cur_comp_info[0];
    if (cinfo->comps_in_scan == 1)
        return (uint64_t)first->width_in_blocks * first->height_in_blocks;
    return (uint64_t)cinfo->MCUs_per_row * cinfo->MCU_rows_in_scan * (uint64_t)cinfo->blocks_in_MCU;
}

/* Whether a new scan is not too much work. Bytes that libjpeg is at are behind the scan's header. */
static void check_work(mr__turbo *t, j_decompress_ptr cinfo)
{
    int result = 0;
    if (t->work.scans == 0) {
        t->work.image = 0;
        for (int i = 0; i < cinfo->num_components; i++)
            t->work.image += (uint64_t)cinfo->comp_info[i].width_in_blocks * cinfo->comp_info[i].height_in_blocks;
    }
    if (t->work.scans < (uint64_t)cinfo->input_scan_number)
        result = mr__scan_work_add(t->call, &t->work, count_blocks(cinfo), mr__turbo_offset(t));
    if (result != 0)
        mr__turbo_throw(t, result);
}

/* libjpeg calls this before each row of blocks, of each scan. */
static void count_scans(j_common_ptr common)
{
    mr__turbo *t = common->client_data;
    uint64_t limit = t->call->limits->scans;
    if (jpeg_has_multiple_scans((j_decompress_ptr)common))
        check_work(t, (j_decompress_ptr)common);
    if ((uint64_t)((j_decompress_ptr)common)->input_scan_number > limit)
        mr__turbo_throw(t, mr__call_fail(t->call, MR_ELIMIT,
                                         "JPEG of more than %llu scans, the limit (limits.scans), near byte %zu",
                                         (unsigned long long)limit, mr__turbo_offset(t)));
}

/* Tables outlive an image in libjpeg, but not in the pool. */
static void forget_tables(j_decompress_ptr cinfo)
{
    memset(cinfo->quant_tbl_ptrs, 0, sizeof cinfo->quant_tbl_ptrs);
    memset(cinfo->dc_huff_tbl_ptrs, 0, sizeof cinfo->dc_huff_tbl_ptrs);
    memset(cinfo->ac_huff_tbl_ptrs, 0, sizeof cinfo->ac_huff_tbl_ptrs);
}

/* Makes the libjpeg object, once a decoder. */
static void create(mr__jpeg_state *state)
{
    mr__turbo *t = &state->turbo;
    j_decompress_ptr cinfo = &state->decompress;
    if (t->object != NULL)
        return;
    mr__turbo_init_errors(t);
    cinfo->err = &t->error;
    cinfo->client_data = t;
    jpeg_create_decompress(cinfo);
    mr__turbo_memory_replace(t, (j_common_ptr)cinfo);
    t->progress.progress_monitor = count_scans;
    cinfo->progress = &t->progress;
    cinfo->src = &t->source;
}

static J_COLOR_SPACE output_space(const job *j)
{
    if (j->is_cmyk)
        return JCS_CMYK;
    return j->to->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

static void start(job *j)
{
    mr__turbo *t = &j->state->turbo;
    j_decompress_ptr cinfo = &j->state->decompress;
    forget_tables(cinfo);
    mr__turbo_init_source(t);
    jpeg_read_header(cinfo, TRUE);
    cinfo->scale_num = 1;
    cinfo->scale_denom = j->request->reduce;
    cinfo->out_color_space = output_space(j);
    cinfo->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(cinfo);
    if (jpeg_has_multiple_scans(cinfo))
        check_ended(j);
    const mr_info *info = j->request->info;
    if (cinfo->output_width != mr__ceil_div(info->width, j->request->reduce) ||
        cinfo->output_height != mr__ceil_div(info->height, j->request->reduce))
        mr__turbo_throw(t, mr__call_fail(t->call, MR_EINTERNAL, "libjpeg sees %u x %u pixels where %u x %u were seen",
                                         cinfo->output_width, cinfo->output_height, info->width, info->height));
}

static uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* Rows go straight to where they belong when libjpeg's are those of the region, else through a buffer. */
static bool is_direct(const job *j)
{
    return !j->is_cmyk && j->columns.x == j->request->region.x && j->columns.width == j->to->width;
}

static void keep_row(const job *j, const uint8_t *row, uint8_t *to)
{
    size_t skip = j->request->region.x - j->columns.x;
    if (j->is_cmyk)
        mr__jpeg_cmyk_row(row + skip * 4, to, j->to->width);
    else
        memcpy(to, row + skip * j->to->channels, mr_image_row_nbytes(j->to));
}

static void read_direct(job *j)
{
    j_decompress_ptr cinfo = &j->state->decompress;
    for (uint32_t y = 0; y < j->to->height;) {
        JSAMPROW rows[ROWS_AT_ONCE];
        uint32_t count = j->to->height - y < ROWS_AT_ONCE ? j->to->height - y : ROWS_AT_ONCE;
        for (uint32_t i = 0; i < count; i++)
            rows[i] = row_of(j->to, y + i);
        y += jpeg_read_scanlines(cinfo, rows, count);
    }
}

static void read_buffered(job *j)
{
    mr__turbo *t = &j->state->turbo;
    j_decompress_ptr cinfo = &j->state->decompress;
    size_t nbytes = (size_t)j->columns.width * (size_t)cinfo->output_components;
    int result = mr__call_reserve(t->call, &j->state->rows, nbytes * ROWS_AT_ONCE);
    if (result != 0)
        mr__turbo_throw(t, result);
    JSAMPROW rows[ROWS_AT_ONCE];
    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        rows[i] = j->state->rows.bytes + i * nbytes;
    for (uint32_t y = 0; y < j->to->height;) {
        uint32_t count = j->to->height - y < ROWS_AT_ONCE ? j->to->height - y : ROWS_AT_ONCE;
        uint32_t got = jpeg_read_scanlines(cinfo, rows, count);
        for (uint32_t i = 0; i < got; i++)
            keep_row(j, rows[i], row_of(j->to, y + i));
        y += got;
    }
}

/* After the last row of the image: is there an end marker? */
static void finish(job *j)
{
    mr__turbo *t = &j->state->turbo;
    t->done = true;
    jpeg_finish_decompress(&j->state->decompress);
    if (t->ended && !j->told)
        mr__call_warn(t->call, "JPEG without an end marker: it ends at byte %zu", mr__turbo_offset(t));
}

static void decode(void *opaque)
{
    job *j = opaque;
    j_decompress_ptr cinfo = &j->state->decompress;
    create(j->state);
    start(j);
    j->columns = mr__turbo_crop(cinfo, j->request->region.x, j->request->region.width);
    if (j->request->region.y != 0)
        jpeg_skip_scanlines(cinfo, j->request->region.y);
    if (is_direct(j))
        read_direct(j);
    else
        read_buffered(j);
    if (cinfo->arith_code) // which takes missing bytes for zeros without a word
        check_ended(j);
    if (cinfo->output_scanline == cinfo->output_height)
        finish(j);
}

/* From so many bytes of the file. */
static int decode_until(mr__call *call, const mr__request *request, const mr_image *to, size_t nbytes)
{
    mr__jpeg_state *state = call->state;
    mr_color color = request->info->color;
    job j = {.state = state, .request = request, .to = to, .is_cmyk = color == MR_COLOR_CMYK || color == MR_COLOR_YCCK};
    state->turbo.call = call;
    state->turbo.accept_damaged = request->accept_damaged;
    state->turbo.done = false;
    state->turbo.work = (mr__scan_work){0};
    state->turbo.end = call->bytes + nbytes;
    state->turbo.is_cut = !request->accept_damaged && nbytes < call->nbytes;
    int result = mr__turbo_run(&state->turbo, decode, &j);
    mr__turbo_reset(&state->turbo, (j_common_ptr)&state->decompress);
    return result;
}

static bool is_damage(int result)
{
    return result == MR_ECORRUPT || result == MR_ETRUNCATED;
}

/* What libjpeg-turbo makes of damage. It takes some of it without a word: then it is the strict decode's. */
static int decode_damaged(mr__call *call, const mr__request *request, const mr_image *to, uint32_t warnings)
{
    mr__detail damage = *call->detail;
    size_t usable = mr__jpeg_usable(call);
    call->warnings = warnings;
    mr__detail_clear(call->detail);
    int result = decode_until(call, request, to, call->nbytes);
    if (is_damage(result) && usable < call->nbytes) {
        call->warnings = warnings;
        mr__detail_clear(call->detail);
        result = decode_until(call, request, to, usable);
    }
    if (result == 0 && call->warnings == warnings)
        mr__call_warn(call, "%s", damage.text);
    return result;
}

int mr__turbo_decode(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__request strict = *request;
    strict.accept_damaged = false;
    uint32_t warnings = call->warnings;
    int result = decode_until(call, &strict, to, mr__jpeg_find_fill(call));
    return is_damage(result) && request->accept_damaged ? decode_damaged(call, request, to, warnings) : result;
}
