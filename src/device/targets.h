// SPDX-License-Identifier: Apache-2.0
/*
 * What belongs to a sample's image and goes where its pixels go: objects, from its member "json", and a mask of
 * classes, from a member that is a PNG. Both are read when the recipe is resolved: steps look at objects (ioucrop).
 *
 * Coordinates are those of the image as the recipe sees it: upright where it orients, as tools that draw boxes show it,
 * else as it is stored. A form that is smaller than the original has smaller objects: what the json says of width and
 * height, or the mask's own size, says by how much.
 */
#ifndef MR_DEVICE_TARGETS_H
#define MR_DEVICE_TARGETS_H

#include "device/task.h"
#include "step/target.h"

/*
 * Of one place in a batch.
 *
 * Ownership: mr__task_targets_fini frees what it keeps between samples, the mask apart, which is somebody else's.
 */
struct mr__task_targets {
    mr__target objects;
    uint8_t *mask;    /* output.width x height, a byte each; NULL: nobody wants any */
    bool has_mask;    /* that the sample has one; else it is all 0 */
    mr__buffer masks; /* of the objects, one behind the other */
};

/* `mask` may be NULL. */
int mr__task_targets_init(mr__task_targets *targets, const mr_hooks *hooks, uint8_t *mask);
void mr__task_targets_fini(mr__task_targets *targets, const mr_hooks *hooks);

/* No objects, no mask: of a place without a sample. */
void mr__task_targets_clear(mr__task_targets *targets, const mr_output *output);

/* For the program; flags of mr_loader_options.targets say what was asked for. */
mr_targets mr__task_targets_view(const mr__task_targets *targets, uint32_t flags, const mr_output *output);

/*
 * What a thread keeps to make them.
 *
 * Threads: one at a time.
 * Ownership: mr__targets_free frees it.
 * Limits: the work's.
 */
typedef struct mr__targets mr__targets;

int mr__targets_new(const mr__work *work, mr__targets **out);
void mr__targets_free(mr__targets *targets); /* NULL is accepted */

/*
 * As mr__recipe_resolve, for a task of which somebody wants more than the image: fills task->targets too. `decoder` is
 * the thread's. MR_ECORRUPT, MR_EUNSUPPORTED and others, with a detail without the sample's name.
 */
int mr__targets_resolve(mr__targets *targets, mr_decoder *decoder, const mr__task *task, uint32_t width,
                        uint32_t height, mr__chain *chain, mr__detail *detail);

#endif
