// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <stddef.h>

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
