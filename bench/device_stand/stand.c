// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "stand.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool stand_pin(unsigned core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

/* The cores of one thread, as its status has them in hexadecimal; 0: not known. */
static uint64_t cores_of(const char *thread)
{
    char path[300], line[256];
    uint64_t cores = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Cpus_allowed:", 13) == 0) {
            const char *last = strrchr(line, ','); // 32 cores between commas: the last ones are the first cores
            cores = strtoull(last != NULL ? last + 1 : line + 13, NULL, 16);
        }
    if (file != NULL)
        (void)fclose(file);
    return cores;
}

unsigned stand_threads_on(uint64_t cores)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        uint64_t may = entry->d_name[0] != '.' ? cores_of(entry->d_name) : 0;
        count += may != 0 && (may & ~cores) == 0;
    }
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

static int open_deck(stand *s, const stand_options *o, mr__detail *detail)
{
    int result = mr__cl_deck_new(s->cl.player, o->arena_nbytes, o->arena_nbytes, &s->deck, detail);
    if (result != 0)
        return result;
    const mr__finish plain = {.output = {.channels = 3, .width = 1, .height = 1, .dtype = MR_U8}, .depth = 8};
    mr__tape_init(&s->tape, &s->cl.hooks, mr__cl_deck_bytes(s->deck), o->arena_nbytes, o->arena_nbytes, o->samples);
    stand_set_finish(s, &plain);
    s->out_nbytes = o->out_nbytes / 4096 * 4096 + 4096;
    s->out = aligned_alloc(4096, s->out_nbytes);
    if (s->out == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a batch");
    memset(s->out, 0, s->out_nbytes);
    memset(mr__cl_deck_bytes(s->deck), 0, o->arena_nbytes); // its pages are there before anything is timed
    opencl_wait_init(&s->wait);
    return 0;
}

/* Threads that it starts inherit where this one may run; PoCL has one for each compute unit. */
int stand_open(stand *s, const stand_options *o, bool told, mr__detail *detail)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    mr__cl_options options = {.guest = o->guest, .number = o->number, .in_place = !o->sends, .sends = o->sends};
    *s = (stand){.host_core = 0, .device_core = cores > 1 ? 1 : 0};
    (void)setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
    if (!stand_pin(s->device_core))
        return mr__fail(detail, MR_ESYSTEM, "this thread cannot be kept on core %u", s->device_core);
    int result = opencl_play_open(&s->cl, &options, detail);
    if (result == 0)
        result = open_deck(s, o, detail);
    stand_begin(s);
    if (result == 0)
        result = stand_play(s, 0, detail); // what is started late is started here
    unsigned there = stand_threads_on(UINT64_C(1) << s->device_core) - 1;
    if (!stand_pin(s->host_core) && result == 0)
        result = mr__fail(detail, MR_ESYSTEM, "this thread cannot be kept on core %u", s->host_core);
    if (told && result == 0)
        printf("%s: %u compute unit%s; %u threads of its own on core %u, this one on core %u\n",
               mr__cl_player_facts(s->cl.player)->name, mr__cl_player_facts(s->cl.player)->units,
               mr__cl_player_facts(s->cl.player)->units == 1 ? "" : "s", there, s->device_core, s->host_core);
    if (result != 0)
        stand_close(s);
    return result;
}

void stand_close(stand *s)
{
    mr__tape_writer_fini(&s->writer);
    mr__tape_fini(&s->tape);
    mr__cl_deck_free(s->deck);
    if (s->cl.player != NULL)
        opencl_play_close(&s->cl);
    free(s->out);
    *s = (stand){0};
}

void stand_set_finish(stand *s, const mr__finish *finish)
{
    mr__tape_writer_fini(&s->writer);
    mr__tape_writer_init(&s->writer, &s->cl.hooks, &s->tape, finish);
}

void stand_begin(stand *s)
{
    if (s->deck != NULL)
        mr__tape_writer_begin(&s->writer);
}

int stand_play(stand *s, size_t out_nbytes, mr__detail *detail)
{
    mr__cl_piece piece = {0, out_nbytes, s->out};
    int result = mr__tape_end(&s->tape);
    if (result != 0)
        return mr__fail(detail, result, "the tape does not fit into the arena");
    result =
        mr__cl_deck_play(s->deck, &s->tape, out_nbytes, &piece, out_nbytes != 0, opencl_wait_played, &s->wait, detail);
    if (result == 0)
        result = opencl_wait_for(&s->wait, detail);
    for (uint32_t i = 0; i < s->tape.count && result == 0; i++)
        if (mr__tape_refused(s->wait.words, i))
            result = mr__fail(detail, MR_ECORRUPT, "a kernel has refused sample %u", i);
    return result;
}

double stand_kernel_ns(const stand *s, mr__kernel kernel)
{
    return (double)mr__cl_deck_kernel_ns(s->deck, kernel);
}
