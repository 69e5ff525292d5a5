// SPDX-License-Identifier: Apache-2.0
/*
 * Batches that stay on the accelerator that prepares them. Each slot has memory there as well. What the accelerator
 * makes, it puts there itself; what the host makes lies in the slot, and is sent. A slot is ready when the device says
 * that all of it is there.
 */
#include "loader/loader.h"

static const char *name_of(const mr_loader *l, const mr__device *device)
{
    uint32_t d = 0;
    while (l->team.devices[d] != device)
        d++;
    return l->team.names[d];
}

static int choose_keeper(mr_loader *l, mr__detail *detail)
{
    mr__team *t = &l->team;
    uint32_t count = 0;
    for (uint32_t d = 0; d < t->count; d++)
        if (t->devices[d]->type->keep_new != NULL) {
            t->keeper = t->devices[d];
            count++;
        }
    if (l->mixing.mixup || l->mixing.cutmix)
        return mr__fail(detail, MR_EARGUMENT,
                        "batches stay on a device (keep), and the recipe mixes them (mixup, cutmix), which is the "
                        "host's to do: leave one of the two out");
    if (count == 0)
        return mr__fail(
            detail, MR_EARGUMENT,
            "batches stay on a device (keep), but no accelerator is here that could have them: name one, as "
            "in opencl:0 or cpu,opencl:0");
    if (count > 1)
        return mr__fail(detail, MR_EARGUMENT,
                        "batches stay on a device (keep), but %u accelerators are to prepare them: name one, as in "
                        "opencl:0 or cpu,opencl:0",
                        count);
    return 0;
}

int mr__keep_init(mr_loader *l, const mr_loader_options *o, mr__detail *detail)
{
    if (o->keep == MR_KEEP_HOST)
        return 0;
    int result = choose_keeper(l, detail);
    mr__device *device = l->team.keeper;
    for (uint32_t i = 0; i < l->slot_count && result == 0; i++) {
        mr__slot *slot = &l->slots[i];
        result = device->type->keep_new(device, slot->batch.images_nbytes, &slot->keep, detail);
        if (result != 0)
            return result;
        slot->batch.device_data = device->type->keep_tell(device, slot->keep).memory;
        slot->batch.images = NULL;
    }
    return result;
}

void mr__keep_send(mr__slot *slot, uint32_t place, uint32_t count)
{
    mr__device *device = slot->loader->team.keeper;
    size_t each = slot->batch.output.sample_nbytes;
    if (slot->keep != NULL && count != 0)
        device->type->keep_send(device, slot->keep, place * each, slot->images + place * each, count * each);
}

void mr__keep_send_done(mr__slot *slot, const mr__task *first)
{
    const mr_loader *l = slot->loader;
    size_t each = slot->batch.output.sample_nbytes;
    for (const mr__task *task = first; slot->keep != NULL && task != NULL; task = task->next) {
        const mr__job *job = task->job;
        bool there = l->team.devices[job->pick->device] == l->team.keeper;
        if (task->code == 0 && !task->wrong && !there)
            mr__keep_send(slot, (uint32_t)(task->keep_at / each), 1);
    }
}

void mr__keep_finish(mr__slot *slot, mr__kept *told)
{
    mr__device *device = slot->loader->team.keeper;
    device->type->keep_finish(device, slot->keep, told, slot);
}

int mr_batch_get_device(const mr_batch *batch, mr_batch_device *out)
{
    const mr__slot *slot = (const mr__slot *)batch;
    int result = batch != NULL && out != NULL ? mr__loader_here(slot->loader) : MR_EARGUMENT;
    if (result != 0 || slot->keep == NULL)
        return result != 0 ? result : MR_EARGUMENT;
    mr__device *device = slot->loader->team.keeper;
    mr_batch_device is = device->type->keep_tell(device, slot->keep);
    is.name = name_of(slot->loader, device);
    return mr__struct_give(out, &is, sizeof is) ? 0 : MR_EARGUMENT;
}
