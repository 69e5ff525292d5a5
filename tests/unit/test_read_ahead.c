// SPDX-License-Identifier: Apache-2.0
/* Every test runs by threads and, where the kernel allows it, by io_uring. */
#include "test.h"

#include "base/rng.h"
#include "failing.h"
#include "files.h"
#include "source/read_ahead.h"
#include "source/read_ahead_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <millrace/error.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 60, FILE_NBYTES_MAX = 150000, LIMIT = 1 << 20 };

typedef struct stage {
    test_folder folder;
    mr_hooks hooks;
    char paths[FILES][300];
    size_t nbytes[FILES];
    uint8_t *bytes; /* file i is nbytes[i] of them from i on */
} stage;

static void set_stage(stage *s)
{
    mr__rng rng;
    mr__rng_init(&rng, 5, 0, 0, 0);
    assert_int_equal(mr__hooks_init(&s->hooks, NULL), 0);
    test_folder_init(&s->folder);
    s->bytes = malloc(FILE_NBYTES_MAX + FILES);
    for (size_t i = 0; i < FILE_NBYTES_MAX + FILES; i++)
        s->bytes[i] = (uint8_t)mr__rng_u32(&rng);
    for (size_t i = 0; i < FILES; i++) {
        char name[32], path[512];
        snprintf(name, sizeof name, "file-%zu", i);
        s->nbytes[i] = i % 10 == 3 ? 0 : i % 10 == 4 ? 4096 : mr__rng_below(&rng, FILE_NBYTES_MAX);
        test_folder_write(&s->folder, name, s->bytes + i, s->nbytes[i]);
        snprintf(s->paths[i], sizeof s->paths[i], "%.290s", test_folder_path(&s->folder, name, path));
    }
}

static void clear_stage(stage *s)
{
    test_folder_fini(&s->folder);
    free(s->bytes);
}

/* NULL: this kernel has none. */
static mr__read_ahead *make(const stage *s, mr__read_ahead_kind kind, size_t depth)
{
    mr__read_ahead *ahead = NULL;
    int result = mr__read_ahead_new(&s->hooks, kind, depth, &ahead);
    if (kind == MR__READ_AHEAD_URING && result == MR_EUNSUPPORTED)
        return NULL;
    assert_int_equal(result, 0);
    return ahead;
}

static mr__read read_path(const stage *s, size_t i)
{
    return (mr__read){.path = s->paths[i], .nbytes = LIMIT, .user = (void *)(uintptr_t)i};
}

static bool is_right(const stage *s, const mr__read *read)
{
    size_t i = (uintptr_t)read->user;
    return read->error == 0 && read->got == s->nbytes[i] && read->file_nbytes == s->nbytes[i] &&
           read->file_mtime_ns != 0 && (read->got == 0 || memcmp(read->buffer.bytes, s->bytes + i, read->got) == 0);
}

typedef void on_both(const stage *s, mr__read_ahead_kind kind);

static void run_on_both(on_both *test)
{
    stage s;
    set_stage(&s);
    test(&s, MR__READ_AHEAD_THREADS);
    mr__read_ahead *ahead = make(&s, MR__READ_AHEAD_URING, 1);
    if (ahead != NULL)
        test(&s, MR__READ_AHEAD_URING);
    else
        print_message("no io_uring here: by threads alone\n");
    mr__read_ahead_free(ahead);
    clear_stage(&s);
}

/* One thread submits and takes, with a few reads whose memory is used again and again. */
static void read_many_files(const stage *s, mr__read_ahead_kind kind)
{
    for (size_t depth = 1; depth <= 9; depth += 4) {
        mr__read_ahead *ahead = make(s, kind, depth);
        mr__read reads[9] = {0};
        size_t seen[FILES] = {0}, next = 0, taken = 0;
        for (; next < depth; next++) {
            reads[next] = read_path(s, next);
            assert_int_equal(mr__read_ahead_submit(ahead, &reads[next]), 0);
        }
        while (taken < 3 * FILES) {
            mr__read *read;
            assert_int_equal(mr__read_ahead_take(ahead, &read), 0);
            assert_true(is_right(s, read));
            seen[(uintptr_t)read->user]++;
            taken++;
            if (next < 3 * FILES) {
                mr__buffer kept = read->buffer;
                *read = read_path(s, next++ % FILES);
                read->buffer = kept;
                assert_int_equal(mr__read_ahead_submit(ahead, read), 0);
            }
        }
        mr__read *none;
        assert_int_equal(mr__read_ahead_take(ahead, &none), MR_ECLOSED);
        for (size_t i = 0; i < FILES; i++)
            assert_int_equal(seen[i], 3);
        mr__read_ahead_free(ahead);
        for (size_t i = 0; i < 9; i++)
            mr__buffer_fini(&reads[i].buffer, &s->hooks);
    }
}

