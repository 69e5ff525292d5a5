// SPDX-License-Identifier: Apache-2.0
#include "image.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROBE_NBYTES = 4 << 10, HEADER_NBYTES = 256 << 10 };

static mr_jpeg_choice jpeg_of(const settings *s)
{
    if (s->jpeg == NULL || strcmp(s->jpeg, "either") == 0)
        return MR_JPEG_EITHER;
    return strcmp(s->jpeg, "own") == 0 ? MR_JPEG_OWN : MR_JPEG_LIBJPEG;
}

/* The file that --index names: 0 bytes are no index; what is too long is left to the decoder's judgement. */
static bool read_index(opened *o, const char *name)
{
    int number = input_open(&o->in, name);
    if (number == 0)
        number = input_fill(&o->in, sizeof o->index);
    if (number == 0) {
        o->index_nbytes = o->in.nbytes < sizeof o->index ? o->in.nbytes : sizeof o->index;
        memcpy(o->index, o->in.bytes, o->index_nbytes);
    }
    input_close(&o->in);
    if (number != 0)
        complain(name, "%s", strerror(number));
    return number == 0;
}

bool opened_init(opened *o, const settings *s, const mr_hooks *hooks)
{
    const mr_limits none = {sizeof none, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks, .jpeg = jpeg_of(s)};
    *o = (opened){.limit = s->no_limits ? UINT64_MAX : UINT64_C(1) << 30}; /* the decoder's own default */
    if (s->no_limits)
        options.limits = &none;
    int result = mr_decoder_new(&options, &o->decoder);
    if (result != 0)
        complain(NULL, "%s", mr_error_text(result));
    if (result != 0 || s->index == NULL || read_index(o, s->index))
        return result == 0;
    opened_fini(o);
    return false;
}

void opened_fini(opened *o)
{
    mr_decoder_free(o->decoder);
    input_fini(&o->in);
}

int opened_fail(opened *o, int number)
{
    o->code = MR_EIO;
    snprintf(o->error, sizeof o->error, "%s", strerror(number));
    return o->code;
}

void explain(int code, const char *detail, char *text, size_t nbytes)
{
    const char *field = code == MR_ELIMIT ? strstr(detail, " (limits.") : NULL;
    if (field != NULL)
        snprintf(text, nbytes, "%.*s (--no-limits lifts it)", (int)(field - detail), detail);
    else
        snprintf(text, nbytes, "%s", detail[0] != '\0' ? detail : mr_error_text(code));
}

static int fail_decoder(opened *o, int code)
{
    o->code = code;
    explain(code, mr_decoder_detail(o->decoder), o->error, sizeof o->error);
    return code;
}

static int fail_limit(opened *o)
{
    o->code = MR_ELIMIT;
    snprintf(o->error, sizeof o->error, "more than %" PRIu64 " bytes, the limit (--no-limits lifts it)", o->limit);
    return o->code;
}

static int fill(opened *o, uint64_t nbytes)
{
    int number = input_fill(&o->in, nbytes < SIZE_MAX ? (size_t)nbytes : SIZE_MAX);
    return number != 0 ? opened_fail(o, number) : 0;
}

/* Opens a file and reads as much as tells whether to read on. */
static int begin(opened *o, const char *name)
{
    int number = input_open(&o->in, name);
    if (number != 0)
        return opened_fail(o, number);
    int result = fill(o, PROBE_NBYTES);
    mr_info info;
    if (result == 0 && mr_form_probe(o->in.bytes, o->in.nbytes) == MR_FORM_NONE)
        result = opened_info(o, &info); /* for its sentence */
    if (result == 0 && o->in.file_nbytes > o->limit)
        result = fail_limit(o);
    return result;
}

/* Reads on to the end; one byte beyond the limit shows that there is no end before it. */
static int read_all(opened *o)
{
    int result = fill(o, o->limit < UINT64_MAX ? o->limit + 1 : UINT64_MAX);
    return result == 0 && o->in.nbytes > o->limit ? fail_limit(o) : result;
}

int opened_read(opened *o, const char *name)
{
    int result = begin(o, name);
    if (result == 0)
        result = read_all(o);
    input_close(&o->in);
    return result;
}

int opened_info(opened *o, mr_info *info)
{
    *info = (mr_info){.struct_size = sizeof *info};
    int result = mr_decoder_info(o->decoder, o->in.bytes, o->in.nbytes, info);
    return result != 0 ? fail_decoder(o, result) : 0;
}

int opened_verify(opened *o)
{
    int result = mr_decoder_verify(o->decoder, o->in.bytes, o->in.nbytes);
    return result != 0 ? fail_decoder(o, result) : 0;
}

int opened_tile(opened *o, uint32_t number, mr_tile *tile)
{
    *tile = (mr_tile){.struct_size = sizeof *tile};
    int result = mr_decoder_tile(o->decoder, o->in.bytes, o->in.nbytes, number, tile);
    return result != 0 ? fail_decoder(o, result) : 0;
}

int opened_decode(opened *o, const settings *s, mr_image *image)
{
    mr_decode_hints hints = s->hints;
    hints.index = o->index_nbytes != 0 ? o->index : NULL;
    hints.index_nbytes = o->index_nbytes;
    int result = mr_decoder_decode(o->decoder, o->in.bytes, o->in.nbytes, &hints, image);
    return result != 0 ? fail_decoder(o, result) : 0;
}

int opened_index(opened *o, const void **index, size_t *nbytes)
{
    int result = mr_decoder_index(o->decoder, o->in.bytes, o->in.nbytes, index, nbytes);
    return result != 0 ? fail_decoder(o, result) : 0;
}

/*
 * All that info tells of JPEG, PNM, raw and L3 stands before the pixels, so a success with the first part is the
 * answer. PNG and WebP may hold EXIF or more frames further back: they are read whole, as is what does not know its
 * size.
 */
static int read_info(opened *o, mr_info *info)
{
    mr_form form = mr_form_probe(o->in.bytes, o->in.nbytes);
    if (o->in.regular && form != MR_FORM_PNG && form != MR_FORM_WEBP) {
        int result = fill(o, HEADER_NBYTES);
        if (result != 0 || o->in.ended)
            return result != 0 ? result : opened_info(o, info);
        if (opened_info(o, info) == 0)
            return 0;
    }
    int result = read_all(o);
    return result != 0 ? result : opened_info(o, info);
}

int opened_read_info(opened *o, const char *name, mr_info *info)
{
    int result = begin(o, name);
    if (result == 0)
        result = read_info(o, info);
    input_close(&o->in);
    return result;
}
