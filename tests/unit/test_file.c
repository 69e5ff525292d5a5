// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/rng.h"
#include "failing.h"
#include "files.h"
#include "source/file.h"

#include <errno.h>
#include <fcntl.h>
#include <millrace/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NBYTES = 300000 };

typedef struct stage {
    test_folder folder;
    char path[512];
    uint8_t *bytes;
    mr__file file;
    mr_hooks hooks;
} stage;

static void set_stage(stage *s)
{
    mr__rng rng;
    mr__rng_init(&rng, 3, 0, 0, 0);
    s->bytes = malloc(NBYTES);
    for (size_t i = 0; i < NBYTES; i++)
        s->bytes[i] = (uint8_t)mr__rng_u32(&rng);
    test_folder_init(&s->folder);
    test_folder_write(&s->folder, "file", s->bytes, NBYTES);
    test_folder_path(&s->folder, "file", s->path);
    assert_int_equal(mr__file_open(&s->file, s->path), 0);
    assert_int_equal(s->file.nbytes, NBYTES);
    assert_int_equal(mr__hooks_init(&s->hooks, NULL), 0);
}

static void clear_stage(stage *s)
{
    mr__file_close(&s->file);
    assert_int_equal(s->file.fd, -1);
    mr__file_close(&s->file); // closed already
    test_folder_fini(&s->folder);
    free(s->bytes);
}

static size_t what_is_there(size_t nbytes, uint64_t offset, size_t wanted)
{
    size_t left = offset < nbytes ? nbytes - (size_t)offset : 0;
    return wanted < left ? wanted : left;
}

/* Mostly forward in small steps, as a reader of headers goes; sometimes anywhere, for anything, and past the end. */
static void a_window_is_the_file(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__window window = {.file = &s.file, .hooks = &s.hooks};
    mr__rng rng;
    mr__rng_init(&rng, 4, 0, 0, 0);
    uint64_t at = 0;
    for (size_t round = 0; round < 5000; round++) {
        uint32_t kind = mr__rng_below(&rng, 20);
        if (kind == 0)
            at = mr__rng_below(&rng, NBYTES + 1000);
        size_t wanted = mr__rng_below(&rng, kind == 1 ? 200000 : 1500), got = SIZE_MAX;
        const uint8_t *seen = mr__window_get(&window, at, wanted, &got);
        assert_non_null(seen);
        assert_int_equal(got, what_is_there(NBYTES, at, wanted));
        assert_memory_equal(seen, s.bytes + (at < NBYTES ? at : 0), got);
        at += mr__rng_below(&rng, 3000);
        if (at > NBYTES + 5000)
            at = 0;
    }
    static const uint64_t far[] = {NBYTES, NBYTES + 1, INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        size_t got = SIZE_MAX;
        assert_non_null(mr__window_get(&window, far[i], SIZE_MAX, &got));
        assert_int_equal(got, 0);
    }
    mr__window_fini(&window);
    clear_stage(&s);
}

/* What is asked for is memory only as far as the file has it. */
static void a_window_takes_no_more_than_the_file_has(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    failing_begin(0, false);
    s.hooks = failing_hooks();
    mr__window window = {.file = &s.file, .hooks = &s.hooks};
    size_t got;
    assert_non_null(mr__window_get(&window, 10, SIZE_MAX, &got));
    assert_int_equal(got, NBYTES - 10);
    assert_memory_equal(mr__window_get(&window, 10, SIZE_MAX, &got), s.bytes + 10, got);
    assert_true(failing_now().peak_nbytes <= NBYTES);
    mr__window_fini(&window);
    assert_int_equal(failing_end().live_blocks, 0);
    clear_stage(&s);
}

static void a_file_that_is_cut_has_less(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__window window = {.file = &s.file, .hooks = &s.hooks};
    size_t got;
    assert_non_null(mr__window_get(&window, 0, 100, &got));
    assert_int_equal(truncate(s.path, 200000), 0);
    const uint8_t *seen = mr__window_get(&window, 199000, 5000, &got);
    assert_non_null(seen);
    assert_int_equal(got, 1000);
    assert_memory_equal(seen, s.bytes + 199000, 1000);
    assert_non_null(mr__window_get(&window, 250000, 10, &got));
    assert_int_equal(got, 0);
    // One that grew is as long as it was.
    assert_int_equal(truncate(s.path, 2 * NBYTES), 0);
    assert_non_null(mr__window_get(&window, NBYTES - 5, 10, &got));
    assert_int_equal(got, 5);
    assert_non_null(mr__window_get(&window, NBYTES, 10, &got));
    assert_int_equal(got, 0);
    mr__window_fini(&window);
    clear_stage(&s);
}

