// SPDX-License-Identifier: Apache-2.0
#include "jpeg_coefs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct coefs_error {
    struct jpeg_error_mgr base;
    jmp_buf jump;
} coefs_error;

static const uint8_t natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static void jump_out(j_common_ptr cinfo)
{
    longjmp(((coefs_error *)cinfo->err)->jump, 1);
}

static void stay_silent(j_common_ptr cinfo)
{
    (void)cinfo;
}

static struct jpeg_error_mgr *use_error(coefs_error *error)
{
    jpeg_std_error(&error->base);
    error->base.error_exit = jump_out;
    error->base.output_message = stay_silent;
    return &error->base;
}

int coefs_open(coefs_tool *t, const mr_hooks *hooks, const mr_limits *limits)
{
    *t = (coefs_tool){0};
    return mr__handle_new(sizeof *t->handle, hooks, limits, &t->handle);
}

void coefs_close(coefs_tool *t)
{
    mr__jpeg_coefficients_fini(&t->work, &t->handle->hooks);
    mr__buffer_fini(&t->origin, &t->handle->hooks);
    mr__buffer_fini(&t->out, &t->handle->hooks);
    mr__handle_trim(t->handle);
    mr__handle_free(t->handle);
}

const char *coefs_detail(const coefs_tool *t)
{
    return t->handle->detail.text;
}

int coefs_read(coefs_tool *t, const picture_file *file, mr__jpeg_coefficients *out)
{
    mr__call call = mr__handle_call(t->handle, file->bytes, file->nbytes);
    int result = mr__jpeg_coefficients_read(&call, &t->work, out);
    mr__handle_end(t->handle, &call, result);
    return result;
}

int coefs_origin(coefs_tool *t, const picture_file *file, const mr__jpeg_coefficients *c, const picture_file *icc,
                 picture_file *origin)
{
    mr__call call = mr__handle_call(t->handle, file->bytes, file->nbytes);
    int result = mr__jpeg_origin_make(&call, c, icc != NULL ? icc->bytes : NULL, icc != NULL ? icc->nbytes : 0,
                                      &t->origin, &origin->nbytes);
    origin->bytes = t->origin.bytes;
    mr__handle_end(t->handle, &call, result);
    return result;
}

int coefs_restore(coefs_tool *t, mr__jpeg_coefficients *c, const picture_file *icc, const picture_file *origin,
                  picture_file *file)
{
    mr__call call = mr__handle_call(t->handle, NULL, 0);
    int result = mr__jpeg_origin_write(&call, c, icc != NULL ? icc->bytes : NULL, icc != NULL ? icc->nbytes : 0,
                                       origin->bytes, origin->nbytes, &t->out, &file->nbytes);
    file->bytes = t->out.bytes;
    mr__handle_end(t->handle, &call, result);
    return result;
}

int coefs_write(coefs_tool *t, mr__jpeg_coefficients *c, const picture_file *icc, picture_file *file)
{
    mr__call call = mr__handle_call(t->handle, NULL, 0);
    int result = mr__jpeg_coefficients_write(&call, c, icc != NULL ? icc->bytes : NULL, icc != NULL ? icc->nbytes : 0,
                                             &t->out, &file->nbytes);
    file->bytes = t->out.bytes;
    mr__handle_end(t->handle, &call, result);
    return result;
}

static bool compare_plane(j_decompress_ptr j, jvirt_barray_ptr array, int i, const mr__jpeg_coefficients *c)
{
    const mr__jpeg_plane *p = &c->plane[i];
    const jpeg_component_info *info = &j->comp_info[i];
    bool same = p->blocks_w == info->width_in_blocks && p->blocks_h == info->height_in_blocks &&
                p->id == info->component_id && p->h == info->h_samp_factor && p->v == info->v_samp_factor &&
                p->table == info->quant_tbl_no;
    for (int k = 0; same && k < 64; k++)
        same = c->quant[p->table][k] == info->quant_table->quantval[natural[k]];
    for (uint32_t y = 0; same && y < p->blocks_h; y++) {
        JBLOCKARRAY row = j->mem->access_virt_barray((j_common_ptr)j, array, y, 1, FALSE);
        for (uint32_t x = 0; same && x < p->blocks_w; x++)
            for (int k = 0; same && k < 64; k++)
                same = p->blocks[((size_t)y * p->padded_w + x) * 64 + (size_t)k] == row[0][x][natural[k]];
    }
    return same;
}

