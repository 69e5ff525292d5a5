// SPDX-License-Identifier: Apache-2.0
/*
 * Devices as a user names them (mr_loader_options.device):
 *
 *     cpu               the host's threads
 *     opencl:1          one accelerator, by its number
 *     opencl            the first of its type that can be used; one that is not the host's own cores before others
 *     cpu,opencl:0      several
 *     auto              the host, and every accelerator that can be used and is not the host's own cores
 *     sim, sim:FILE     a simulated device; a simulated machine, which has devices of its own
 *
 * Reading a name looks at nothing but its text: whether such a device is here is asked later.
 */
#ifndef MR_LOADER_NAMING_H
#define MR_LOADER_NAMING_H

#include "device/device.h"

typedef struct mr__device_name {
    const mr__device_type *type;
    uint32_t number;
    bool any;      /* of its type: the user gave no number, and it is not known yet */
    char text[32]; /* as routes have it: "opencl:1" */
} mr__device_name;

typedef struct mr__device_names {
    bool automatic;      /* the user leaves it to us */
    const char *machine; /* the file of a simulated one, inside of the text; NULL: devices are these */
    uint32_t count;
    mr__device_name at[MR_DEVICES_MAX]; /* the host is the first, if it is among them */
    mr__detail left_out;                /* why one that was named, or found, is not used; "": all are */
} mr__device_names;

/* Whether the host is among them: then an accelerator that cannot be had is left out, and why is kept, and logged. */
bool mr__names_have_host(const mr__device_names *names);
void mr__names_leave_out(mr__device_names *names, const mr_hooks *hooks, const char *why);

/* `types` as mr__device_types has them. NULL text: the host. MR_EARGUMENT with detail. */
int mr__names_read(const char *text, const mr__device_type *const *types, mr__device_names *names, mr__detail *detail);

/*
 * Looks at the machine, where that is needed: numbers that were not given; accelerators, if the user leaves it to us.
 * MR_EUNSUPPORTED: there is nothing that could be meant; MR_EARGUMENT: what was named twice in other words. With
 * detail.
 */
int mr__names_find(mr__device_names *names, const mr__device_type *const *types, const mr_hooks *hooks,
                   mr__detail *detail);

#endif
