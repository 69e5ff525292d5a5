// SPDX-License-Identifier: Apache-2.0
#include "loader/mix.h"

#include "loader/permute.h"
#include "step/dice.h"
#include "step/step.h"

#include <math.h>
#include <string.h>

static mr__mix_kernel *kernel_of(mr_dtype dtype, mr__cpu_flags cpu)
{
    mr__mix_kernels kernels;
    mr__mix_kernels_init(&kernels, cpu);
    return dtype == MR_U8 ? kernels.u8 : dtype == MR_F32 ? kernels.f32 : dtype == MR_F16 ? kernels.f16 : kernels.bf16;
}

void mr__mixing_init(mr__mixing *m, const mr_recipe *recipe, const mr_output *output, mr__cpu_flags cpu)
{
    *m = (mr__mixing){.output = *output, .kernel = kernel_of(output->dtype, cpu)};
    for (size_t i = 0; i < recipe->count; i++) {
        const mr_step *step = &recipe->steps[i];
        bool cutmix = step->kind == MR_STEP_CUTMIX;
        if (!cutmix && step->kind != MR_STEP_MIXUP)
            continue;
        m->mixup |= !cutmix;
        m->cutmix |= cutmix;
        m->alpha[cutmix] = step->alpha[0];
        m->chance[cutmix] = step->chance;
    }
}

static uint32_t cut_low(uint32_t middle, uint32_t half)
{
    return middle > half ? middle - half : 0;
}

static uint32_t cut_high(uint32_t middle, uint32_t half, uint32_t most)
{
    return most - middle > half ? middle + half : most;
}

mr_rect mr__mix_box(double lambda, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    double half = 0.5 * sqrt(1.0 - lambda);
    uint32_t across = (uint32_t)(half * width), down = (uint32_t)(half * height);
    uint32_t left = cut_low(x, across), top = cut_low(y, down);
    return (mr_rect){left, top, cut_high(x, across, width) - left, cut_high(y, down, height) - top};
}

mr__mix_choice mr__mix_draw(const mr__mixing *m, uint64_t seed, uint64_t epoch, uint64_t position)
{
    mr__mix_choice choice = {.kind = MR_STEP_NONE, .weight = 1.0};
    mr__rng rng;
    mr__dice dice;
    if (!m->mixup && !m->cutmix)
        return choice;
    mr__rng_init(&rng, seed, (uint32_t)epoch, position, MR__RNG_STEP_MIX);
    uint32_t which = mr__rng_u32(&rng) >> 31, chance = mr__rng_u32(&rng);
    bool cutmix = m->mixup && m->cutmix ? which != 0 : m->cutmix;
    uint32_t width = m->output.width, height = m->output.height;
    uint32_t x = mr__rng_below(&rng, width), y = mr__rng_below(&rng, height);
    uint32_t key[2] = {mr__rng_u32(&rng), mr__rng_u32(&rng)};
    if (!((double)chance * 0x1p-32 < m->chance[cutmix]))
        return choice;
    mr__dice_init(&dice, key);
    choice.kind = cutmix ? MR_STEP_CUTMIX : MR_STEP_MIXUP;
    choice.weight = mr__dice_beta(&dice, m->alpha[cutmix]);
    if (cutmix) {
        choice.box = mr__mix_box(choice.weight, x, y, width, height);
        double area = (double)((uint64_t)choice.box.width * choice.box.height);
        choice.weight = 1.0 - area / (double)((uint64_t)width * height);
    }
    return choice;
}

uint64_t mr__mix_partner(uint64_t at, uint64_t count)
{
    uint64_t half = count / 2, to_end = count - at;
    return half < to_end ? at + half : half - to_end;
}

bool mr__mix_has_guests(const mr__deal *deal)
{
    return deal->world > 1 && (deal->batch % 2 != 0 || !deal->drop_last);
}

uint32_t mr__mix_partners(const mr__deal *deal, uint64_t count, uint32_t own, uint32_t size, uint32_t *partners,
                          uint64_t *guests)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < own; i++) {
        uint64_t at = mr__mix_partner((uint64_t)i * deal->world + deal->rank, count);
        if (at % deal->world == deal->rank) {
            partners[i] = (uint32_t)(at / deal->world);
        } else {
            guests[others] = at;
            partners[i] = size + others++;
        }
    }
    return others;
}

