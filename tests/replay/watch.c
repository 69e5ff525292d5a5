// SPDX-License-Identifier: Apache-2.0
/* The watchdog: a crash, a sanitizer's report or a file that takes too long says which file it was. */
#include "replay.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* A handler gets no argument, so what it needs is here. */
static char current[4096];
static unsigned seconds_each;

/* Of the sanitizers' runtime, when there is one. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void say(const char *text)
{
    size_t n = strlen(text);
    while (n != 0) {
        ssize_t done = write(STDERR_FILENO, text, n);
        if (done <= 0)
            return;
        text += done;
        n -= (size_t)done;
    }
}

static void name_file(void)
{
    if (current[0] == 0)
        return;
    say("replay: it was the file ");
    say(current);
    say("\n");
}

static void too_long(int signal_number)
{
    (void)signal_number;
    say("replay: a file takes too long\n");
    name_file();
    _exit(1);
}

static void crashed(int signal_number)
{
    name_file();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Processor time, so that a busy machine fails nothing; and, for a file that sleeps for ever, a long while. */
static void set_timers(unsigned seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(10 * seconds);
}

void watch_start(unsigned seconds)
{
    seconds_each = seconds;
    signal(SIGPROF, too_long);
    signal(SIGALRM, too_long);
    signal(SIGABRT, crashed);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(name_file);
        return; /* the sanitizer has its own handlers for the rest */
    }
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    signal(SIGFPE, crashed);
    signal(SIGILL, crashed);
}

void watch_file(const char *path)
{
    strncpy(current, path, sizeof current - 1);
    set_timers(seconds_each);
}

void watch_stop(void)
{
    set_timers(0);
    current[0] = 0;
}
