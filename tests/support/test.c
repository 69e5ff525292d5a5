// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void test_contains(const char *text, const char *part, const char *file, int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    print_error("'%s' is not in '%s'\n", part, text != NULL ? text : "(NULL)");
    _fail(file, line);
}

static bool is_asked(const char *name)
{
    const char *asked = getenv(name);
    return asked != NULL && asked[0] != '\0' && strcmp(asked, "0") != 0;
}

bool test_quick(void)
{
    return is_asked("MILLRACE_TEST_QUICK");
}

bool test_long(void)
{
    return is_asked("MILLRACE_LONG");
}

enum { NOT_STARTED = 113 };

bool test_again(const char *argument, char *said, size_t most)
{
    int ends[2], status = 0;
    size_t nbytes = 0;
    ssize_t got;
    if (getenv("MILLRACE_TEST_AGAIN") != NULL)
        fail_msg("a program that was started again starts itself again: it does not know its argument");
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setenv("MILLRACE_TEST_AGAIN", argument, 1);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execl("/proc/self/exe", "test", argument, (char *)NULL);
        _exit(NOT_STARTED);
    }
    (void)close(ends[1]);
    while (nbytes < most - 1 && (got = read(ends[0], said + nbytes, most - 1 - nbytes)) > 0)
        nbytes += (size_t)got;
    said[nbytes] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
        skip();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
