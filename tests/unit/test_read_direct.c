// SPDX-License-Identifier: Apache-2.0
/* Reads past the page cache, and where the file system refuses them: the same bytes in the same place. */
#define _GNU_SOURCE // O_DIRECT
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
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NBYTES = 300001, BLOCK = MR__FILE_BLOCK, LIMIT = 1 << 20 };

typedef struct stage {
    test_folder folder;
    mr_hooks hooks;
    char path[600], other[600];
    uint8_t *bytes;
    mr__file file;
    bool supported;
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
    test_folder_write(&s->folder, "other", s->bytes + 1, NBYTES - 1);
    test_folder_path(&s->folder, "file", s->path);
    test_folder_path(&s->folder, "other", s->other);
    assert_int_equal(mr__file_open(&s->file, s->path), 0);
    s->supported = mr__file_set_direct(&s->file, true) == 0;
    assert_int_equal(mr__file_set_direct(&s->file, false), 0);
    if (!s->supported)
        print_message("this file system has no direct reads\n");
}

static void clear_stage(stage *s)
{
    mr__file_close(&s->file);
    test_folder_fini(&s->folder);
    free(s->bytes);
}

static void read_ahead(const mr_hooks *hooks, mr__read_ahead_kind kind, mr__read *read)
{
    mr__read_ahead *ahead;
    mr__read *taken;
    assert_false(mr__read_now(read, hooks)); // it would wait
    if (mr__read_ahead_new(hooks, kind, 1, &ahead) != 0) {
        assert_int_equal(kind, MR__READ_AHEAD_URING);
        assert_int_equal(mr__read_ahead_new(hooks, MR__READ_AHEAD_THREADS, 1, &ahead), 0);
    }
    assert_int_equal(mr__read_ahead_submit(ahead, read), 0);
    assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
    assert_ptr_equal(taken, read);
    mr__read_ahead_free(ahead);
}

static void whole_files(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const mr__read_ahead_kind kinds[] = {MR__READ_AHEAD_THREADS, MR__READ_AHEAD_URING};
    static const size_t lengths[] = {NBYTES, 1, BLOCK - 1, BLOCK, BLOCK + 1, 7 * BLOCK};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 2; k++) {
            test_folder_write(&s.folder, "other", s.bytes, lengths[i]);
            mr__read read = {.path = s.other, .nbytes = LIMIT, .direct = true};
            read_ahead(&s.hooks, kinds[k], &read);
            assert_int_equal(read.error, 0);
            assert_int_equal(read.got, lengths[i]);
            assert_int_equal(read.file_nbytes, lengths[i]);
            assert_memory_equal(read.bytes, s.bytes, lengths[i]);
            assert_int_equal(read.direct_refused, !s.supported);
            assert_int_equal(read.opened.fd, -1);
            mr__buffer_fini(&read.buffer, &s.hooks);
        }
    clear_stage(&s);
}

static void files_that_say_they_are_empty(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__read read = {.path = "/proc/self/smaps", .nbytes = LIMIT, .direct = true, .at = 77};
    read_ahead(&s.hooks, MR__READ_AHEAD_THREADS, &read);
    assert_int_equal(read.error, 0);
    assert_true(read.got > 5000 && read.direct_refused);
    assert_int_equal(read.bytes[read.got - 1], '\n');
    mr__buffer_fini(&read.buffer, &s.hooks);
    clear_stage(&s);
}

/* A head, then a range of a record somewhere in the file. */
static void read_in_parts(const stage *s, mr__rng *rng, size_t round)
{
    uint64_t start = mr__rng_below(rng, 200000);
    size_t nbytes = 1 + mr__rng_below(rng, 100000), head = 1 + mr__rng_below(rng, (uint32_t)nbytes);
    size_t from = head + mr__rng_below(rng, (uint32_t)(nbytes - head + 1)), count = nbytes - from;
    mr__read read = {
        .room = round % 2 == 0 ? nbytes : 0, .offset = start, .nbytes = head, .part = true, .direct = true};
    read.path = round % 3 == 0 ? s->path : NULL;
    read.file = &s->file;
    read.file_path = s->path;
    mr__read_ahead_kind kind = round % 5 == 0 ? MR__READ_AHEAD_URING : MR__READ_AHEAD_THREADS;
    read_ahead(&s->hooks, kind, &read);
    assert_int_equal(read.got, head);
    assert_memory_equal(read.bytes, s->bytes + start, head);
    const uint8_t *first = read.whole;
    read.at = from;
    read.offset = start + from;
    read.nbytes = count;
    read_ahead(&s->hooks, kind, &read);
    assert_int_equal(read.error, 0);
    assert_int_equal(read.got, count);
    assert_ptr_equal(read.bytes, read.whole + from);
    assert_true(read.room == 0 || read.whole == first);
    assert_memory_equal(read.whole, s->bytes + start, head);
    assert_memory_equal(read.bytes, s->bytes + start + from, count);
    if (count != 0)
        assert_int_equal(read.direct_refused, !s->supported);
    mr__buffer_fini(&read.buffer, &s->hooks);
}

static void parts_come_to_stand_as_in_the_whole(void **state)
{
    (void)state;
    stage s;
    mr__rng rng;
    set_stage(&s);
    mr__rng_init(&rng, 3, 0, 0, 0);
    for (size_t i = 0; i < 200; i++)
        read_in_parts(&s, &rng, i);
    clear_stage(&s);
}