static void many_files(void **state)
{
    (void)state;
    run_on_both(read_many_files);
}

static void check_range(const stage *s, const mr__file *file, const mr__read *read)
{
    size_t left = read->offset < file->nbytes ? (size_t)(file->nbytes - read->offset) : 0;
    assert_int_equal(read->error, 0);
    assert_int_equal(read->got, read->nbytes < left ? read->nbytes : left);
    if (read->got != 0)
        assert_memory_equal(read->buffer.bytes, s->bytes + read->offset, read->got);
}

static void read_many_ranges(const stage *s, mr__read_ahead_kind kind)
{
    enum { DEPTH = 6, ROUNDS = 1500 };
    mr__file file;
    mr__rng rng;
    mr__rng_init(&rng, 6, 0, 0, 0);
    assert_int_equal(mr__file_open(&file, s->paths[0]), 0);
    mr__read_ahead *ahead = make(s, kind, DEPTH);
    mr__read reads[DEPTH] = {0}, *read;
    for (size_t i = 0; i < ROUNDS + DEPTH; i++) {
        read = &reads[i % DEPTH];
        if (i >= DEPTH) {
            assert_int_equal(mr__read_ahead_take(ahead, &read), 0);
            check_range(s, &file, read);
        }
        if (i >= ROUNDS)
            continue;
        read->file = &file;
        read->offset = mr__rng_below(&rng, (uint32_t)file.nbytes + 100);
        read->nbytes = mr__rng_below(&rng, i % 10 == 0 ? FILE_NBYTES_MAX : 3000);
        if (i % 50 == 7)
            read->nbytes = SIZE_MAX; // a lie costs no memory
        if (i % 50 == 8)
            read->offset = UINT64_MAX - 5;
        assert_int_equal(mr__read_ahead_submit(ahead, read), 0);
    }
    assert_int_equal(mr__read_ahead_take(ahead, &read), MR_ECLOSED);
    mr__read_ahead_free(ahead);
    for (size_t i = 0; i < DEPTH; i++) {
        assert_true(reads[i].buffer.capacity <= FILE_NBYTES_MAX);
        mr__buffer_fini(&reads[i].buffer, &s->hooks);
    }
    mr__file_close(&file);
}

static void many_ranges(void **state)
{
    (void)state;
    run_on_both(read_many_ranges);
}

static int error_of(const stage *s, mr__read_ahead *ahead, mr__read read)
{
    mr__read *taken;
    assert_int_equal(mr__read_ahead_submit(ahead, &read), 0);
    assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
    assert_ptr_equal(taken, &read);
    if (read.error != 0)
        assert_int_equal(read.got, 0);
    assert_int_equal(read.opened.fd, -1);
    mr__buffer_fini(&read.buffer, &s->hooks);
    return read.error;
}

static void meet_errors(const stage *s, mr__read_ahead_kind kind)
{
    char path[512];
    mr__read_ahead *ahead = make(s, kind, 3);
    test_folder_path(&s->folder, "none", path);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = path, .nbytes = LIMIT}), ENOENT);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = s->folder.path, .nbytes = LIMIT}), EISDIR);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = "/dev/zero", .nbytes = LIMIT}), ESPIPE);
    test_folder_path(&s->folder, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = path, .nbytes = LIMIT}), ESPIPE);
    assert_int_equal(remove(path), 0);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = s->paths[0], .nbytes = s->nbytes[0]}), 0);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = s->paths[0], .nbytes = s->nbytes[0] - 1}), EFBIG);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = s->paths[0], .nbytes = 0}), EFBIG);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = s->paths[3], .nbytes = 0}), 0); // it is empty
    mr__file broken = {.fd = -1, .nbytes = 10};
    assert_int_equal(error_of(s, ahead, (mr__read){.file = &broken, .nbytes = 10}), EBADF);
    mr__read_ahead_free(ahead);
}

static void errors_are_in_the_read(void **state)
{
    (void)state;
    run_on_both(meet_errors);
}

