// SPDX-License-Identifier: Apache-2.0
/*
 * What a damaged picture still has: the rows from the top that decode when no more are asked for, zeros below. Where
 * alpha alone is damaged, its rows are those of a decode with it, and the colours below them are opaque. So a part
 * that decodes by itself is what the whole has there.
 *
 * libwebp calls a shortage of memory damage here and there, and one must not cost rows: the row at which a search ended
 * is tried again, and memory must be there then.
 */
#include "codec/webp/job.h"

#include <string.h>

/* In pieces, libwebp says of damaged alpha that the output was aborted; without alpha that is a shortage of memory. */
static bool stops_early(const mr__webp_job *j, VP8StatusCode status)
{
    return mr__webp_job_is_damage(status) || (j->alpha && status == VP8_STATUS_USER_ABORT);
}

/* Decodes the first `rows` rows of a picture that may be cut, into an image of its whole size; *ok: all of them. */
static int try_rows(const mr__webp_job *j, uint32_t rows, const mr_image *whole, bool *ok, uint32_t *emitted)
{
    mr_rect part = mr__webp_job_part(j, (mr_rect){0, 0, whole->width, rows});
    mr_image target = *whole;
    WebPDecoderConfig config;
    int last = 0;
    target.height = part.height;
    if (!WebPInitDecoderConfig(&config))
        return mr__webp_job_fail(j, VP8_STATUS_INVALID_PARAM);
    mr__webp_job_ask(j, part, &target, &config);
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (decoder == NULL)
        return mr__webp_job_fail(j, VP8_STATUS_OUT_OF_MEMORY);
    VP8StatusCode status = WebPIUpdate(decoder, j->bytes, j->nbytes);
    if (WebPIDecGetRGB(decoder, &last, NULL, NULL, NULL) == NULL)
        last = 0;
    WebPIDelete(decoder);
    WebPFreeDecBuffer(&config.output);
    *ok = (uint32_t)last == part.height; // not by status: here libwebp goes on below the part, and may fail there
    *emitted = (uint32_t)last;
    return stops_early(j, status) || status == VP8_STATUS_OK ? 0 : mr__webp_job_fail(j, status);
}

static int fail_unlike(const mr__webp_job *j, uint32_t rows)
{
    return mr__call_fail(j->call, MR_ENOMEM,
                         "out of memory: libwebp decoded %u rows of a damaged WebP at one time and not at another",
                         rows);
}

/* Sees that `rows` rows do not decode for another reason than memory. */
static int confirm_damage(const mr__webp_job *j, uint32_t rows, const mr_image *whole)
{
    uint32_t ignored;
    bool ok;
    if (!mr__webp_job_hides_shortage(j))
        return 0;
    int result = try_rows(j, rows, whole, &ok, &ignored);
    if (result == 0 && ok)
        result = fail_unlike(j, rows);
    return result != 0 ? result : mr__webp_job_check_memory(j);
}

/*
 * The greatest number of rows that decode when no more are asked for. What libwebp emits before it stops is fewer: it
 * works on bands of rows. So that a part without damage, which decodes by itself, is also in the whole, the number is
 * searched for, from what was emitted; the band is below 40 rows, which only makes the search short.
 */
static int find_rows(const mr__webp_job *j, const mr_image *whole, uint32_t *rows)
{
    uint32_t low = 0, high = whole->height, probe, emitted, ignored;
    bool ok;
    int result = try_rows(j, high, whole, &ok, &emitted);
    *rows = high;
    if (result != 0 || ok)
        return result;
    for (int i = 0; result == 0 && low + 1 < high; i++) {
        probe = i == 0 ? emitted : i == 1 ? emitted + 40 : low + (high - low) / 2;
        if (probe <= low || probe >= high)
            probe = low + (high - low) / 2;
        result = try_rows(j, probe, whole, &ok, &ignored);
        *(ok ? &low : &high) = probe;
    }
    *rows = low;
    return result != 0 ? result : confirm_damage(j, high, whole);
}

/* Decodes rows that find_rows found. */
static int draw_rows(const mr__webp_job *j, uint32_t rows, const mr_image *whole)
{
    uint32_t ignored;
    bool ok = true;
    int result = rows != 0 ? try_rows(j, rows, whole, &ok, &ignored) : 0;
    return result == 0 && !ok ? fail_unlike(j, rows) : result;
}

static int draw_whole(const mr__webp_job *j, const mr_image *whole)
{
    const mr__webp_picture *p = j->picture;
    mr__webp_job plain = mr__webp_job_make(j->call, p, false);
    uint32_t rows = 0, alpha_rows = 0;
    int result = find_rows(&plain, whole, &rows);
    if (result == 0 && j->alpha)
        result = find_rows(j, whole, &alpha_rows);
    if (result == 0)
        result = draw_rows(&plain, rows, whole);
    // The rows found are all or of an odd number, as one more is decoded below an even one: no other row is drawn over.
    if (result == 0)
        result = draw_rows(j, j->alpha ? alpha_rows : 0, whole);
    if (result != 0)
        return result;
    for (uint32_t y = rows; y < whole->height; y++)
        memset((uint8_t *)whole->pixels + (ptrdiff_t)y * whole->stride, 0, mr_image_row_nbytes(whole));
    if (rows < whole->height || !j->alpha || alpha_rows == rows)
        mr__call_warn(j->call, "damaged WebP: %u of %u rows were decoded of the data from byte %zu", rows, p->height,
                      p->pixels.at);
    if (j->alpha && alpha_rows < rows)
        mr__call_warn(j->call, "damaged WebP: alpha of %u of %u rows was decoded from byte %zu on; opaque below",
                      alpha_rows, rows, p->alpha.at);
    return 0;
}

int mr__webp_decode_damaged(const mr__webp_job *j, mr_rect region, const mr_image *to)
{
    mr_image whole = {0}, part;
    int result = mr__webp_scratch(j->call, j->picture->width, j->picture->height, to->channels, &whole);
    if (result == 0)
        result = draw_whole(j, &whole);
    if (result == 0)
        result = mr_image_crop(&whole, region, &part);
    return result != 0 ? result : mr_image_copy(&part, to);
}
