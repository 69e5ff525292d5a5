// SPDX-License-Identifier: Apache-2.0
/*
 * The bytes in memory as libjpeg's data source.
 *
 * They are handed over in windows of less than 512 bytes. libjpeg-turbo's fast Huffman decoder runs only where 512
 * bytes a block are at hand, and it takes a bad code for a zero without a word; the careful decoder, which reports it,
 * runs otherwise. It costs 3 % of the time of a whole decode (measured on ImageNet files), for an error in place of
 * noise. Where damage is accepted it gets all at once, as from most programs: the pixels of damage are those they get.
 */
#include "codec/jpeg/turbo.h"

enum { WINDOW_NBYTES = 511 };

static void init_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static void move_window(mr__turbo *t, const uint8_t *from)
{
    size_t left = (size_t)(t->end - from);
    size_t nbytes = left < WINDOW_NBYTES || t->accept_damaged ? left : WINDOW_NBYTES;
    t->source.next_input_byte = from;
    t->source.bytes_in_buffer = nbytes;
    t->window_end = from + nbytes;
}

/*
 * At the end of the data: an end marker that is not in it, and a note of that. libjpeg reads ahead, so that this is no
 * error yet; it becomes one when libjpeg misses a bit or a marker (turbo_error.c, turbo_decode.c).
 */
static void give_end(mr__turbo *t)
{
    static const uint8_t end_marker[2] = {0xff, 0xd9};
    t->ended = true;
    t->source.next_input_byte = end_marker;
    t->source.bytes_in_buffer = sizeof end_marker;
}

static boolean fill_input_buffer(j_decompress_ptr cinfo)
{
    mr__turbo *t = cinfo->client_data;
    if (t->window_end == t->end)
        give_end(t);
    else
        move_window(t, t->window_end);
    return TRUE;
}

static void skip_input_data(j_decompress_ptr cinfo, long count)
{
    mr__turbo *t = cinfo->client_data;
    if (count <= 0)
        return;
    size_t n = (size_t)count, at = mr__turbo_offset(t);
    if (n <= t->source.bytes_in_buffer) {
        t->source.next_input_byte += n;
        t->source.bytes_in_buffer -= n;
    } else if (t->ended || n >= (size_t)(t->end - t->call->bytes) - at) {
        t->window_end = t->end;
        give_end(t);
    } else {
        move_window(t, t->call->bytes + at + n);
    }
}

static void term_source(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

void mr__turbo_init_source(mr__turbo *t)
{
    t->source.init_source = init_source;
    t->source.fill_input_buffer = fill_input_buffer;
    t->source.skip_input_data = skip_input_data;
    t->source.resync_to_restart = jpeg_resync_to_restart;
    t->source.term_source = term_source;
    t->ended = false;
    move_window(t, t->call->bytes);
}

size_t mr__turbo_offset(const mr__turbo *t)
{
    return (size_t)((t->ended ? t->end : t->source.next_input_byte) - t->call->bytes);
}
