// SPDX-License-Identifier: Apache-2.0
/*
 * Features are counts times a price, so that their sum is a guess. The prices are what `bench/cost --prices` gave on
 * the processor that Millrace is developed on, rounded: they need to be right to within a factor of a few, as between
 * kinds; the rest is learned.
 */
#include "route/cost.h"

#include "base/hash.h"
#include "dataset/index_file.h"

#include <math.h>

/* Nanoseconds of one: a task, a byte, a pixel. */
static const float price[MR__WORK_KINDS] = {
    [MR__WORK_TASK] = 5000.0f, [MR__WORK_BYTES] = 4.5f, [MR__WORK_PASSED] = 0.1f,  [MR__WORK_DECODED] = 0.75f,
    [MR__WORK_WHOLE] = 10.0f,  [MR__WORK_AREA] = 0.7f,  [MR__WORK_SHRUNK] = 0.12f, [MR__WORK_MADE] = 0.9f,
    [MR__WORK_TABLE] = 0.15f,  [MR__WORK_COLOR] = 0.3f, [MR__WORK_NEAR] = 0.25f,   [MR__WORK_WARP] = 0.4f,
    [MR__WORK_SAMPLED] = 2.8f, [MR__WORK_HEAVY] = 2.5f, [MR__WORK_USER] = 5.0f,
};

/* Beyond this much of a kind nothing is told apart: sums stay finite, whatever an index says. */
#define MOST_NS 1e15f

static void count(mr__features *f, mr__work_kind kind, double amount)
{
    double ns = (double)f->ns[kind] + amount * (double)price[kind];
    f->ns[kind] = ns < (double)MOST_NS ? (float)ns : MOST_NS; // amounts are finite, and not below 0
}

static double area(mr_rect rect)
{
    return (double)rect.width * (double)rect.height;
}

/* A range of a side, out to whole tiles. */
static void round_out(uint32_t *from, uint32_t *length, uint32_t side, uint32_t tile)
{
    uint64_t end = ((uint64_t)*from + *length + tile - 1) / tile * tile;
    *from -= *from % tile;
    *length = (uint32_t)((end < side ? end : side) - *from);
}

/* What of an image is gone through for a region: tiles, rows of a region, rows from the top, all. */
static mr_rect touched(const mr__header *h, mr_rect region, uint32_t width, uint32_t height)
{
    mr_rect part = region;
    if (h->form == MR_FORM_RAW)
        return part;
    if (h->form == MR_FORM_L3) { // 64 samples of chroma, which most have for two pixels; rows, as our encoder has them
        round_out(&part.x, &part.width, width, h->pixel_mode ? 1024 : 128);
        round_out(&part.y, &part.height, height, h->pixel_mode ? 64 : 128);
        return part;
    }
    part = (mr_rect){0, region.y, width, region.height};
    if (h->progressive)
        return (mr_rect){0, 0, width, height};
    if (h->row_index)
        round_out(&part.y, &part.height, height, 16);
    else
        part = (mr_rect){0, 0, width, region.y + region.height};
    return part;
}

static bool in_regions(const mr__header *h)
{
    return h->form == MR_FORM_L3 || h->form == MR_FORM_RAW || (h->form == MR_FORM_JPEG && !h->progressive);
}

/* Of width x height pixels, as the header says or was guessed; upright, where the region is. */
static void count_decode(mr__features *f, const mr__header *h, mr_rect region, uint32_t width, uint32_t height)
{
    mr_rect part = touched(h, region, width, height);
    double share = area(part) / ((double)width * (double)height);
    double samples = h->channels == 1 ? 0.5 : 1.0; // of a color JPEG, most have one and a half
    count(f, in_regions(h) ? MR__WORK_BYTES : MR__WORK_WHOLE, (double)h->nbytes * share);
    if (in_regions(h)) {
        count(f, MR__WORK_PASSED, (area(part) - area(region)) * samples);
        count(f, MR__WORK_DECODED, area(region) * samples);
    } else {
        count(f, MR__WORK_AREA, area(part) * samples);
        count(f, MR__WORK_DECODED, area(region) * samples);
    }
}

