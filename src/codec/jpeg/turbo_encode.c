// SPDX-License-Identifier: Apache-2.0
/* Encoding by libjpeg-turbo: gray as one component, RGB as YCbCr. The same pixels and options give the same bytes. */
#include "codec/exif.h"
#include "codec/jpeg/header.h"
#include "codec/jpeg/turbo.h"

#include <string.h>

enum { ROWS_AT_ONCE = 8 };

typedef struct job {
    mr__jpeg_state *state;
    const mr_image *image;
    const mr_encode_options *options;
} job;

/* How many luma samples there are to one of chroma; false for a name that is none to encode. */
static bool ratio_of(mr_subsampling name, int *across, int *down)
{
    static const struct {
        int8_t across, down;
    } ratios[] = {
        [MR_SUBSAMPLING_NONE] = {2, 2}, [MR_SUBSAMPLING_444] = {1, 1}, [MR_SUBSAMPLING_422] = {2, 1},
        [MR_SUBSAMPLING_420] = {2, 2},  [MR_SUBSAMPLING_440] = {1, 2}, [MR_SUBSAMPLING_411] = {4, 1},
        [MR_SUBSAMPLING_410] = {4, 2},  [MR_SUBSAMPLING_441] = {1, 4},
    };
    if ((unsigned)name >= sizeof ratios / sizeof *ratios)
        return false;
    *across = ratios[name].across;
    *down = ratios[name].down;
    return true;
}

static int check(mr__call *call, const mr_image *image, const mr_encode_options *options)
{
    int across, down;
    if (image->depth != 8 || (image->channels != 1 && image->channels != 3))
        return mr__call_fail(call, MR_EUNSUPPORTED,
                             "JPEG cannot hold %u channels of %u bits: it has gray or RGB, 8 bits, and no alpha",
                             image->channels, image->depth);
    if (image->width > JPEG_MAX_DIMENSION || image->height > JPEG_MAX_DIMENSION)
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG cannot hold %u x %u pixels: it has up to %ld a side",
                             image->width, image->height, (long)JPEG_MAX_DIMENSION);
    if (!ratio_of(options->subsampling, &across, &down))
        return mr__call_fail(call, MR_EARGUMENT,
                             "subsampling is %d; JPEG is written as 4:4:4, 4:2:2, 4:2:0, 4:4:0, "
                             "4:1:1, 4:1:0 or 4:4:1",
                             (int)options->subsampling);
    if (options->icc_nbytes > 255 * (65533 - MR__JPEG_ICC_OVERHEAD))
        return mr__call_fail(call, MR_EUNSUPPORTED, "JPEG cannot hold an ICC profile of %zu bytes",
                             options->icc_nbytes);
    return 0;
}

static void create(mr__jpeg_state *state)
{
    mr__turbo *t = &state->turbo;
    j_compress_ptr cinfo = &state->compress;
    if (t->object != NULL)
        return;
    mr__turbo_init_errors(t);
    cinfo->err = &t->error;
    cinfo->client_data = t;
    jpeg_create_compress(cinfo);
    mr__turbo_memory_replace(t, (j_common_ptr)cinfo);
    mr__turbo_init_destination(t);
    cinfo->dest = &t->destination;
}

/* What libjpeg keeps for the next image, tables made for this one among it, is gone with the pool. */
static void forget_tables(j_compress_ptr cinfo)
{
    memset(cinfo->quant_tbl_ptrs, 0, sizeof cinfo->quant_tbl_ptrs);
    memset(cinfo->dc_huff_tbl_ptrs, 0, sizeof cinfo->dc_huff_tbl_ptrs);
    memset(cinfo->ac_huff_tbl_ptrs, 0, sizeof cinfo->ac_huff_tbl_ptrs);
    cinfo->comp_info = NULL;
    cinfo->script_space = NULL;
    cinfo->script_space_size = 0;
}

static void set_options(job *j)
{
    j_compress_ptr cinfo = &j->state->compress;
    forget_tables(cinfo);
    cinfo->image_width = j->image->width;
    cinfo->image_height = j->image->height;
    cinfo->input_components = (int)j->image->channels;
    cinfo->in_color_space = j->image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(cinfo);
    jpeg_set_quality(cinfo, (int)j->options->quality, TRUE);
    if (j->image->channels == 3) {
        jpeg_component_info *luma = &cinfo->comp_info[0];
        (void)ratio_of(j->options->subsampling, &luma->h_samp_factor, &luma->v_samp_factor);
    }
    if (j->options->progressive)
        jpeg_simple_progression(cinfo);
}

static void write_markers(job *j)
{
    j_compress_ptr cinfo = &j->state->compress;
    if (j->options->orientation != 1) {
        uint8_t exif[6 + MR__EXIF_NBYTES] = "Exif\0";
        mr__exif_write(exif + 6, j->options->orientation);
        jpeg_write_marker(cinfo, MR__JPEG_APP1, exif, sizeof exif);
    }
    if (j->options->icc != NULL)
        jpeg_write_icc_profile(cinfo, j->options->icc, (unsigned)j->options->icc_nbytes);
}

static void write_rows(job *j)
{
    j_compress_ptr cinfo = &j->state->compress;
    const mr_image *image = j->image;
    for (uint32_t y = 0; y < image->height;) {
        JSAMPROW rows[ROWS_AT_ONCE];
        uint32_t count = image->height - y < ROWS_AT_ONCE ? image->height - y : ROWS_AT_ONCE;
        for (uint32_t i = 0; i < count; i++)
            rows[i] = (uint8_t *)image->pixels + (ptrdiff_t)(y + i) * image->stride;
        y += jpeg_write_scanlines(cinfo, rows, count);
    }
}

static void encode(void *opaque)
{
    job *j = opaque;
    j_compress_ptr cinfo = &j->state->compress;
    create(j->state);
    set_options(j);
    jpeg_start_compress(cinfo, TRUE);
    write_markers(j);
    write_rows(j);
    jpeg_finish_compress(cinfo);
}

int mr__turbo_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                     size_t *out_nbytes)
{
    mr__jpeg_state *state = call->state;
    job j = {.state = state, .image = image, .options = options};
    int result = check(call, image, options);
    if (result != 0)
        return result;
    state->turbo.call = call;
    state->turbo.out = out;
    result = mr__turbo_run(&state->turbo, encode, &j);
    if (result == 0)
        *out_nbytes = mr__turbo_written(&state->turbo);
    mr__turbo_reset(&state->turbo, (j_common_ptr)&state->compress);
    state->turbo.out = NULL;
    return result;
}
