// SPDX-License-Identifier: Apache-2.0
/*
 * Best fit: a grant goes to the smallest free block that has room for it, of equals to the first lent and lowest.
 * Blocks are numbers in one table: those of a region are a list by offset, unused ones a list of their own. With G
 * grants there are at most 2 G blocks and one for each region, so that the table never runs out before the grants do.
 */
#include "device/lent.h"

#include <string.h>

enum { NONE = UINT32_MAX, CANARY = 64, BYTE = 0xa5 };

typedef struct block {
    uint64_t offset, nbytes; /* in its region */
    uint64_t asked_nbytes;   /* of a grant */
    uint32_t next, before;   /* by offset */
    uint32_t region, turn;
    bool granted;
} block;

typedef enum region_state { UNUSED, LENT, RECLAIMED, BACK } region_state;

typedef struct region {
    mr__lent_memory memory;
    region_state state;
    bool canaries;
    uint32_t first, grants;
    uint64_t skip; /* to its first aligned byte */
} region;

struct mr__lent {
    mr_hooks hooks;
    mr__lent_options options;
    region *regions;
    block *blocks;
    uint32_t spare;      /* the list of unused blocks */
    uint64_t may_nbytes; /* be granted, by what the caller says is free */
    mr__lent_counts counts;
};

int mr__lent_new(const mr_hooks *hooks, const mr__lent_options *options, mr__lent **out, mr__detail *detail)
{
    mr__lent_options o = *options;
    o.regions = o.regions != 0 ? o.regions : 16;
    o.grants = o.grants != 0 ? o.grants : 256;
    o.align = o.align != 0 ? o.align : 64;
    if ((o.align & (o.align - 1)) != 0 || (o.mark == NULL) != (o.check == NULL) || o.regions > 1 << 16 ||
        o.grants > 1 << 20)
        return mr__fail(detail, MR_EARGUMENT,
                        "lent memory: align is a power of 2, mark and check go together, at most 2^16 regions and 2^20 "
                        "grants");
    mr__lent *l = mr__alloc_zero(hooks, sizeof *l);
    if (l == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the books of lent memory");
    uint32_t count = 2 * o.grants + o.regions;
    l->hooks = *hooks;
    l->options = o;
    l->may_nbytes = UINT64_MAX;
    l->regions = mr__alloc_array(hooks, o.regions, sizeof *l->regions);
    l->blocks = mr__alloc_array(hooks, count, sizeof *l->blocks);
    if (l->regions == NULL || l->blocks == NULL) {
        mr__lent_free(l);
        return mr__fail(detail, MR_ENOMEM, "out of memory for the books of lent memory");
    }
    for (uint32_t i = 0; i < count; i++)
        l->blocks[i].next = i + 1 < count ? i + 1 : NONE;
    *out = l;
    return 0;
}

void mr__lent_free(mr__lent *l)
{
    if (l == NULL)
        return;
    mr_hooks hooks = l->hooks;
    mr__free(&hooks, l->regions);
    mr__free(&hooks, l->blocks);
    mr__free(&hooks, l);
}

static uint32_t take_block(mr__lent *l, block as)
{
    uint32_t n = l->spare;
    uint32_t turn = l->blocks[n].turn;
    l->spare = l->blocks[n].next;
    l->blocks[n] = as;
    l->blocks[n].turn = turn;
    return n;
}

static void drop_block(mr__lent *l, uint32_t n)
{
    l->blocks[n].next = l->spare;
    l->spare = n;
}

/* Where memory begins, in its own space. */
static uint64_t begin_of(const mr__lent_memory *m)
{
    return m->address != NULL ? (uint64_t)(uintptr_t)m->address : m->offset;
}

static bool overlaps(const mr__lent_memory *a, const mr__lent_memory *b)
{
    if ((a->address == NULL) != (b->address == NULL) || (a->address == NULL && a->handle != b->handle))
        return false;
    uint64_t x = begin_of(a), y = begin_of(b);
    return x < y ? y - x < a->nbytes : x - y < b->nbytes;
}

int mr__lent_lend(mr__lent *l, const mr__lent_memory *memory, uint32_t *number, mr__detail *detail)
{
    uint64_t begin = begin_of(memory), skip = (0 - begin) & (l->options.align - 1);
    uint32_t at = NONE;
    if (memory->nbytes <= skip || begin > UINT64_MAX - memory->nbytes)
        return mr__fail(detail, MR_EARGUMENT, "%llu bytes of memory cannot be lent",
                        (unsigned long long)memory->nbytes);
    for (uint32_t i = l->options.regions; i-- > 0;) {
        if (l->regions[i].state == UNUSED)
            at = i;
        else if (overlaps(&l->regions[i].memory, memory))
            return mr__fail(detail, MR_EARGUMENT, "a part of that memory is lent already, as region %u", i);
    }
    if (at == NONE)
        return mr__fail(detail, MR_ELIMIT, "%u regions of memory are lent, and there can be no more",
                        l->options.regions);
    region *r = &l->regions[at];
    *r = (region){.memory = *memory, .state = LENT, .skip = skip};
    r->canaries = !l->options.no_canaries && (memory->address != NULL || l->options.mark != NULL);
    r->first = take_block(l, (block){.nbytes = memory->nbytes - skip, .next = NONE, .before = NONE, .region = at});
    l->counts.lent_nbytes += memory->nbytes;
    *number = at;
    return 0;
}

/* The last grant is gone: the region is one free block again, and back. */
static void bring_back(mr__lent *l, region *r)
{
    drop_block(l, r->first);
    r->state = BACK;
    l->counts.reclaimed++;
}

static void close_region(mr__lent *l, region *r)
{
    r->state = RECLAIMED;
    l->counts.lent_nbytes -= r->memory.nbytes;
    if (r->grants == 0)
        bring_back(l, r);
}

int mr__lent_reclaim(mr__lent *l, uint32_t number, bool *back, mr__detail *detail)
{
    if (number >= l->options.regions || l->regions[number].state == UNUSED)
        return mr__fail(detail, MR_EARGUMENT, "there is no region %u of lent memory", number);
    region *r = &l->regions[number];
    if (r->state == LENT)
        close_region(l, r);
    *back = r->state == BACK;
    if (*back) // he knows
        r->state = UNUSED;
    return 0;
}

uint64_t mr__lent_let_go(mr__lent *l)
{
    uint64_t nbytes = 0;
    for (uint32_t i = 0; i < l->options.regions; i++) {
        region *r = &l->regions[i];
        if (r->state != LENT)
            continue;
        close_region(l, r);
        nbytes += r->state == BACK ? r->memory.nbytes : 0;
    }
    return nbytes;
}

bool mr__lent_back(mr__lent *l, uint32_t *number, mr__lent_memory *memory)
{
    for (uint32_t i = 0; i < l->options.regions; i++)
        if (l->regions[i].state == BACK) {
            l->regions[i].state = UNUSED;
            *number = i;
            *memory = l->regions[i].memory;
            return true;
        }
    return false;
}

void mr__lent_batch(mr__lent *l)
{
    l->may_nbytes = l->options.usable != NULL ? l->options.usable(l->options.user) : UINT64_MAX;
}

/* What a grant takes with canaries and rounding; UINT64_MAX: more than there is. */
static uint64_t whole_of(const mr__lent *l, const region *r, uint64_t nbytes)
{
    uint64_t align = l->options.align, front = CANARY > align ? CANARY : align, more = r->canaries ? front + CANARY : 0;
    if (nbytes > UINT64_MAX - more - align)
        return UINT64_MAX;
    return (nbytes + more + align - 1) & ~(align - 1);
}

/* Where in a block the asked-for bytes begin. */
static uint64_t front_of(const mr__lent *l, const region *r)
{
    return !r->canaries ? 0 : CANARY > l->options.align ? CANARY : l->options.align;
}

static void mark(const mr__lent *l, const region *r, uint64_t offset)
{
    if (r->memory.address != NULL)
        memset((uint8_t *)r->memory.address + offset, BYTE, CANARY);
    else
        (void)l->options.mark(l->options.user, r->memory.handle, r->memory.offset + offset, CANARY);
}

static bool is_intact(const mr__lent *l, const region *r, uint64_t offset)
{
    if (r->memory.address == NULL)
        return l->options.check(l->options.user, r->memory.handle, r->memory.offset + offset, CANARY);
    const uint8_t *at = (const uint8_t *)r->memory.address + offset;
    bool same = true;
    for (size_t i = 0; i < CANARY; i++)
        same &= at[i] == BYTE;
    return same;
}

/* The smallest free block with room; NONE. Whether there ever could be one, and how much is free in all. */
static uint32_t find_block(const mr__lent *l, uint64_t nbytes, bool *ever, uint64_t *open_nbytes)
{
    uint32_t best = NONE;
    *ever = false;
    *open_nbytes = 0;
    for (uint32_t i = 0; i < l->options.regions; i++) {
        const region *r = &l->regions[i];
        if (r->state != LENT)
            continue;
        uint64_t whole = whole_of(l, r, nbytes);
        *ever |= whole <= r->memory.nbytes - r->skip && whole <= l->may_nbytes;
        for (uint32_t n = r->first; n != NONE; n = l->blocks[n].next) {
            const block *b = &l->blocks[n];
            if (b->granted)
                continue;
            *open_nbytes += b->nbytes;
            if (b->nbytes >= whole && (best == NONE || b->nbytes < l->blocks[best].nbytes))
                best = n;
        }
    }
    return best;
}

/* Cuts what is not needed off a free block, and makes it a grant. */
static void grant_block(mr__lent *l, uint32_t n, uint64_t nbytes, mr__grant *grant)
{
    block *b = &l->blocks[n];
    region *r = &l->regions[b->region];
    uint64_t whole = whole_of(l, r, nbytes), front = front_of(l, r);
    if (b->nbytes > whole) {
        uint32_t rest = take_block(l, (block){.offset = b->offset + whole,
                                              .nbytes = b->nbytes - whole,
                                              .next = b->next,
                                              .before = n,
                                              .region = b->region});
        if (b->next != NONE)
            l->blocks[b->next].before = rest;
        b->next = rest;
        b->nbytes = whole;
    }
    b->granted = true;
    b->asked_nbytes = nbytes;
    r->grants++;
    mr__lent_memory m = r->memory;
    uint64_t at = r->skip + b->offset + front;
    if (r->canaries) {
        mark(l, r, at - CANARY);
        mark(l, r, at + nbytes);
    }
    m.address = m.address != NULL ? (uint8_t *)m.address + at : NULL;
    m.offset += at;
    m.nbytes = nbytes;
    *grant = (mr__grant){m, n, b->turn};
}

mr__room mr__lent_take(mr__lent *l, uint64_t nbytes, mr__grant *grant)
{
    bool ever;
    uint64_t open_nbytes;
    nbytes = nbytes != 0 ? nbytes : 1;
    uint32_t n = find_block(l, nbytes, &ever, &open_nbytes);
    mr__lent_counts *c = &l->counts;
    if (!ever) {
        c->never++;
        return MR__ROOM_NEVER;
    }
    uint64_t whole = n != NONE ? whole_of(l, &l->regions[l->blocks[n].region], nbytes) : 0;
    bool allowed = c->granted_nbytes <= l->may_nbytes && whole <= l->may_nbytes - c->granted_nbytes;
    if (n == NONE || !allowed || c->grants == l->options.grants) {
        c->refused++;
        c->scattered += n == NONE && open_nbytes >= nbytes;
        return MR__ROOM_NOT_NOW;
    }
    grant_block(l, n, nbytes, grant);
    c->grants++;
    c->asked_nbytes += nbytes;
    c->granted_nbytes += l->blocks[n].nbytes;
    if (c->granted_nbytes > c->peak_nbytes)
        c->peak_nbytes = c->granted_nbytes;
    return MR__ROOM_TAKEN;
}

/* The block after this one becomes a part of it. */
static void join_next(mr__lent *l, uint32_t n)
{
    block *b = &l->blocks[n];
    uint32_t gone = b->next;
    b->nbytes += l->blocks[gone].nbytes;
    b->next = l->blocks[gone].next;
    if (b->next != NONE)
        l->blocks[b->next].before = n;
    drop_block(l, gone);
}

static void free_block(mr__lent *l, uint32_t n)
{
    block *b = &l->blocks[n];
    uint32_t before = b->before;
    b->granted = false;
    b->turn++;
    if (b->next != NONE && !l->blocks[b->next].granted)
        join_next(l, n);
    if (before != NONE && !l->blocks[before].granted)
        join_next(l, before);
}

int mr__lent_give(mr__lent *l, const mr__grant *grant, mr__detail *detail)
{
    uint32_t n = grant->block;
    block *b = n < 2 * l->options.grants + l->options.regions ? &l->blocks[n] : NULL;
    if (b == NULL || !b->granted || b->turn != grant->turn)
        return mr__fail(detail, MR_EARGUMENT, "a grant of lent memory was given back twice");
    region *r = &l->regions[b->region];
    uint64_t at = r->skip + b->offset + front_of(l, r), nbytes = b->asked_nbytes;
    bool before = !r->canaries || is_intact(l, r, at - CANARY), behind = !r->canaries || is_intact(l, r, at + nbytes);
    uint32_t number = b->region;
    l->counts.grants--;
    l->counts.asked_nbytes -= nbytes;
    l->counts.granted_nbytes -= b->nbytes;
    free_block(l, n);
    if (--r->grants == 0 && r->state == RECLAIMED)
        bring_back(l, r);
    if (before && behind)
        return 0;
    l->counts.broken++;
    return mr__fail(detail, MR_ECORRUPT, "lent memory was written to %s the %llu bytes at %llu of region %u",
                    before ? "behind" : "before", (unsigned long long)nbytes, (unsigned long long)at, number);
}

mr__lent_counts mr__lent_tell(const mr__lent *l)
{
    return l->counts;
}