/* Each step, with short reads as a kernel may give them, and a refusal when it comes to reading. */
static void step_by_step(void **state)
{
    (void)state;
    stage s;
    mr__rng rng;
    set_stage(&s);
    mr__rng_init(&rng, 4, 0, 0, 0);
    for (size_t i = 0; i < 300; i++) {
        mr__read read = {.file = &s.file, .file_path = s.path, .direct = true};
        read.offset = mr__rng_below(&rng, NBYTES);
        read.nbytes = 1 + mr__rng_below(&rng, 50000);
        read.at = mr__rng_below(&rng, 10000);
        size_t wanted = read.nbytes < NBYTES - read.offset ? read.nbytes : (size_t)(NBYTES - read.offset);
        bool more = mr__read_begin(&read, &s.hooks);
        if (s.supported && i % 3 == 0) {
            more = mr__read_more(&read, &s.hooks, -EINVAL);
            assert_true(more);
        }
        while (more) {
            mr__read_piece piece = mr__read_next(&read);
            bool direct = (fcntl(piece.fd, F_GETFL) & O_DIRECT) != 0;
            assert_int_equal(direct, read.in_blocks);
            if (direct)
                assert_true((piece.nbytes | piece.offset | (uintptr_t)piece.bytes) % BLOCK == 0);
            assert_true(piece.bytes >= read.buffer.bytes &&
                        piece.bytes + piece.nbytes <= read.buffer.bytes + read.buffer.capacity);
            ssize_t got = pread(piece.fd, piece.bytes, piece.nbytes, (off_t)piece.offset);
            if (i % 2 == 0 && got > 1)
                got = 1 + (ssize_t)mr__rng_below(&rng, (uint32_t)got);
            more = mr__read_more(&read, &s.hooks, got);
        }
        mr__read_end(&read);
        assert_int_equal(read.got, wanted);
        assert_memory_equal(read.bytes, s.bytes + read.offset, wanted);
        assert_int_equal(read.direct_refused, !s.supported || i % 3 == 0);
        mr__buffer_fini(&read.buffer, &s.hooks);
    }
    clear_stage(&s);
}

/* A path that leads to another file by now, or to none: what was opened is read. */
static void what_was_opened_is_read(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    const char *const paths[] = {s.other, "/nowhere/at/all", NULL};
    for (size_t i = 0; i < 3; i++) {
        mr__read read = {.file = &s.file, .file_path = paths[i], .offset = 5, .nbytes = 9000, .direct = true};
        read_ahead(&s.hooks, MR__READ_AHEAD_AUTO, &read);
        assert_int_equal(read.error, 0);
        assert_int_equal(read.got, 9000);
        assert_memory_equal(read.bytes, s.bytes + 5, 9000);
        assert_true(read.direct_refused);
        mr__buffer_fini(&read.buffer, &s.hooks);
    }
    mr__read missing = {.path = "/nowhere/at/all", .nbytes = LIMIT, .direct = true};
    read_ahead(&s.hooks, MR__READ_AHEAD_AUTO, &missing);
    assert_int_equal(missing.error, ENOENT);
    clear_stage(&s);
}

/* From here on fcntl refuses. */
static bool forbid_direct(void)
{
    struct sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, // the number of the call
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_fcntl},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 32}, // its third argument, where bytes go from the lowest up
        {BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_DIRECT},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EINVAL},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    struct sock_fprog program = {6, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int live_without(const stage *s)
{
    if (!forbid_direct())
        return 77;
    mr__read read = {.path = s->path, .nbytes = LIMIT, .direct = true};
    if (!mr__read_begin(&read, &s->hooks))
        return 1;
    mr__read_rest(&read, &s->hooks);
    bool right = read.error == 0 && read.got == NBYTES && memcmp(read.bytes, s->bytes, NBYTES) == 0;
    return !right ? 2 : !read.direct_refused ? 3 : 0;
}

static void where_it_is_refused_it_is_read_as_ever(void **state)
{
    (void)state;
    stage s;
    int status;
    set_stage(&s);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(live_without(&s));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 77)
        assert_int_equal(WEXITSTATUS(status), 0);
    clear_stage(&s);
}

static int read_without_memory(const mr_hooks *hooks, void *arg)
{
    const stage *s = arg;
    mr__read read = {.file = &s->file, .file_path = s->path, .nbytes = 20000, .direct = true};
    int result = 0;
    for (size_t i = 0; i < 4 && result == 0; i++) {
        if (mr__read_begin(&read, hooks))
            mr__read_rest(&read, hooks);
        else
            mr__read_end(&read);
        result = read.error == ENOMEM ? MR_ENOMEM : 0;
        if (result == 0)
            assert_memory_equal(read.whole, s->bytes, read.at + 20000);
        read.at += 20000; // the buffer is moved each time
        read.offset += 20000;
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
        cmocka_unit_test(whole_files),
        cmocka_unit_test(files_that_say_they_are_empty),
        cmocka_unit_test(parts_come_to_stand_as_in_the_whole),
        cmocka_unit_test(step_by_step),
        cmocka_unit_test(what_was_opened_is_read),
        cmocka_unit_test(where_it_is_refused_it_is_read_as_ever),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
