// SPDX-License-Identifier: Apache-2.0
/* Reads that do not come back, by threads and, where the kernel allows it, by io_uring. */
#include "test.h"

#include "base/clock.h"
#include "files.h"
#include "source/read_ahead.h"
#include "source/read_ahead_kind.h"

#include <millrace/error.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { NBYTES = 50000, TAKERS = 3 };

typedef struct stage {
    test_folder folder;
    mr_hooks hooks;
    char path[600];
    uint8_t bytes[NBYTES];
} stage;

static mr__read read_path(const stage *s)
{
    return (mr__read){.path = s->path, .nbytes = NBYTES};
}

static bool is_right(const stage *s, const mr__read *read)
{
    return read->error == 0 && read->got == NBYTES && memcmp(read->bytes, s->bytes, NBYTES) == 0;
}

typedef void on_both(const stage *s, mr__read_ahead_kind kind);

static void run_on_both(on_both *test)
{
    static stage s;
    mr__read_ahead *ahead = NULL;
    assert_int_equal(mr__hooks_init(&s.hooks, NULL), 0);
    for (size_t i = 0; i < NBYTES; i++)
        s.bytes[i] = (uint8_t)(i * i >> 3);
    test_folder_init(&s.folder);
    test_folder_write(&s.folder, "file", s.bytes, NBYTES);
    test_folder_path(&s.folder, "file", s.path);
    test(&s, MR__READ_AHEAD_THREADS);
    if (mr__read_ahead_new(&s.hooks, MR__READ_AHEAD_URING, 1, &ahead) == 0)
        test(&s, MR__READ_AHEAD_URING);
    else
        print_message("no io_uring here: by threads alone\n");
    mr__read_ahead_free(ahead);
    test_folder_fini(&s.folder);
}

/*
 * A read that does not come back until it is let go: by io_uring that of a pipe without a writer's word; by threads one
 * whose memory is not given out, which holds up its thread as a disk would.
 */
typedef struct stall {
    mr__read_ahead *ahead;
    mr__file file;
    int ends[2];
    uint8_t bytes[4];
    mr__read read;
    mr_hooks hooks;
    mr__mutex mutex;
    mr__condition changed;
    bool held, let_go;
    const mr_hooks *real;
} stall;

enum { STALL_NBYTES = 12345 };

static void *alloc_late(void *user, size_t nbytes, size_t align)
{
    stall *st = user;
    if (nbytes == STALL_NBYTES) {
        mr__mutex_lock(&st->mutex);
        st->held = true;
        mr__condition_wake_all(&st->changed);
        while (!st->let_go)
            mr__condition_wait(&st->changed, &st->mutex, MR__FOR_EVER);
        mr__mutex_unlock(&st->mutex);
    }
    return st->real->alloc(st->real->user, nbytes, align);
}

static void free_as_ever(void *user, void *block)
{
    stall *st = user;
    st->real->free(st->real->user, block);
}

static void begin_stall(stall *st, const stage *s, mr__read_ahead_kind kind)
{
    *st = (stall){.real = &s->hooks, .hooks = {.struct_size = sizeof(mr_hooks)}};
    st->hooks.alloc = alloc_late;
    st->hooks.free = free_as_ever;
    st->hooks.user = st;
    assert_int_equal(mr__mutex_init(&st->mutex), 0);
    assert_int_equal(mr__condition_init(&st->changed), 0);
    assert_int_equal(pipe(st->ends), 0);
    assert_int_equal(mr__read_ahead_new(&st->hooks, kind, 4, &st->ahead), 0);
    st->file = (mr__file){.fd = st->ends[0], .nbytes = kind == MR__READ_AHEAD_URING ? 4 : STALL_NBYTES};
    st->read = (mr__read){.file = &st->file, .nbytes = st->file.nbytes};
    assert_int_equal(mr__read_ahead_submit(st->ahead, &st->read), 0);
}

static void let_go(stall *st)
{
    mr__mutex_lock(&st->mutex);
    st->let_go = true;
    mr__condition_wake_all(&st->changed);
    mr__mutex_unlock(&st->mutex);
    assert_int_equal(write(st->ends[1], "abcd", 4), 4);
}