/* How far a filter reaches, in samples of the smaller side's scale. */
static double reach(mr_filter filter)
{
    switch (filter) {
    case MR_FILTER_NEAREST:
        return 0.0;
    case MR_FILTER_BOX:
        return 0.5;
    case MR_FILTER_BICUBIC:
        return 2.0;
    case MR_FILTER_LANCZOS:
        return 3.0;
    default:
        return 1.0;
    }
}

/* Products of samples and weights: first across, in the rows that are needed, then down. */
static void count_pass(mr__features *f, const mr__pass *pass, mr_rect region)
{
    double across = (double)pass->crop.width / pass->to_width, down = (double)pass->crop.height / pass->to_height;
    double taps = 2.0 * reach(pass->filter);
    count(f, MR__WORK_MADE, (double)pass->canvas_width * pass->canvas_height);
    if (pass->crop.width == pass->to_width && pass->crop.height == pass->to_height)
        return;
    if (pass->crop.width != pass->to_width)
        count(f, MR__WORK_SHRUNK, (double)region.height * pass->window.width * (across > 1.0 ? across : 1.0) * taps);
    if (pass->crop.height != pass->to_height)
        count(f, MR__WORK_SHRUNK, area(pass->window) * (down > 1.0 ? down : 1.0) * taps);
}

static double taps_of(const mr__blur *blur)
{
    return (double)blur->kernel[0] + (double)blur->kernel[1];
}

/* Ops by tables that are neighbours are one look-up for each sample; some look at all of them before. */
static void count_table(mr__features *f, const mr__op *op, bool first)
{
    bool looks = op->kind == MR__OP_CONTRAST || op->kind == MR__OP_EQUALIZE || op->kind == MR__OP_AUTOCONTRAST;
    count(f, MR__WORK_TABLE, area(op->from) * ((first ? 1.0 : 0.0) + (looks ? 2.0 : 0.0)));
}

static bool is_table(const mr__op *op)
{
    return op->kind >= MR__OP_BRIGHTNESS && op->kind <= MR__OP_AUTOCONTRAST;
}

static void count_op(mr__features *f, const mr__op *op)
{
    double pixels = area(op->to);
    switch (op->kind) {
    case MR__OP_SATURATION:
    case MR__OP_GRAYSCALE:
    case MR__OP_PERMUTE:
    case MR__OP_ERASE:
        count(f, MR__WORK_COLOR, op->kind == MR__OP_ERASE ? area(op->u.erase.rect) : pixels);
        break;
    case MR__OP_HUE:
        count(f, MR__WORK_COLOR, pixels * 4.0);
        break;
    case MR__OP_SHARPNESS:
        count(f, MR__WORK_NEAR, pixels * 2.0);
        break;
    case MR__OP_BLUR:
        count(f, MR__WORK_NEAR, pixels * taps_of(&op->u.blur));
        break;
    case MR__OP_WARP:
        count(f,
              op->u.warp.quarter != 0 || op->u.warp.sampling == MR_SAMPLING_NEAREST ? MR__WORK_WARP : MR__WORK_SAMPLED,
              pixels);
        break;
    case MR__OP_ELASTIC:
        count(f, MR__WORK_SAMPLED, pixels * 4.0);
        break;
    case MR__OP_JPEG:
    case MR__OP_NOISE:
        count(f, MR__WORK_HEAVY, pixels);
        break;
    case MR__OP_AUGMIX:
        count(f, MR__WORK_HEAVY, pixels * (1.0 + op->u.mix.branches) * 0.25);
        break;
    default:
        count(f, MR__WORK_USER, pixels);
        break;
    }
}

static void count_chain(mr__features *f, const mr__chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        count_pass(f, &chain->pass[i], mr__pass_region(&chain->pass[i]));
    for (size_t i = 0; i < chain->op_count; i++) {
        const mr__op *op = &chain->op[i];
        if (is_table(op))
            count_table(f, op, i == 0 || !is_table(op - 1));
        else
            count_op(f, op);
    }
    for (size_t i = 0; i < chain->erased_count; i++)
        count(f, MR__WORK_COLOR, area(chain->erased[i].rect));
}

