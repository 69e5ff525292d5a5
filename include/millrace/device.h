// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_DEVICE_H
#define MILLRACE_DEVICE_H

#include <millrace/codec.h>
#include <millrace/export.h>
#include <millrace/hooks.h>
#include <millrace/recipe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

MR_BEGIN_DECLS

/* Who can prepare samples here, or why not. */
typedef struct mr_device_info {
    size_t struct_size;
    char device[32];        /* what mr_loader_options.device takes: "cpu", "opencl:0", "sim" */
    char name[128];         /* "AMD EPYC", "NVIDIA A100" */
    char version[320];      /* of a processor the instruction sets that are used; else what drives it */
    bool usable;            /* else `why` says what is missing, and what to do about it */
    bool is_host;           /* the host's own cores, if by another way: beside "cpu" it has nothing to give */
    bool shares_memory;     /* it works in the host's memory: nothing is sent to it */
    bool has_doubles;       /* numbers of 64 bits with a fraction: some steps need them */
    char why[256];          /* a sentence without its full stop; "" where it is usable */
    uint32_t units;         /* threads; of an accelerator what it calls compute units */
    uint64_t memory_nbytes; /* that it has, or may use of the host's; 0: the host's, all of it */
} mr_device_info;

/*
 * All devices, "cpu" first: up to `most` of them into an array whose first element has struct_size set, which holds for
 * all. *count is how many there are, which may be more. What is not there at all (no driver for any accelerator) is one
 * that is not usable. Drivers are loaded to ask them; that may take a moment. `hooks` may be NULL. MR_EARGUMENT for a
 * struct_size that cannot be; MR_ENOMEM.
 */
MR_API int mr_devices_list(const mr_hooks *hooks, mr_device_info *devices, size_t most, size_t *count);

/* Whether the device itself decodes images of this form; where it does not, the host does, and the device the rest. */
MR_API bool mr_device_decodes(const mr_device_info *device, mr_form form);

/* Whether it can do this step. Recipes with one that it lacks are left to other devices. */
MR_API bool mr_device_takes(const mr_device_info *device, mr_step_kind step);

/*
 * The steps that it lacks, by name, separated by spaces. Writes at most nbytes with the terminating zero; returns what
 * it would have needed, as snprintf does.
 */
MR_API size_t mr_device_lacks(const mr_device_info *device, char *text, size_t nbytes);

MR_END_DECLS

#endif
