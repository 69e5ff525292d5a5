// SPDX-License-Identifier: Apache-2.0
#include "route/window.h"

#define DEFAULT_SHARE         0.25
#define DEFAULT_PERIOD_NS     UINT64_C(8000000)
#define DEFAULT_SUBMISSION_NS UINT64_C(1000000)

static const char *const names[MR__WINDOW_MODES] = {"auto", "off", "exclusive", "duty", "overlapped"};

const char *mr__window_mode_name(mr__window_mode mode)
{
    return names[mode];
}

void mr__window_init(mr__window *w, const mr__window_options *options)
{
    *w = (mr__window){.waiting = true};
    if (options != NULL)
        w->options = *options;
    mr__window_options *o = &w->options;
    if (!(o->share > 0)) // also what is no number
        o->share = DEFAULT_SHARE;
    if (o->share > 1)
        o->share = 1;
    if (o->period_ns == 0)
        o->period_ns = DEFAULT_PERIOD_NS;
    if (o->submission_ns == 0)
        o->submission_ns = DEFAULT_SUBMISSION_NS;
    w->mode = o->mode;
    w->share = o->share;
    if (o->mode == MR__WINDOW_AUTO)
        mr__window_auto_init(w);
}

/* A clock that goes back stands still. */
static uint64_t since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Ends what it was doing. */
static void turn(mr__window *w, bool waiting, uint64_t now_ns)
{
    uint64_t went = since(w->since_ns, now_ns);
    if (w->waiting)
        w->waited_ns += went;
    else
        w->stepped_ns += went;
    w->waiting = waiting;
    w->since_ns = now_ns;
}

void mr__window_waits(mr__window *w, uint64_t now_ns)
{
    if (!w->waiting)
        turn(w, true, now_ns);
}

void mr__window_steps(mr__window *w, uint64_t now_ns)
{
    turn(w, false, now_ns);
    uint64_t time_ns = since(w->got_ns, now_ns), waited_ns = w->waited_ns;
    bool whole = w->iterations++ != 0; // before the first batch there is no iteration
    w->got_ns = now_ns;
    w->waited_ns = 0;
    if (whole && w->options.mode == MR__WINDOW_AUTO)
        mr__window_auto_iteration(w, time_ns, waited_ns);
}

void mr__window_changed(mr__window *w)
{
    if (w->options.mode == MR__WINDOW_AUTO)
        mr__window_auto_restart(w);
}

/*
 * In which part of its period duty is: periods count stepping time alone, from one step to the next, so that the share
 * is kept whatever a step's length.
 */
static bool in_share(const mr__window *w, uint64_t now_ns, uint64_t *left_ns)
{
    uint64_t period = w->options.period_ns, open = (uint64_t)(w->share * (double)period);
    uint64_t at = (w->stepped_ns % period + since(w->since_ns, now_ns) % period) % period;
    open = open > period ? period : open;
    *left_ns = at < open ? open - at : period - at;
    if (open == 0 || open == period)
        *left_ns = UINT64_MAX;
    return at < open;
}

bool mr__window_is_open(const mr__window *w, uint64_t now_ns)
{
    uint64_t left;
    switch (w->mode) {
    case MR__WINDOW_EXCLUSIVE:
        return w->waiting;
    case MR__WINDOW_DUTY:
        return w->waiting || in_share(w, now_ns, &left);
    case MR__WINDOW_OVERLAPPED:
        return true;
    default:
        return false;
    }
}

uint64_t mr__window_next_ns(const mr__window *w, uint64_t now_ns)
{
    uint64_t left;
    if (w->mode != MR__WINDOW_DUTY || w->waiting)
        return UINT64_MAX;
    (void)in_share(w, now_ns, &left);
    return left < UINT64_MAX - now_ns ? now_ns + left : UINT64_MAX;
}

uint64_t mr__window_room_ns(const mr__window *w, uint64_t now_ns)
{
    if (!mr__window_is_open(w, now_ns))
        return 0;
    if (w->waiting)
        return UINT64_MAX;
    uint64_t next = mr__window_next_ns(w, now_ns), most = w->options.submission_ns;
    return next != UINT64_MAX && next - now_ns < most ? next - now_ns : most;
}