static void read_unknown_lengths(const stage *s, mr__read_ahead_kind kind)
{
    const char *path = "/proc/self/smaps"; // some ten thousand bytes, and says that it is empty
    mr__read_ahead *ahead = make(s, kind, 1);
    mr__read read = {.path = path, .nbytes = LIMIT}, *taken;
    assert_int_equal(mr__read_ahead_submit(ahead, &read), 0);
    assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
    assert_int_equal(read.error, 0);
    assert_true(read.got > 5000);
    assert_int_equal(read.buffer.bytes[read.got - 1], '\n');
    size_t nbytes = read.got;
    mr__buffer_fini(&read.buffer, &s->hooks);
    static const size_t limits[] = {0, 1, 4095, 4096, 4097};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        assert_int_equal(error_of(s, ahead, (mr__read){.path = path, .nbytes = limits[i]}), EFBIG);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = path, .nbytes = nbytes * 4}), 0);
    assert_int_equal(error_of(s, ahead, (mr__read){.path = path, .nbytes = SIZE_MAX}), 0);
    mr__read_ahead_free(ahead);
}

static void files_of_unknown_length(void **state)
{
    (void)state;
    run_on_both(read_unknown_lengths);
}

/* Between being looked at and being read. */
static void files_that_change_meanwhile(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const long change[] = {-5000, -1, 1, 100000};
    for (size_t i = 0; i < 4; i++) {
        mr__read read = read_path(&s, 0);
        assert_true(mr__read_begin(&read, &s.hooks));
        assert_int_equal(truncate(s.paths[0], (long)s.nbytes[0] + change[i]), 0);
        mr__read_rest(&read, &s.hooks);
        assert_int_equal(read.error, 0);
        assert_int_equal(read.got, s.nbytes[0] + (size_t)(change[i] < 0 ? change[i] : 0));
        assert_memory_equal(read.buffer.bytes, s.bytes, read.got);
        mr__buffer_fini(&read.buffer, &s.hooks);
        test_folder_write(&s.folder, "file-0", s.bytes, s.nbytes[0]);
    }
    clear_stage(&s);
}

static void read_a_cut_file(const stage *s, mr__read_ahead_kind kind)
{
    mr__file file;
    assert_int_equal(mr__file_open(&file, s->paths[0]), 0);
    assert_int_equal(truncate(s->paths[0], (long)s->nbytes[0] / 2), 0);
    mr__read_ahead *ahead = make(s, kind, 1);
    mr__read read = {.file = &file, .offset = 10, .nbytes = SIZE_MAX}, *taken;
    assert_int_equal(mr__read_ahead_submit(ahead, &read), 0);
    assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
    assert_int_equal(read.error, 0);
    assert_int_equal(read.got, s->nbytes[0] / 2 - 10);
    assert_memory_equal(read.buffer.bytes, s->bytes + 10, read.got);
    mr__buffer_fini(&read.buffer, &s->hooks);
    mr__read_ahead_free(ahead);
    mr__file_close(&file);
    test_folder_write(&s->folder, "file-0", s->bytes, s->nbytes[0]);
}

static void a_cut_file_has_less(void **state)
{
    (void)state;
    run_on_both(read_a_cut_file);
}

/* One piece after the other: what a kernel may give back of any read. */
static void short_reads_are_continued(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__rng rng;
    mr__rng_init(&rng, 7, 0, 0, 0);
    for (size_t i = 0; i < FILES; i++) {
        mr__read read = read_path(&s, i);
        bool more = mr__read_begin(&read, &s.hooks);
        while (more) {
            mr__read_piece piece = mr__read_next(&read);
            size_t nbytes = 1 + mr__rng_below(&rng, (uint32_t)piece.nbytes);
            ssize_t got = pread(piece.fd, piece.bytes, nbytes, (off_t)piece.offset);
            more = mr__read_more(&read, &s.hooks, got);
        }
        mr__read_end(&read);
        assert_true(is_right(&s, &read));
        mr__buffer_fini(&read.buffer, &s.hooks);
    }
    clear_stage(&s);
}

/* All memory that is written to is complete, or untouched for good, once it is freed. */
static void free_in_flight(const stage *s, mr__read_ahead_kind kind)
{
    for (size_t round = 0; round < 20; round++) {
        mr__read reads[FILES];
        mr__read_ahead *ahead = make(s, kind, FILES);
        for (size_t i = 0; i < FILES; i++) {
            reads[i] = read_path(s, i);
            assert_int_equal(mr__read_ahead_submit(ahead, &reads[i]), 0);
        }
        mr__read_ahead_free(ahead);
        for (size_t i = 0; i < FILES; i++) {
            assert_true(is_right(s, &reads[i]));
            mr__buffer_fini(&reads[i].buffer, &s->hooks);
        }
    }
}