/* Of an image whose index has no size: what most have. A JPEG of photographs has two bits a pixel. */
static void guess_size(const mr__header *h, uint32_t *width, uint32_t *height)
{
    double pixels = (double)h->nbytes * (h->form == MR_FORM_RAW || h->form == MR_FORM_PNM ? 1.0 / 3.0 : 4.0);
    double side = sqrt(pixels / 12.0);
    side = side < 16.0 ? 16.0 : side > 5000.0 ? 5000.0 : side;
    *width = (uint32_t)(side * 4.0);
    *height = (uint32_t)(side * 3.0);
}

static void size_of(const mr__header *h, bool orient, uint32_t *width, uint32_t *height)
{
    *width = h->width;
    *height = h->height;
    if (h->width == 0 || h->height == 0)
        guess_size(h, width, height);
    if (orient && h->orientation >= 5) {
        uint32_t across = *width;
        *width = *height;
        *height = across;
    }
}

static void begin(mr__features *f)
{
    *f = (mr__features){.ns = {[MR__WORK_TASK] = price[MR__WORK_TASK]}};
}

void mr__features_of_chain(const mr__chain *chain, const mr__header *header, mr__features *features)
{
    const mr__pass *first = &chain->pass[0]; // its source is the image, be the header's size known or not
    begin(features);
    count_decode(features, header, mr__pass_region(first), first->width, first->height);
    count_chain(features, chain);
}

void mr__features_of(const mr_recipe *recipe, const uint32_t *draws, const mr__header *header, mr__chain *chain,
                     mr__features *features)
{
    uint32_t width, height;
    mr__detail detail;
    size_of(header, mr__recipe_needs(recipe).orient, &width, &height);
    if (mr__recipe_resolve(recipe, draws, width, height, NULL, chain, &detail) == 0) {
        mr__features_of_chain(chain, header, features);
        return;
    }
    begin(features);
    count_decode(features, header, (mr_rect){0, 0, width, height}, width, height);
}

void mr__features_of_bytes(uint64_t nbytes, mr__features *features)
{
    begin(features);
    count(features, MR__WORK_BYTES, (double)nbytes);
}

uint64_t mr__features_id(void)
{
    return mr__hash(price, sizeof price);
}

void mr__features_add(mr__features *sum, const mr__features *more)
{
    for (size_t i = 0; i < MR__WORK_KINDS; i++) {
        float ns = sum->ns[i] + more->ns[i];
        sum->ns[i] = ns < MOST_NS ? ns : MOST_NS;
    }
}

void mr__header_from(const mr_info *info, uint64_t nbytes, mr__header *header)
{
    *header = (mr__header){.nbytes = nbytes,
                           .width = info->width,
                           .height = info->height,
                           .form = (uint8_t)info->form,
                           .channels = (uint8_t)info->channels,
                           .orientation = (uint8_t)info->orientation,
                           .progressive = info->progressive,
                           .pixel_mode = info->form == MR_FORM_L3 && info->lossless};
}

/* Whether the index has row indexes at all: then a JPEG without one is of several scans. */
static bool has_row_indexes(const mr__index *index)
{
    return index->sections[MR__SECTION_ROW_INDEXES].nbytes != 0;
}

int mr__header_of(const mr_dataset *dataset, uint64_t ordinal, uint32_t form, mr__header *header)
{
    mr__shard *shard;
    uint64_t position;
    mr__record r;
    const void *rows;
    size_t rows_nbytes;
    int result = mr__dataset_at(dataset, ordinal, form, &shard, &position);
    if (result != 0)
        return result;
    if (!mr__index_record(&shard->index, position, &r))
        return MR_ECORRUPT;
    *header = (mr__header){.nbytes = r.nbytes, .width = r.width, .height = r.height, .form = r.form};
    header->channels = r.channels;
    header->orientation = r.orientation;
    header->pixel_mode = r.pixel_mode;
    if (r.form != MR_FORM_JPEG || !has_row_indexes(&shard->index))
        return 0;
    header->row_index = mr__index_row_index(&shard->index, position, &rows, &rows_nbytes) && rows_nbytes != 0;
    header->progressive = !header->row_index && r.height > 16; // one row of blocks has none either
    return 0;
}
