// SPDX-License-Identifier: Apache-2.0
/*
 * How many cores reach an iteration time, by each way to prepare batches: predicted in closed form, then played on
 * simulated hardware. See bench/README.md.
 *
 *     formula.c   the closed forms
 *     play.c      a point on simulated hardware, in virtual time
 *     agree.c     where they agree, and where not and why
 *     cores.c     cores needed at equal speed
 *     region.c    where published gains are attainable
 *     report.c    tables, as text or JSON
 */
#ifndef BENCH_EXTERNAL_H
#define BENCH_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum way_of {
    WAY_CPU,        /* the host's cores alone: `intrabatch` */
    WAY_EXCLUSIVE,  /* `auto`, the accelerator only while the trainer waits */
    WAY_OVERLAPPED, /* `auto`, the accelerator at all times */
    WAY_AUTO,       /* `auto`, which also chooses when to use it */
    WAY_FUSION,     /* the public prototype's policy: exclusive */
    WAY_REMOTE,     /* `auto` on the host's cores and those of other machines */
    WAYS
} way_of;

const char *way_name(way_of way);

typedef enum costs {
    COSTS_EQUAL, /* all the same */
    COSTS_EVEN,  /* from 0.5 to 1.5 of the mean, spread evenly over any stretch; predicted exactly */
    COSTS_HEAVY, /* Pareto's, p99 6.2 times the median as RandAugment's [proto]; predictions off by sigma 0.3 */
} costs;

/* A machine and its work. Seconds and bytes. */
typedef struct point {
    uint32_t batch;     /* samples in it */
    uint32_t cores;     /* W, of the host */
    double speed;       /* S of the accelerator, in cores */
    double core_s;      /* C of a batch */
    double step_s;      /* t */
    double slowing;     /* d: a step takes 1 + d times as long while the accelerator prepares */
    uint32_t remote;    /* R: cores of other machines */
    double link_gbs;    /* of the host, for all of them: 1e9 bytes a second; 0: no bound */
    double link_nbytes; /* of a sample that was made elsewhere */
    double receive_s;   /* of a host's core for it */
    double launch_s;    /* of a remote core or the accelerator, for each submission */
    costs costs;
    bool learns; /* what samples cost, as it goes; else it is told */
} point;

/* 1. Predictions. */

/* Seconds of an iteration, as scheduling.md has it. */
double plain_iteration(way_of way, const point *at);

/* The same with what that leaves out: `overlapped` disturbs less where it keeps up. */
double full_iteration(way_of way, const point *at);

/* Cores (W; of WAY_REMOTE R) for a target as scheduling.md has it, in fractions; INFINITY: none are enough. */
double plain_cores(way_of way, const point *at, double target_s);

/* The fewest whole cores under which full_iteration is within REACHES of the target; UINT32_MAX: none are. */
uint32_t full_cores(way_of way, const point *at, double target_s);

/* Cores of the host that are busy with what remote ones made. */
double receiving_cores(const point *at);

/* S/W that is needed to gain so much over the host alone, where that takes `behind` = C/(W t) times a step; INFINITY:
 * no accelerator is fast enough. */
double exclusive_speed(double gain, double behind);
double overlapped_speed(double gain, double behind, double slowing);

#define AGREES      0.01 /* a prediction and a simulation that differ by less */
#define AUTO_AGREES 0.03 /* F1's, of who chooses by measuring */
#define REACHES     0.01 /* an iteration that is longer than the target by less */
enum { CORES_MAX = 128 };

/* 2. Simulations. */

typedef struct outcome {
    double iteration_s;
    double waits;     /* the share of its time that the trainer waited */
    double device;    /* the share of samples that the accelerator or the remote cores did */
    const char *mode; /* at the end */
} outcome;

/* Ends the program where the simulation fails. */
outcome play(way_of way, const point *at, uint64_t batches);

/* The fewest cores (of WAY_REMOTE remote ones) that reach the target; UINT32_MAX: CORES_MAX do not. */
uint32_t play_cores(way_of way, const point *at, double target_s, uint64_t batches);

/* 3. Tables. */

typedef struct report {
    bool json, quick;
    const char *only;             /* the one table; NULL: all */
    unsigned tables, rows, cells; /* so far; in this table; in this row */
    const char *const *columns;
    unsigned column_count;
    unsigned compared, apart; /* rows that are to agree; that do not */
} report;

/* `text` says what is predicted. */
void report_table(report *r, const char *name, const char *text, const char *const *columns, unsigned count);
void report_text(report *r, const char *text);
void report_number(report *r, double number, int digits); /* INFINITY: "never" */
void report_share(report *r, double share);               /* as a percentage, with its sign; INFINITY: "-" */
void report_part(report *r, double part);                 /* as a percentage of all */
void report_row(report *r);
void report_note(report *r, const char *text);
void report_end(report *r);

/*
 * Both predictions, which are printed at once, then the simulation, and how far it is from the second. `bound`: how far
 * it may be; 0: as it likes.
 */
outcome report_play(report *r, way_of way, const point *at, uint64_t batches, double bound);

void show_agreement(report *r);
void show_departures(report *r);
void show_cores(report *r);
void show_gains(report *r);
void show_fewer(report *r);
void show_threads(report *r);

#endif
