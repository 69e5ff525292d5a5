// SPDX-License-Identifier: Apache-2.0
/*
 * MixUp and CutMix: of each sample of a batch with another one of it, its partner.
 *
 * How a batch is mixed is drawn for the whole global batch, and partners are found by position in it, so that the epoch
 * is the same however it is dealt out to ranks. Of a global batch of c positions (those of the last one that are pads
 * do not count) the partner of the q'th is the one at (q + floor(c / 2)) mod c. Ranks are dealt positions in strides
 * (ranks.h): where each has an even number of places, the partner is half a rank's batch further on, on the same rank,
 * whatever the world. Otherwise it may be another rank's, and is prepared here once more, as a guest. (torchvision
 * takes the sample before, which is always another rank's.)
 *
 * Threads: values; a blend is run by one.
 */
#ifndef MR_LOADER_MIX_H
#define MR_LOADER_MIX_H

#include "kernel/mix.h"
#include "loader/ranks.h"
#include "step/recipe.h"

/* What a recipe says of it. */
typedef struct mr__mixing {
    bool mixup, cutmix;         /* that it is in the recipe */
    double alpha[2], chance[2]; /* of mixup, of cutmix */
    mr_output output;
    mr__mix_kernel *kernel;
} mr__mixing;

void mr__mixing_init(mr__mixing *mixing, const mr_recipe *recipe, const mr_output *output, mr__cpu_flags cpu);

/* What was drawn for a batch. */
typedef struct mr__mix_choice {
    mr_step_kind kind; /* MR_STEP_NONE: it is not mixed */
    double weight;     /* of a sample's own label */
    mr_rect box;       /* CUTMIX: that comes from the partner */
} mr__mix_choice;

/*
 * For the global batch that begins at this position, from the stream of step MR__RNG_STEP_MIX and that "sample":
 *
 *     draw 0       with both in the recipe: mixup below 2^31, else cutmix
 *     draw 1       whether it is mixed: d 2^-32 < chance
 *     draws 2, 3   the middle of cutmix's box, x, as mr__rng_below; 4, 5: y
 *     draws 6, 7   the key of the dice (step/dice.h) that give lambda
 *
 * Of mixup the weight is lambda; cutmix's box has 1 - lambda of the image, but for what lies outside of it, and the
 * weight is what is left of the image around it.
 */
mr__mix_choice mr__mix_draw(const mr__mixing *mixing, uint64_t seed, uint64_t epoch, uint64_t position);

/* cutmix's box: of an image's sides sqrt(1 - lambda), around a middle that is anywhere, and cut off at the edges. */
mr_rect mr__mix_box(double lambda, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* The place in a global batch of `count` whose sample is the partner of that at `at`. */
uint64_t mr__mix_partner(uint64_t at, uint64_t count);

/* Whether a partner can be another rank's. */
bool mr__mix_has_guests(const mr__deal *deal);

/*
 * Of this rank's places [0, own) in a global batch of `count` the partners, as places: those of guests are `size`, size
 * + 1, ..., and their places in the global batch go to `guests`. Returns how many there are.
 */
uint32_t mr__mix_partners(const mr__deal *deal, uint64_t count, uint32_t own, uint32_t size, uint32_t *partners,
                          uint64_t *guests);

/*
 * Mixes in place: sample i of `own` becomes the mix of itself and sample partners[i], both as they were before; those
 * from `own` on stay as they are. `partners` are used up.
 */
void mr__mix_run(const mr__mixing *mixing, const mr__mix_choice *choice, uint8_t *images, uint32_t *partners,
                 uint32_t own);

#endif
