// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "dataset_race.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void fail_command(const char *log, const char *command, int status)
{
    char line[512];
    FILE *file = fopen(log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        fputs(line, stderr);
    if (WIFEXITED(status))
        fail("%s ended with %d", command, WEXITSTATUS(status));
    fail("%s was ended by signal %d", command, WTERMSIG(status));
}

void run_command(const options *o, const char *const *arguments)
{
    char log[PATH_NBYTES];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    path_in(o, "log", log);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL, (char **)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        fail("%s: %s", arguments[0], strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status != 0)
        fail_command(log, arguments[0], status);
}

static double seconds_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

double core_s(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(&own) + seconds_of(&children);
}

contest *contest_add(results *r, const char *name, double aim)
{
    contest *c = &r->contests[r->contest_count++];
    c->name = name;
    c->aim = aim;
    return c;
}

runner *runner_add(contest *c, const char *name)
{
    runner *made = &c->runners[c->count++];
    made->name = name;
    return made;
}
