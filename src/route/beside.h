// SPDX-License-Identifier: Apache-2.0
/*
 * When an accelerator that also trains may prepare samples. A pure state machine: told when the trainer waits for a
 * batch and when it goes on with one, asked whether the accelerator may be used now, and when that will change by
 * itself. It reads no clock and nothing polls it.
 *
 *     off           never
 *     exclusive     while the trainer waits:            T = max(t, (C + S t)/(W + S))
 *     overlapped    always, in short submissions:       T = max(t (1 + d), C/(W + S))
 *     duty          while it waits, and for a share u of the time that it steps, in periods of some ms:
 *                   with t' = t/(1 - u d/(1 + d)):      T = max(t', (C + (1 - u) S t')/(W + S))
 *     auto          the best of these by measured iteration time (beside_auto.c)
 *
 * (a step of t seconds, slowed down to 1 + d by an accelerator that prepares all the while; C core-seconds a batch, W
 * lanes, an accelerator of S lanes.) Before the trainer has had its first batch, it waits.
 *
 * Threads: one at a time; the caller's lock.
 * Ownership: a plain value; it owns nothing, and there is nothing to free.
 * Limits: none; all that is kept is in the struct.
 */
#ifndef MR_ROUTE_BESIDE_H
#define MR_ROUTE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr__beside_mode {
    MR__BESIDE_AUTO,
    MR__BESIDE_OFF,
    MR__BESIDE_EXCLUSIVE,
    MR__BESIDE_DUTY,
    MR__BESIDE_OVERLAPPED,
    MR__BESIDE_MODES
} mr__beside_mode;

typedef struct mr__beside_options {
    mr__beside_mode mode;
    double share;           /* DUTY: above 0, up to 1 [0.25] */
    uint64_t period_ns;     /* DUTY [8 ms] */
    uint64_t submission_ns; /* the longest while the trainer steps [1 ms] */
} mr__beside_options;

/* What auto chooses from, each a stronger use of the accelerator than the one before. */
enum { MR__BESIDE_CHOICES = 5 };

typedef struct mr__beside_choice {
    mr__beside_mode mode;
    double share;
} mr__beside_choice;

extern const mr__beside_choice mr__beside_choices[MR__BESIDE_CHOICES];

/* Iterations on their way to a figure: the median of GROUPS means of GROUP or more each (beside_auto.c). */
enum { MR__BESIDE_GROUP = 3, MR__BESIDE_GROUPS = 5 };

typedef struct mr__beside_meter {
    uint64_t iterations;
    uint32_t in_group, groups; /* iterations in this one; groups before it */
    double group_ns, waited_ns;
    double mean_ns[MR__BESIDE_GROUPS], waited[MR__BESIDE_GROUPS]; /* the latter is a share */
} mr__beside_meter;

typedef struct mr__beside_figure {
    uint32_t rounds; /* that it is of; 0: not measured */
    double time_ns;  /* of an iteration */
    double waited;   /* the share of the time that the trainer waited */
    uint64_t iterations;
} mr__beside_figure;

typedef struct mr__beside_auto {
    uint32_t at;       /* the choice in force */
    uint32_t standing; /* the one that was chosen last */
    uint32_t settle;   /* iterations that are not measured: the first of a choice */
    mr__beside_meter meter;
    mr__beside_figure figures[MR__BESIDE_CHOICES];
    uint32_t to_try; /* bit i: choice i is still to be tried; 0: it stays with `at` */
    bool neighbours; /* the tries are of neighbours alone */
    uint32_t round;  /* of trying */
    double noise;    /* the relative error of a round's figure, of late */
    uint32_t noises;
    uint32_t proof;              /* rounds without waiting until a choice is taken to keep up */
    uint32_t strayed;            /* rounds in a row that were not like the figure of `at` */
    uint64_t stayed, look_after; /* iterations since; and how many until neighbours are tried again */
    uint64_t tries, changes; /* for reports: figures taken while trying; how often another one was chosen than before */
} mr__beside_auto;

typedef struct mr__beside {
    mr__beside_options options; /* defaults filled in */
    mr__beside_mode mode;       /* in force; never AUTO */
    double share;
    bool waiting;
    uint64_t since_ns;   /* that it waits or steps */
    uint64_t stepped_ns; /* in all, before since_ns: where in its period duty is */
    uint64_t got_ns;     /* when it got its last batch */
    uint64_t waited_ns;  /* since then */
    uint64_t iterations;
    mr__beside_auto chosen;
} mr__beside;

/* NULL: all defaults. A share that cannot be is put to the nearest that can. */
void mr__beside_init(mr__beside *window, const mr__beside_options *options);

const char *mr__beside_mode_name(mr__beside_mode mode);

/* The trainer asks for a batch and has none; again, before it has got one, changes nothing. */
void mr__beside_waits(mr__beside *window, uint64_t now_ns);

/* It got one. */
void mr__beside_steps(mr__beside *window, uint64_t now_ns);

/* Something is not as it was that iteration time may not show (lanes came or went): auto tries everything again. */
void mr__beside_changed(mr__beside *window);

bool mr__beside_is_open(const mr__beside *window, uint64_t now_ns);

/* When that changes without an event; UINT64_MAX: never. */
uint64_t mr__beside_next_ns(const mr__beside *window, uint64_t now_ns);

/*
 * How long a submission that begins now may take: nothing while it is closed; while the trainer waits, any time; else
 * submission_ns at most, and not beyond the end of the window.
 */
uint64_t mr__beside_room_ns(const mr__beside *window, uint64_t now_ns);

/* Of beside_auto.c: puts the first choice in force; an iteration took so long, and of it so much was waiting. */
void mr__beside_auto_init(mr__beside *window);
void mr__beside_auto_iteration(mr__beside *window, uint64_t time_ns, uint64_t waited_ns);
void mr__beside_auto_restart(mr__beside *window);

#endif
