// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // sched_setaffinity
#include "lend_run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DETAIL_NBYTES = 512, GAPS_MAX = 65536 };

/* What both ranks and who started them see. */
typedef struct stage {
    pthread_barrier_t barrier;
    double ready_ns[RANKS][STEPS_MAX];
    double began_ns, ended_ns;
    mr_loader_stats stats[RANKS];
    atomic_bool over;
    atomic_ullong batches[RANKS];
    double at_ns[RANKS][GAPS_MAX]; /* when each batch came, of a pair that is to be killed */
} stage;

bool find_processors(int processors[RANKS])
{
    cpu_set_t set;
    int count = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return false;
    for (int i = 0; i < CPU_SETSIZE && count < RANKS; i++)
        if (CPU_ISSET(i, &set))
            processors[count++] = i;
    return count == RANKS;
}

static stage *make_stage(void)
{
    pthread_barrierattr_t attributes;
    stage *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED || pthread_barrierattr_init(&attributes) != 0 ||
        pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_barrier_init(&s->barrier, &attributes, RANKS) != 0)
        fail("no memory that two processes share");
    return s;
}

static mr_loader *open_loader(const lend_options *o, const char *text, const char *share)
{
    char detail[DETAIL_NBYTES];
    mr_dataset *dataset = NULL;
    mr_recipe *recipe = NULL;
    mr_loader *loader = NULL;
    mr_loader_options with = {.struct_size = sizeof with,
                              .batch = (uint32_t)o->batch,
                              .threads = 1,
                              .has_rank = true,
                              .world = 1,
                              .drop_last = true,
                              .share = share};
    if (mr_dataset_new(NULL, &dataset) != 0 || mr_recipe_new(NULL, &recipe) != 0)
        need(NULL);
    if (mr_dataset_open(dataset, &o->dataset, 1) != 0)
        fail("%s", mr_dataset_detail(dataset));
    if (mr_recipe_parse(recipe, text) != 0)
        fail("%s: %s", text, mr_recipe_detail(recipe));
    if (mr_loader_new(dataset, recipe, &with, &loader, detail, sizeof detail) != 0)
        fail("%s", detail);
    mr_recipe_free(recipe);
    mr_dataset_free(dataset); // the loader has its own
    return loader;
}

static void take_batch(mr_loader *loader)
{
    mr_batch *batch = NULL;
    if (mr_loader_next(loader, &batch) != 0 || batch == NULL)
        fail("%s", mr_loader_detail(loader));
    mr_batch_release(batch);
}

/* Steps as data-parallel training takes them: nobody begins the next one before all have their batch. */
static void take_steps(const lend_options *o, stage *s, mr_loader *loader, unsigned rank)
{
    for (unsigned long long i = 0; i < o->warm + o->steps; i++) {
        pthread_barrier_wait(&s->barrier);
        double from = wall_ns();
        if (i == o->warm && rank == 0)
            s->began_ns = from;
        take_batch(loader);
        if (i >= o->warm)
            s->ready_ns[rank][i - o->warm] = wall_ns() - from;
    }
    pthread_barrier_wait(&s->barrier);
    if (rank == 0)
        s->ended_ns = wall_ns();
}

/* Batches as fast as they come. */
static void run_free(stage *s, mr_loader *loader, unsigned rank)
{
    while (!atomic_load(&s->over)) {
        take_batch(loader);
        unsigned long long n = atomic_load(&s->batches[rank]);
        if (n < GAPS_MAX)
            s->at_ns[rank][n] = wall_ns();
        atomic_store(&s->batches[rank], n + 1);
    }
}

