// SPDX-License-Identifier: Apache-2.0
/*
 * What a loader remembers of its tasks (measure/trace.h) as a file of trace events, which Perfetto and chrome://tracing
 * draw: a process for each device, a track for each of its lanes, a slice for each task; tasks of one submission are
 * slices in that of the submission. Batches have tracks of their own, and arrows from a batch to its tasks.
 *
 * Slices of a track lie behind or inside each other, and never overlap otherwise, if lanes did one thing at a time.
 */
#ifndef MR_REPORT_TRACE_H
#define MR_REPORT_TRACE_H

#include "base/error.h"
#include "measure/trace.h"
#include <millrace/loader.h>
#include <stdbool.h>

typedef struct mr__trace_report {
    const mr_hooks *hooks;
    const mr_dataset *dataset; /* for keys and forms; NULL: without */
    mr__mark *marks;           /* are moved about */
    size_t count;
    uint64_t forgotten;
    uint32_t device_count;
    const char *names[MR_DEVICES_MAX];
    uint32_t lanes[MR_DEVICES_MAX];
    const char *policy, *beside; /* beside: NULL where there is no trainer */
    bool simulated;
} mr__trace_report;

/* Published as a whole, or not at all. MR_EIO and MR_ENOMEM, with detail. */
int mr__trace_report_write(mr__trace_report *report, const char *path, mr__detail *detail);

#endif