static bool compare_color(const struct jpeg_decompress_struct *j, const mr__jpeg_coefficients *c)
{
    return j->jpeg_color_space == (c->color == MR__JPEG_GRAY    ? JCS_GRAYSCALE
                                   : c->color == MR__JPEG_YCBCR ? JCS_YCbCr
                                                                : JCS_RGB);
}

int coefs_compare(const picture_file *file, const mr__jpeg_coefficients *c)
{
    struct jpeg_decompress_struct j;
    coefs_error error;
    j.err = use_error(&error);
    if (setjmp(error.jump) != 0) {
        jpeg_destroy_decompress(&j);
        return -1;
    }
    jpeg_create_decompress(&j);
    jpeg_mem_src(&j, file->bytes, file->nbytes);
    jpeg_read_header(&j, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&j);
    bool same = j.image_width == c->width && j.image_height == c->height &&
                (uint32_t)j.num_components == c->components && (bool)j.progressive_mode == c->progressive &&
                compare_color(&j, c);
    for (int i = 0; same && i < j.num_components; i++)
        same = compare_plane(&j, arrays[i], i, c);
    int warned = error.base.num_warnings != 0;
    jpeg_destroy_decompress(&j);
    return same ? warned : 2;
}

bool coefs_same(const mr__jpeg_coefficients *a, const mr__jpeg_coefficients *b)
{
    bool same = a->width == b->width && a->height == b->height && a->components == b->components &&
                a->color == b->color && a->orientation == b->orientation;
    for (uint32_t i = 0; same && i < a->components; i++) {
        const mr__jpeg_plane *p = &a->plane[i], *q = &b->plane[i];
        same = p->blocks_w == q->blocks_w && p->blocks_h == q->blocks_h && p->h == q->h && p->v == q->v &&
               memcmp(a->quant[p->table], b->quant[q->table], sizeof a->quant[0]) == 0;
        for (uint32_t y = 0; same && y < p->blocks_h; y++)
            same = memcmp(p->blocks + (size_t)y * p->padded_w * 64, q->blocks + (size_t)y * q->padded_w * 64,
                          (size_t)p->blocks_w * 128) == 0;
    }
    return same;
}

static void set_scans(j_compress_ptr c, const coefs_coding *coding, jpeg_scan_info *scans)
{
    for (int i = 0; i < coding->scan_count; i++) {
        const coefs_scan *s = &coding->scans[i];
        scans[i] =
            (jpeg_scan_info){.comps_in_scan = s->count, .Ss = s->first, .Se = s->last, .Ah = s->high, .Al = s->low};
        for (int k = 0; k < s->count; k++)
            scans[i].component_index[k] = s->component[k];
    }
    c->scan_info = scans;
    c->num_scans = coding->scan_count;
}

picture_file coefs_transcode(const picture_file *file, const coefs_coding *coding)
{
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    coefs_error error;
    jpeg_scan_info scans[32];
    unsigned char *made = NULL;
    unsigned long made_nbytes = 0;
    from.err = to.err = use_error(&error);
    if (setjmp(error.jump) != 0) {
        char text[JMSG_LENGTH_MAX];
        error.base.format_message((j_common_ptr)&to, text);
        fprintf(stderr, "coefs_transcode: %s\n", text);
        abort();
    }
    jpeg_create_decompress(&from);
    jpeg_create_compress(&to);
    jpeg_mem_src(&from, file->bytes, file->nbytes);
    jpeg_read_header(&from, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&from);
    jpeg_mem_dest(&to, &made, &made_nbytes);
    jpeg_copy_critical_parameters(&from, &to);
    to.optimize_coding = coding->optimal;
    to.restart_interval = (unsigned)coding->restart;
    if (coding->progressive)
        jpeg_simple_progression(&to);
    if (coding->scans != NULL)
        set_scans(&to, coding, scans);
    jpeg_write_coefficients(&to, arrays);
    jpeg_finish_compress(&to);
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    picture_file result = picture_copy(made, made_nbytes);
    free(made);
    return result;
}
