// SPDX-License-Identifier: Apache-2.0
/* The board of cores: held once whatever happens, hostile files, and processes that are killed. */
#define _GNU_SOURCE // F_OFD_GETLK
#include "test.h"

#include "base/clock.h"
#include "dataset_make.h"
#include "device/cpu/board.h"
#include "device/cpu/cores.h"
#include "loading.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(15000000000)
#define HOUR_NS     UINT64_C(3600000000000) /* a loan that does not end by itself */

static test_folder folder;
static mr_hooks hooks;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    return mr__hooks_init(&hooks, NULL);
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static const char *board_path(const char *name, char buffer[512])
{
    char file[128];
    snprintf(file, sizeof file, "millrace-%u-%s.board", (unsigned)geteuid(), name);
    return test_folder_path(&folder, file, buffer);
}

static int try_join(const char *name, uint32_t cores, mr__board **out, mr__detail *detail)
{
    mr__board_options o = {.hooks = &hooks, .name = name, .folder = folder.path, .cores = cores};
    return mr__board_join(&o, out, detail);
}

static mr__board *join(const char *name, uint32_t cores)
{
    mr__board *b = NULL;
    mr__detail detail = {0};
    if (try_join(name, cores, &b, &detail) != 0)
        fail_msg("join: %s", detail.text);
    return b;
}

/* What a test wants to be decided: every core of one member to another, for a time. */
typedef struct wish {
    uint32_t from, to; /* numbers on the board; from 0: all are sent home */
    uint64_t for_ns;
} wish;

static void grant(void *user, mr__board_view *v)
{
    const wish *w = user;
    for (size_t i = 0; i < v->core_count; i++) {
        mr__board_loan *c = &v->cores[i];
        if (w->from == 0)
            c->to = c->home;
        for (uint32_t j = 0; j < v->member_count; j++)
            if (v->member_numbers[c->home] == w->from && v->member_numbers[j] == w->to) {
                c->to = j;
                c->until_ns = v->now_ns + w->for_ns;
            }
    }
}

static void lend(mr__board *by, uint32_t from, uint32_t to, uint64_t for_ns)
{
    wish w = {from, to, for_ns};
    mr__board_decide(by, grant, &w);
}

static void a_core_goes_there_and_back(void **state)
{
    (void)state;
    char buffer[512];
    uint32_t core, other;
    mr__board *a = join("pair", 1), *b = join("pair", 1);
    assert_int_equal(mr__board_total(a).members, 2);
    assert_true(mr__core_take(a, &core));
    assert_false(mr__core_take(a, &other)); // it has one
    lend(b, a->number, b->number, PATIENCE_NS);
    assert_false(mr__core_check(a, core));
    assert_true(mr__core_take(b, &other)); // its own; that of a is still held
    uint32_t own = other;
    assert_false(mr__core_take(b, &other));
    mr__core_leave(a, core);
    assert_true(mr__core_take(b, &other));
    assert_int_equal(other, core);
    assert_false(mr__core_take(a, &other));
    lend(a, 0, 0, 0); // it is asked back
    assert_false(mr__core_check(b, core));
    assert_true(mr__core_check(b, own));
    assert_false(mr__board_expired(b));
    mr__core_leave(b, core);
    assert_true(mr__board_expired(b) && !mr__board_expired(b));
    assert_true(mr__core_take(a, &other));
    mr__core_leave(a, other);
    assert_true(mr__board_total(b).borrowed_ns > 0);
    assert_int_equal(mr__board_total(a).lent_ns, mr__board_total(b).borrowed_ns);
    // A loan ends by itself.
    lend(a, a->number, b->number, 1);
    assert_true(mr__core_take(a, &core));
    mr__core_leave(a, core);
    mr__core_leave(b, own);
    mr__board_leave(a);
    assert_int_equal(access(board_path("pair", buffer), F_OK), 0);
    mr__board_leave(b);
    assert_int_equal(access(buffer, F_OK), -1);
}

