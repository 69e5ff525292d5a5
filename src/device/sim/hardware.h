// SPDX-License-Identifier: Apache-2.0
/*
 * A machine that need not be there: its devices with their speeds, links and faults, what a task costs, its trainer.
 * From a file (doc/hardware.md), or filled in C: a plain value, in which zero is the default of every field.
 */
#ifndef MR_DEVICE_SIM_HARDWARE_H
#define MR_DEVICE_SIM_HARDWARE_H

#include "base/error.h"
#include "base/memory.h"
#include <millrace/codec.h>
#include <millrace/recipe.h>

enum {
    MR__HARDWARE_DEVICES_MAX = 16,
    MR__HARDWARE_FAULTS_MAX = 16, /* of one device */
    MR__HARDWARE_LANES_MAX = 1024,
    MR__HARDWARE_TASKS_MAX = 65536, /* depth times group */
    MR__HARDWARE_NBYTES_MAX = 1 << 20,
    MR__HARDWARE_NAME = 32,
    MR__HARDWARE_FORMS = MR_FORM_L3 + 1,
    MR__HARDWARE_STEPS = MR_STEP_SANITIZE + 1
};

typedef enum mr__hardware_kind { MR__HARDWARE_CPU = 0, MR__HARDWARE_ACCELERATOR = 1 } mr__hardware_kind;

typedef enum mr__fault_kind {
    MR__FAULT_NONE = 0,
    MR__FAULT_SLOW,   /* work takes `factor` times as long, from..until */
    MR__FAULT_FREEZE, /* what runs stops, and nothing begins, from..until */
    MR__FAULT_LOST,   /* once `after` tasks are done all comes back as failed, until `back` later */
    MR__FAULT_HANG,   /* once `after` tasks are done nothing is any more, until `back` later */
    MR__FAULT_WRONG,  /* bytes are damaged behind their checksum: each every-th task after so many; or only the next */
    MR__FAULT_MEMORY  /* so much is the trainer's, from..until */
} mr__fault_kind;

typedef struct mr__fault {
    mr__fault_kind kind;
    uint32_t lane; /* slow, freeze, hang: from 1 on, the one that it befalls; 0: all */
    double factor;
    uint64_t from_ns, until_ns; /* until 0: for ever */
    uint64_t after, every;
    uint64_t back_ns; /* 0: never */
    uint64_t nbytes;
} mr__fault;

typedef struct mr__hardware_device {
    char name[MR__HARDWARE_NAME];
    mr__hardware_kind kind;
    uint32_t lanes;                    /* 0: 1 */
    double speed;                      /* of a lane, in cores; 0: 1 */
    double speeds[MR__HARDWARE_FORMS]; /* by mr_form; 0: speed */
    bool lacks_form[MR__HARDWARE_FORMS];
    bool lacks_step[MR__HARDWARE_STEPS];
    uint64_t launch_ns;     /* once a submission */
    double link_gbs;        /* 1e9 bytes a second; 0: nothing to cross */
    bool output_back;       /* what was made crosses the link, too */
    bool link_overlaps;     /* a task takes the longer of link and work, not both */
    uint64_t memory_nbytes; /* 0: the host's */
    double jitter;          /* of each task's time: sigma of a lognormal factor whose mean is 1 */
    uint32_t depth;         /* submissions at once; 0: as many as lanes */
    uint32_t group;         /* tasks in a submission at most; 0: 1 */
    mr__fault faults[MR__HARDWARE_FAULTS_MAX];
    uint32_t fault_count;
} mr__hardware_device;

/* What a task of a form costs a core of speed 1. */
typedef struct mr__hardware_cost {
    bool given;
    double us, ns_per_pixel, ns_per_byte;
    double spread; /* between images: sigma of a lognormal factor whose mean is 1 */
} mr__hardware_cost;

typedef struct mr__hardware_trainer {
    uint32_t device; /* from 1 on, the number of that which it runs on; 0: one of its own */
    uint64_t step_ns;
    double jitter;
    double interference; /* d: a step takes 1 + d times as long while all lanes of that device are busy */
} mr__hardware_trainer;

typedef struct mr__hardware {
    char name[MR__HARDWARE_NAME];
    uint64_t seed;
    mr__hardware_device devices[MR__HARDWARE_DEVICES_MAX];
    uint32_t device_count;
    mr__hardware_cost costs[MR__HARDWARE_FORMS]; /* by mr_form; MR_FORM_NONE: of the others */
    mr__hardware_trainer trainer;
} mr__hardware;

/* One device, "sim", of this many lanes (0: 4), on which a task takes 1 ms: a core's time for an ImageNet image, about.
 */
void mr__hardware_plain(mr__hardware *hardware, uint32_t lanes);

/*
 * `path` is for what is said. MR_EARGUMENT for what is no such file, MR_ELIMIT for too much of it, with the line and
 * what is wrong there; out is untouched then.
 */
int mr__hardware_read(const char *path, const char *text, size_t nbytes, mr__hardware *out, mr__detail *detail);
int mr__hardware_load(const char *path, const mr_hooks *hooks, mr__hardware *out, mr__detail *detail);

/* The number of the device of this name; device_count: there is none. */
uint32_t mr__hardware_find(const mr__hardware *hardware, const char *name);

/* What an image costs a core of speed 1; w or h 0: not known, and pixels cost nothing. */
uint64_t mr__hardware_core_ns(const mr__hardware *hardware, uint64_t ordinal, mr_form form, uint64_t pixels,
                              uint64_t nbytes);

/* Number `count` of a stream of lognormal factors with mean 1; 1 for sigma 0. A stream is a pure function of the seed,
 * its kind and its number. */
typedef enum mr__hardware_stream { MR__STREAM_JITTER, MR__STREAM_SPREAD, MR__STREAM_STEPS } mr__hardware_stream;
double mr__hardware_factor(double sigma, uint64_t seed, mr__hardware_stream kind, uint32_t number, uint64_t count);

#endif
