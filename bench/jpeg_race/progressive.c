// SPDX-License-Identifier: Apache-2.0
#include "jpeg_race.h"

#include <setjmp.h>
#include <stdlib.h>

typedef struct transcoder {
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    unsigned char *made;
    unsigned long made_nbytes;
} transcoder;

static void leave(j_common_ptr c)
{
    longjmp(((transcoder *)c->client_data)->jump, 1);
}

static void say_nothing(j_common_ptr c)
{
    (void)c;
}

static bool transcode(transcoder *t, const uint8_t *bytes, size_t nbytes)
{
    if (setjmp(t->jump) != 0)
        return false;
    jpeg_create_decompress(&t->from);
    jpeg_create_compress(&t->to);
    jpeg_mem_src(&t->from, bytes, (unsigned long)nbytes);
    jpeg_mem_dest(&t->to, &t->made, &t->made_nbytes);
    jpeg_read_header(&t->from, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&t->from);
    jpeg_copy_critical_parameters(&t->from, &t->to);
    jpeg_simple_progression(&t->to);
    jpeg_write_coefficients(&t->to, coefficients);
    jpeg_finish_compress(&t->to);
    jpeg_finish_decompress(&t->from);
    return t->errors.num_warnings == 0;
}

uint8_t *make_progressive(const uint8_t *bytes, size_t nbytes, size_t *out_nbytes)
{
    transcoder *t = need(calloc(1, sizeof *t));
    t->from.err = t->to.err = jpeg_std_error(&t->errors);
    t->from.client_data = t->to.client_data = t;
    t->errors.error_exit = leave;
    t->errors.output_message = say_nothing;
    bool good = transcode(t, bytes, nbytes);
    jpeg_destroy_compress(&t->to);
    jpeg_destroy_decompress(&t->from);
    uint8_t *made = t->made;
    *out_nbytes = t->made_nbytes;
    free(t);
    if (good)
        return made;
    free(made);
    return NULL;
}
