// SPDX-License-Identifier: Apache-2.0
/* Reads that do not wait, and reads of parts that are put where they stand in the whole. */
#define _GNU_SOURCE // preadv2 and its flags
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NBYTES = 300001, LIMIT = 1 << 20 };

typedef struct stage {
    test_folder folder;
    mr_hooks hooks;
    char path[600], empty[600];
    uint8_t *bytes;
    mr__file file;
} stage;

static void set_stage(stage *s)
{
    mr__rng rng;
    mr__rng_init(&rng, 9, 0, 0, 0);
    assert_int_equal(mr__hooks_init(&s->hooks, NULL), 0);
    test_folder_init(&s->folder);
    s->bytes = malloc(NBYTES);
    for (size_t i = 0; i < NBYTES; i++)
        s->bytes[i] = (uint8_t)mr__rng_u32(&rng);
    test_folder_write(&s->folder, "file", s->bytes, NBYTES);
    test_folder_write(&s->folder, "empty", s->bytes, 0);
    test_folder_path(&s->folder, "file", s->path);
    test_folder_path(&s->folder, "empty", s->empty);
    assert_int_equal(mr__file_open(&s->file, s->path), 0);
}

static void clear_stage(stage *s)
{
    mr__file_close(&s->file);
    test_folder_fini(&s->folder);
    free(s->bytes);
}

