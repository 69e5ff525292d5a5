// SPDX-License-Identifier: Apache-2.0
/* The memory of batches: allocated once, and what is in it is written over only when its consumer has let go. */
#include "base/size.h"
#include "device/cpu/placement.h"
#include "loader/loader.h"

/* Of one place, beside its image. */
static size_t place_nbytes(const mr_loader *l)
{
    return sizeof(int64_t) + 2 * sizeof(uint64_t) + 1 + sizeof(mr__task) + l->draw_count * sizeof(uint32_t);
}

bool mr__slot_nbytes(const mr_loader *l, size_t *nbytes)
{
    size_t each;
    return mr__size_add(l->work.finish.output.sample_nbytes, place_nbytes(l), &each) &&
           mr__size_mul_add(each, l->batch, sizeof(mr__slot), nbytes) && *nbytes <= PTRDIFF_MAX;
}

static int init_slot(mr_loader *l, mr__slot *slot)
{
    const mr_hooks *hooks = &l->hooks;
    const mr_output *output = &l->work.finish.output;
    size_t nbytes = output->sample_nbytes * l->batch;
    slot->loader = l;
    slot->images = mr__alloc(hooks, nbytes);
    slot->labels = mr__alloc_array(hooks, l->batch, sizeof *slot->labels);
    slot->ordinals = mr__alloc_array(hooks, l->batch, sizeof *slot->ordinals);
    slot->positions = mr__alloc_array(hooks, l->batch, sizeof *slot->positions);
    slot->mask = mr__alloc_array(hooks, l->batch, sizeof *slot->mask);
    slot->tasks = mr__alloc_array(hooks, l->batch, sizeof *slot->tasks);
    slot->draws = mr__alloc_array(hooks, l->batch * (l->draw_count + 1), sizeof *slot->draws);
    if (slot->images == NULL || slot->labels == NULL || slot->ordinals == NULL || slot->positions == NULL ||
        slot->mask == NULL || slot->tasks == NULL || slot->draws == NULL)
        return MR_ENOMEM;
    mr__memory_advise(slot->images, nbytes, l->has_numa_node, l->numa_node);
    slot->batch = (mr_batch){
        .size = l->batch,
        .output = *output,
        .images = slot->images,
        .images_nbytes = nbytes,
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

void mr__ring_fini(mr_loader *l)
{
    for (uint32_t i = 0; i < l->slot_count; i++) {
        mr__slot *slot = &l->slots[i];
        mr__free(&l->hooks, slot->images);
        mr__free(&l->hooks, slot->labels);
        mr__free(&l->hooks, slot->ordinals);
        mr__free(&l->hooks, slot->positions);
        mr__free(&l->hooks, slot->mask);
        mr__free(&l->hooks, slot->tasks);
        mr__free(&l->hooks, slot->draws);
        mr__buffer_fini(&slot->values, &l->hooks);
        mr__buffer_fini(&slot->offsets, &l->hooks);
    }
    mr__free(&l->hooks, l->slots);
    mr__free(&l->hooks, l->queue);
}
