// SPDX-License-Identifier: Apache-2.0
/* Sums saturate: once something is too much to count, the whole is. */
#include "device/need.h"

#include "kernel/jpeg_again.h"
#include "step/elastic.h"
#include "step/resample.h"

/* Tables, states and bit buffers of a decoder, whatever the image; measured on the host, and rounded up. */
#define DECODER_NBYTES (UINT64_C(1) << 20)

/* Tables by value, histograms, lists: of ops and passes, whatever the image. */
#define TABLES_NBYTES (UINT64_C(64) << 10)

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What is asked for at once begins on its own; so much more it takes. */
static uint64_t piece(const mr__need_manner *manner, uint64_t nbytes)
{
    uint64_t align = manner->align != 0 ? manner->align : 64, over = nbytes % align;
    return nbytes == 0 || over == 0 ? nbytes : add(nbytes, align - over);
}

/* The account of one task, and what all of it is about. */
typedef struct account {
    const mr__need_manner *manner;
    const mr__need_image *image;
    const mr__decode_needs *needs;
    const mr__chain *chain;
    mr_rect region;         /* that is decoded, as the recipe sees the image */
    uint32_t width, height; /* of the image, likewise */
    uint64_t pixel_nbytes;  /* as the recipe wants them */
    uint64_t sum;
} account;

static void put(account *a, uint64_t nbytes)
{
    a->sum = add(a->sum, piece(a->manner, nbytes));
}

static uint64_t area(uint64_t width, uint64_t height)
{
    return mul(width, height);
}

/* From..from+count, out to whole units and `more` of them on both sides, in `all`. */
static uint64_t grown(uint64_t from, uint64_t count, uint64_t unit, uint64_t more, uint64_t all)
{
    uint64_t begin = from / unit, end = (from + count + unit - 1) / unit;
    begin = begin > more ? begin - more : 0;
    uint64_t last = (all + unit - 1) / unit;
    end = end + more < last ? end + more : last;
    return (end - begin) * unit;
}

/* Pixels of the region, out to whole units. */
static uint64_t grown_area(const account *a, uint64_t across, uint64_t down, uint64_t more)
{
    return area(grown(a->region.x, a->region.width, across, more, a->width),
                grown(a->region.y, a->region.height, down, more, a->height));
}

/*
 * Blocks of 8 x 8 of every component at full size, which no subsampling exceeds: coefficients and samples. Of one scan
 * those around the region, whose neighbours upsampling looks at; an MCU has up to 32 x 32 pixels. Else the coefficients
 * of the whole image stay until the last scan.
 */
static void put_blocks(account *a, bool one_scan, bool gray)
{
    uint32_t components = a->image->components != 0 ? a->image->components : gray ? 1 : 4;
    uint64_t around = grown_area(a, 32, 32, 1);
    uint64_t all = area(grown(0, a->width, 32, 0, a->width), grown(0, a->height, 32, 0, a->height));
    put(a, a->image->stored_nbytes); // a scan without its stuffed zeros
    put(a, mul(one_scan ? around : all, 2 * (uint64_t)components));
    put(a, mul(around, components));
}

/* Rows with their filter bytes as they come out of inflate; interlaced, there are twice as many of them. */
static void put_rows(account *a, uint64_t pixel)
{
    uint64_t side = larger(a->width, a->height), row = add(mul(side, pixel), 2);
    put(a, add(mul(area(a->width, a->height), pixel), mul(2 * side + 16, 2)));
    put(a, mul(row, 4));
}

/* Tiles are decoded whole; residuals have two bytes for one of the result, in either mode as coefficients have. */
static void put_tiles(account *a, uint64_t pixel)
{
    const mr__need_image *i = a->image;
    bool known = i->tile_width != 0 && i->tile_height != 0;
    uint64_t side = known ? (i->tile_width > i->tile_height ? i->tile_width : i->tile_height) : 1;
    uint64_t samples = known ? grown_area(a, side, side, 1) : area((uint64_t)a->width + 31, (uint64_t)a->height + 31);
    uint64_t components = i->components != 0 ? i->components : 4;
    put(a, mul(samples, larger(2 * pixel, 2 * components)));
    put(a, mul(samples, larger(pixel, components)));
    put(a, mul(area((uint64_t)a->width / 8 + 1, (uint64_t)a->height / 8 + 1), 8)); // where tiles begin, at most
}

/* What a decoder works in, beside the pixels that it gives. */
static void put_decoder(account *a, uint64_t stored_pixel)
{
    bool gray = a->image->channels == 1;
    uint64_t all = area(a->width, a->height);
    put(a, DECODER_NBYTES);
    switch (a->image->form) {
    case MR_FORM_JPEG:
        put_blocks(a, a->image->one_scan, gray);
        break;
    case MR_FORM_PNG:
        put_rows(a, stored_pixel);
        break;
    case MR_FORM_WEBP: // ARGB and alpha of the whole image, and a copy of it where a part is wanted
        put(a, mul(all, 4));
        put(a, all);
        put(a, mul(all, 4));
        put(a, mul(add(a->width, a->height), 256)); // rows that wait for their filters
        break;
    case MR_FORM_L3:
        put_tiles(a, stored_pixel);
        break;
    case MR_FORM_PNM:
    case MR_FORM_RAW:
        break;
    case MR_FORM_NONE:
        put_blocks(a, false, gray);
        put_rows(a, stored_pixel);
        put(a, mul(all, 9));
        put_tiles(a, stored_pixel);
        break;
    }
}

