// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/dataset.h"
#include "loader/loader.h"

#include <string.h>

int mr_batch_label(const mr_batch *batch, uint32_t place, mr_label *label)
{
    if (batch == NULL || label == NULL || place >= batch->count || batch->mask[place] == MR_MASK_REPLACED)
        return MR_EARGUMENT;
    const mr_loader *l = ((const mr__slot *)batch)->loader;
    int result = mr__loader_here(l);
    return result != 0 ? result : mr__dataset_label(l->dataset, batch->ordinals[place], label);
}

const char *mr_batch_key(const mr_batch *batch, uint32_t place)
{
    mr_sample sample = {.struct_size = sizeof sample};
    if (batch == NULL || place >= batch->count)
        return "";
    const mr_loader *l = ((const mr__slot *)batch)->loader;
    bool known = mr__loader_here(l) == 0 && mr_dataset_sample(l->dataset, batch->ordinals[place], &sample) == 0;
    return known ? sample.key : "";
}

/* What a batch was mixed with; its own where it was not. */
static mr_batch_mix mix_of(const mr__slot *slot)
{
    bool mixed = slot->mix.kind != MR_STEP_NONE;
    return (mr_batch_mix){.struct_size = sizeof(mr_batch_mix),
                          .kind = slot->mix.kind,
                          .weight = slot->mix.weight,
                          .box = slot->mix.box,
                          .partners = mixed ? slot->partner_labels : slot->labels,
                          .ordinals = mixed ? slot->partner_ordinals : slot->ordinals};
}

int mr_batch_get_mix(const mr_batch *batch, mr_batch_mix *mix)
{
    const mr__slot *slot = (const mr__slot *)batch;
    int result = batch != NULL && mix != NULL ? mr__loader_here(slot->loader) : MR_EARGUMENT;
    if (result != 0)
        return result;
    mr_batch_mix ours = mix_of(slot);
    return mr__struct_give(mix, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

int mr_batch_soft_labels(const mr_batch *batch, uint32_t classes, float *to)
{
    mr_batch_mix mix = {.struct_size = sizeof mix};
    int result = to != NULL ? mr_batch_get_mix(batch, &mix) : MR_EARGUMENT;
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->labels[i] < -1 || batch->labels[i] >= classes || mix.partners[i] < -1 || mix.partners[i] >= classes)
            return MR_EARGUMENT;
    memset(to, 0, (size_t)batch->size * classes * sizeof *to);
    float own = (float)mix.weight, other = (float)(1.0 - mix.weight);
    for (uint32_t i = 0; i < batch->count; i++, to += classes) {
        if (mix.partners[i] >= 0)
            to[mix.partners[i]] = other;
        if (batch->labels[i] >= 0)
            to[batch->labels[i]] += own;
    }
    return 0;
}

int mr_batch_get_targets(const mr_batch *batch, uint32_t place, mr_targets *targets)
{
    const mr__slot *slot = (const mr__slot *)batch;
    int result = batch != NULL && targets != NULL ? mr__loader_here(slot->loader) : MR_EARGUMENT;
    if (result != 0)
        return result;
    if (place >= batch->size || slot->loader->work.asked == 0)
        return MR_EARGUMENT;
    mr_targets ours = mr__task_targets_view(&slot->targets[place], slot->loader->work.asked, &batch->output);
    return mr__struct_give(targets, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}

static void hash_numbers(mr__hasher *hasher, const void *numbers, size_t count, size_t nbytes)
{
    if (numbers != NULL)
        mr__hasher_add(hasher, numbers, count * nbytes);
}

/* As they lie in memory: numbers are little-endian on every machine we know. */
static void hash_targets(mr__hasher *hasher, const mr_targets *t)
{
    uint8_t head[24];
    mr__store_le64(head, t->count);
    mr__store_le64(head + 8, t->keypoint_count);
    mr__store_le64(head + 16, t->mask != NULL);
    mr__hasher_add(hasher, head, sizeof head);
    hash_numbers(hasher, t->boxes, t->count, 4 * sizeof *t->boxes);
    hash_numbers(hasher, t->rotated, t->count, 5 * sizeof *t->rotated);
    hash_numbers(hasher, t->categories, t->count, sizeof *t->categories);
    hash_numbers(hasher, t->flags, t->count, 1);
    for (size_t i = 0; t->keypoint_starts != NULL && i < t->count; i++) {
        mr__store_le64(head, t->keypoint_starts[i + 1]);
        mr__hasher_add(hasher, head, 8);
    }
    hash_numbers(hasher, t->keypoints, t->keypoint_count, 3 * sizeof *t->keypoints);
    hash_numbers(hasher, t->mask, t->width, t->height);
    hash_numbers(hasher, t->masks, t->count, (size_t)t->width * t->height);
}

/* Position, label, and where the recipe mixes how the sample came to be. */
static size_t write_head(uint8_t head[40], const mr__slot *slot, uint32_t place)
{
    const mr_batch *batch = &slot->batch;
    const mr__mixing *mixing = &slot->loader->mixing;
    mr__store_le64(head, batch->positions[place]);
    mr__store_le64(head + 8, (uint64_t)batch->labels[place]);
    if (!mixing->mixup && !mixing->cutmix)
        return 16;
    mr_batch_mix mix = mix_of(slot);
    uint64_t weight;
    memcpy(&weight, &mix.weight, sizeof weight);
    mr__store_le64(head + 16, (uint64_t)mix.kind);
    mr__store_le64(head + 24, weight);
    mr__store_le64(head + 32, (uint64_t)mix.partners[place]);
    return 40;
}

/* Its images; of a batch that is on a device, read back. NULL: that failed. */
static const uint8_t *images_of(const mr_batch *batch)
{
    const mr__slot *slot = (const mr__slot *)batch;
    mr__device *device = slot->loader->team.keeper;
    if (slot->keep == NULL)
        return batch->images;
    if (mr__loader_here(slot->loader) != 0 ||
        device->type->keep_read(device, slot->keep, 0, slot->images, batch->images_nbytes) != 0)
        return NULL;
    return slot->images;
}

uint64_t mr_batch_hash(const mr_batch *batch)
{
    uint64_t sum = 0;
    size_t nbytes = batch != NULL ? batch->output.sample_nbytes : 0;
    const uint8_t *images = batch != NULL ? images_of(batch) : NULL;
    if (images == NULL)
        return 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint8_t head[40];
        mr__hasher hasher;
        mr__hasher_init(&hasher);
        mr__hasher_add(&hasher, head, write_head(head, (const mr__slot *)batch, i));
        mr__hasher_add(&hasher, images + i * nbytes, nbytes);
        mr_targets targets = {.struct_size = sizeof targets};
        if (mr_batch_get_targets(batch, i, &targets) == 0)
            hash_targets(&hasher, &targets);
        sum += mr__hasher_value(&hasher);
    }
    return sum;
}

const char *mr_order_name(mr_order_kind order)
{
    static const char *const names[] = {"shuffled", "sequential", "windowed", "weighted", "repeated"};
    return (unsigned)order < sizeof names / sizeof *names ? names[order] : "none";
}

const char *mr_bad_policy_name(mr_bad_policy policy)
{
    static const char *const names[] = {"fail", "skip", "replace"};
    return (unsigned)policy < sizeof names / sizeof *names ? names[policy] : "none";
}
