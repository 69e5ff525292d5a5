// SPDX-License-Identifier: Apache-2.0
/* Labels that are lists, as values and offsets. */
#include "base/bytes.h"
#include "loader/loader.h"

#include <string.h>

static bool is_list(const mr_label *label)
{
    return label->kind == MR_LABEL_INTS || label->kind == MR_LABEL_FLOATS;
}

/* Offsets of all places, and what all values are. */
static int count_values(mr__slot *slot, uint64_t *offsets, mr_label_kind *kind)
{
    uint64_t sum = 0;
    *kind = MR_LABEL_NONE;
    for (uint32_t i = 0; i < slot->batch.size; i++) {
        mr_label label;
        offsets[i] = sum;
        if (mr_batch_label(&slot->batch, i, &label) != 0 || !is_list(&label))
            continue;
        sum += label.count;
        *kind = *kind == MR_LABEL_NONE || *kind == label.kind ? label.kind : MR_LABEL_FLOATS;
    }
    offsets[slot->batch.size] = sum;
    return sum <= SIZE_MAX / sizeof(double) ? 0 : MR_ELIMIT;
}

/* One value, 64 bits, of what the dataset has: integers become real where others are. */
static uint64_t value_as(const mr_label *label, size_t at, mr_label_kind kind)
{
    uint64_t bits = mr__load_le64((const uint8_t *)label->values + 8 * at);
    if (label->kind == kind)
        return bits;
    double real = (double)(int64_t)bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static int put_together(mr__slot *slot)
{
    const mr_hooks *hooks = &slot->loader->hooks;
    int result = mr__buffer_reserve(&slot->offsets, hooks, ((size_t)slot->batch.size + 1) * sizeof(uint64_t));
    if (result != 0)
        return result;
    uint64_t *offsets = (void *)slot->offsets.bytes;
    result = count_values(slot, offsets, &slot->lists);
    if (result == 0)
        result = mr__buffer_reserve(&slot->values, hooks, (size_t)offsets[slot->batch.size] * sizeof(uint64_t) + 1);
    if (result != 0)
        return result;
    uint64_t *values = (void *)slot->values.bytes;
    for (uint32_t i = 0; i < slot->batch.size; i++) {
        mr_label label;
        size_t count = (size_t)(offsets[i + 1] - offsets[i]);
        if (count == 0 || mr_batch_label(&slot->batch, i, &label) != 0)
            continue;
        for (size_t n = 0; n < count; n++)
            values[offsets[i] + n] = value_as(&label, n, slot->lists);
    }
    slot->has_lists = true;
    return 0;
}

int mr_batch_get_lists(mr_batch *batch, mr_batch_lists *lists)
{
    mr__slot *slot = (mr__slot *)batch;
    int result = batch != NULL && lists != NULL ? mr__loader_here(slot->loader) : MR_EARGUMENT;
    if (result == 0 && !slot->has_lists)
        result = put_together(slot);
    if (result != 0)
        return result;
    mr_batch_lists ours = {.struct_size = sizeof ours, .kind = slot->lists, .offsets = (void *)slot->offsets.bytes};
    if (slot->lists == MR_LABEL_INTS)
        ours.integers = (void *)slot->values.bytes;
    else if (slot->lists == MR_LABEL_FLOATS)
        ours.reals = (void *)slot->values.bytes;
    return mr__struct_give(lists, &ours, sizeof ours) ? 0 : MR_EARGUMENT;
}
