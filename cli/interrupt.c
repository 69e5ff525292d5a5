// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // pipe2
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void interrupts_hold(interrupts *i)
{
    struct sigaction action;
    sigemptyset(&i->held);
    for (size_t n = 0; n < sizeof endings / sizeof *endings; n++) /* those that nohup has ignored stay so */
        if (sigaction(endings[n], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&i->held, endings[n]);
    pthread_sigmask(SIG_BLOCK, &i->held, &i->before);
}

bool interrupts_wait(const interrupts *i)
{
    sigset_t waiting;
    bool any = false;
    if (sigpending(&waiting) == 0)
        for (size_t n = 0; n < sizeof endings / sizeof *endings; n++)
            any = any || (sigismember(&waiting, endings[n]) == 1 && sigismember(&i->held, endings[n]) == 1 &&
                          sigismember(&i->before, endings[n]) == 0);
    return any;
}

void interrupts_release(const interrupts *i)
{
    pthread_sigmask(SIG_SETMASK, &i->before, NULL);
}

static void *wait_for_one(void *user)
{
    watcher *w = user;
    struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN}, {.fd = w->quit[0], .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    if ((fds[0].revents & POLLIN) != 0)
        w->act(w->user);
    return NULL;
}

void interrupts_watch(const interrupts *i, watcher *w, void (*act)(void *user), void *user)
{
    sigset_t mask;
    *w = (watcher){.quit = {-1, -1}, .act = act, .user = user};
    sigemptyset(&mask);
    for (size_t n = 0; n < sizeof endings / sizeof *endings; n++)
        if (sigismember(&i->held, endings[n]) == 1 && sigismember(&i->before, endings[n]) == 0)
            sigaddset(&mask, endings[n]);
    w->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK); /* never read, so that the signal stays */
    if (w->signals >= 0 && pipe2(w->quit, O_CLOEXEC) == 0)
        w->running = pthread_create(&w->thread, NULL, wait_for_one, w) == 0;
}

void interrupts_unwatch(watcher *w)
{
    if (w->quit[1] >= 0)
        close(w->quit[1]);
    if (w->running)
        pthread_join(w->thread, NULL);
    if (w->quit[0] >= 0)
        close(w->quit[0]);
    if (w->signals >= 0)
        close(w->signals);
    *w = (watcher){.signals = -1, .quit = {-1, -1}};
}
