// SPDX-License-Identifier: Apache-2.0
#include "conformance.h"

#include <stdio.h>
#include <string.h>

static backend *add(session *s, const char *name)
{
    if (s->count == BACKENDS_MAX)
        give_up("backends", "there are too many");
    backend *b = &s->backends[s->count++];
    *b = (backend){0};
    (void)snprintf(b->name, sizeof b->name, "%s", name);
    return b;
}

static void add_host(session *s, const char *name, const char *mask, const char *what)
{
    backend *b = add(s, name);
    b->mask = mask;
    (void)snprintf(b->what, sizeof b->what, "%s", what);
}

static void add_emulator(session *s, const char *name, uint64_t seed, const char *what)
{
    backend *b = add(s, name);
    b->how.seed = seed;
    b->slow = true;
    (void)snprintf(b->what, sizeof b->what, "%s", what);
}

static void add_device(session *s, const mr__cl_entry *entry, const mr__cl_options *options, const char *more)
{
    char name[64];
    mr__detail detail = {0};
    (void)snprintf(name, sizeof name, "opencl:%u%s", entry->number, more);
    backend *b = add(s, name);
    int code = opencl_play_open(&b->cl, options, &detail);
    if (code != 0)
        give_up(name, detail.text);
    const mr__cl_facts *facts = mr__cl_player_facts(b->cl.player);
    b->how = (playing){.play = opencl_play_tape, .user = &b->cl};
    b->slow = s->oclgrind;
    b->number = entry->number;
    b->is_loaders = options->in_place && !s->oclgrind;
    (void)snprintf(b->what, sizeof b->what, "%.60s, %.60s, %.60s%s%s", facts->name, entry->platform, facts->driver,
                   facts->subgroups ? ", teams are sub-groups" : ", teams are work-groups",
                   options->sends      ? "; as if its memory were apart"
                   : options->in_place ? "; into the batch itself"
                                       : "");
}

/* One as the loader has it; and one as if its memory were its own, which takes other paths. */
static void add_devices(session *s, const char *library)
{
    mr__cl_entry entries[8];
    size_t count = 0;
    mr_hooks hooks;
    mr__detail detail = {0};
    if (mr__hooks_init(&hooks, NULL) != 0)
        give_up("OpenCL", "no hooks");
    mr__cl_options options = {.hooks = &hooks, .library = library};
    if (mr__cl_list(&options, entries, sizeof entries / sizeof *entries, &count, &detail) != 0)
        printf("no OpenCL: %s\n", detail.text);
    for (size_t i = 0; i < count; i++) {
        mr__cl_options own = {.library = library, .number = entries[i].number, .in_place = true};
        own.simulator = s->oclgrind;
        if (!entries[i].usable && !s->oclgrind) {
            printf("opencl:%u (%s) is not used: %s\n", entries[i].number, entries[i].facts.name, entries[i].why);
            continue;
        }
        add_device(s, &entries[i], &own, "");
        if (!s->oclgrind) {
            own.in_place = false;
            own.sends = true;
            add_device(s, &entries[i], &own, " sent");
        }
    }
}

void backends_open(session *s, const char *library, bool emulator, bool devices)
{
    add_host(s, "host, portable", "portable", "plain C: what all others are compared with");
    add_host(s, "host", "", "the best instruction sets of this processor");
    if (emulator) {
        add_emulator(s, "emulator", 0, "kernels in lockstep, in C");
        add_emulator(s, "shuffled", 11, "the same, lanes and groups in a random order");
    }
    size_t before = s->count;
    if (devices)
        add_devices(s, library);
    if (s->oclgrind && s->count == before)
        give_up("--oclgrind", "no device is there");
    printf("\n| backend | is |\n| --- | --- |\n");
    for (size_t i = 0; i < s->count; i++)
        printf("| %s | %s |\n", s->backends[i].name, s->backends[i].what);
}

void backends_close(session *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->backends[i].cl.player != NULL)
            opencl_play_close(&s->backends[i].cl);
}