/* What is mixed of each sample: rows of bytes, of one or more planes. */
typedef struct blend {
    mr__mix_kernel *kernel;
    mr__mix_weights weights;
    size_t number_nbytes; /* that the kernel counts in */
    uint8_t *images;
    size_t sample_nbytes;
    uint32_t *partners;
    uint32_t own;
    size_t first, row_nbytes, rows, stride, planes, plane_nbytes;
} blend;

static void copy_bytes(void *to, const void *from, size_t count, const mr__mix_weights *weights)
{
    (void)weights;
    memcpy(to, from, count);
}

static void aim_mixup(blend *b, const mr__mixing *m, double weight)
{
    b->kernel = m->kernel;
    b->weights = mr__mix_weights_of(weight);
    b->number_nbytes = mr_dtype_nbytes(m->output.dtype);
    b->row_nbytes = m->output.sample_nbytes;
    b->rows = b->planes = 1;
}

static void aim_cutmix(blend *b, const mr__mixing *m, mr_rect box)
{
    const mr_output *o = &m->output;
    bool planes = o->layout == MR_NCHW;
    size_t pixel = mr_dtype_nbytes(o->dtype) * (planes ? 1 : o->channels);
    b->kernel = copy_bytes;
    b->number_nbytes = 1;
    b->stride = pixel * o->width;
    b->first = box.y * b->stride + box.x * pixel;
    b->row_nbytes = box.width * pixel;
    b->rows = box.width != 0 ? box.height : 0;
    b->planes = planes ? o->channels : 1;
    b->plane_nbytes = b->stride * o->height;
}

/* Bits of partners, above all places there can be. */
enum { PLACES = (1u << 30) - 1 };
#define WANTED (1u << 31) /* somebody's partner */
#define DONE   (1u << 30)

/* So many bytes of a sample are mixed at a time: of three blocks of this size all are near. */
enum { PIECE = 8192 };

static uint32_t partner_of(const blend *b, uint32_t place)
{
    return b->partners[place] & PLACES;
}

/*
 * The same bytes of all samples from `start` on, each with its partner, which is next. The way ends at a guest, or is a
 * circle: then the first one's bytes, as they were, are the last one's partner.
 */
static void mix_way(const blend *b, uint32_t start, size_t at, size_t nbytes)
{
    _Alignas(64) uint8_t first[PIECE];
    memcpy(first, b->images + start * b->sample_nbytes + at, nbytes);
    for (uint32_t place = start, next; place < b->own; place = next == start ? b->own : next) {
        next = partner_of(b, place);
        const uint8_t *from = next == start ? first : b->images + next * b->sample_nbytes + at;
        b->kernel(b->images + place * b->sample_nbytes + at, from, nbytes / b->number_nbytes, &b->weights);
    }
}

static void mix_row(const blend *b, uint32_t start, size_t at)
{
    for (size_t done = 0; done < b->row_nbytes; done += PIECE) {
        size_t left = b->row_nbytes - done;
        mix_way(b, start, at + done, left < PIECE ? left : PIECE);
    }
}

/* All bytes, of the samples on the way from `start`. */
static void follow(blend *b, uint32_t start)
{
    for (size_t p = 0; p < b->planes; p++)
        for (size_t y = 0; y < b->rows; y++)
            mix_row(b, start, b->first + p * b->plane_nbytes + y * b->stride);
    for (uint32_t place = start; place < b->own && (b->partners[place] & DONE) == 0; place = partner_of(b, place))
        b->partners[place] |= DONE;
}

void mr__mix_run(const mr__mixing *m, const mr__mix_choice *choice, uint8_t *images, uint32_t *partners, uint32_t own)
{
    blend b = {.images = images, .sample_nbytes = m->output.sample_nbytes, .partners = partners, .own = own};
    if (choice->kind == MR_STEP_MIXUP)
        aim_mixup(&b, m, choice->weight);
    else
        aim_cutmix(&b, m, choice->box);
    for (uint32_t i = 0; i < own; i++)
        if (partner_of(&b, i) < own)
            partners[partner_of(&b, i)] |= WANTED;
    for (uint32_t i = 0; i < own; i++) // ways have one beginning, which nobody needs as it was
        if ((partners[i] & WANTED) == 0)
            follow(&b, i);
    for (uint32_t i = 0; i < own; i++) // what is left are circles
        if ((partners[i] & DONE) == 0)
            follow(&b, i);
}