static void who_is_gone_has_nothing(void **state)
{
    (void)state;
    char buffer[512];
    uint32_t own = 0, lent = 0, core = 0;
    mr__board *a = join("gone", 1), *b = join("gone", 1);
    // A borrower that dies: its lender has the core at the next decision.
    lend(a, a->number, b->number, PATIENCE_NS);
    assert_true(mr__core_take(b, &own) && mr__core_take(b, &lent));
    assert_false(mr__core_take(a, &core));
    mr__board_abandon(b);
    lend(a, 999, 999, 0);
    assert_true(mr__core_take(a, &core));
    assert_int_equal(core, lent);
    assert_int_equal(mr__board_total(a).members, 1);
    mr__core_leave(a, core);
    // A lender that dies: what it lent is nobody's, and is let go of.
    b = join("gone", 1);
    lend(a, a->number, b->number, PATIENCE_NS);
    assert_true(mr__core_take(b, &own) && mr__core_take(b, &lent));
    mr__board_abandon(a);
    lend(b, 999, 999, 0);
    assert_false(mr__core_check(b, lent));
    assert_true(mr__core_check(b, own));
    // A late borrower keeps others from using what it still has.
    a = join("gone", 1);
    assert_true(mr__core_take(a, &core));
    assert_true(core != lent && core != own);
    mr__board_abandon(a);
    mr__board_abandon(b);
    assert_int_equal(access(board_path("gone", buffer), F_OK), 0);
    // What the last one left is removed by the next of any group, or begun anew by one of its own.
    mr__board_leave(join("other", 1));
    assert_int_equal(access(buffer, F_OK), -1);
    mr__board_abandon(join("gone", 3));
    a = join("gone", 1);
    assert_int_equal(mr__board_total(a).members, 1);
    mr__board_leave(a);
    assert_int_equal(access(buffer, F_OK), -1);
}

