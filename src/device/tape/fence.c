// SPDX-License-Identifier: Apache-2.0
#include "device/tape/tape.h"

#include "base/sanitize.h"

void mr__tape_fence(const mr__tape *t, const uint8_t *arena)
{
    if (t->guard == 0)
        return;
    mr__poison(arena, t->nbytes);
    mr__unpoison(arena, (size_t)t->samples_max * sizeof(uint32_t)); // their words
    for (size_t i = 0; i < t->place_count; i++)
        mr__unpoison(arena + t->places[i].at, t->places[i].nbytes);
}

void mr__tape_unfence(const mr__tape *t, const uint8_t *arena)
{
    mr__unpoison(arena, t->nbytes);
}
