// SPDX-License-Identifier: Apache-2.0
/* Memory lent by the caller: where grants lie, what is wasted, and that it comes back. */
#include "test.h"

#include "device/lent.h"
#include "loading.h"
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mr__detail detail;

static mr__lent *make(const mr__lent_options *options, mr_hooks *hooks)
{
    mr_hooks plain;
    mr__lent *lent;
    assert_int_equal(mr__hooks_init(&plain, NULL), 0);
    assert_int_equal(mr__lent_new(hooks != NULL ? hooks : &plain, options, &lent, &detail), 0);
    return lent;
}

static uint32_t lend(mr__lent *lent, void *address, uint64_t handle, uint64_t nbytes)
{
    uint32_t number = 99;
    mr__lent_memory memory = {.address = address, .handle = handle, .nbytes = nbytes};
    assert_int_equal(mr__lent_lend(lent, &memory, &number, &detail), 0);
    return number;
}

static void senseless_things_are_refused(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__lent *none = NULL;
    uint32_t number;
    bool back;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__lent_new(&hooks, &(mr__lent_options){.align = 48}, &none, &detail), MR_EARGUMENT);
    mr__lent *l = make(&(mr__lent_options){.regions = 2}, NULL);
    assert_int_equal(mr__lent_lend(l, &(mr__lent_memory){.handle = 1}, &number, &detail), MR_EARGUMENT);
    assert_int_equal(mr__lent_lend(l, &(mr__lent_memory){.offset = 64, .nbytes = UINT64_MAX - 3}, &number, &detail),
                     MR_EARGUMENT);
    uint32_t first = lend(l, NULL, 7, 4096);
    mr__lent_memory again = {.handle = 7, .offset = 4095, .nbytes = 4096};
    assert_int_equal(mr__lent_lend(l, &again, &number, &detail), MR_EARGUMENT);
    again.offset = 4096;
    assert_int_equal(mr__lent_lend(l, &again, &number, &detail), 0);
    again.handle = 8;
    assert_int_equal(mr__lent_lend(l, &again, &number, &detail), MR_ELIMIT);
    assert_int_equal(mr__lent_reclaim(l, 2, &back, &detail), MR_EARGUMENT);
    assert_int_equal(mr__lent_reclaim(l, first, &back, &detail), 0);
    assert_true(back);
    assert_int_equal(mr__lent_reclaim(l, first, &back, &detail), MR_EARGUMENT);
    mr__lent_free(l);
    mr__lent_free(NULL);
}

/* Random takes and gives in two regions: nobody's bytes are anybody else's, nothing outside is touched. */
static void grants_lie_in_their_window_and_apart(void **state)
{
    (void)state;
    enum { GRANTS = 24, GUARD = 4096, NBYTES = 300000 };
    static const uint32_t aligns[] = {1, 64, 256};
    for (size_t a = 0; a < 3; a++) {
        uint8_t *memory = malloc(2 * NBYTES + 3 * GUARD);
        memset(memory, 0x77, 2 * NBYTES + 3 * GUARD);
        mr__lent *l = make(&(mr__lent_options){.grants = GRANTS, .align = aligns[a]}, NULL);
        (void)lend(l, memory + GUARD + 5, 0, NBYTES - 5); // also from an odd address on
        (void)lend(l, memory + 2 * GUARD + NBYTES, 0, NBYTES);
        mr__grant grants[GRANTS];
        size_t count = 0;
        uint64_t seed = 5;
        for (int i = 0; i < 20000; i++) {
            if (picture_random_below(&seed, 2) == 0 && count < GRANTS) {
                uint64_t nbytes = picture_random_below(&seed, 60000);
                if (mr__lent_take(l, nbytes, &grants[count]) != MR__ROOM_TAKEN)
                    continue;
                assert_true((uintptr_t)grants[count].memory.address % aligns[a] == 0);
                assert_true(grants[count].memory.nbytes == (nbytes != 0 ? nbytes : 1));
                memset(grants[count].memory.address, (int)(grants[count].block & 0x3f), grants[count].memory.nbytes);
                count++;
            } else if (count != 0) {
                size_t n = picture_random_below(&seed, (uint32_t)count);
                const uint8_t *at = grants[n].memory.address;
                for (size_t k = 0; k < grants[n].memory.nbytes; k++)
                    assert_int_equal(at[k], grants[n].block & 0x3f);
                assert_int_equal(mr__lent_give(l, &grants[n], &detail), 0);
                assert_int_equal(mr__lent_give(l, &grants[n], &detail), MR_EARGUMENT); // once
                grants[n] = grants[--count];
            }
        }
        while (count != 0)
            assert_int_equal(mr__lent_give(l, &grants[--count], &detail), 0);
        mr__lent_counts c = mr__lent_tell(l);
        assert_true(c.grants == 0 && c.asked_nbytes == 0 && c.granted_nbytes == 0 && c.broken == 0 && c.refused != 0);
        for (size_t k = 0; k < GUARD; k++) {
            assert_int_equal(memory[k], 0x77);
            assert_int_equal(memory[GUARD + NBYTES + k], 0x77);
            assert_int_equal(memory[2 * GUARD + 2 * NBYTES + k], 0x77);
        }
        assert_true(mr__lent_take(l, NBYTES - 128 - 512, &grants[0]) == MR__ROOM_TAKEN); // all is one piece again
        mr__lent_free(l);
        free(memory);
    }
}