/* Decoded pixels: as stored, converted, turned. */
static void put_pixels(account *a, uint64_t stored_pixel)
{
    const mr__need_image *i = a->image;
    uint64_t pixels = area(a->region.width, a->region.height);
    bool same = i->channels == a->needs->channels && i->depth == a->needs->depth;
    uint64_t largest = larger(stored_pixel, a->pixel_nbytes);
    put(a, mul(pixels, largest));
    if (!same) {
        put(a, mul(pixels, largest));
        put(a, mul(pixels, a->pixel_nbytes));
    }
    if (a->needs->orient && i->orientation != 1)
        put(a, mul(pixels, largest));
}

/* Weights of a side that is resized, for what is kept of it. */
static uint64_t weights_of(const mr__pass *pass, mr_rect region, uint32_t depth, bool x)
{
    mr__resample_side side = {.filter = pass->filter, .depth = depth};
    size_t nbytes;
    side.in = x ? pass->crop.width : pass->crop.height;
    side.out = x ? pass->to_width : pass->to_height;
    side.begin = x ? pass->window.x : pass->window.y;
    side.count = x ? pass->window.width : pass->window.height;
    side.origin = x ? region.x - pass->crop.x : region.y - pass->crop.y;
    side.span = x ? region.width : region.height;
    if (side.in == side.out || side.count == 0 || pass->filter == MR_FILTER_NEAREST)
        return 0;
    return mr__resample_axis_nbytes(&side, &nbytes) ? add(nbytes, 8192) : UINT64_MAX;
}

/* What a pass works in: one side done and the other not yet, in either order; colors times alpha; lists of places. */
static uint64_t work_of_pass(const account *a, const mr__pass *pass)
{
    mr_rect region = mr__pass_region(pass);
    bool same = pass->crop.width == pass->to_width && pass->crop.height == pass->to_height;
    uint64_t slack = 256, p = a->pixel_nbytes, sum = 0;
    if (same || pass->window.width == 0 || pass->window.height == 0)
        return 0;
    uint64_t wide = area(add(mul(region.width, p), slack), (uint64_t)pass->window.height + 8);
    uint64_t tall = area(add(mul(pass->window.width, p), slack), (uint64_t)region.height + 8);
    uint64_t rows = mul(add(mul(add(region.width, pass->window.width), p), slack), 4);
    uint64_t places = mul(add(add(pass->window.width, pass->window.height), region.height), 16);
    sum = add(add(larger(wide, tall), rows), places);
    if (a->needs->channels % 2 == 0)
        sum = add(sum, mul(area(region.width, region.height), p));
    return sum;
}

static uint64_t work_of_elastic(const mr__op *op)
{
    uint64_t radius = mr__elastic_kernel(&op->u.elastic, 0), other = mr__elastic_kernel(&op->u.elastic, 1);
    radius = larger(radius, other);
    uint64_t field = mul(area(op->to.width + 2 * radius, op->to.height + 2 * radius), 4 * sizeof(float));
    return add(field, add(mr__elastic_field_nbytes(&op->u.elastic, op->to), mul((uint64_t)op->to.width + 16, 20)));
}

/* What an op works in, beside its source and its result: on a device all of the image at once. */
static uint64_t work_of_op(const account *a, const mr__op *op)
{
    uint64_t channels = a->needs->channels, from = area(op->from.width, op->from.height);
    switch (op->kind) {
    case MR__OP_BLUR:
        return add(mul(from, channels * sizeof(float)),
                   mul(4 * (uint64_t)op->u.blur.kernel[0] + op->to.width, channels * sizeof(float)));
    case MR__OP_ELASTIC:
        return work_of_elastic(op);
    case MR__OP_JPEG: // coefficients and samples of three components
        return add(mul(area((uint64_t)op->to.width + 64, (uint64_t)op->to.height + 64), 9),
                   mr__jpeg_again_nbytes(op->to.width));
    case MR__OP_AUGMIX: // a copy, a branch's two places, the sum
        return mul(from, channels * (1 + sizeof(float)));
    case MR__OP_USER:
        return op->u.user.step->memory_nbytes;
    default:
        return mul((uint64_t)op->from.width + op->to.width, 16);
    }
}

/* A result may have the size of its source too, where it is done in place of somebody else's pixels. */
static uint64_t result_of_op(const account *a, const mr__op *op)
{
    uint64_t from = area(op->from.width, op->from.height), to = area(op->to.width, op->to.height);
    return mul(larger(from, to), a->pixel_nbytes);
}

