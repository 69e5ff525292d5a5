// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <string.h>

static const mr__device_type *const types[] = {&mr__device_cpu, &mr__device_opencl, &mr__device_sim, NULL};

const mr__device_type *const *mr__device_types(void)
{
    return types;
}

const mr__device_type *mr__device_type_of(const char *name)
{
    for (size_t i = 0; types[i] != NULL; i++)
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    return NULL;
}

int mr__device_open(const mr__device_type *type, const mr__device_options *options, mr__device **out,
                    mr__detail *detail)
{
    int result = type->probe != NULL ? type->probe(detail) : 0;
    return result == 0 ? type->open(options, out, detail) : result;
}

bool mr__device_takes(const mr__device *device, mr_form form, mr_step_kind step)
{
    return device->type->takes == NULL || device->type->takes(device, form, step);
}

mr__device_memory mr__device_read_memory(mr__device *device)
{
    const mr__device_type *type = device->type;
    return type->memory != NULL ? type->memory(device) : type->info(device).memory;
}

mr__device_tally mr__device_read_tally(mr__device *device)
{
    return device->type->tally != NULL ? device->type->tally(device) : (mr__device_tally){0};
}

bool mr__device_abandon(mr__device *device)
{
    if (device->type->abandon != NULL)
        device->type->abandon(device);
    return device->type->abandon != NULL;
}

void mr__device_cancel(mr__device *device)
{
    if (device->type->cancel != NULL)
        device->type->cancel(device);
}

bool mr__device_advance(mr__device *device)
{
    return device->type->advance != NULL && device->type->advance(device);
}
