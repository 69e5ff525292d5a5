// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#define _GNU_SOURCE
#include "dataset_race.h"

#include <errno.h>
#include <millrace/system.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "dataset: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

void path_in(const options *o, const char *name, char path[PATH_NBYTES])
{
    if (snprintf(path, PATH_NBYTES, "%s/%s", o->scratch, name) >= PATH_NBYTES)
        fail("%s: too long a name", o->scratch);
}

static void usage(FILE *file)
{
    fprintf(file, "usage: dataset [OPTION...] FOLDER\n"
                  "  --rounds N      how often everyone takes a turn [5]\n"
                  "  --size MB       of JPEG files that are packed as they are: FOLDER's, repeated [2000]\n"
                  "  --l3-size MB    of those that become L3 [400]\n"
                  "  --records N     of about 100 kB, to be read at random [2000]\n"
                  "  --reads N       in each round [4000]\n"
                  "  --threads N     [all cores]\n"
                  "  --scratch DIR   where a folder is made, and removed at the end [beside this program]\n"
                  "  --millrace PATH the command [../millrace, seen from this program]\n"
                  "  --seed N        [1]\n"
                  "  --json          a JSON object instead of text\n");
}

static bool parse_number(options *o, const char *name, const char *value)
{
    if (strcmp(name, "--rounds") == 0)
        o->rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
    else if (strcmp(name, "--threads") == 0)
        o->threads = (unsigned)number_from_text(value, 1, 1024);
    else if (strcmp(name, "--size") == 0)
        o->size_nbytes = number_from_text(value, 1, 10000000) * 1000000;
    else if (strcmp(name, "--l3-size") == 0)
        o->l3_nbytes = number_from_text(value, 1, 10000000) * 1000000;
    else if (strcmp(name, "--records") == 0)
        o->records = number_from_text(value, 1, 100000000);
    else if (strcmp(name, "--reads") == 0)
        o->reads = number_from_text(value, 1, 100000000);
    else if (strcmp(name, "--seed") == 0)
        o->seed = number_from_text(value, 0, UINT64_MAX);
    else
        return false;
    return true;
}

static void parse(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(name, "--json") == 0) {
            o->json = true;
        } else if (strcmp(name, "--help") == 0) {
            usage(stdout);
            exit(0);
        } else if (strcmp(name, "--scratch") == 0 || strcmp(name, "--millrace") == 0) {
            *(name[2] == 's' ? &o->scratch : &o->millrace) = value;
            i++;
        } else if (parse_number(o, name, value)) {
            i++;
        } else if (name[0] != '-' && o->folder == NULL) {
            o->folder = name;
        } else {
            usage(stderr);
            exit(2);
        }
    }
    if (o->folder == NULL) {
        usage(stderr);
        exit(2);
    }
}

/* The folder this program is in, and "FOLDER/../millrace". */
static void find_own(options *o, char folder[PATH_NBYTES], char command[PATH_NBYTES])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_NBYTES - 32);
    if (length <= 0)
        fail("there is no /proc/self/exe");
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    snprintf(command, PATH_NBYTES, "%.4000s/../millrace", folder);
    o->scratch = folder;
    o->millrace = command;
}

static int measure(const options *o)
{
    item_set set = {.items = NULL};
    results *r = need(calloc(1, sizeof *r));
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    char path[PATH_NBYTES];
    path_in(o, "cache", path);
    setenv("XDG_CACHE_HOME", path, 1); /* the indexes of sources are ours to remove */
    set_add(&set, decoder, o->folder);
    mr_decoder_free(decoder);
    if (set.count == 0)
        fail("no images in %s", o->folder);
    measure_pack(o, &set, r);
    set_free(&set);
    measure_verify(o, r);
    measure_reading(o, r);
    measure_opening(o, r);
    if (o->json)
        print_json(o, r);
    else
        print_text(o, r);
    free(r);
    return 0;
}

/* Waits for all processes, and for a signal to end them; the exit code of the worker. */
static int supervise(pid_t worker, sigset_t *signals)
{
    int code = 1, status, signal;
    bool ended = false;
    for (;;) {
        pid_t pid = waitpid(-1, &status, ended ? 0 : WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return code;
        if (pid == worker) { /* what it left running has no use any more */
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            kill(-worker, SIGKILL);
            ended = true;
        }
        if (pid == 0 && sigwait(signals, &signal) == 0 && signal != SIGCHLD) {
            kill(-worker, SIGKILL);
            ended = true;
        }
    }
}

/*
 * The work is done by a process, and a group, of its own: whatever becomes of it, this one removes what it left. A
 * subreaper sees the end of the commands that it ran, too, so that nobody writes any more when files are removed.
 */
static int measure_apart(const options *o)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t worker = fork();
    if (worker < 0)
        fail("fork: %s", strerror(errno));
    if (worker == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        exit(measure(o));
    }
    setpgid(worker, worker);
    return supervise(worker, &signals);
}

int main(int argc, char **argv)
{
    char own[PATH_NBYTES], command[PATH_NBYTES], scratch[PATH_NBYTES];
    options o = {.rounds = 5,
                 .size_nbytes = 2000000000,
                 .l3_nbytes = 400000000,
                 .records = 2000,
                 .reads = 4000,
                 .seed = 1,
                 .threads = mr_threads_default()};
    find_own(&o, own, command);
    parse(&o, argc, argv);
    if (snprintf(scratch, sizeof scratch, "%s/dataset-XXXXXX", o.scratch) >= (int)sizeof scratch)
        fail("%s: too long a name", o.scratch);
    if (mkdtemp(scratch) == NULL)
        fail("%s: %s", scratch, strerror(errno));
    if ((o.scratch = realpath(scratch, NULL)) == NULL) /* XDG_CACHE_HOME has to be absolute */
        need(NULL);
    int code = measure_apart(&o);
    remove_files(o.scratch);
    free((void *)(uintptr_t)o.scratch);
    return code;
}