static void canaries_tell_who_wrote_outside(void **state)
{
    (void)state;
    uint8_t *memory = malloc(10000);
    mr__lent *l = make(&(mr__lent_options){0}, NULL);
    (void)lend(l, memory, 0, 10000);
    for (int side = 0; side < 4; side++) {
        mr__grant grant;
        assert_int_equal(mr__lent_take(l, 1001, &grant), MR__ROOM_TAKEN);
        uint8_t *at = grant.memory.address;
        at[side == 0 ? -1 : side == 1 ? -64 : side == 2 ? 1001 : 1064] ^= 1;
        assert_int_equal(mr__lent_give(l, &grant, &detail), MR_ECORRUPT);
        assert_non_null(strstr(detail.text, side < 2 ? "before" : "behind"));
    }
    assert_true(mr__lent_tell(l).broken == 4 && mr__lent_tell(l).grants == 0);
    mr__lent_free(l);
    free(memory);
}

/* A device's memory as it is seen by those who write canaries there. */
typedef struct far_memory {
    uint8_t bytes[8192];
} far_memory;

static bool mark_far(void *user, uint64_t handle, uint64_t offset, uint32_t nbytes)
{
    far_memory *far = user;
    assert_true(handle == 3 && offset >= 1000 && offset + nbytes <= 6000);
    memset(far->bytes + offset, 0x11, nbytes);
    return true;
}

static bool check_far(void *user, uint64_t handle, uint64_t offset, uint32_t nbytes)
{
    far_memory *far = user;
    assert_true(handle == 3);
    for (uint32_t i = 0; i < nbytes; i++)
        if (far->bytes[offset + i] != 0x11)
            return false;
    return true;
}

static void a_devices_canaries_are_its_own(void **state)
{
    (void)state;
    far_memory far = {{0}};
    mr__lent *l = make(&(mr__lent_options){.mark = mark_far, .check = check_far, .user = &far}, NULL);
    uint32_t number;
    mr__grant a, b;
    assert_int_equal(
        mr__lent_lend(l, &(mr__lent_memory){.handle = 3, .offset = 1000, .nbytes = 5000}, &number, &detail), 0);
    assert_int_equal(mr__lent_take(l, 500, &a), MR__ROOM_TAKEN);
    assert_int_equal(mr__lent_take(l, 500, &b), MR__ROOM_TAKEN);
    assert_true(a.memory.address == NULL && a.memory.offset % 64 == 0 && a.memory.offset >= 1064);
    memset(far.bytes + a.memory.offset, 0xff, 500);
    memset(far.bytes + b.memory.offset, 0xff, 501);
    assert_int_equal(mr__lent_give(l, &a, &detail), 0);
    assert_int_equal(mr__lent_give(l, &b, &detail), MR_ECORRUPT);
    mr__lent_free(l);
}

static void a_region_is_back_with_its_last_grant(void **state)
{
    (void)state;
    mr__lent *l = make(&(mr__lent_options){0}, NULL);
    uint32_t first = lend(l, NULL, 1, 1000), second = lend(l, NULL, 2, 2000), number;
    mr__lent_memory memory;
    mr__grant a, b, c;
    bool back;
    assert_int_equal(mr__lent_take(l, 600, &a), MR__ROOM_TAKEN); // best fit: in the first
    assert_int_equal(mr__lent_take(l, 300, &b), MR__ROOM_TAKEN);
    assert_true(a.memory.handle == 1 && b.memory.handle == 1);
    assert_int_equal(mr__lent_reclaim(l, first, &back, &detail), 0);
    assert_false(back);
    assert_int_equal(mr__lent_give(l, &b, &detail), 0);
    assert_false(mr__lent_back(l, &number, &memory));
    assert_int_equal(mr__lent_take(l, 300, &c), MR__ROOM_TAKEN);
    assert_true(c.memory.handle == 2); // nothing new where it was
    assert_int_equal(mr__lent_give(l, &a, &detail), 0);
    assert_true(mr__lent_back(l, &number, &memory));
    assert_true(number == first && memory.handle == 1 && memory.nbytes == 1000);
    assert_false(mr__lent_back(l, &number, &memory)); // told once
    assert_int_equal(lend(l, NULL, 1, 500), first);   // and may be lent again

    assert_true(mr__lent_let_go(l) == 500); // what is not in flight, at once
    assert_int_equal(mr__lent_take(l, 1, &a), MR__ROOM_NEVER);
    assert_true(mr__lent_back(l, &number, &memory) && number == first);
    assert_false(mr__lent_back(l, &number, &memory));
    assert_int_equal(mr__lent_give(l, &c, &detail), 0);
    assert_true(mr__lent_back(l, &number, &memory) && number == second);
    assert_true(mr__lent_tell(l).lent_nbytes == 0 && mr__lent_tell(l).reclaimed == 3);
    mr__lent_free(l);
}