static pid_t start_rank(const lend_options *o, stage *s, unsigned rank, const char *recipe, const char *share,
                        bool steps)
{
    int processors[RANKS];
    cpu_set_t set;
    CPU_ZERO(&set);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        fail("no process to be had");
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!find_processors(processors))
        fail("less than two processors");
    CPU_SET(processors[rank], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("processor %d cannot be had", processors[rank]);
    mr_loader *loader = open_loader(o, recipe, share);
    s->stats[rank].struct_size = sizeof s->stats[rank];
    steps ? take_steps(o, s, loader, rank) : run_free(s, loader, rank);
    if (mr_loader_get_stats(loader, &s->stats[rank]) != 0)
        fail("no statistics");
    mr_loader_free(loader);
    _exit(0);
}

static void await_rank(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail("a rank failed");
}

pair_result pair_run(const lend_options *o, const char *const recipes[RANKS], const char *share)
{
    stage *s = make_stage();
    pid_t pids[RANKS];
    pair_result r = {0};
    for (unsigned rank = 0; rank < RANKS; rank++)
        pids[rank] = start_rank(o, s, rank, recipes[rank], share, true);
    for (unsigned rank = 0; rank < RANKS; rank++)
        await_rank(pids[rank]);
    for (unsigned long long i = 0; i < o->steps; i++) {
        double apart = s->ready_ns[0][i] - s->ready_ns[1][i];
        r.spread_ms += (apart < 0 ? -apart : apart) / 1e6 / (double)o->steps;
    }
    r.step_ms = (s->ended_ns - s->began_ns) / 1e6 / (double)o->steps;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        const mr_loader_stats *t = &s->stats[rank];
        double prepared = 0;
        for (uint32_t i = 0; i < t->stage_count && i < MR_STAGES_MAX; i++)
            if (strcmp(t->stages[i].name, "decode") == 0)
                prepared = (double)t->stages[i].count;
        r.core_ms[rank] = prepared > 0 ? t->core_seconds * 1e3 / prepared : 0;
        r.lent_s += t->cores_lent_seconds;
        r.borrowed_s += t->cores_borrowed_seconds;
    }
    munmap(s, sizeof *s);
    return r;
}

static void sleep_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)((ms - 1e3 * (double)(long)(ms / 1e3)) * 1e6)};
    nanosleep(&t, NULL);
}

/* The longest gap between batches of a rank that ends within a second after `at`, or has not ended yet. */
static double longest_gap(const stage *s, unsigned rank, double at)
{
    unsigned long long count = atomic_load(&s->batches[rank]);
    double longest = 0, before = at;
    for (unsigned long long i = 0; i < count && i < GAPS_MAX; i++) {
        double t = s->at_ns[rank][i];
        if (t <= at)
            continue;
        longest = t - before > longest ? t - before : longest;
        before = t;
    }
    return longest / 1e6;
}

kill_result pair_kill(const lend_options *o, const char *const recipes[RANKS], unsigned victim, unsigned turn)
{
    stage *s = make_stage();
    pid_t pids[RANKS];
    kill_result r = {0};
    char name[64], path[256];
    unsigned other = 1 - victim;
    snprintf(name, sizeof name, "bench-kill-%u", (unsigned)getpid());
    for (unsigned rank = 0; rank < RANKS; rank++)
        pids[rank] = start_rank(o, s, rank, recipes[rank], name, false);
    while (atomic_load(&s->batches[0]) < 4 || atomic_load(&s->batches[1]) < 4)
        sleep_ms(5);
    sleep_ms(100 + 37 * (double)(turn % 16)); // anywhere within a batch
    unsigned long long had = atomic_load(&s->batches[other]);
    double at = wall_ns();
    kill(pids[victim], SIGKILL);
    waitpid(pids[victim], NULL, 0);
    r.usual_ms = had > 1 ? (s->at_ns[other][had - 1] - s->at_ns[other][0]) / 1e6 / (double)(had - 1) : 0;
    sleep_ms(1500);
    r.gap_ms = longest_gap(s, other, at);
    atomic_store(&s->over, true);
    await_rank(pids[other]);
    snprintf(path, sizeof path, "/dev/shm/millrace-%u-%s.board", (unsigned)geteuid(), name);
    r.left = access(path, F_OK) == 0;
    munmap(s, sizeof *s);
    return r;
}
