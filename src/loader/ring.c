// SPDX-License-Identifier: Apache-2.0
/* The memory of batches: allocated once, and what is in it is written over only when its consumer has let go. */
#include "base/size.h"
#include "device/cpu/placement.h"
#include "loader/loader.h"

#include <string.h>

static size_t mask_nbytes(const mr_loader *l)
{
    const mr_output *output = &l->work.finish.output;
    return (l->work.asked & MR_TARGET_MASK) != 0 ? (size_t)output->width * output->height : 0;
}

/*
 * Of one place, beside its image; partners are counted everywhere, since they are so small. Objects are not, whose
 * memory is taken when they come and kept: at most that of MR_TARGET_OBJECTS_MAX objects with MR_TARGET_KEYPOINTS_MAX
 * keypoints, some 3 MB, and of their masks limits.memory_nbytes.
 */
static size_t place_nbytes(const mr_loader *l)
{
    size_t numbers = 2 * sizeof(int64_t) + 3 * sizeof(uint64_t) + 1 + (l->draw_count + 2) * sizeof(uint32_t);
    size_t targets = l->work.targets != 0 ? sizeof(mr__task_targets) + mask_nbytes(l) : 0;
    return sizeof(mr__task) + numbers + targets;
}

bool mr__slot_nbytes(const mr_loader *l, size_t *nbytes)
{
    size_t each;
    return mr__size_add(l->work.finish.output.sample_nbytes, place_nbytes(l), &each) &&
           mr__size_mul_add(each, (size_t)l->batch + l->guests, sizeof(mr__slot), nbytes) && *nbytes <= PTRDIFF_MAX;
}

static bool init_mix(mr_loader *l, mr__slot *slot)
{
    if (!l->mixing.mixup && !l->mixing.cutmix)
        return true;
    slot->partners = mr__alloc_array(&l->hooks, l->batch, sizeof *slot->partners);
    slot->partner_labels = mr__alloc_array(&l->hooks, l->batch, sizeof *slot->partner_labels);
    slot->partner_ordinals = mr__alloc_array(&l->hooks, l->batch, sizeof *slot->partner_ordinals);
    return slot->partners != NULL && slot->partner_labels != NULL && slot->partner_ordinals != NULL;
}

static bool init_targets(mr_loader *l, mr__slot *slot)
{
    size_t nbytes = mask_nbytes(l), places = (size_t)l->batch + l->guests;
    if (l->work.targets == 0)
        return true;
    slot->targets = mr__alloc_array(&l->hooks, places, sizeof *slot->targets);
    slot->masks = nbytes != 0 ? mr__alloc_array(&l->hooks, places, nbytes) : NULL;
    if (slot->targets == NULL || (nbytes != 0 && slot->masks == NULL))
        return false;
    int result = 0;
    for (size_t i = 0; i < places && result == 0; i++)
        result = mr__task_targets_init(&slot->targets[i], &l->hooks, nbytes != 0 ? slot->masks + i * nbytes : NULL);
    return result == 0;
}

static int init_slot(mr_loader *l, mr__slot *slot)
{
    const mr_hooks *hooks = &l->hooks;
    const mr_output *output = &l->work.finish.output;
    size_t places = (size_t)l->batch + l->guests, nbytes = output->sample_nbytes * places;
    slot->loader = l;
    slot->images = mr__alloc(hooks, nbytes);
    slot->labels = mr__alloc_array(hooks, places, sizeof *slot->labels);
    slot->ordinals = mr__alloc_array(hooks, places, sizeof *slot->ordinals);
    slot->positions = mr__alloc_array(hooks, places, sizeof *slot->positions);
    slot->mask = mr__alloc_array(hooks, places, sizeof *slot->mask);
    slot->tasks = mr__alloc_array(hooks, places, sizeof *slot->tasks);
    slot->draws = mr__alloc_array(hooks, places * (l->draw_count + 1), sizeof *slot->draws);
    if (slot->images == NULL || slot->labels == NULL || slot->ordinals == NULL || slot->positions == NULL ||
        slot->mask == NULL || slot->tasks == NULL || slot->draws == NULL || !init_mix(l, slot) ||
        !init_targets(l, slot))
        return MR_ENOMEM;
    mr__memory_advise(slot->images, nbytes, l->has_numa_node, l->numa_node);
    slot->batch = (mr_batch){
        .size = l->batch,
        .output = *output,
        .images = slot->images,
        .images_nbytes = output->sample_nbytes * l->batch,
        .labels = slot->labels,
        .mask = slot->mask,
        .ordinals = slot->ordinals,
        .positions = slot->positions,
    };
    return 0;
}

