// SPDX-License-Identifier: Apache-2.0
#include "device/sim/trainer.h"

/* No step is longer, whatever its jitter: a week. */
#define STEP_NS_MAX 6e14

struct mr__trainer {
    mr_hooks hooks;
    mr__world *world;
    mr__hardware_trainer is;
    uint64_t seed;
    mr__step_over *over;
    void *user;
    double share;   /* of the device's lanes that are busy */
    bool in_step;   /* since begun_ns, which would take alone_ns; */
    double left_ns; /* of its work so much is left at since_ns */
    uint64_t begun_ns, alone_ns, since_ns;
    mr__trainer_times times;
};

static void end_step(void *user, uint64_t number);

int mr__trainer_new(const mr_hooks *hooks, mr__world *world, const mr__hardware *hardware, mr__step_over *over,
                    void *user, mr__trainer **out)
{
    mr__trainer *t = mr__alloc_zero(hooks, sizeof *t);
    if (t == NULL || mr__world_reserve(world, 1) != 0) {
        mr__free(hooks, t);
        return MR_ENOMEM;
    }
    t->hooks = *hooks;
    t->world = world;
    t->is = hardware->trainer;
    t->seed = hardware->seed;
    t->over = over;
    t->user = user;
    *out = t;
    return 0;
}

void mr__trainer_free(mr__trainer *t)
{
    if (t == NULL)
        return;
    mr_hooks hooks = t->hooks;
    mr__world_leave(t->world, t);
    mr__world_unreserve(t->world, 1);
    mr__free(&hooks, t);
}

/* How much longer a step takes now than it would alone. */
static double stretch(const mr__trainer *t)
{
    return 1.0 + t->is.interference * t->share;
}

/* The end of the step is where its work will be done at the present rate. The lock is held. */
static void aim_end(mr__trainer *t)
{
    mr__world_add(t->world, t->since_ns + (uint64_t)(t->left_ns * stretch(t) + 0.5), end_step, t, t->times.steps);
}

void mr__trainer_begin_step(mr__trainer *t)
{
    mr__world_lock(t->world);
    mr__trainer_times *times = &t->times;
    uint64_t now = mr__world_now_ns(t->world);
    times->last_wait_ns = times->steps != 0 ? now - times->last_over_ns : 0;
    times->wait_ns += times->last_wait_ns;
    if (times->steps == 0)
        times->first_begun_ns = now;
    double factor = mr__hardware_factor(t->is.jitter, t->seed, MR__STREAM_STEPS, 0, times->steps);
    t->left_ns = (double)t->is.step_ns * factor;
    if (!(t->left_ns < STEP_NS_MAX))
        t->left_ns = STEP_NS_MAX;
    t->alone_ns = (uint64_t)(t->left_ns + 0.5);
    t->begun_ns = t->since_ns = now;
    t->in_step = true;
    aim_end(t);
    mr__world_unlock(t->world);
}

static void end_step(void *user, uint64_t number)
{
    mr__trainer *t = user;
    mr__world_lock(t->world);
    mr__trainer_times *times = &t->times;
    t->in_step = false;
    times->last_over_ns = mr__world_now_ns(t->world);
    times->last_step_ns = times->last_over_ns - t->begun_ns;
    times->step_ns += times->last_step_ns;
    times->alone_ns += t->alone_ns;
    times->steps++;
    mr__world_unlock(t->world);
    if (t->over != NULL)
        t->over(t->user, number);
}

void mr__trainer_note_busy(mr__trainer *t, uint32_t busy, uint32_t lanes)
{
    double share = (double)busy / (double)lanes;
    if (t->in_step && t->is.interference > 0.0 && share != t->share) {
        uint64_t now = mr__world_now_ns(t->world);
        double done = (double)(now - t->since_ns) / stretch(t);
        t->left_ns = done < t->left_ns ? t->left_ns - done : 0.0;
        t->since_ns = now;
        t->share = share;
        if (mr__world_drop(t->world, end_step, t, t->times.steps)) // else it ends at this very time
            aim_end(t);
    }
    t->share = share;
}

bool mr__trainer_is_in_step(mr__trainer *t)
{
    mr__world_lock(t->world);
    bool is = t->in_step;
    mr__world_unlock(t->world);
    return is;
}

mr__trainer_times mr__trainer_tell(mr__trainer *t)
{
    mr__world_lock(t->world);
    mr__trainer_times times = t->times;
    mr__world_unlock(t->world);
    return times;
}