static void freeing_waits_for_what_is_in_flight(void **state)
{
    (void)state;
    run_on_both(free_in_flight);
}

enum { TAKERS = 3, SHARED = 600, SHARED_DEPTH = 5 };

typedef struct crowd {
    const stage *s;
    mr__read_ahead *ahead;
    mr__read reads[SHARED];
    bool until_closed;
    atomic_size_t taken[SHARED];
    atomic_size_t taking, faults;
} crowd;

static void take_many(void *arg)
{
    crowd *c = arg;
    mr__read *read;
    int result;
    for (;;) {
        atomic_fetch_add(&c->taking, 1);
        result =
            c->until_closed ? mr__read_ahead_take_until_closed(c->ahead, &read) : mr__read_ahead_take(c->ahead, &read);
        if (result != 0)
            break;
        atomic_fetch_add(&c->taken[read - c->reads], 1);
        atomic_fetch_add(&c->faults, !is_right(c->s, read));
        mr__buffer_fini(&read->buffer, &c->s->hooks);
    }
    atomic_fetch_add(&c->faults, result != MR_ECLOSED);
}

static void start_takers(crowd *c, mr__thread *threads)
{
    for (size_t i = 0; i < TAKERS; i++)
        assert_int_equal(mr__thread_start(&threads[i], "taker", take_many, c), 0);
}

static void join_takers(crowd *c, mr__thread *threads)
{
    for (size_t i = 0; i < TAKERS; i++)
        mr__thread_join(&threads[i]);
    assert_int_equal(c->faults, 0);
}

static void submit_beside_takers(const stage *s, mr__read_ahead_kind kind)
{
    static crowd c;
    mr__thread threads[TAKERS];
    memset(&c, 0, sizeof c);
    c.s = s;
    c.until_closed = true;
    c.ahead = make(s, kind, SHARED_DEPTH);
    start_takers(&c, threads);
    for (size_t i = 0; i < SHARED; i++) {
        c.reads[i] = read_path(s, i % FILES);
        if (i % 40 == 0)
            sched_yield(); // so that takers meet an empty one, too
        assert_int_equal(mr__read_ahead_submit(c.ahead, &c.reads[i]), 0);
        assert_true(i + 1 <= atomic_load(&c.taking) + SHARED_DEPTH);
    }
    mr__read_ahead_close(c.ahead);
    assert_int_equal(mr__read_ahead_submit(c.ahead, &c.reads[0]), MR_ECLOSED);
    join_takers(&c, threads);
    c.until_closed = false;
    take_many(&c); // what was not finished when it was closed
    assert_int_equal(c.faults, 0);
    assert_int_equal(mr__read_ahead_in_flight(c.ahead), 0);
    for (size_t i = 0; i < SHARED; i++)
        assert_int_equal(c.taken[i], 1);
    mr__read_ahead_free(c.ahead);
}

static void one_submits_while_others_take(void **state)
{
    (void)state;
    run_on_both(submit_beside_takers);
}

/* More takers than reads: none of them stays behind. */
static void drain(const stage *s, mr__read_ahead_kind kind)
{
    static crowd c;
    for (size_t round = 0; round < 60; round++) {
        mr__thread threads[TAKERS];
        memset(&c, 0, sizeof c);
        c.s = s;
        c.ahead = make(s, kind, FILES);
        size_t count = 1 + round % 7;
        for (size_t i = 0; i < count; i++) {
            c.reads[i] = read_path(s, i);
            assert_int_equal(mr__read_ahead_submit(c.ahead, &c.reads[i]), 0);
        }
        start_takers(&c, threads);
        join_takers(&c, threads);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(c.taken[i], 1);
        mr__read_ahead_free(c.ahead);
    }
}

static void takers_end_with_the_last_read(void **state)
{
    (void)state;
    run_on_both(drain);
}

typedef struct submitter {
    mr__read_ahead *ahead;
    mr__read *reads;
    size_t count;
    atomic_int result;
} submitter;

static void submit_all(void *arg)
{
    submitter *s = arg;
    int result = 0;
    for (size_t i = 0; i < s->count && result == 0; i++)
        result = mr__read_ahead_submit(s->ahead, &s->reads[i]);
    atomic_store(&s->result, result);
}

