// SPDX-License-Identifier: Apache-2.0
/* What a JPEG header means: colour, subsampling, and the ICC profile. */
#include "codec/jpeg/header.h"

#include <string.h>

/* The colour of three components, by the rules that libjpeg goes by. */
static mr_color color_of_three(const mr__jpeg_header *h)
{
    const mr__jpeg_component *c = h->component;
    if (h->has_jfif)
        return MR_COLOR_YCBCR;
    if (h->has_adobe)
        return h->adobe_transform == 0 ? MR_COLOR_RGB : MR_COLOR_YCBCR;
    return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' ? MR_COLOR_RGB : MR_COLOR_YCBCR;
}

mr_color mr__jpeg_header_color(const mr__jpeg_header *h)
{
    if (h->component_count == 1)
        return MR_COLOR_GRAY;
    if (h->component_count == 3)
        return color_of_three(h);
    return h->has_adobe && h->adobe_transform != 0 ? MR_COLOR_YCCK : MR_COLOR_CMYK;
}

static bool same_factors(const mr__jpeg_component *a, const mr__jpeg_component *b)
{
    return a->h == b->h && a->v == b->v;
}

/* How many luma samples there are to one of chroma, across and down. */
static mr_subsampling name_ratio(uint32_t across, uint32_t down)
{
    static const struct {
        uint8_t across, down;
        uint8_t name;
    } names[] = {
        {1, 1, MR_SUBSAMPLING_444}, {2, 1, MR_SUBSAMPLING_422}, {2, 2, MR_SUBSAMPLING_420}, {1, 2, MR_SUBSAMPLING_440},
        {4, 1, MR_SUBSAMPLING_411}, {4, 2, MR_SUBSAMPLING_410}, {1, 4, MR_SUBSAMPLING_441},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].across == across && names[i].down == down)
            return (mr_subsampling)names[i].name;
    return MR_SUBSAMPLING_OTHER;
}

static mr_subsampling subsampling_of(const mr__jpeg_header *h, mr_color color)
{
    const mr__jpeg_component *c = h->component;
    if (color == MR_COLOR_GRAY)
        return MR_SUBSAMPLING_NONE;
    bool black_is_full = h->component_count == 3 || same_factors(&c[0], &c[3]);
    if (!same_factors(&c[1], &c[2]) || !black_is_full || c[0].h % c[1].h != 0 || c[0].v % c[1].v != 0)
        return MR_SUBSAMPLING_OTHER;
    mr_subsampling name = name_ratio(c[0].h / c[1].h, c[0].v / c[1].v);
    bool has_chroma = color == MR_COLOR_YCBCR || color == MR_COLOR_YCCK;
    return !has_chroma && name == MR_SUBSAMPLING_444 ? MR_SUBSAMPLING_NONE : name;
}

int mr__jpeg_info(mr__call *call, mr_info *info)
{
    mr__jpeg_header h;
    int result = mr__jpeg_header_read(call, &h);
    if (result != 0)
        return result;
    info->width = h.width;
    info->height = h.height;
    info->channels = h.component_count == 1 ? 1 : 3;
    info->depth = 8;
    info->color = mr__jpeg_header_color(&h);
    info->subsampling = subsampling_of(&h, info->color);
    info->orientation = h.orientation;
    info->progressive = h.frame == MR__JPEG_SOF2 || h.frame == MR__JPEG_SOF10;
    info->has_icc = h.has_icc;
    return 0;
}

/* Where the pieces of a profile are, by their number. */
typedef struct pieces {
    const uint8_t *bytes[256];
    size_t nbytes[256];
    size_t count; /* that each piece says there are; 0 before the first */
    size_t end;   /* the first scan's marker, before which they have to come */
} pieces;

static int add_piece(mr__call *call, const mr__jpeg_segment *s, pieces *p)
{
    size_t number = s->bytes[12], count = s->bytes[13];
    if (number == 0 || number > count || (p->count != 0 && p->count != count))
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged JPEG: ICC piece %zu of %zu at byte %zu does not fit the others", number, count,
                             s->at);
    if (p->bytes[number] != NULL)
        return mr__call_fail(call, MR_ECORRUPT, "damaged JPEG: ICC piece %zu comes twice, at byte %zu", number, s->at);
    p->count = count;
    p->bytes[number] = s->bytes + MR__JPEG_ICC_OVERHEAD;
    p->nbytes[number] = s->nbytes - MR__JPEG_ICC_OVERHEAD;
    return 0;
}

static int find_pieces(mr__call *call, pieces *p)
{
    size_t at = 2;
    mr__jpeg_segment s = {0};
    while (s.marker != MR__JPEG_SOS) {
        int result = mr__jpeg_next_segment(call, &at, &s);
        bool is_icc = s.marker == MR__JPEG_APP2 && s.nbytes >= MR__JPEG_ICC_OVERHEAD &&
                      memcmp(s.bytes, MR__JPEG_ICC_TAG, sizeof MR__JPEG_ICC_TAG) == 0;
        if (result == 0 && is_icc)
            result = add_piece(call, &s, p);
        if (result != 0)
            return result;
    }
    p->end = s.at;
    return 0;
}

int mr__jpeg_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    pieces p = {.count = 0};
    size_t total = 0, used = 0;
    int result = find_pieces(call, &p);
    for (size_t i = 1; result == 0 && i <= p.count; i++) {
        if (p.bytes[i] == NULL)
            result = mr__call_fail(call, MR_ECORRUPT,
                                   "damaged JPEG: ICC piece %zu of %zu is missing before the scan at byte %zu", i,
                                   p.count, p.end);
        total += p.nbytes[i]; // at most 255 pieces of 64 KiB
    }
    if (result == 0)
        result = mr__call_reserve(call, buffer, total);
    for (size_t i = 1; result == 0 && total != 0 && i <= p.count; used += p.nbytes[i++]) // no buffer for nothing
        memcpy(buffer->bytes + used, p.bytes[i], p.nbytes[i]);
    if (result == 0)
        *nbytes = total;
    return result;
}
