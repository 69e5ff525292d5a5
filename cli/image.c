// SPDX-License-Identifier: Apache-2.0
#include "image.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { HEADER_NBYTES = 256 << 10 };

bool opened_init(opened *o, const settings *s, const mr_hooks *hooks)
{
    const mr_limits none = {sizeof none, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    *o = (opened){.limit = s->no_limits ? SIZE_MAX : (size_t)1 << 30};
    if (s->no_limits)
        options.limits = &none;
    int result = mr_decoder_new(&options, &o->decoder);
    if (result != 0)
        complain(NULL, "%s", mr_error_text(result));
    return result == 0;
}

void opened_fini(opened *o)
{
    mr_decoder_free(o->decoder);
    input_fini(&o->in);
}

static int fail_system(opened *o, int number)
{
    o->code = MR_EIO;
    snprintf(o->error, sizeof o->error, "%s", strerror(number));
    return o->code;
}

static int fail_decoder(opened *o, int code)
{
    const char *detail = mr_decoder_detail(o->decoder);
    o->code = code;
    snprintf(o->error, sizeof o->error, "%s", detail[0] != '\0' ? detail : mr_error_text(code));
    return code;
}

int opened_read(opened *o, const char *name)
{
    int number = input_read(&o->in, name, o->limit);
    return number != 0 ? fail_system(o, number) : 0;
}

int opened_info(opened *o, mr_info *info)
{
    *info = (mr_info){.struct_size = sizeof *info};
    int result = mr_decoder_info(o->decoder, o->in.bytes, o->in.nbytes, info);
    return result != 0 ? fail_decoder(o, result) : 0;
}

int opened_decode(opened *o, const settings *s, mr_image *image)
{
    int result = mr_decoder_decode(o->decoder, o->in.bytes, o->in.nbytes, &s->hints, image);
    return result != 0 ? fail_decoder(o, result) : 0;
}

/*
 * All that JPEG's info tells stands before the first scan, so a success with the first part is the answer. The other
 * forms may hold EXIF or more frames further back: they are read whole, as is standard input, for its size.
 */
static int read_info(opened *o, mr_info *info)
{
    bool whole = o->in.fd == 0;
    int number = input_fill(&o->in, whole ? o->limit : HEADER_NBYTES);
    if (number != 0)
        return fail_system(o, number);
    if (!whole && !o->in.ended && mr_form_probe(o->in.bytes, o->in.nbytes) == MR_FORM_JPEG && opened_info(o, info) == 0)
        return 0;
    number = input_fill(&o->in, o->limit < SIZE_MAX ? o->limit + 1 : o->limit);
    return number != 0 ? fail_system(o, number) : opened_info(o, info);
}

int opened_read_info(opened *o, const char *name, mr_info *info)
{
    int number = input_open(&o->in, name);
    if (number != 0)
        return fail_system(o, number);
    int result = read_info(o, info);
    input_close(&o->in);
    return result;
}
