// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/dataset.h"
#include "loader/loader.h"

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

uint64_t mr_batch_hash(const mr_batch *batch)
{
    uint64_t sum = 0;
    size_t nbytes = batch != NULL ? batch->output.sample_nbytes : 0;
    for (uint32_t i = 0; batch != NULL && i < batch->count; i++) {
        uint8_t head[16];
        mr__hasher hasher;
        mr__store_le64(head, batch->positions[i]);
        mr__store_le64(head + 8, (uint64_t)batch->labels[i]);
        mr__hasher_init(&hasher);
        mr__hasher_add(&hasher, head, sizeof head);
        mr__hasher_add(&hasher, (const uint8_t *)batch->images + i * nbytes, nbytes);
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
