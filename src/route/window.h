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
 *     auto          the best of these by measured iteration time (window_auto.c)
 *
 * (a step of t seconds, slowed down to 1 + d by an accelerator that prepares all the while; C core-seconds a batch, W
 * lanes, an accelerator of S lanes.) Before the trainer has had its first batch, it waits.
 *
 * Threads: one at a time; the caller's lock.
 * Ownership: a plain value; it owns nothing, and there is nothing to free.
 * Limits: none; all that is kept is in the struct.
 */
#ifndef MR_ROUTE_WINDOW_H
#define MR_ROUTE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr__window_mode {
    MR__WINDOW_AUTO,
    MR__WINDOW_OFF,
    MR__WINDOW_EXCLUSIVE,
    MR__WINDOW_DUTY,
    MR__WINDOW_OVERLAPPED,
    MR__WINDOW_MODES
} mr__window_mode;

typedef struct mr__window_options {
    mr__window_mode mode;
    double share;           /* DUTY: above 0, up to 1 [0.25] */
    uint64_t period_ns;     /* DUTY [8 ms] */
    uint64_t submission_ns; /* the longest while the trainer steps [1 ms] */
} mr__window_options;

/* What auto chooses from, each a stronger use of the accelerator than the one before. */
enum { MR__WINDOW_CHOICES = 5 };

typedef struct mr__window_choice {
    mr__window_mode mode;
    double share;
} mr__window_choice;

extern const mr__window_choice mr__window_choices[MR__WINDOW_CHOICES];

/* Iterations on their way to a figure: the median of GROUPS means of GROUP or more each (window_auto.c). */
enum { MR__WINDOW_GROUP = 3, MR__WINDOW_GROUPS = 5 };

typedef struct mr__window_meter {
    uint64_t iterations;
    uint32_t in_group, groups; /* iterations in this one; groups before it */
    double group_ns, waited_ns;
    double mean_ns[MR__WINDOW_GROUPS], waited[MR__WINDOW_GROUPS]; /* the latter is a share */
} mr__window_meter;

typedef struct mr__window_figure {
    uint32_t rounds; /* that it is of; 0: not measured */
    double time_ns;  /* of an iteration */
    double waited;   /* the share of the time that the trainer waited */
    uint64_t iterations;
} mr__window_figure;

typedef struct mr__window_auto {
    uint32_t at;       /* the choice in force */
    uint32_t standing; /* the one that was chosen last */
    uint32_t settle;   /* iterations that are not measured: the first of a choice */
    mr__window_meter meter;
    mr__window_figure figures[MR__WINDOW_CHOICES];
    uint32_t to_try; /* bit i: choice i is still to be tried; 0: it stays with `at` */
    bool neighbours; /* the tries are of neighbours alone */
    uint32_t round;  /* of trying */
    double noise;    /* the relative error of a round's figure, of late */
    uint32_t noises;
    uint32_t proof;              /* rounds without waiting until a choice is taken to keep up */
    uint32_t strayed;            /* rounds in a row that were not like the figure of `at` */
    uint64_t stayed, look_after; /* iterations since; and how many until neighbours are tried again */
    uint64_t tries, changes; /* for reports: figures taken while trying; how often another one was chosen than before */
} mr__window_auto;

typedef struct mr__window {
    mr__window_options options; /* defaults filled in */
    mr__window_mode mode;       /* in force; never AUTO */
    double share;
    bool waiting;
    uint64_t since_ns;   /* that it waits or steps */
    uint64_t stepped_ns; /* in all, before since_ns: where in its period duty is */
    uint64_t got_ns;     /* when it got its last batch */
    uint64_t waited_ns;  /* since then */
    uint64_t iterations;
    mr__window_auto chosen;
} mr__window;

/* NULL: all defaults. A share that cannot be is put to the nearest that can. */
void mr__window_init(mr__window *window, const mr__window_options *options);

const char *mr__window_mode_name(mr__window_mode mode);

/* The trainer asks for a batch and has none; again, before it has got one, changes nothing. */
void mr__window_waits(mr__window *window, uint64_t now_ns);

/* It got one. */
void mr__window_steps(mr__window *window, uint64_t now_ns);

/* Something is not as it was that iteration time may not show (lanes came or went): auto tries everything again. */
void mr__window_changed(mr__window *window);

bool mr__window_is_open(const mr__window *window, uint64_t now_ns);

/* When that changes without an event; UINT64_MAX: never. */
uint64_t mr__window_next_ns(const mr__window *window, uint64_t now_ns);

/*
 * How long a submission that begins now may take: nothing while it is closed; while the trainer waits, any time; else
 * submission_ns at most, and not beyond the end of the window.
 */
uint64_t mr__window_room_ns(const mr__window *window, uint64_t now_ns);

/* Of window_auto.c: puts the first choice in force; an iteration took so long, and of it so much was waiting. */
void mr__window_auto_init(mr__window *window);
void mr__window_auto_iteration(mr__window *window, uint64_t time_ns, uint64_t waited_ns);
void mr__window_auto_restart(mr__window *window);

#endif
