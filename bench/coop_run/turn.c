// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "coop_run.h"

#include <dirent.h>
#include <errno.h>
#include <millrace/loader.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOST_CORE = 0, DEVICE_CORE = 1, BOTH_CORES = -1 };

/* --- where threads run --- */

static bool keep_on(pid_t thread, int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core == BOTH_CORES || core == HOST_CORE)
        CPU_SET(HOST_CORE, &set);
    if (core == BOTH_CORES || core == DEVICE_CORE)
        CPU_SET(DEVICE_CORE, &set);
    return sched_setaffinity(thread, sizeof set, &set) == 0;
}

static void name_of(pid_t thread, char *name, size_t nbytes)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)thread);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(name, (int)nbytes, file) == NULL)
        name[0] = 0;
    if (file != NULL)
        (void)fclose(file);
}

/* The consumer may be on either; threads of the host's pool have a name; all others are the device's, or PoCL's. */
static void place_threads(turn_result *r)
{
    DIR *folder = opendir("/proc/self/task");
    r->on_host = r->on_device = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        pid_t thread = (pid_t)atoi(entry->d_name);
        char name[64];
        if (thread <= 0 || (thread == getpid() && keep_on(thread, BOTH_CORES)))
            continue;
        name_of(thread, name, sizeof name);
        bool host = strncmp(name, "mr-cpu", 6) == 0;
        if (!keep_on(thread, host ? HOST_CORE : DEVICE_CORE))
            continue; // it has ended
        r->on_host += host;
        r->on_device += !host;
    }
    if (folder != NULL)
        (void)closedir(folder);
}

/* --- a turn --- */

typedef struct feeding {
    mr_dataset *dataset;
    mr_recipe *recipe;
    mr_loader *loader;
    turn_result *result;
} feeding;

static bool failed(feeding *f, const char *what, const char *why)
{
    (void)snprintf(f->result->failed, sizeof f->result->failed, "%s: %s", what, why);
    return false;
}

static bool open_loader(feeding *f, const options *o, const contest *c, who w)
{
    const char *paths[] = {o->dataset};
    char detail[512] = "", both[64];
    (void)snprintf(both, sizeof both, "cpu,%s", o->device);
    mr_loader_options how = {.struct_size = sizeof how,
                             .batch = o->batch,
                             .seed = o->seed,
                             .epochs = 1000000,
                             .has_rank = true,
                             .world = 1,
                             .drop_last = true,
                             .form = c->form,
                             .threads = 1,
                             .device = w == HOST_ALONE     ? "cpu"
                                       : w == DEVICE_ALONE ? o->device
                                                           : both,
                             .policy = w >= AUTO ? who_names[w] : NULL};
    if (mr_dataset_new(NULL, &f->dataset) != 0 || mr_recipe_new(NULL, &f->recipe) != 0)
        return failed(f, "memory", "there is none");
    if (mr_dataset_open(f->dataset, paths, 1) != 0)
        return failed(f, o->dataset, mr_dataset_detail(f->dataset));
    if (mr_recipe_parse(f->recipe, c->recipe) != 0)
        return failed(f, c->recipe, mr_recipe_detail(f->recipe));
    int code = mr_loader_new(f->dataset, f->recipe, &how, &f->loader, detail, sizeof detail);
    f->result->absent = code == MR_EUNSUPPORTED;
    return code == 0 || failed(f, "a loader", detail);
}

static uint64_t take_batch(feeding *f)
{
    mr_batch *batch = NULL;
    if (mr_loader_next(f->loader, &batch) != 0 || batch == NULL) {
        (void)failed(f, "a batch", mr_loader_detail(f->loader));
        return 0;
    }
    uint64_t count = batch->count;
    mr_batch_release(batch);
    return count;
}

/* Samples so far: of all, and of the device. */
static bool look(feeding *f, who w, uint64_t *all, uint64_t *device)
{
    mr_loader_stats stats = {.struct_size = sizeof stats};
    if (mr_loader_get_stats(f->loader, &stats) != 0)
        return failed(f, "the stats", "there are none");
    *all = stats.samples;
    *device = w == DEVICE_ALONE ? stats.samples : 0;
    for (uint32_t i = 0; w >= AUTO && i < stats.device_count; i++) {
        const mr_device_stats *d = &stats.devices[i];
        if (strncmp(d->name, "opencl", 6) != 0)
            continue;
        *device = d->samples;
        f->result->aside = d->failures;
        (void)snprintf(f->result->mishap, sizeof f->result->mishap, "%s", d->mishap != NULL ? d->mishap : "");
    }
    return true;
}