/* Where the file system does it, so that a read takes its time. */
static void drop_from_cache(const char *path)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* The kernel cancels what an ended thread had asked for. */
static void submit_and_end(const stage *s, mr__read_ahead_kind kind)
{
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < FILES; i++)
            drop_from_cache(s->paths[i]);
        mr__read reads[FILES], *read;
        for (size_t i = 0; i < FILES; i++)
            reads[i] = read_path(s, i);
        submitter other = {.ahead = make(s, kind, FILES), .reads = reads, .count = FILES};
        mr__thread thread;
        assert_int_equal(mr__thread_start(&thread, "submitter", submit_all, &other), 0);
        mr__thread_join(&thread);
        assert_int_equal(other.result, 0);
        for (size_t i = 0; i < FILES; i++) {
            assert_int_equal(mr__read_ahead_take(other.ahead, &read), 0);
            assert_true(is_right(s, read));
            mr__buffer_fini(&read->buffer, &s->hooks);
        }
        mr__read_ahead_free(other.ahead);
    }
}

static void a_submitter_may_end_before_its_reads(void **state)
{
    (void)state;
    run_on_both(submit_and_end);
}

static void close_on_a_submitter(const stage *s, mr__read_ahead_kind kind)
{
    mr__read reads[2] = {read_path(s, 0), read_path(s, 1)};
    submitter other = {.ahead = make(s, kind, 1), .reads = reads, .count = 2, .result = 1};
    mr__thread thread;
    assert_int_equal(mr__thread_start(&thread, "submitter", submit_all, &other), 0);
    mr__read *read;
    assert_int_equal(mr__read_ahead_take_until_closed(other.ahead, &read), 0);
    assert_ptr_equal(read, &reads[0]);
    mr__thread_join(&thread);
    assert_int_equal(other.result, 0);
    other.count = 1; // it is full already
    assert_int_equal(mr__thread_start(&thread, "submitter", submit_all, &other), 0);
    mr__read_ahead_close(other.ahead);
    mr__thread_join(&thread);
    assert_int_equal(other.result, MR_ECLOSED);
    assert_int_equal(mr__read_ahead_take(other.ahead, &read), 0);
    assert_ptr_equal(read, &reads[1]);
    assert_int_equal(mr__read_ahead_take_until_closed(other.ahead, &read), MR_ECLOSED);
    mr__read_ahead_free(other.ahead);
    for (size_t i = 0; i < 2; i++)
        mr__buffer_fini(&reads[i].buffer, &s->hooks);
}

static void closing_wakes_a_submitter(void **state)
{
    (void)state;
    run_on_both(close_on_a_submitter);
}

enum { SUBMITTERS = 4 };

/* Several submit and several take. */
static void submit_from_many(const stage *s, mr__read_ahead_kind kind)
{
    static crowd c;
    mr__thread takers[TAKERS], threads[SUBMITTERS];
    submitter submitters[SUBMITTERS];
    memset(&c, 0, sizeof c);
    c.s = s;
    c.until_closed = true;
    c.ahead = make(s, kind, SHARED_DEPTH);
    for (size_t i = 0; i < SHARED; i++)
        c.reads[i] = read_path(s, i % FILES);
    start_takers(&c, takers);
    for (size_t i = 0; i < SUBMITTERS; i++) {
        size_t share = SHARED / SUBMITTERS;
        submitters[i] = (submitter){.ahead = c.ahead, .reads = c.reads + i * share, .count = share};
        assert_int_equal(mr__thread_start(&threads[i], "submitter", submit_all, &submitters[i]), 0);
    }
    for (size_t i = 0; i < SUBMITTERS; i++) {
        mr__thread_join(&threads[i]);
        assert_int_equal(submitters[i].result, 0);
    }
    mr__read_ahead_close(c.ahead);
    join_takers(&c, takers);
    c.until_closed = false;
    take_many(&c);
    assert_int_equal(c.faults, 0);
    for (size_t i = 0; i < SHARED; i++)
        assert_int_equal(c.taken[i], 1);
    mr__read_ahead_free(c.ahead);
}

static void many_submit_while_others_take(void **state)
{
    (void)state;
    run_on_both(submit_from_many);
}

typedef struct scenario {
    const stage *s;
    mr__read_ahead_kind kind;
} scenario;

