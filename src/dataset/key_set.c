// SPDX-License-Identifier: Apache-2.0
#include "dataset/key_set.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/size.h"

#include <string.h>

/*
 * Linear probing, at most half full. With honest keys the longest run of 2^32 of them has some hundred slots: one that
 * is longer was made.
 */
enum { SLOTS_MIN = 256, RUN_MAX = 1024 };

typedef struct slot {
    uint64_t hash;
    uint64_t place; /* of the key among the texts, + 1; 0: free */
} slot;

static slot *slots_of(const mr__key_set *set)
{
    return (slot *)(void *)set->slots.bytes; /* aligned: mr__alloc's */
}

static bool is_key(const mr__key_set *set, uint64_t place, const char *key, size_t nbytes)
{
    size_t length;
    memcpy(&length, set->texts.bytes + place - 1, sizeof length);
    return length == nbytes && memcmp(set->texts.bytes + place - 1 + sizeof length, key, nbytes) == 0;
}

/* The slot of the key, or the free one where it belongs; NULL: keys collide. */
static slot *find_slot(const mr__key_set *set, uint64_t hash, const char *key, size_t nbytes)
{
    slot *slots = slots_of(set);
    for (size_t i = 0; i < RUN_MAX; i++) {
        slot *s = &slots[(hash + i) & (set->slot_count - 1)];
        if (s->place == 0 || (key != NULL && s->hash == hash && is_key(set, s->place, key, nbytes)))
            return s;
    }
    return NULL;
}

/* Twice as many slots. */
static int grow(mr__key_set *set, const mr_hooks *hooks)
{
    mr__key_set more = {.slot_count = set->slot_count != 0 ? 2 * set->slot_count : SLOTS_MIN};
    size_t nbytes;
    if (!mr__size_mul(more.slot_count, sizeof(slot), &nbytes) || mr__buffer_reserve(&more.slots, hooks, nbytes) != 0)
        return MR_ENOMEM;
    memset(more.slots.bytes, 0, nbytes);
    for (size_t i = 0; i < set->slot_count; i++) {
        const slot *old = &slots_of(set)[i];
        slot *s = old->place != 0 ? find_slot(&more, old->hash, NULL, 0) : NULL;
        if (old->place != 0 && s == NULL) {
            mr__buffer_fini(&more.slots, hooks);
            return MR_ELIMIT;
        }
        if (s != NULL)
            *s = *old;
    }
    mr__buffer_fini(&set->slots, hooks);
    set->slots = more.slots;
    set->slot_count = more.slot_count;
    return 0;
}

static int keep_text(mr__key_set *set, const mr_hooks *hooks, const char *key, size_t nbytes)
{
    size_t end;
    if (!mr__size_add(set->nbytes, sizeof nbytes, &end) || !mr__size_add(end, nbytes, &end) ||
        mr__buffer_grow(&set->texts, hooks, set->nbytes, end) != 0)
        return MR_ENOMEM;
    memcpy(set->texts.bytes + set->nbytes, &nbytes, sizeof nbytes);
    memcpy(set->texts.bytes + set->nbytes + sizeof nbytes, key, nbytes);
    set->nbytes = end;
    return 0;
}

int mr__key_set_add(mr__key_set *set, const mr_hooks *hooks, const char *key, size_t nbytes, bool *there)
{
    uint64_t hash = mr__hash(key, nbytes);
    int result = 2 * set->count >= set->slot_count ? grow(set, hooks) : 0;
    if (result != 0)
        return result;
    slot *s = find_slot(set, hash, key, nbytes);
    if (s == NULL)
        return MR_ELIMIT;
    *there = s->place != 0;
    if (*there)
        return 0;
    uint64_t place = (uint64_t)set->nbytes + 1;
    if ((result = keep_text(set, hooks, key, nbytes)) != 0)
        return result;
    *s = (slot){hash, place};
    set->count++;
    return 0;
}

void mr__key_set_fini(mr__key_set *set, const mr_hooks *hooks)
{
    mr__buffer_fini(&set->texts, hooks);
    mr__buffer_fini(&set->slots, hooks);
    *set = (mr__key_set){.count = 0};
}