static void hostile_files_are_refused(void **state)
{
    (void)state;
    char buffer[512], target[512];
    mr__board *b = NULL;
    mr__detail detail;
    static const char *const names[] = {"", ".", "..", "a/b", ".hidden", "a b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(try_join(names[i], 1, &b, &detail), MR_EARGUMENT);
    char longest[MR__BOARD_NAME_NBYTES + 1] = {0};
    memset(longest, 'x', MR__BOARD_NAME_NBYTES);
    assert_int_equal(try_join(longest, 1, &b, &detail), MR_EARGUMENT);
    longest[MR__BOARD_NAME_NBYTES - 1] = '\0';
    mr__board_leave(join(longest, 1));
    // A link; a file that others can write to; a folder.
    test_folder_write(&folder, "victim", "hello", 5);
    board_path("evil", buffer);
    assert_int_equal(symlink(test_folder_path(&folder, "victim", target), buffer), 0);
    assert_int_equal(try_join("evil", 1, &b, &detail), MR_EIO);
    assert_int_equal(unlink(buffer), 0);
    int fd = open(buffer, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && fchmod(fd, 0666) == 0);
    assert_int_equal(try_join("evil", 1, &b, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "not a file of this user alone");
    assert_int_equal(fchmod(fd, 0600), 0);
    // Another version, that somebody lives in; and what nobody lives in, whatever it is.
    assert_int_equal(write(fd, "garbage", 7), 7);
    assert_true(mr__byte_lock(fd, MR__LOCK_ALIVE + 1));
    assert_int_equal(try_join("evil", 1, &b, &detail), MR_EUNSUPPORTED);
    assert_int_equal(ftruncate(fd, sizeof(mr__board_file)), 0);
    assert_int_equal(try_join("evil", 1, &b, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "no board of version");
    assert_int_equal(access(buffer, F_OK), 0);
    close(fd);
    b = join("evil", 1);
    mr__board_leave(b);
    assert_int_equal(try_join("evil", MR__BOARD_CORES + 1, &b, &detail), MR_ELIMIT);
    assert_int_equal(access(buffer, F_OK), -1);
}

/* Every word of a board is anybody's: nothing is read or written outside of it, and no core is held twice. */
static void hostile_words_are_survived(void **state)
{
    (void)state;
    mr__board *a = join("noise", 4), *b = join("noise", 4);
    uint64_t x = 88172645463325252u;
    int holder[MR__BOARD_CORES] = {0};
    for (int i = 0; i < 300; i++) {
        for (size_t j = 0; j < sizeof(mr__board_file) / 4; j++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            bool small = (x >> 40 & 1) != 0;
            if (x % 16 == 0)
                ((uint32_t *)(void *)a->file)[j] = (uint32_t)(small ? x % 80 : x);
        }
        mr__board *who = i % 2 != 0 ? a : b;
        uint32_t core;
        lend(who, (uint32_t)(x % 70), (uint32_t)(x % 65), x % PATIENCE_NS);
        for (int j = 0; j < 20 && mr__core_take(who, &core); j++) {
            assert_true(core < MR__BOARD_CORES && holder[core] == 0);
            holder[core] = who == a ? 1 : 2;
        }
        for (uint32_t c = 0; c < MR__BOARD_CORES; c++)
            if (holder[c] == (who == a ? 1 : 2) && c % 3 == x % 3) {
                mr__core_leave(who, c);
                holder[c] = 0;
            }
        (void)mr__board_total(who);
    }
    mr__board_abandon(a);
    mr__board_abandon(b);
}

/* A million events of some members, each with cores of its own, in one process: locks are between descriptions. */
enum { MEMBERS = 6, OWN = 2 };

typedef struct play {
    mr__board *members[MEMBERS];
    int holder[MR__BOARD_CORES]; /* -1: nobody */
    uint64_t state, takes, lends, leaves, crashes, ends;
} play;

static uint32_t roll(play *p, uint32_t below)
{
    p->state = p->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->state >> 33) % below;
}

/* Some random loans; some of them end at once. */
static void lend_anything(void *user, mr__board_view *v)
{
    play *p = user;
    for (size_t i = 0; i < v->core_count; i++) {
        if (roll(p, 3) != 0)
            continue;
        v->cores[i].to = roll(p, (uint32_t)v->member_count);
        v->cores[i].until_ns = v->now_ns + roll(p, 400000);
    }
}

static void drop_all(play *p, uint32_t m, bool word)
{
    for (uint32_t c = 0; c < MR__BOARD_CORES; c++)
        if (p->holder[c] == (int)m) {
            if (word)
                mr__core_leave(p->members[m], c);
            p->holder[c] = -1;
        }
}

/* What lanes do between samples. */
static void look_at_cores(play *p, uint32_t m)
{
    for (uint32_t c = 0; c < MEMBERS * OWN * 4; c++)
        if (p->holder[c] == (int)m && (!mr__core_check(p->members[m], c) || roll(p, 4) == 0)) {
            mr__core_leave(p->members[m], c);
            p->holder[c] = -1;
            p->leaves++;
        }
}

static void one_event(play *p, int observer)
{
    uint32_t m = roll(p, MEMBERS), what = roll(p, 100), core;
    if (p->members[m] == NULL)
        p->members[m] = join("play", OWN);
    if (what < 45 && mr__core_take(p->members[m], &core)) {
        assert_int_equal(p->holder[core], -1);
        p->holder[core] = (int)m;
        p->takes++;
        assert_true(mr__byte_is_locked(observer, MR__LOCK_CORE + (off_t)core, 1));
    } else if (what < 75)
        look_at_cores(p, m);
    else if (what < 97) {
        mr__board_decide(p->members[m], lend_anything, p);
        p->lends++;
    } else {
        bool crash = what < 99;
        drop_all(p, m, !crash);
        (crash ? mr__board_abandon : mr__board_leave)(p->members[m]);
        p->members[m] = NULL;
        *(crash ? &p->crashes : &p->ends) += 1;
    }
}

static void a_million_events_hold_each_core_once(void **state)
{
    (void)state;
    char buffer[512];
    const int events = test_quick() ? 20000 : 1000000;
    play p = {.state = 3};
    memset(p.holder, 0xff, sizeof p.holder);
    p.members[0] = join("play", OWN);
    int observer = open(board_path("play", buffer), O_RDWR | O_CLOEXEC);
    mr__board *keeper = join("play", 0); // so that it is one board, which the observer sees, to the end
    for (int i = 0; i < events; i++)
        one_event(&p, observer);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        if (p.members[m] == NULL)
            p.members[m] = join("play", OWN);
        drop_all(&p, m, true);
    }
    for (uint32_t c = 0; c < MR__BOARD_CORES; c++)
        assert_false(mr__byte_is_locked(observer, MR__LOCK_CORE + (off_t)c, 1));
    lend(keeper, 0, 0, 0);
    for (uint32_t m = 0, core; m < MEMBERS; m++) {
        for (int i = 0; i < OWN; i++)
            assert_true(mr__core_take(p.members[m], &core));
        assert_false(mr__core_take(p.members[m], &core));
    }
    print_message(
        "%d events: %llu cores taken, %llu let go of, %llu decisions, %llu crashes, %llu ends; every core held "
        "at most once, and all had at the end\n",
        events, (unsigned long long)p.takes, (unsigned long long)p.leaves, (unsigned long long)p.lends,
        (unsigned long long)p.crashes, (unsigned long long)p.ends);
    for (uint32_t m = 0; m < MEMBERS; m++)
        mr__board_abandon(p.members[m]);
    mr__board_leave(keeper);
    close(observer);
    assert_int_equal(access(buffer, F_OK), -1);
}

/* Processes that are killed. What each of them holds is in memory that all see. */
enum { LENDER, BORROWER, DECIDER, ROLES };

typedef struct stage {
    atomic_uint number[ROLES], core[ROLES]; /* core + 1; 0: none */
    atomic_ullong turns[ROLES];
    atomic_bool over;
    atomic_uint rung[ROLES];
} stage;

typedef struct actor {
    stage *s;
    int role;
    mr__board *board;
} actor;

static void on_news(void *user)
{
    actor *a = user;
    atomic_fetch_add(&a->s->rung[a->role], 1);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

/* A lane: a sample, a look, and the next; without a core it waits to be rung. */
static void act_lane(actor *a)
{
    uint32_t core = MR__NO_CORE;
    while (!atomic_load(&a->s->over)) {
        unsigned rung = atomic_load(&a->s->rung[a->role]);
        if (core == MR__NO_CORE && !mr__core_take(a->board, &core)) {
            while (atomic_load(&a->s->rung[a->role]) == rung && !atomic_load(&a->s->over))
                nap();
            continue;
        }
        atomic_store(&a->s->core[a->role], core + 1);
        nap();
        atomic_fetch_add(&a->s->turns[a->role], 1);
        if (mr__core_check(a->board, core))
            continue;
        atomic_store(&a->s->core[a->role], 0);
        mr__core_leave(a->board, core);
        core = MR__NO_CORE;
    }
    if (core != MR__NO_CORE)
        mr__core_leave(a->board, core);
}

static void act_decider(actor *a)
{
    for (unsigned i = 0; !atomic_load(&a->s->over); i++) {
        lend(a->board, atomic_load(&a->s->number[LENDER]), atomic_load(&a->s->number[BORROWER]), HOUR_NS);
        atomic_fetch_add(&a->s->turns[a->role], 1);
    }
}

static pid_t start_actor(stage *s, int role)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that fails leaves nobody behind
    mr__detail detail;
    actor a = {.s = s, .role = role};
    if (try_join("stage", role == LENDER, &a.board, &detail) != 0 ||
        mr__board_listen(a.board, on_news, &a, &detail) != 0)
        _exit(1);
    atomic_store(&s->number[role], a.board->number);
    role == DECIDER ? act_decider(&a) : act_lane(&a);
    mr__board_leave(a.board);
    _exit(0);
}

/* Waits for it, patiently. */
#define UNTIL(condition)                                                                                               \
    do {                                                                                                               \
        uint64_t from_ = mr__clock_monotonic_ns();                                                                     \
        while (!(condition)) {                                                                                         \
            if (mr__clock_monotonic_ns() - from_ > PATIENCE_NS)                                                        \
                fail_msg("never came: " #condition);                                                                   \
            nap();                                                                                                     \
        }                                                                                                              \
    } while (0)

static void kill_actor(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool core_is_free(uint32_t core)
{
    char buffer[512];
    int fd = open(board_path("stage", buffer), O_RDWR | O_CLOEXEC);
    bool is_free = fd >= 0 && !mr__byte_is_locked(fd, MR__LOCK_CORE + (off_t)core, 1);
    close(fd);
    return is_free;
}

/* Looks for its core at once, and then takes its time. */
typedef struct slow_one {
    mr__board *board;
    uint32_t core;
    atomic_bool back;
} slow_one;

static void on_slow_news(void *user)
{
    slow_one *s = user;
    if (mr__core_check(s->board, s->core))
        atomic_store(&s->back, true);
    nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
}

/* A core that comes home while somebody is told other news is told of, too. */
static void a_core_comes_home_meanwhile(void **state)
{
    (void)state;
    mr__detail detail = {0};
    slow_one s = {.board = join("slow", 1)};
    mr__board *b = join("slow", 1);
    assert_true(mr__core_take(s.board, &s.core));
    mr__core_leave(s.board, s.core);
    lend(b, s.board->number, b->number, 20000000);
    assert_int_equal(mr__board_listen(s.board, on_slow_news, &s, &detail), 0); // the first news are now
    UNTIL(atomic_load(&s.back));
    mr__board_leave(s.board);
    mr__board_leave(b);
}

/* One play in which a role is killed; nanoseconds until the core was back. */
static uint64_t play_with(stage *s, int killed)
{
    char buffer[512];
    pid_t pids[ROLES];
    memset(s, 0, sizeof *s);
    for (int role = 0; role < ROLES; role++) {
        pids[role] = start_actor(s, role);
        UNTIL(atomic_load(&s->number[role]) != 0);
    }
    UNTIL(atomic_load(&s->core[BORROWER]) != 0); // it has what was lent
    UNTIL(atomic_load(&s->core[LENDER]) == 0 && atomic_load(&s->turns[DECIDER]) > 10);
    uint32_t core = atomic_load(&s->core[BORROWER]) - 1;
    uint64_t from = mr__clock_monotonic_ns();
    if (killed != DECIDER) { // who could lend it again is not there any more
        kill_actor(pids[DECIDER]);
        from = mr__clock_monotonic_ns();
    }
    kill_actor(pids[killed]);
    pids[killed] = 0;
    if (killed == BORROWER)
        UNTIL(atomic_load(&s->core[LENDER]) == core + 1);
    else if (killed == LENDER)
        UNTIL(core_is_free(core));
    else {
        mr__board *b = join("stage", 0);                                      // whoever comes next decides
        UNTIL((lend(b, 0, 0, 0), atomic_load(&s->core[LENDER]) == core + 1)); // again, if the lock was taken
        mr__board_leave(b);
    }
    uint64_t took = mr__clock_monotonic_ns() - from;
    atomic_store(&s->over, true);
    for (int role = 0; role < DECIDER; role++)
        if (pids[role] != 0)
            assert_int_equal(waitpid(pids[role], NULL, 0), pids[role]);
    assert_int_equal(access(board_path("stage", buffer), F_OK), -1); // nothing is left
    return took;
}

static void killed_processes_lose_no_core(void **state)
{
    (void)state;
    static const char *const names[] = {"lender", "borrower", "decider"};
#if defined(__SANITIZE_THREAD__)
    skip(); // it does not follow children
#endif
    const int rounds = test_quick() ? 2 : 16;
    stage *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED);
    for (int killed = 0; killed < ROLES; killed++) {
        uint64_t most = 0;
        for (int i = 0; i < rounds; i++) {
            uint64_t took = play_with(s, killed);
            most = took > most ? took : most;
        }
        print_message("SIGKILL of the %s, %d times: the core was back after %.1f ms at most\n", names[killed], rounds,
                      (double)most / 1e6);
    }
    munmap(s, sizeof *s);
}

/* Two loaders of one process that share: the bytes they would give alone, whoever works on them. */
static void loaders_that_share_give_the_same(void **state)
{
    (void)state;
    made_dataset m;
    char name[64];
    made_init(&m, &folder, MADE_IMAGE_FOLDER);
    mr_dataset *d = made_open_well(&m);
    mr_loader_options o = {
        .struct_size = sizeof o, .batch = 2, .epochs = 40, .threads = 1, .has_rank = true, .world = 1};
    loading_sum alone = loading_all(d, "rrc(32) flip", &o);
    snprintf(name, sizeof name, "test-%u", (unsigned)getpid());
    o.share = name;
    mr_loader *a = loading_new(d, "rrc(32) flip", &o), *b = loading_new(d, "rrc(32) flip", &o);
    loading_sum first = loading_run(a, 30);
    loading_sum other = loading_run(b, UINT64_MAX), rest = loading_run(a, UINT64_MAX);
    assert_int_equal(other.hash, alone.hash);
    assert_int_equal(other.samples, alone.samples);
    assert_int_equal(first.samples + rest.samples, alone.samples);
    mr_loader_free(a);
    mr_loader_free(b);
    char path[512];
    snprintf(path, sizeof path, "/dev/shm/millrace-%u-%s.board", (unsigned)geteuid(), name);
    assert_int_equal(access(path, F_OK), -1);
    mr_loader *none = NULL;
    char detail[256];
    mr_recipe *recipe = loading_recipe("rrc(32) flip");
    o.share = "no/name";
    assert_int_equal(mr_loader_new(d, recipe, &o, &none, detail, sizeof detail), MR_EARGUMENT);
    assert_contains(detail, "shares cores");
    o.share = name;
    o.device = "sim";
    assert_int_equal(mr_loader_new(d, recipe, &o, &none, detail, sizeof detail), MR_EARGUMENT);
    mr_recipe_free(recipe);
    mr_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_comes_home_meanwhile),
        cmocka_unit_test(killed_processes_lose_no_core), // first: children are forked before there are threads
        cmocka_unit_test(a_core_goes_there_and_back),
        cmocka_unit_test(who_is_gone_has_nothing),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(hostile_words_are_survived),
        cmocka_unit_test(a_million_events_hold_each_core_once),
        cmocka_unit_test(loaders_that_share_give_the_same),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