/* Whether this file system answers without waiting. */
static bool has_nowait(const stage *s)
{
    uint8_t byte;
    struct iovec to = {&byte, 1};
    return preadv2(s->file.fd, &to, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
}

static void is_whole(const stage *s, const mr__read *read)
{
    assert_int_equal(read->error, 0);
    assert_int_equal(read->got, NBYTES);
    assert_memory_equal(read->bytes, s->bytes, NBYTES);
    assert_int_equal(read->opened.fd, -1);
}

/* As the loader does: now, or by reading ahead. */
static void read_somehow(const stage *s, mr__read *read)
{
    mr__read_ahead *ahead;
    mr__read *taken;
    if (mr__read_now(read, &s->hooks))
        return;
    assert_int_equal(mr__read_ahead_new(&s->hooks, MR__READ_AHEAD_AUTO, 1, &ahead), 0);
    assert_int_equal(mr__read_ahead_submit(ahead, read), 0);
    assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
    assert_ptr_equal(taken, read);
    mr__read_ahead_free(ahead);
}

static void what_is_in_memory_is_had_at_once(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read by_path = {.path = s.path, .nbytes = LIMIT}, by_file = {.file = &s.file, .offset = 7, .nbytes = 5000};
    bool now = mr__read_now(&by_path, &s.hooks); // it was written a moment ago
    if (has_nowait(&s)) {
        assert_true(now);
        is_whole(&s, &by_path);
        assert_int_equal(by_path.file_nbytes, NBYTES);
        assert_int_equal(by_path.file_mtime_ns, s.file.mtime_ns);
        assert_true(mr__read_now(&by_file, &s.hooks));
        assert_int_equal(by_file.got, 5000);
        assert_memory_equal(by_file.bytes, s.bytes + 7, 5000);
    } else {
        assert_false(now);
        mr__read_end(&by_path);
    }
    mr__buffer_fini(&by_path.buffer, &s.hooks);
    mr__buffer_fini(&by_file.buffer, &s.hooks);
    clear_stage(&s);
}

static void what_cannot_be_opened_is_finished(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read missing = {.path = "/nowhere/at/all", .nbytes = LIMIT}, large = {.path = s.path, .nbytes = NBYTES - 1};
    mr__read folder = {.path = s.folder.path, .nbytes = LIMIT},
             behind = {.file = &s.file, .offset = NBYTES, .nbytes = 1};
    assert_true(mr__read_now(&missing, &s.hooks));
    assert_int_equal(missing.error, ENOENT);
    assert_true(mr__read_now(&large, &s.hooks));
    assert_int_equal(large.error, EFBIG);
    assert_int_equal(large.opened.fd, -1);
    assert_true(mr__read_now(&folder, &s.hooks));
    assert_int_equal(folder.error, EISDIR);
    assert_true(mr__read_now(&behind, &s.hooks)); // nothing to read needs no waiting
    assert_int_equal(behind.error, 0);
    assert_int_equal(behind.got, 0);
    clear_stage(&s);
}

static void files_that_say_they_are_empty(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read empty = {.path = s.empty, .nbytes = LIMIT}, proc = {.path = "/proc/self/smaps", .nbytes = LIMIT};
    read_somehow(&s, &empty);
    assert_int_equal(empty.error, 0);
    assert_int_equal(empty.got, 0);
    read_somehow(&s, &proc);
    assert_int_equal(proc.error, 0);
    assert_true(proc.got > 5000);
    assert_int_equal(proc.bytes[proc.got - 1], '\n');
    mr__buffer_fini(&empty.buffer, &s.hooks);
    mr__buffer_fini(&proc.buffer, &s.hooks);
    proc = (mr__read){.path = "/proc/self/smaps", .nbytes = LIMIT, .at = 5003};
    read_somehow(&s, &proc);
    assert_int_equal(proc.error, 0);
    assert_true(proc.got > 5000 && proc.bytes == proc.buffer.bytes + 5003);
    assert_true(proc.buffer.capacity >= 5003 + proc.got);
    assert_int_equal(proc.bytes[proc.got - 1], '\n');
    mr__buffer_fini(&proc.buffer, &s.hooks);
    clear_stage(&s);
}

/* As if the kernel had given some and then said that it would have to wait: nothing is opened or read twice. */
static void reading_ahead_goes_on_from_there(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const mr__read_ahead_kind kinds[] = {MR__READ_AHEAD_THREADS, MR__READ_AHEAD_AUTO};
    for (size_t i = 0; i < 2; i++) {
        mr__read read = {.path = s.path, .nbytes = LIMIT}, *taken;
        assert_true(mr__read_begin(&read, &s.hooks));
        mr__read_piece piece = mr__read_next(&read);
        memset(piece.bytes, 0x5a, 1000);
        assert_true(mr__read_more(&read, &s.hooks, 1000));
        test_folder_write(&s.folder, "other", s.bytes, 10);
        read.path = "/nowhere/at/all";
        mr__read_ahead *ahead;
        assert_int_equal(mr__read_ahead_new(&s.hooks, kinds[i], 1, &ahead), 0);
        assert_int_equal(mr__read_ahead_submit(ahead, &read), 0);
        assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
        mr__read_ahead_free(ahead);
        for (size_t k = 0; k < 1000; k++)
            assert_int_equal(read.bytes[k], 0x5a);
        memcpy(read.bytes, s.bytes, 1000);
        is_whole(&s, &read);
        mr__buffer_fini(&read.buffer, &s.hooks);
    }
    clear_stage(&s);
}

static size_t count_open(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 200; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void a_read_that_was_left_can_be_given_up(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    size_t before = count_open();
    mr__read read = {.path = s.path, .nbytes = LIMIT}, fresh = {0};
    assert_true(mr__read_begin(&read, &s.hooks));
    assert_int_equal(count_open(), before + 1);
    mr__read_end(&read);
    mr__read_end(&read);
    mr__read_end(&fresh); // does not close descriptor 0
    assert_int_equal(count_open(), before);
    mr__buffer_fini(&read.buffer, &s.hooks);
    clear_stage(&s);
}

/* From here on preadv2 fails like this. */
static bool forbid_preadv2(int error)
{
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, // the number of the call
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_preadv2},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)error},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    struct sock_fprog program = {4, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* 0: all well; 77: it cannot be tried. */
static int live_without(const stage *s, int error)
{
    if (!forbid_preadv2(error))
        return 77;
    mr__read read = {.path = s->path, .nbytes = LIMIT}, *taken;
    if (mr__read_now(&read, &s->hooks) || !read.begun)
        return 1;
    if (read.nowait_unsupported != (error == EOPNOTSUPP || error == ENOSYS))
        return 2;
    mr__read_ahead *ahead = NULL;
    if (mr__read_ahead_new(&s->hooks, MR__READ_AHEAD_AUTO, 1, &ahead) != 0 ||
        mr__read_ahead_submit(ahead, &read) != 0 || mr__read_ahead_take(ahead, &taken) != 0)
        return 3;
    mr__read_ahead_free(ahead);
    if (read.error != 0 || read.got != NBYTES || memcmp(read.bytes, s->bytes, NBYTES) != 0)
        return 4;
    if (read.nowait_unsupported && (mr__read_now(&read, &s->hooks) || read.begun))
        return 5; // it does not even open it
    return 0;
}

static void where_the_kernel_cannot_it_is_read_ahead(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const int errors[] = {EAGAIN, EOPNOTSUPP, ENOSYS, EIO};
    for (size_t i = 0; i < 4; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(live_without(&s, errors[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) != 77)
            assert_int_equal(WEXITSTATUS(status), 0);
    }
    clear_stage(&s);
}

/* A head, then a range, into one buffer: by file and by path, with the room given at first or not. */
static void parts_come_to_stand_as_in_the_whole(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__rng rng;
    mr__rng_init(&rng, 3, 0, 0, 0);
    for (size_t i = 0; i < 400; i++) {
        uint64_t start = mr__rng_below(&rng, 200000);
        size_t nbytes = 1 + mr__rng_below(&rng, 100000), head = 1 + mr__rng_below(&rng, (uint32_t)nbytes);
        size_t from = head + mr__rng_below(&rng, (uint32_t)(nbytes - head + 1)), count = nbytes - from;
        mr__read read = {.room = i % 2 == 0 ? nbytes : 0, .offset = start, .nbytes = head, .part = true};
        read.path = i % 3 == 0 ? s.path : NULL;
        read.file = &s.file;
        read_somehow(&s, &read);
        assert_int_equal(read.got, head);
        uint8_t *first = read.buffer.bytes;
        assert_int_equal(read.buffer.capacity, read.room != 0 ? nbytes : head);
        read.at = from;
        read.offset = start + from;
        read.nbytes = count;
        read_somehow(&s, &read);
        assert_int_equal(read.error, 0);
        assert_int_equal(read.got, count);
        assert_int_equal(read.file_nbytes, read.path != NULL ? NBYTES : 0);
        assert_ptr_equal(read.bytes, read.buffer.bytes + from);
        assert_true(read.room == 0 || read.buffer.bytes == first);
        assert_memory_equal(read.buffer.bytes, s.bytes + start, head);
        assert_memory_equal(read.buffer.bytes + from, s.bytes + start + from, count);
        mr__buffer_fini(&read.buffer, &s.hooks);
    }
    clear_stage(&s);
}

static void a_part_is_no_more_than_there_is(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read read = {.path = s.path, .part = true, .offset = NBYTES - 10, .nbytes = SIZE_MAX};
    read_somehow(&s, &read);
    assert_int_equal(read.error, 0);
    assert_int_equal(read.got, 10);
    assert_int_equal(read.buffer.capacity, 10);
    assert_memory_equal(read.bytes, s.bytes + NBYTES - 10, 10);
    read.offset = UINT64_MAX;
    read_somehow(&s, &read);
    assert_int_equal(read.error, 0);
    assert_int_equal(read.got, 0);
    mr__read far = {.file = &s.file, .nbytes = 10, .at = SIZE_MAX - 5};
    assert_true(mr__read_now(&far, &s.hooks));
    assert_int_equal(far.error, ENOMEM);
    mr__buffer_fini(&read.buffer, &s.hooks);
    clear_stage(&s);
}

static int read_without_memory(const mr_hooks *hooks, void *arg)
{
    const stage *s = arg;
    mr__read read = {.file = &s->file, .nbytes = 100};
    int result = 0;
    for (size_t i = 0; i < 3 && result == 0; i++) {
        if (!mr__read_now(&read, hooks))
            mr__read_wait(&read, hooks);
        result = read.error == ENOMEM ? MR_ENOMEM : 0;
        if (result == 0) {
            assert_memory_equal(read.buffer.bytes, s->bytes, 100 * (i + 1));
            assert_int_equal(read.got, 100);
        }
        read.at += 100;
        read.offset += 100;
    }
    mr__buffer_fini(&read.buffer, hooks);
    return result;
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    failing_run(read_without_memory, &s);
    clear_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_memory_is_had_at_once),
        cmocka_unit_test(what_cannot_be_opened_is_finished),
        cmocka_unit_test(files_that_say_they_are_empty),
        cmocka_unit_test(reading_ahead_goes_on_from_there),
        cmocka_unit_test(a_read_that_was_left_can_be_given_up),
        cmocka_unit_test(where_the_kernel_cannot_it_is_read_ahead),
        cmocka_unit_test(parts_come_to_stand_as_in_the_whole),
        cmocka_unit_test(a_part_is_no_more_than_there_is),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