static void end_stall(stall *st)
{
    mr__read_ahead_free(st->ahead);
    mr__buffer_fini(&st->read.buffer, &st->hooks);
    mr__condition_fini(&st->changed);
    mr__mutex_fini(&st->mutex);
    close(st->ends[0]);
    close(st->ends[1]);
}

typedef struct crowd {
    mr__read_ahead *ahead;
    atomic_size_t taking, closed;
} crowd;

static void take_one(void *arg)
{
    crowd *c = arg;
    mr__read *read;
    atomic_fetch_add(&c->taking, 1);
    atomic_fetch_add(&c->closed, mr__read_ahead_take_until_closed(c->ahead, &read) == MR_ECLOSED);
}

/* Takers wait in the kernel, and have to come out of there; if they do not, the test has no end. */
static void close_on_takers(const stage *s, mr__read_ahead_kind kind)
{
    for (size_t round = 0; round < 30; round++) {
        stall st;
        mr__thread takers[TAKERS];
        begin_stall(&st, s, kind);
        crowd c = {.ahead = st.ahead};
        for (size_t i = 0; i < TAKERS; i++)
            assert_int_equal(mr__thread_start(&takers[i], "taker", take_one, &c), 0);
        while (atomic_load(&c.taking) < TAKERS)
            sched_yield();
        if (round % 3 == 1)
            usleep(2000);
        mr__read_ahead_close(st.ahead);
        for (size_t i = 0; i < TAKERS; i++)
            mr__thread_join(&takers[i]);
        assert_int_equal(c.closed, TAKERS);
        assert_int_equal(mr__read_ahead_in_flight(st.ahead), 1);
        let_go(&st);
        end_stall(&st);
    }
}

static void closing_wakes_takers_of_a_stuck_read(void **state)
{
    (void)state;
    run_on_both(close_on_takers);
}

/* The other reads of one that is stuck come, and who waits with a deadline comes back. */
static void wait_beside_a_stuck_read(const stage *s, mr__read_ahead_kind kind)
{
    stall st;
    begin_stall(&st, s, kind);
    mr__read other = read_path(s), *taken = NULL;
    assert_int_equal(mr__read_ahead_take_by(st.ahead, 0, &taken), MR_ETIMEOUT);
    assert_false(mr__read_ahead_quiet(st.ahead, mr__clock_deadline_ns(1000000)));
    assert_int_equal(mr__read_ahead_submit(st.ahead, &other), 0);
    assert_int_equal(mr__read_ahead_in_flight(st.ahead), 2);
    assert_int_equal(mr__read_ahead_take_by(st.ahead, mr__clock_deadline_ns(600000000000), &taken), 0);
    assert_ptr_equal(taken, &other);
    assert_true(is_right(s, &other));
    assert_int_equal(mr__read_ahead_take_by(st.ahead, mr__clock_deadline_ns(3000000), &taken), MR_ETIMEOUT);
    assert_int_equal(mr__read_ahead_submit(st.ahead, &other), 0);
    assert_false(mr__read_ahead_quiet(st.ahead, mr__clock_deadline_ns(1000000000))); // it took the other
    mr__read_ahead_close(st.ahead);
    assert_int_equal(mr__read_ahead_take_by(st.ahead, MR__FOR_EVER, &taken), MR_ECLOSED);
    assert_int_equal(mr__read_ahead_in_flight(st.ahead), 1);
    let_go(&st);
    assert_true(mr__read_ahead_quiet(st.ahead, MR__FOR_EVER));
    assert_int_equal(mr__read_ahead_in_flight(st.ahead), 0);
    if (kind == MR__READ_AHEAD_URING)
        assert_memory_equal(st.read.bytes, "abcd", 4);
    end_stall(&st);
    mr__buffer_fini(&other.buffer, &s->hooks);
}

static void a_stuck_read_holds_up_nobody(void **state)
{
    (void)state;
    run_on_both(wait_beside_a_stuck_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_wakes_takers_of_a_stuck_read),
        cmocka_unit_test(a_stuck_read_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