static void put_chain(account *a)
{
    uint64_t canvas = 0, pass_work = 0, result = 0, op_work = 0, mix_work = 0;
    for (size_t i = 0; i < a->chain->count; i++) {
        const mr__pass *pass = &a->chain->pass[i];
        mr_rect region = mr__pass_region(pass);
        if (i + 1 < a->chain->count)
            canvas = larger(canvas, mul(area(pass->canvas_width, pass->canvas_height), a->pixel_nbytes));
        pass_work = larger(pass_work, work_of_pass(a, pass));
        if (pass->window.width != 0 && pass->window.height != 0) {
            put(a, weights_of(pass, region, a->needs->depth, true));
            put(a, weights_of(pass, region, a->needs->depth, false));
        }
    }
    for (size_t i = 0; i < a->chain->op_count; i++) {
        const mr__op *op = &a->chain->op[i];
        result = larger(result, result_of_op(a, op));
        if (op->kind == MR__OP_AUGMIX)
            mix_work = larger(mix_work, work_of_op(a, op));
        else
            op_work = larger(op_work, work_of_op(a, op));
    }
    put(a, canvas);
    put(a, a->chain->count > 2 ? canvas : 0);
    for (int i = 0; i < (mix_work != 0 ? 4 : 2); i++) // a branch has places of its own
        put(a, result);
    put(a, pass_work);
    put(a, op_work);
    put(a, mix_work);
    put(a, TABLES_NBYTES);
}

/* Without a chain: as much as any that makes nothing larger than image and output. */
static void put_any_chain(account *a, const mr_output *output)
{
    uint64_t largest = larger(area(a->width, a->height), area(output->width, output->height));
    uint64_t sides = add(add(a->width, a->height), add(output->width, output->height));
    for (int i = 0; i < 6; i++)
        put(a, mul(largest, a->pixel_nbytes));
    put(a, mul(largest, 8 * sizeof(float) * a->needs->channels)); // fields, sums, coefficients, one side done
    put(a, mul(sides, 64 * 32));                                  // weights, and what is beyond edges
    put(a, DECODER_NBYTES);
}

static void place_region(account *a)
{
    const mr__need_image *i = a->image;
    bool turned = a->needs->orient && i->orientation >= 5;
    a->width = turned ? i->height : i->width;
    a->height = turned ? i->width : i->height;
    a->region = (mr_rect){0, 0, a->width, a->height};
    if (a->chain != NULL && !a->manner->whole)
        a->region = mr__pass_region(&a->chain->pass[0]);
}

mr__need mr__need_of(const mr__need_manner *manner, const mr__need_image *image, const mr__decode_needs *needs,
                     const mr_output *output, const mr__chain *chain)
{
    account a = {.manner = manner, .image = image, .needs = needs, .chain = chain};
    mr__need need = {MR__NEED_UNKNOWN, MR__NEED_UNKNOWN, MR__NEED_UNKNOWN};
    if (image->width == 0 || image->height == 0)
        return need;
    uint64_t stored_pixel = (uint64_t)(image->channels != 0 ? image->channels : 4) * (image->depth == 8 ? 1 : 2);
    a.pixel_nbytes = (uint64_t)needs->channels * (needs->depth == 8 ? 1 : 2);
    if (needs->channels == 1) // gray is made of RGB, on the way
        stored_pixel = larger(stored_pixel, 3 * a.pixel_nbytes);
    place_region(&a);
    need.output_nbytes = manner->in_place ? 0 : piece(manner, output->sample_nbytes);
    if (manner->pixels) {
        need.input_nbytes = piece(manner, mul(area(a.region.width, a.region.height), a.pixel_nbytes));
    } else {
        need.input_nbytes = piece(manner, image->stored_nbytes);
        put_decoder(&a, stored_pixel);
        put_pixels(&a, stored_pixel);
    }
    if (chain != NULL)
        put_chain(&a);
    else
        put_any_chain(&a, output);
    need.scratch_nbytes = a.sum;
    return need;
}

uint64_t mr__need_sum(const mr__need *need)
{
    return add(add(need->input_nbytes, need->output_nbytes), need->scratch_nbytes);
}

void mr__need_add(mr__need_group *group, const mr__need_manner *manner, const mr__need *need)
{
    group->through_nbytes = add(group->through_nbytes, add(need->input_nbytes, need->output_nbytes));
    group->scratch_nbytes = manner->in_turn ? larger(group->scratch_nbytes, need->scratch_nbytes)
                                            : add(group->scratch_nbytes, need->scratch_nbytes);
    group->count++;
}

uint64_t mr__need_group_sum(const mr__need_group *group, const mr__need_manner *manner)
{
    if (group->count == 0)
        return 0;
    return add(add(group->through_nbytes, group->scratch_nbytes), piece(manner, manner->submission_nbytes));
}