/* `ready` is told when it is warm, and `go` waited for: two processes measure in the same seconds. */
static bool measure(feeding *f, const options *o, who w, int ready, int go)
{
    uint64_t before[2], after[2], samples = 0;
    char byte = 0;
    for (unsigned i = 0; i < o->warm; i++)
        if (take_batch(f) == 0)
            return false;
    if (w >= AUTO)
        place_threads(f->result); // PoCL's are all there by now
    for (unsigned i = 0; i < o->warm; i++)
        if (take_batch(f) == 0)
            return false;
    if (ready >= 0 && (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1))
        return failed(f, "waiting", "the other one is gone");
    if (!look(f, w, &before[0], &before[1]))
        return false;
    double begun = wall_ns(), now = begun;
    while (now - begun < o->seconds * 1e9) {
        uint64_t taken = take_batch(f);
        if (taken == 0)
            return false;
        samples += taken;
        now = wall_ns();
    }
    f->result->rate = (double)samples / ((now - begun) / 1e9);
    if (!look(f, w, &after[0], &after[1]))
        return false;
    f->result->share = after[0] != before[0] ? (double)(after[1] - before[1]) / (double)(after[0] - before[0]) : 0;
    return true;
}

/* The process ends with the turn, so that nothing is freed but the loader. */
static _Noreturn void child(const options *o, const contest *c, who w, int to, int ready, int go)
{
    turn_result result = {0};
    feeding f = {.result = &result};
    // Threads inherit it: alone, all are on one core; together, PoCL's are where the device is from the beginning on.
    bool kept = keep_on(0, w == HOST_ALONE ? HOST_CORE : DEVICE_CORE);
    (void)setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
    if (!kept)
        (void)failed(&f, "a core", strerror(errno));
    else if (open_loader(&f, o, c, w) && measure(&f, o, w, ready, go))
        mr_loader_free(f.loader);
    _exit(write(to, &result, sizeof result) == sizeof result ? 0 : 1);
}

typedef struct started {
    pid_t process;
    int from, ready, go;
} started;

static started start(const options *o, const contest *c, who w, bool waits)
{
    int result[2], ready[2] = {-1, -1}, go[2] = {-1, -1};
    (void)fflush(stdout);
    if (pipe(result) != 0 || (waits && (pipe(ready) != 0 || pipe(go) != 0)))
        fail("no pipe: %s", strerror(errno));
    pid_t process = fork();
    if (process < 0)
        fail("no process: %s", strerror(errno));
    if (process == 0)
        child(o, c, w, result[1], ready[1], go[0]);
    (void)close(result[1]);
    if (waits) {
        (void)close(ready[1]);
        (void)close(go[0]);
    }
    return (started){process, result[0], ready[0], go[1]};
}

static turn_result finish(started s)
{
    turn_result r = {0};
    if (read(s.from, &r, sizeof r) != (ssize_t)sizeof r)
        (void)snprintf(r.failed, sizeof r.failed, "its process ended early");
    (void)waitpid(s.process, NULL, 0);
    (void)close(s.from);
    if (s.ready >= 0) {
        (void)close(s.ready);
        (void)close(s.go);
    }
    return r;
}

turn_result turn_run(const options *o, const contest *c, who w)
{
    char byte = 0;
    if (w != APART)
        return finish(start(o, c, w, false));
    started host = start(o, c, HOST_ALONE, true), device = start(o, c, DEVICE_ALONE, true);
    bool both = read(host.ready, &byte, 1) == 1 && read(device.ready, &byte, 1) == 1;
    if (!both || write(host.go, &byte, 1) != 1 || write(device.go, &byte, 1) != 1) {
        (void)close(host.go); // whoever waits sees it
        (void)close(device.go);
        host.go = device.go = -1;
    }
    turn_result a = finish(host), b = finish(device);
    if (a.failed[0] == 0 && b.failed[0] != 0)
        a = b;
    a.share = a.rate + b.rate > 0 ? b.rate / (a.rate + b.rate) : 0;
    a.rate += b.rate;
    return a;
}
