// SPDX-License-Identifier: Apache-2.0
/*
 * What libjpeg complains of, and what we make of it: one table. libjpeg calls most damage a warning and goes on; here
 * damage is an error unless the caller accepts it.
 */
#include "codec/jpeg/header.h"
#include "codec/jpeg/turbo.h"

#include <jerror.h>

/* HARMLESS is a warning whatever the caller accepts; other messages end the decode with this code. */
enum { HARMLESS = 0 };

typedef struct rule {
    int message;
    int result;
    const char *text; /* NULL: libjpeg's own */
} rule;

static const rule rules[] = {
    /* Warnings of libjpeg. */
    {JWRN_ADOBE_XFORM, HARMLESS, NULL},
    {JWRN_EXTRANEOUS_DATA, HARMLESS, NULL},
    {JWRN_JFIF_MAJOR, HARMLESS, NULL},
    {JWRN_NOT_SEQUENTIAL, HARMLESS, NULL}, // the parameters that are wrong are not used
#if JPEG_LIB_VERSION >= 70 || defined(D_ARITH_CODING_SUPPORTED)
    {JWRN_ARITH_BAD_CODE, MR_ECORRUPT, "a bad arithmetic code"},
#endif
    {JWRN_BOGUS_PROGRESSION, MR_ECORRUPT, "the scans of a progressive image do not fit together"},
    {JWRN_HIT_MARKER, MR_ECORRUPT, "a marker where image data should be"},
    {JWRN_HUFF_BAD_CODE, MR_ECORRUPT, "a bad Huffman code"},
    {JWRN_MUST_RESYNC, MR_ECORRUPT, "a restart marker is missing or wrong"},
    /* Errors of libjpeg. */
    {JERR_OUT_OF_MEMORY, MR_ENOMEM, NULL},
#if JPEG_LIB_VERSION < 70
    {JERR_ARITH_NOTIMPL, MR_EUNSUPPORTED, "arithmetic coding"},
#endif
    {JERR_BAD_PRECISION, MR_EUNSUPPORTED, NULL},
    {JERR_CCIR601_NOTIMPL, MR_EUNSUPPORTED, NULL},
    {JERR_COMPONENT_COUNT, MR_EUNSUPPORTED, NULL},
    {JERR_CONVERSION_NOTIMPL, MR_EUNSUPPORTED, NULL},
    {JERR_FRACT_SAMPLE_NOTIMPL, MR_EUNSUPPORTED, "sampling factors that do not divide the largest ones"},
    {JERR_IMAGE_TOO_BIG, MR_EUNSUPPORTED, NULL},
    {JERR_NOTIMPL, MR_EUNSUPPORTED, NULL},
    {JERR_NOT_COMPILED, MR_EUNSUPPORTED, NULL},
    {JERR_SOF_UNSUPPORTED, MR_EUNSUPPORTED, NULL},
    {JERR_BAD_STATE, MR_EINTERNAL, NULL},
    {JERR_BAD_LIB_VERSION, MR_EINTERNAL, NULL},
    {JERR_BAD_STRUCT_SIZE, MR_EINTERNAL, NULL},
};

/* What is not in the table is damage: there are many ways to break a table or a scan header. */
static rule rule_of(int message)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].message == message)
            return rules[i];
    return (rule){message, MR_ECORRUPT, NULL};
}

int mr__turbo_run(mr__turbo *t, void (*body)(void *job), void *job)
{
    t->result = 0;
    if (setjmp(t->jump) == 0)
        body(job);
    return t->result;
}

void mr__turbo_throw(mr__turbo *t, int result)
{
    t->result = result;
    longjmp(t->jump, 1);
}

/* What the message is about: its text in the table, or libjpeg's. */
static const char *text_of(j_common_ptr cinfo, const rule *r, char buffer[JMSG_LENGTH_MAX])
{
    if (r->text != NULL)
        return r->text;
    (*cinfo->err->format_message)(cinfo, buffer);
    return buffer;
}

int mr__turbo_fail_ended(mr__turbo *t, const char *what)
{
    size_t at = mr__turbo_offset(t);
    if (t->is_cut)
        return mr__jpeg_fail_fill(t->call, at);
    return mr__call_fail(t->call, MR_ETRUNCATED, "truncated JPEG: expected %s at byte %zu", what, at);
}

/* The marker that libjpeg has come to and not gone over, or 0. */
static int marker_at(j_common_ptr cinfo)
{
    return cinfo->is_decompressor ? ((j_decompress_ptr)cinfo)->unread_marker : 0;
}

/* The detail for a message that ends the decode. Encoding has no bytes to point at. */
static int fail(mr__turbo *t, const rule *r, const char *text, int marker)
{
    if (r->result == MR_ENOMEM)
        return mr__call_fail(t->call, MR_ENOMEM, "out of memory in libjpeg");
    if (r->result == MR_EINTERNAL)
        return mr__call_fail(t->call, MR_EINTERNAL, "libjpeg: %s", text);
    if (t->call->bytes == NULL)
        return mr__call_fail(t->call, r->result == MR_EUNSUPPORTED ? MR_EUNSUPPORTED : MR_EINTERNAL,
                             "encoding a JPEG: %s", text);
    size_t at = mr__turbo_offset(t);
    if (r->result == MR_EUNSUPPORTED)
        return mr__call_fail(t->call, MR_EUNSUPPORTED, "JPEG that libjpeg does not support: %s, near byte %zu", text,
                             at);
    if (t->ended)
        return mr__turbo_fail_ended(t, "more image data");
    if (marker != 0)
        return mr__call_fail(t->call, r->result, "damaged JPEG: %s (marker ff%02x), near byte %zu", text,
                             (unsigned)marker, at);
    return mr__call_fail(t->call, r->result, "damaged JPEG: %s, near byte %zu", text, at);
}

static void warn(mr__turbo *t, const char *text)
{
    mr__call_warn(t->call, "JPEG: %s, near byte %zu", text, t->call->bytes != NULL ? mr__turbo_offset(t) : 0);
}

/* Damage, which libjpeg cannot go on after. */
static void error_exit(j_common_ptr cinfo)
{
    mr__turbo *t = cinfo->client_data;
    char buffer[JMSG_LENGTH_MAX];
    rule r = rule_of(cinfo->err->msg_code);
    const char *text = text_of(cinfo, &r, buffer);
    if (t->done) {
        warn(t, text);
        mr__turbo_throw(t, 0);
    }
    mr__turbo_throw(t, fail(t, &r, text, marker_at(cinfo)));
}

/* Level -1 is a warning; the others are traces. */
static void emit_message(j_common_ptr cinfo, int level)
{
    if (level >= 0)
        return;
    mr__turbo *t = cinfo->client_data;
    char buffer[JMSG_LENGTH_MAX];
    rule r = rule_of(cinfo->err->msg_code);
    const char *text = text_of(cinfo, &r, buffer);
    cinfo->err->num_warnings++;
    if (r.result != HARMLESS && !t->accept_damaged && !t->done)
        mr__turbo_throw(t, fail(t, &r, text, marker_at(cinfo)));
    warn(t, text);
}

static void output_message(j_common_ptr cinfo)
{
    (void)cinfo; // nothing of ours goes to stderr
}

void mr__turbo_init_errors(mr__turbo *t)
{
    jpeg_std_error(&t->error);
    t->error.error_exit = error_exit;
    t->error.emit_message = emit_message;
    t->error.output_message = output_message;
}