static int read_without_memory(const mr_hooks *hooks, void *arg)
{
    const scenario *c = arg;
    mr__read_ahead *ahead;
    int result = mr__read_ahead_new(hooks, c->kind, 4, &ahead);
    if (result != 0)
        return result;
    mr__read reads[4], *read;
    for (size_t i = 0; i < 4; i++) {
        reads[i] = read_path(c->s, i);
        if (i == 2)
            reads[i].path = "/proc/self/smaps";
        mr__read_ahead_submit(ahead, &reads[i]);
    }
    while (mr__read_ahead_take(ahead, &read) == 0) {
        if (read->error == ENOMEM)
            result = MR_ENOMEM;
        else if (read == &reads[2])
            assert_true(read->error == 0 && read->got > 5000);
        else
            assert_true(is_right(c->s, read));
        mr__buffer_fini(&read->buffer, hooks);
    }
    mr__read_ahead_free(ahead);
    return result;
}

static void refuse_memory(const stage *s, mr__read_ahead_kind kind)
{
    failing_run(read_without_memory, &(scenario){s, kind});
}

static void without_memory_a_read_says_so(void **state)
{
    (void)state;
    run_on_both(refuse_memory);
}

static void what_the_kernel_has_is_taken(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read_ahead *ahead = NULL, *ring = make(&s, MR__READ_AHEAD_URING, 2), *chosen = make(&s, MR__READ_AHEAD_AUTO, 2);
    mr__read_ahead *threads = make(&s, MR__READ_AHEAD_THREADS, 100);
    assert_string_equal(mr__read_ahead_name(chosen), ring != NULL ? "io_uring" : "threads");
    assert_string_equal(mr__read_ahead_name(threads), "threads");
    assert_int_equal(mr__read_ahead_new(NULL, MR__READ_AHEAD_AUTO, 0, &ahead), MR_EARGUMENT);
    assert_int_equal(mr__read_ahead_new(NULL, MR__READ_AHEAD_AUTO, SIZE_MAX / 4, &ahead), MR_ENOMEM);
    assert_null(ahead);
    mr__read_ahead_free(ring);
    mr__read_ahead_free(chosen);
    mr__read_ahead_free(threads);
    mr__read_ahead_free(NULL);
    clear_stage(&s);
}

/* From here on io_uring is refused, as containers do. False: that cannot be had here. */
static bool forbid_uring(int error)
{
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, // the number of the call
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_io_uring_setup},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)error},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    struct sock_fprog program = {4, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* 0: all well; 77: it cannot be tried. */
static int live_without_uring(const stage *s, int error)
{
    if (!forbid_uring(error))
        return 77;
    mr__read_ahead *ahead = NULL;
    if (mr__read_ahead_new(&s->hooks, MR__READ_AHEAD_URING, 2, &ahead) != MR_EUNSUPPORTED || ahead != NULL)
        return 1;
    if (mr__read_ahead_new(&s->hooks, MR__READ_AHEAD_AUTO, 2, &ahead) != 0)
        return 2;
    mr__read read = read_path(s, 1), *taken;
    bool good = strcmp(mr__read_ahead_name(ahead), "threads") == 0 && mr__read_ahead_submit(ahead, &read) == 0 &&
                mr__read_ahead_take(ahead, &taken) == 0 && is_right(s, &read);
    mr__read_ahead_free(ahead);
    return good ? 0 : 3;
}

static void where_io_uring_is_forbidden_threads_read(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const int errors[] = {EPERM, ENOSYS, EACCES};
    for (size_t i = 0; i < 3; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(live_without_uring(&s, errors[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
    }
    clear_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_files),
        cmocka_unit_test(many_ranges),
        cmocka_unit_test(errors_are_in_the_read),
        cmocka_unit_test(files_of_unknown_length),
        cmocka_unit_test(files_that_change_meanwhile),
        cmocka_unit_test(a_cut_file_has_less),
        cmocka_unit_test(short_reads_are_continued),
        cmocka_unit_test(freeing_waits_for_what_is_in_flight),
        cmocka_unit_test(one_submits_while_others_take),
        cmocka_unit_test(takers_end_with_the_last_read),
        cmocka_unit_test(a_submitter_may_end_before_its_reads),
        cmocka_unit_test(closing_wakes_a_submitter),
        cmocka_unit_test(many_submit_while_others_take),
        cmocka_unit_test(without_memory_a_read_says_so),
        cmocka_unit_test(what_the_kernel_has_is_taken),
        cmocka_unit_test(where_io_uring_is_forbidden_threads_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