static uint64_t say_free(void *user)
{
    return *(uint64_t *)user;
}

static void free_space_is_read_with_every_batch(void **state)
{
    (void)state;
    uint64_t nbytes = 1000;
    mr__lent *l = make(&(mr__lent_options){.usable = say_free, .user = &nbytes}, NULL);
    (void)lend(l, NULL, 1, 1 << 20);
    mr__grant a, b;
    mr__lent_batch(l);
    assert_int_equal(mr__lent_take(l, 1001, &a), MR__ROOM_NEVER);
    assert_int_equal(mr__lent_take(l, 961, &a), MR__ROOM_NEVER); // 1024 with what it is rounded to
    assert_int_equal(mr__lent_take(l, 600, &a), MR__ROOM_TAKEN);
    assert_int_equal(mr__lent_take(l, 600, &b), MR__ROOM_NOT_NOW);
    nbytes = 100;
    assert_int_equal(mr__lent_take(l, 200, &b), MR__ROOM_TAKEN); // not before the next batch
    mr__lent_batch(l);
    assert_int_equal(mr__lent_take(l, 60, &b), MR__ROOM_NOT_NOW);
    nbytes = 1 << 19;
    mr__lent_batch(l);
    assert_int_equal(mr__lent_take(l, 1 << 18, &b), MR__ROOM_TAKEN);
    mr__lent_free(l);
}

/* Sizes of tasks' needs: about log-normal, `spread` as its sigma. */
static uint64_t draw_size(uint64_t *seed, double median, double spread)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += picture_random_below(seed, 1 << 20) / 1048576.0;
    return (uint64_t)(median * exp(spread * sum)) + 1;
}

enum { AHEAD_MOST = 16 };

/*
 * As many tasks as fit are in flight, one of them ends, the next come: what is in flight on average, in bytes asked
 * for. `lent` NULL: the ideal, that packs them without a gap. Of the next `ahead` tasks any may go first, as tasks of
 * a batch may; with 1 the first waits until it fits.
 */
typedef struct filling {
    mr__lent *lent;
    uint64_t room, seed, live;
    double median, spread;
    uint64_t next[AHEAD_MOST];
    size_t ahead, count;
    uint64_t sizes[4096];
    mr__grant grants[4096];
} filling;

static uint64_t draw_next(filling *f)
{
    uint64_t nbytes = draw_size(&f->seed, f->median, f->spread);
    return nbytes < f->room / 4 ? nbytes : f->room / 4;
}

static bool put_one(filling *f)
{
    for (size_t i = 0; i < f->ahead && f->count < 4095; i++) {
        uint64_t nbytes = f->next[i];
        bool fits = f->lent == NULL ? f->live + nbytes <= f->room
                                    : mr__lent_take(f->lent, nbytes, &f->grants[f->count]) == MR__ROOM_TAKEN;
        if (!fits)
            continue;
        f->sizes[f->count++] = nbytes;
        f->live += nbytes;
        for (size_t k = i; k + 1 < f->ahead; k++)
            f->next[k] = f->next[k + 1];
        f->next[f->ahead - 1] = draw_next(f);
        return true;
    }
    return false;
}

static double fill(mr__lent *lent, uint64_t room, double median, double spread, size_t ahead)
{
    enum { TURNS = 20000 };
    filling *f = calloc(1, sizeof *f);
    uint64_t ends = 23;
    double sum = 0;
    f->lent = lent;
    f->room = room;
    f->seed = 17;
    f->median = median;
    f->spread = spread;
    f->ahead = ahead;
    for (size_t i = 0; i < ahead; i++)
        f->next[i] = draw_next(f);
    for (int turn = 0; turn < TURNS; turn++) {
        while (put_one(f))
            continue;
        sum += (double)f->live / TURNS;
        size_t n = picture_random_below(&ends, (uint32_t)f->count);
        f->live -= f->sizes[n];
        if (lent != NULL)
            assert_int_equal(mr__lent_give(lent, &f->grants[n], &detail), 0);
        f->sizes[n] = f->sizes[--f->count];
        f->grants[n] = f->grants[f->count];
    }
    for (size_t i = 0; lent != NULL && i < f->count; i++)
        assert_int_equal(mr__lent_give(lent, &f->grants[i], &detail), 0);
    free(f);
    return sum;
}

