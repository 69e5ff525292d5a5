// SPDX-License-Identifier: Apache-2.0
/* Where a loader stands, and going on from there. */
#include "loader/loader.h"

#include "base/clock.h"
#include <stdio.h>
#include <string.h>

size_t mr_loader_state(mr_loader *l, char *text, size_t nbytes)
{
    const char *written = "";
    mr__text out;
    if (mr__loader_here(l) != 0)
        return 0;
    mr__mutex_lock(&l->mutex);
    mr__state state = l->at;
    mr__mutex_unlock(&l->mutex);
    mr__text_init(&out, &l->hooks);
    mr__state_write(&state, &out);
    (void)mr__text_finish(&out, &written, NULL);
    int length = snprintf(text, text != NULL ? nbytes : 0, "%s", written);
    mr__text_fini(&out);
    return length > 0 ? (size_t)length : 0;
}

/*
 * Nothing is dispatched or delivered any more, and what was dispatched is settled. The mutex is held. Where that cannot
 * be, slots are left with tasks that were cancelled: the loader is of no more use.
 */
static int come_to_rest(mr_loader *l)
{
    uint64_t deadline = mr__clock_deadline_ns(l->timeout_ns);
    int result = 0;
    if (l->team.crew != NULL)
        mr__crew_rest(l->team.crew);
    while (l->in_flight != 0 && result == 0) {
        mr__mutex_unlock(&l->mutex);
        mr__team_cancel(l);
        bool moved = mr__team_advance(l);
        mr__mutex_lock(&l->mutex);
        if (!moved && l->in_flight != 0)
            result = mr__condition_wait(&l->news, &l->mutex, deadline);
    }
    if (l->in_flight == 0)
        return 0;
    return l->code = mr__fail(&l->detail, MR_ETIMEOUT, "the loader did not come to rest: a sample is held up");
}

static bool has_lent(const mr_loader *l)
{
    for (uint32_t i = 0; i < l->slot_count; i++)
        if (l->slots[i].state == MR__SLOT_LENT)
            return true;
    return false;
}

/* The mutex is held. */
static int go_to(mr_loader *l, const mr__state *state)
{
    if (l->code != 0)
        return l->code;
    if (l->held)
        return mr__fail(&l->detail, MR_EARGUMENT, "another thread is putting the loader elsewhere");
    if (has_lent(l))
        return mr__fail(&l->detail, MR_EARGUMENT, "a batch has not been released: the loader cannot go elsewhere yet");
    l->held = true; // from here on none is lent
    int result = come_to_rest(l);
    l->held = false;
    mr__condition_wake_all(&l->news);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < l->slot_count; i++)
        l->slots[i].state = MR__SLOT_FREE;
    l->length = 0;
    l->filling = NULL;
    if (l->team.crew != NULL)
        mr__crew_clear(l->team.crew);
    l->stopped = false;
    l->settled_ns = mr__team_now_ns(l);
    l->moves++; // who waits, waits anew
    mr__loader_seek(l, state->epoch, state->position);
    return 0;
}

static int check_place(mr_loader *l, const mr__state *state)
{
    if (state->epoch > UINT32_MAX || state->position > l->order.positions)
        return mr__fail(&l->detail, MR_EARGUMENT, "the state is of position %llu in epoch %llu: an epoch has %llu",
                        (unsigned long long)state->position, (unsigned long long)state->epoch,
                        (unsigned long long)l->order.positions);
    return 0;
}

int mr_loader_restore(mr_loader *l, const char *text)
{
    mr__state state;
    int result = text != NULL ? mr__loader_here(l) : MR_EARGUMENT;
    if (result != 0)
        return result;
    mr__mutex_lock(&l->mutex);
    result = mr__state_read(&state, text, strlen(text), &l->detail);
    if (result == 0)
        result = mr__state_compare(&state, &l->at, &l->detail);
    if (result == 0)
        result = check_place(l, &state);
    if (result == 0)
        result = go_to(l, &state);
    bool begun = result == 0 && l->begun;
    mr__mutex_unlock(&l->mutex);
    if (begun)
        mr__loader_dispatch(l);
    return result;
}
