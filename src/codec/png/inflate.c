// SPDX-License-Identifier: Apache-2.0
#include "codec/png/inflate.h"

#include "base/bytes.h"
#include "base/size.h"

#include <string.h>
#include <zlib.h>

enum { ICC_HEADER_NBYTES = 128, ICC_NAME_MAX = 79 };

/* What zlib made of some data. */
typedef struct outcome {
    int status; /* Z_STREAM_END: whole and right; Z_BUF_ERROR: it ends too early; Z_OK: there is more than fits */
    size_t used;
    size_t made;
    const char *word; /* on Z_DATA_ERROR */
} outcome;

static void *zlib_alloc(void *user, uInt count, uInt nbytes)
{
    return mr__alloc_array(user, count, nbytes);
}

static void zlib_free(void *user, void *block)
{
    mr__free(user, block);
}

static uInt piece(size_t nbytes)
{
    return nbytes < UINT32_MAX / 2 ? (uInt)nbytes : UINT32_MAX / 2;
}

/* zlib counts in 32 bits: larger data goes in pieces. */
static void inflate_all(z_stream *z, mr__span from, uint8_t *to, size_t to_nbytes, outcome *o)
{
    uint8_t more;
    do {
        z->next_in = (Bytef *)(uintptr_t)(from.bytes + o->used);
        z->avail_in = piece(from.nbytes - o->used);
        bool full = o->made == to_nbytes;
        z->next_out = full ? &more : to + o->made; // a byte too many tells whether the stream goes on
        z->avail_out = full ? 1 : piece(to_nbytes - o->made);
        uInt in = z->avail_in, out = z->avail_out;
        o->status = inflate(z, Z_NO_FLUSH);
        o->used += in - z->avail_in;
        if (full && z->avail_out == 0) {
            o->status = Z_OK;
            return;
        }
        o->made += full ? 0 : out - z->avail_out;
    } while (o->status == Z_OK);
}

static int inflate_by_zlib(mr__call *call, mr__span from, uint8_t *to, size_t to_nbytes, outcome *o)
{
    mr_hooks hooks = *call->hooks;
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &hooks};
    *o = (outcome){0};
    if (inflateInit(&z) != Z_OK)
        return mr__call_no_memory(call);
    inflate_all(&z, from, to, to_nbytes, o);
    o->word = z.msg != NULL ? z.msg : "a preset dictionary";
    inflateEnd(&z);
    if (o->status == Z_MEM_ERROR) // the window is allocated when it is first needed
        return mr__call_no_memory(call);
    return 0;
}

/* What the outcome means for an image of raw_nbytes, in a sentence where it is an error. */
static int judge(mr__call *call, const mr__png_data *data, const outcome *o, size_t raw_nbytes)
{
    size_t at = mr__png_data_offset(call, data->png, o->used);
    if (o->made == raw_nbytes && o->status == Z_OK) {
        mr__call_warn(call, "PNG: more image data than the image needs, from byte %zu on", at);
        return 0;
    }
    if (o->made == raw_nbytes && o->status == Z_STREAM_END)
        return 0;
    if (o->status == Z_DATA_ERROR || o->status == Z_NEED_DICT)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: image data that cannot be decompressed at byte %zu: %s",
                             at, o->word);
    return mr__call_fail(call, MR_ETRUNCATED, "truncated PNG: the image data ends at byte %zu with %zu of %zu bytes",
                         at, o->made, raw_nbytes);
}

static int look_again(mr__call *call, const mr__png_data *data, bool accept_damaged, uint8_t *raw, size_t raw_nbytes)
{
    outcome o;
    int result = inflate_by_zlib(call, data->span, raw, raw_nbytes, &o);
    if (result != 0)
        return result;
    result = judge(call, data, &o, raw_nbytes);
    if (result != 0 && accept_damaged) {
        mr__call_warn(call, "%s", call->detail->text);
        mr__detail_clear(call->detail);
        memset(raw + o.made, 0, raw_nbytes - o.made);
        result = 0;
    }
    return result;
}

int mr__png_inflate(mr__call *call, struct libdeflate_decompressor *decompressor, const mr__png_data *data,
                    bool accept_damaged, uint8_t *raw, size_t raw_nbytes)
{
    size_t used, made;
    enum libdeflate_result done =
        libdeflate_zlib_decompress_ex(decompressor, data->span.bytes, data->span.nbytes, raw, raw_nbytes, &used, &made);
    if (done != LIBDEFLATE_SUCCESS || made != raw_nbytes)
        return look_again(call, data, accept_damaged, raw, raw_nbytes);
    if (used != data->span.nbytes)
        mr__call_warn(call, "PNG: %zu bytes behind the compressed image data, from byte %zu on",
                      data->span.nbytes - used, mr__png_data_offset(call, data->png, used));
    return 0;
}

int mr__png_inflate_icc(mr__call *call, mr__span chunk, mr__buffer *buffer, size_t *nbytes)
{
    size_t at = (size_t)(chunk.bytes - call->bytes);
    const uint8_t *zero = memchr(chunk.bytes, 0, chunk.nbytes < ICC_NAME_MAX + 1 ? chunk.nbytes : ICC_NAME_MAX + 1);
    if (zero == NULL || (size_t)(chunk.bytes + chunk.nbytes - zero) < 2 || zero[1] != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: no profile name and method in chunk iCCP at byte %zu",
                             at - 8);
    mr__span stream = {zero + 2, (size_t)(chunk.bytes + chunk.nbytes - (zero + 2))};
    // A profile begins with its own size, so that nothing is allocated before it has been weighed.
    uint8_t head[4];
    outcome o;
    int result = inflate_by_zlib(call, stream, head, sizeof head, &o);
    if (result != 0)
        return result;
    size_t size = o.made == sizeof head ? mr__load_be32(head) : 0;
    if (size < ICC_HEADER_NBYTES || size / MR__DEFLATE_RATIO_MAX > stream.nbytes)
        return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: no ICC profile in chunk iCCP at byte %zu", at - 8);
    result = mr__call_reserve(call, buffer, size);
    if (result == 0)
        result = inflate_by_zlib(call, stream, buffer->bytes, size, &o);
    if (result == 0 && (o.status != Z_STREAM_END || o.made != size))
        result = mr__call_fail(call, MR_ECORRUPT, "damaged PNG: the ICC profile in chunk iCCP at byte %zu is not whole",
                               at - 8);
    if (result == 0)
        *nbytes = size;
    return result;
}