/* Nothing is really there: the books alone are tried, with the room that canaries take. */
static bool say_true(void *user, uint64_t handle, uint64_t offset, uint32_t nbytes)
{
    (void)user;
    (void)handle;
    (void)offset;
    (void)nbytes;
    return true;
}

/* The share of what an ideal packing has in flight that ours has not, on the same tasks. */
static double wasted(uint64_t room, double median, double spread, size_t ahead)
{
    mr__lent *l = make(&(mr__lent_options){.grants = 4096, .mark = say_true, .check = say_true}, NULL);
    (void)lend(l, NULL, 1, room);
    double ideal = fill(NULL, room, median, spread, ahead), ours = fill(l, room, median, spread, ahead);
    assert_true(mr__lent_tell(l).granted_nbytes == 0);
    mr__lent_free(l);
    return 1 - ours / ideal;
}

/* (granted - asked) / granted, of one grant of that size. */
static double wasted_inside(double nbytes)
{
    mr__lent *l = make(&(mr__lent_options){.mark = say_true, .check = say_true}, NULL);
    mr__grant grant;
    (void)lend(l, NULL, 1, UINT64_C(1) << 40);
    assert_int_equal(mr__lent_take(l, (uint64_t)nbytes + 1, &grant), MR__ROOM_TAKEN);
    mr__lent_counts c = mr__lent_tell(l);
    mr__lent_free(l);
    return (double)(c.granted_nbytes - c.asked_nbytes) / (double)c.granted_nbytes;
}

/*
 * Alignment, canaries and what fragmentation refuses are all in it. Tasks end in random order, which is the worst for
 * fragments; any of the next 16 may go where the first does not fit, as the tasks of a batch may.
 */
static void little_is_wasted(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        double room, median, spread;
    } cases[] = {{"CIFAR, 8 KiB a task", 1 << 20, 8 << 10, 0.05},
                 {"ImageNet crops, 3 MiB", 256 << 20, 3 << 20, 0.5},
                 {"whole ImageNet images, 6 MiB", 512 << 20, 6 << 20, 0.8},
                 {"photographs, 30 MiB", 1024.0 * (1 << 20), 30 << 20, 1.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t room = (uint64_t)cases[i].room;
        double many = wasted(room, cases[i].median, cases[i].spread, AHEAD_MOST);
        double one = wasted(room, cases[i].median, cases[i].spread, 1);
        print_message(
            "%s: %.1f %% wasted; %.1f %% where the first task in line has to wait; %.2f %% inside of grants\n",
            cases[i].what, 100 * many, 100 * one, 100 * wasted_inside(cases[i].median));
        assert_true(many <= 0.15);
    }
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    loading_counter counter = {0};
    mr_hooks hooks = loading_hooks(&counter);
    mr__lent *l = make(&(mr__lent_options){.regions = 4, .grants = 8}, &hooks);
    unsigned before = atomic_load(&counter.allocated);
    uint64_t seed = 3;
    mr__grant grants[8];
    for (int batch = 0; batch < 1000; batch++) { // and memory comes and goes
        uint32_t number;
        mr__lent_memory memory;
        size_t count = 0;
        (void)lend(l, NULL, (uint64_t)batch + 1, 100000);
        for (int i = 0; i < 30; i++) {
            if (count < 8 && mr__lent_take(l, picture_random_below(&seed, 50000), &grants[count]) == MR__ROOM_TAKEN)
                count++;
            else if (count != 0)
                assert_int_equal(mr__lent_give(l, &grants[--count], &detail), 0);
        }
        (void)mr__lent_let_go(l);
        while (count != 0)
            assert_int_equal(mr__lent_give(l, &grants[--count], &detail), 0);
        assert_true(mr__lent_back(l, &number, &memory) && memory.handle == (uint64_t)batch + 1);
        assert_true(mr__lent_tell(l).granted_nbytes == 0 && mr__lent_tell(l).lent_nbytes == 0);
    }
    assert_int_equal(atomic_load(&counter.allocated), before);
    mr__lent_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senseless_things_are_refused),
        cmocka_unit_test(grants_lie_in_their_window_and_apart),
        cmocka_unit_test(canaries_tell_who_wrote_outside),
        cmocka_unit_test(a_devices_canaries_are_its_own),
        cmocka_unit_test(a_region_is_back_with_its_last_grant),
        cmocka_unit_test(free_space_is_read_with_every_batch),
        cmocka_unit_test(little_is_wasted),
        cmocka_unit_test(steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