int mr__ring_init(mr_loader *l, uint32_t slots, mr__detail *detail)
{
    l->slots = mr__alloc_array(&l->hooks, slots, sizeof *l->slots);
    l->queue = mr__alloc_array(&l->hooks, slots, sizeof *l->queue);
    int result = l->slots != NULL && l->queue != NULL ? 0 : MR_ENOMEM;
    l->slot_count = l->slots != NULL ? slots : 0;
    for (uint32_t i = 0; i < slots && result == 0; i++)
        result = init_slot(l, &l->slots[i]);
    return result == 0 ? 0
                       : mr__fail(detail, result,
                                  "out of memory for %u batches of %u samples, %zu bytes each sample: give a smaller "
                                  "batch, fewer slots, or dtype(u8)",
                                  slots, l->batch, l->work.finish.output.sample_nbytes);
}

/* The mutex is held. */
static mr__left *move_slot(mr_loader *l, mr__slot *slot)
{
    size_t nbytes = slot->batch.output.sample_nbytes * ((size_t)l->batch + l->guests);
    mr__left *left = mr__alloc(&l->hooks, sizeof *left);
    uint8_t *images = left != NULL ? mr__alloc(&l->hooks, nbytes) : NULL;
    if (images == NULL) {
        mr__free(&l->hooks, left);
        return NULL;
    }
    mr__memory_advise(images, nbytes, l->has_numa_node, l->numa_node);
    memcpy(images, slot->images, nbytes);
    *left = (mr__left){.next = l->left, .slot = slot, .images = slot->images};
    l->left = left;
    slot->images = images;
    slot->batch.images = images;
    return left;
}

/* The memory that a task is in, if that is the slot's no more: each lane that gives it up is noted. */
static mr__left *find_left(mr_loader *l, const mr__task *task)
{
    mr__left *left = l->left;
    while (left != NULL && left->images + task->keep_at != (const uint8_t *)task->slot)
        left = left->next;
    return left;
}

bool mr__ring_refuge(void *user, mr__task *task)
{
    mr_loader *l = user;
    mr__slot *slot = task->batch;
    mr__mutex_lock(&l->mutex);
    bool moved = task->slot != slot->images + task->keep_at;
    mr__left *left = moved ? find_left(l, task) : move_slot(l, slot);
    if (left != NULL) {
        left->lanes |= UINT64_C(1) << task->lane % 64;
        task->slot = slot->images + task->keep_at;
    }
    mr__mutex_unlock(&l->mutex);
    return left != NULL;
}

static bool is_written(const mr_loader *l, const mr__left *left)
{
    for (uint32_t lane = 0; lane < l->info.lanes; lane++)
        if ((left->lanes >> lane % 64 & 1) != 0 && l->device->type->is_late(l->device, lane))
            return true;
    return false;
}

void mr__ring_forget(mr__slot *slot)
{
    mr_loader *l = slot->loader;
    for (mr__left **at = &l->left, *left; (left = *at) != NULL;) {
        if (left->slot != slot || is_written(l, left)) {
            at = &left->next;
            continue;
        }
        *at = left->next;
        mr__free(&l->hooks, left->images);
        mr__free(&l->hooks, left);
    }
}

void mr__ring_gather(mr__slot *slot, const mr__task *task)
{
    mr_loader *l = slot->loader;
    mr__mutex_lock(&l->mutex);
    uint8_t *at = slot->images + task->keep_at;
    if (task->slot != at)
        memcpy(at, task->slot, slot->batch.output.sample_nbytes);
    mr__mutex_unlock(&l->mutex);
}

void mr__ring_fini(mr_loader *l)
{
    for (mr__left *left = l->left, *next; left != NULL; left = next) {
        next = left->next;
        mr__free(&l->hooks, left->images);
        mr__free(&l->hooks, left);
    }
    for (uint32_t i = 0; i < l->slot_count; i++) {
        mr__slot *slot = &l->slots[i];
        mr__free(&l->hooks, slot->images);
        mr__free(&l->hooks, slot->labels);
        mr__free(&l->hooks, slot->ordinals);
        mr__free(&l->hooks, slot->positions);
        mr__free(&l->hooks, slot->mask);
        mr__free(&l->hooks, slot->tasks);
        mr__free(&l->hooks, slot->draws);
        mr__free(&l->hooks, slot->partners);
        mr__free(&l->hooks, slot->partner_labels);
        mr__free(&l->hooks, slot->partner_ordinals);
        for (size_t k = 0; slot->targets != NULL && k < (size_t)l->batch + l->guests; k++)
            mr__task_targets_fini(&slot->targets[k], &l->hooks);
        mr__free(&l->hooks, slot->targets);
        mr__free(&l->hooks, slot->masks);
        mr__buffer_fini(&slot->values, &l->hooks);
        mr__buffer_fini(&slot->offsets, &l->hooks);
    }
    mr__free(&l->hooks, l->slots);
    mr__free(&l->hooks, l->queue);
}
