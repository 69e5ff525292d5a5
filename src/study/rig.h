// SPDX-License-Identifier: Apache-2.0
/*
 * Plays batches through the crew on simulated hardware, without pixels: what a loader would do in virtual time, a
 * million tasks in a second. For bench/sched, bench/external and tests; the numbers are of a simulation, always.
 *
 * Threads: one at a time.
 * Ownership: mr__rig_run leaves nothing behind.
 * Limits: those of the hardware and the crew.
 */
#ifndef MR_STUDY_RIG_H
#define MR_STUDY_RIG_H

#include "device/sim/hardware.h"
#include "route/crew.h"

/* A sample, as it is and as it is believed to be. */
typedef struct mr__rig_sample {
    double core_ns; /* on a core of speed 1 */
    double guess;   /* predicted time over actual time */
    uint64_t stored_nbytes;
    uint64_t need_nbytes; /* of a device's memory */
    /* Where the pipeline may be cut: */
    double decode_ns; /* of core_ns; the others are for steps */
    uint64_t decoded_nbytes, done_nbytes;
} mr__rig_sample;

/* The second device is an accelerator that samples may cross to half done; its speed counts for nothing then. */
typedef struct mr__rig_cut {
    double decode_speed, steps_speed; /* of a lane, in cores; 0: it cannot */
    bool at_host;                     /* batches are wanted in the host's memory */
    mr__cut_rule rule;
} mr__rig_cut;

typedef struct mr__rig_options {
    const mr_hooks *hooks;        /* NULL: defaults */
    const mr__hardware *hardware; /* its first device is the host; a trainer of step_ns 0: batches are taken at once */
    const mr__policy *policy;
    uint32_t batch;   /* samples in it */
    uint32_t slots;   /* batches in memory [3] */
    uint64_t batches; /* to be delivered */
    bool apart;       /* a batch is opened when the one before is done: each by itself */
    bool learns;      /* by the cost model, which sees `core_ns x guess` of each sample and what it took; else told */
    uint32_t tiny;    /* samples of one job, where they are so small [1] */
    mr__beside_mode beside; /* [auto]; exclusive for `fusion` */
    double beside_share;
    uint64_t deadline_ns, back_ns;
    const mr__rig_cut *cut; /* NULL: samples are prepared whole, by one device */
    void (*sample)(void *user, uint64_t number, mr__rig_sample *sample);
    void (*delivered)(void *user, uint64_t batch, uint64_t opened_ns, uint64_t ready_ns); /* NULL */
    void (*seen)(void *user, const mr__sight *sight);                                     /* NULL */
    void *user;
} mr__rig_options;

typedef struct mr__rig_result {
    uint64_t tasks;                             /* settled, each once: batches x batch */
    uint64_t again;                             /* of them, settled before already: 0 */
    uint64_t failed;                            /* and settled with an error: 0 */
    double seconds;                             /* virtual */
    double span_ratio;                          /* of batches apart: mean of time over lower bound; */
    double span_worst;                          /* and the largest */
    double span_seconds;                        /* mean */
    double iteration_seconds;                   /* with a trainer: mean, the first quarter left out */
    double wait_share;                          /* of its time that the trainer waited */
    double device_share[MR__SCHED_DEVICES_MAX]; /* of samples */
    mr__sched_tally tally[MR__SCHED_DEVICES_MAX];
    uint64_t mishaps[MR__SCHED_DEVICES_MAX][MR__MISHAPS];
    uint64_t no_memory;   /* tasks that a device had no memory for */
    mr__beside_mode mode; /* in force at the end */
    double real_seconds;  /* that the simulation took */
} mr__rig_result;

int mr__rig_run(const mr__rig_options *options, mr__rig_result *result, mr__detail *detail);

/* The least time that a batch of these samples can take on this hardware: work over all lanes, or the largest sample on
 * the device that is best at it. In core nanoseconds of the samples. */
double mr__rig_bound_ns(const mr__hardware *hardware, const double *core_ns, size_t count);

#endif
