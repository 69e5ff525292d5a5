// SPDX-License-Identifier: Apache-2.0
/* Labels that are lists, as values and offsets. */
#include "base/bytes.h"
#include "loader/loader.h"

#include <string.h>

static bool is_list(const mr_label *label)
{
    return label->kind == MR_LABEL_INTS || label->kind == MR_LABEL_FLOATS;
}

static bool has_lists(const mr__slot *slot)
{
    mr_label label;
    for (uint32_t i = 0; i < slot->batch.size; i++)
        if (mr_batch_label(&slot->batch, i, &label) == 0 && is_list(&label))
            return true;
    return false;
}

/* What a label's values are in a list: a number among lists is a list of one. NONE: it has no values. */
static mr_label_kind list_kind(const mr_label *label, size_t *count)
{
    *count = is_list(label) ? label->count : 1;
    switch (label->kind) {
    case MR_LABEL_INT:
    case MR_LABEL_INTS:
        return MR_LABEL_INTS;
    case MR_LABEL_FLOAT:
    case MR_LABEL_FLOATS:
        return MR_LABEL_FLOATS;
    default:
        *count = 0;
        return MR_LABEL_NONE;
    }
}

/* Offsets of all places, and what all values are. */
static int count_values(mr__slot *slot, uint64_t *offsets, mr_label_kind *kind)
{
    uint64_t sum = 0;
    bool lists = has_lists(slot);
    *kind = MR_LABEL_NONE;
    for (uint32_t i = 0; i < slot->batch.size; i++) {
        mr_label label;
        size_t count;
        offsets[i] = sum;
        if (!lists || mr_batch_label(&slot->batch, i, &label) != 0)
            continue;
        mr_label_kind own = list_kind(&label, &count);
        sum += count;
        if (own != MR_LABEL_NONE)
            *kind = *kind == MR_LABEL_NONE || *kind == own ? own : MR_LABEL_FLOATS;
    }
    offsets[slot->batch.size] = sum;
    return sum <= SIZE_MAX / sizeof(double) ? 0 : MR_ELIMIT;
}

/* One value, 64 bits, of what the dataset has. */
static uint64_t bits_at(const mr_label *label, size_t at)
{
    uint64_t bits = (uint64_t)label->integer;
    if (is_list(label))
        return mr__load_le64((const uint8_t *)label->values + 8 * at);
    if (label->kind == MR_LABEL_FLOAT)
        memcpy(&bits, &label->real, sizeof bits);
    return bits;
}

/* Integers become real where others are. */
static uint64_t value_as(const mr_label *label, size_t at, mr_label_kind kind)
{
    size_t count;
    uint64_t bits = bits_at(label, at);
    if (list_kind(label, &count) == kind)
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