static void reads_say_how_much_there_was(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    uint8_t bytes[100];
    size_t got = 7;
    assert_int_equal(mr__file_read(&s.file, NBYTES - 30, bytes, 100, &got), 0);
    assert_int_equal(got, 30);
    assert_memory_equal(bytes, s.bytes + NBYTES - 30, 30);
    assert_int_equal(mr__file_read(&s.file, UINT64_MAX, bytes, 100, &got), 0);
    assert_int_equal(got, 0);
    got = 7;
    assert_int_equal(mr__file_read(&(mr__file){.fd = -1, .nbytes = 5}, 0, bytes, 1, &got), EBADF);
    assert_int_equal(got, 7); // written on success only
    clear_stage(&s);
}

static void a_read_that_fails_is_told(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    mr__file broken = {.fd = -1, .nbytes = NBYTES};
    mr__window window = {.file = &broken, .hooks = &s.hooks};
    size_t got = 7;
    assert_null(mr__window_get(&window, 0, 10, &got));
    assert_int_equal(window.error, EBADF);
    assert_int_equal(got, 7);
    broken = s.file; // it works again, and so does the window
    assert_memory_equal(mr__window_get(&window, 5, 10, &got), s.bytes + 5, 10);
    broken.fd = -1; // what was read before is not taken for what could not be
    assert_null(mr__window_get(&window, 200000, 10, &got));
    assert_null(mr__window_get(&window, 200000, 10, &got));
    broken = s.file;
    assert_memory_equal(mr__window_get(&window, 5, 10, &got), s.bytes + 5, 10);
    mr__window_fini(&window);
    clear_stage(&s);
}

static int look_through(const mr_hooks *hooks, void *arg)
{
    const stage *s = arg;
    mr__window window = {.file = &s->file, .hooks = hooks};
    static const size_t wanted[] = {10, 100000, 200000, 20};
    int result = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t got;
        const uint8_t *seen = mr__window_get(&window, i * 1000, wanted[i], &got);
        if (seen == NULL) {
            assert_int_equal(window.error, MR__WINDOW_NOMEM);
            result = MR_ENOMEM;
            continue; // the next may fit
        }
        assert_int_equal(got, wanted[i]);
        assert_memory_equal(seen, s->bytes + i * 1000, got);
    }
    mr__window_fini(&window);
    return result;
}

static void without_memory_a_window_says_so(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    failing_run(look_through, &s);
    clear_stage(&s);
}

static void only_what_has_places_is_opened(void **state)
{
    (void)state;
    test_folder folder;
    char path[512];
    mr__file file;
    test_folder_init(&folder);
    assert_int_equal(mr__file_open(&file, test_folder_path(&folder, "none", path)), ENOENT);
    assert_int_equal(file.fd, -1);
    assert_int_equal(mr__file_open(&file, folder.path), EISDIR);
    assert_int_equal(file.fd, -1);
    assert_int_equal(mkfifo(test_folder_path(&folder, "pipe", path), 0600), 0);
    assert_int_equal(mr__file_open(&file, path), ESPIPE); // and not waited for: nobody writes to it
    assert_int_equal(file.fd, -1);
    assert_int_equal(mr__file_open(&file, "/dev/zero"), ESPIPE);
    assert_int_equal(file.fd, -1);
    test_folder_write(&folder, "empty", "", 0);
    assert_int_equal(mr__file_open(&file, test_folder_path(&folder, "empty", path)), 0);
    assert_int_equal(file.nbytes, 0);
    assert_int_equal(fcntl(file.fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    mr__file_close(&file);
    test_folder_fini(&folder);
}

static void times_are_told_apart_however_far_they_are(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const time_t seconds[] = {0, 1, -1, 1700000000, 9223372036, 9223372037, 15032385535, 99999999999};
    int64_t last = 7;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        const struct timespec times[2] = {{seconds[i], 5}, {seconds[i], 5}};
        struct stat status;
        if (utimensat(AT_FDCWD, s.path, times, 0) != 0)
            continue; // a file system that does not have it
        assert_int_equal(stat(s.path, &status), 0);
        mr__file file;
        assert_int_equal(mr__file_open(&file, s.path), 0);
        if (status.st_mtim.tv_sec == seconds[i])
            assert_true(file.mtime_ns != last);
        if (i < 4)
            assert_int_equal(file.mtime_ns, (int64_t)seconds[i] * 1000000000 + status.st_mtim.tv_nsec);
        last = file.mtime_ns;
        mr__file_close(&file);
    }
    clear_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_the_file),           cmocka_unit_test(a_window_takes_no_more_than_the_file_has),
        cmocka_unit_test(a_file_that_is_cut_has_less),    cmocka_unit_test(reads_say_how_much_there_was),
        cmocka_unit_test(a_read_that_fails_is_told),      cmocka_unit_test(without_memory_a_window_says_so),
        cmocka_unit_test(only_what_has_places_is_opened), cmocka_unit_test(times_are_told_apart_however_far_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
