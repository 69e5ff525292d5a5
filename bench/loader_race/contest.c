// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "loader_race.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void take_turn(const options *o, const contest *c, const racer *r, figures *f)
{
    static void (*const turns[])(const options *, const contest *, const racer *, figures *) = {
        [RACER_LOOP] = turn_loop, [RACER_LOADER] = turn_loader, [RACER_PREPARERS] = turn_preparers};
    turns[r->kind](o, c, r, f);
}

/* In a process of its own: nobody finds memory, threads or pages that another left. */
static figures turn_apart(const options *o, const contest *c, const racer *r)
{
    figures f = {0};
    int pipes[2], status = 1;
    fflush(NULL);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        fail("no pipe can be made");
    pid_t child = fork();
    if (child == 0) {
        take_turn(o, c, r, &f);
        _exit(write(pipes[1], &f, sizeof f) == (ssize_t)sizeof f ? 0 : 1);
    }
    close(pipes[1]);
    bool got = child > 0 && read(pipes[0], &f, sizeof f) == (ssize_t)sizeof f;
    close(pipes[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!got || status != 0)
        fail("%s: %s did not come to its end", c->title, r->name);
    return f;
}

/* What was not prepared takes no part; who remains has its index made before anything is timed. */
static void look_around(const options *o, contest *c)
{
    char path[PATH_NBYTES];
    for (size_t i = 0; i < c->count; i++) {
        racer *r = &c->racers[i];
        path_in(o, r->path, path);
        r->absent = access(path, R_OK) != 0;
        if (r->absent)
            fprintf(stderr, "loader: %s is not there: %s takes no part\n", path, r->name);
        else
            turn_apart(o, c, r);
    }
}

void contest_run(const options *o, contest *c)
{
    look_around(o, c);
    for (unsigned round = 0; round < o->rounds; round++)
        for (size_t i = 0; i < c->count; i++) {
            racer *r = &c->racers[(i + round) % c->count];
            if (!r->absent)
                r->round[round] = turn_apart(o, c, r);
        }
}
