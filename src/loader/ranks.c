// SPDX-License-Identifier: Apache-2.0
#include "loader/ranks.h"

#include <inttypes.h>
#include <string.h>

typedef struct launcher {
    const char *rank, *world, *found_in;
    const char *started; /* without it nobody started the others; NULL: the pair is enough */
} launcher;

static const launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "torchrun (RANK, WORLD_SIZE)", NULL},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE)", NULL},
    {"PMI_RANK", "PMI_SIZE", "PMI (PMI_RANK, PMI_SIZE)", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS", "Slurm (SLURM_PROCID, SLURM_NTASKS)", "SLURM_STEP_ID"},
};

/* An Indexed Job says which pod this is; of how many, its author says in WORLD_SIZE. */
static const launcher kubernetes = {"JOB_COMPLETION_INDEX", "WORLD_SIZE",
                                    "Kubernetes (JOB_COMPLETION_INDEX, WORLD_SIZE)", NULL};

/* An empty variable is one that is not set: scripts clear them so. */
static const char *look(mr__environment *get, const char *name)
{
    const char *text = get(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static int read_number(const char *name, const char *text, uint32_t *number, mr__detail *detail)
{
    uint64_t value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || value > UINT32_MAX)
            return mr__fail(detail, MR_EARGUMENT, "%s is \"%.40s\" in the environment; it must be a whole number", name,
                            text);
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (value > UINT32_MAX)
        return mr__fail(detail, MR_EARGUMENT, "%s is %.40s in the environment; that is too large", name, text);
    *number = (uint32_t)value;
    return 0;
}

static int half_pair(const launcher *from, bool has_rank, mr__detail *detail)
{
    return mr__fail(detail, MR_EARGUMENT,
                    "%s is in the environment but %s is not: set both, or neither, or give rank and world",
                    has_rank ? from->rank : from->world, has_rank ? from->world : from->rank);
}

/* *found false: there is nothing of this one. */
static int ask(mr__ranks *ranks, const launcher *from, mr__environment *get, bool *found, mr__detail *detail)
{
    const char *rank = look(get, from->rank), *world = look(get, from->world);
    mr__ranks got = {.found_in = from->found_in};
    *found = rank != NULL || world != NULL;
    if (!*found)
        return 0;
    int result = world != NULL ? read_number(from->world, world, &got.world, detail) : 0;
    if (result == 0 && rank != NULL)
        result = read_number(from->rank, rank, &got.rank, detail);
    if (result != 0)
        return result;
    if (world == NULL || (rank == NULL && got.world != 1))
        return half_pair(from, rank != NULL, detail);
    if (got.rank >= got.world)
        return mr__fail(detail, MR_EARGUMENT,
                        "%s is %" PRIu32 " and %s is %" PRIu32 ": the rank must be below the world", from->rank,
                        got.rank, from->world, got.world);
    if (got.world > 1 && from->started != NULL && look(get, from->started) == NULL)
        return mr__fail(detail, MR_EARGUMENT,
                        "%s is %" PRIu32
                        ", but without %s this is the job's script, and nobody is the other ranks: start "
                        "it with srun, or give rank and world",
                        from->world, got.world, from->started);
    *ranks = got;
    return 0;
}

/* WORLD_SIZE is also half of torchrun's pair: an index beside it makes it the other one's. */
static bool is_kubernetes(mr__environment *get)
{
    const char *world = look(get, "WORLD_SIZE");
    return look(get, "JOB_COMPLETION_INDEX") != NULL && look(get, "RANK") == NULL && world != NULL &&
           strcmp(world, "1") != 0;
}

static int from_environment(mr__ranks *ranks, mr__environment *get, mr__detail *detail)
{
    bool found = false;
    if (is_kubernetes(get))
        return ask(ranks, &kubernetes, get, &found, detail);
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int result = ask(ranks, &launchers[i], get, &found, detail);
        if (result != 0 || found)
            return result;
    }
    int result = ask(ranks, &kubernetes, get, &found, detail);
    if (result == 0 && !found)
        *ranks = (mr__ranks){.rank = 0, .world = 1, .found_in = "nowhere: one rank"};
    return result;
}

int mr__ranks_init(mr__ranks *ranks, const mr_loader_options *options, mr__environment *get, mr__detail *detail)
{
    if (!options->has_rank)
        return from_environment(ranks, get, detail);
    if (options->rank >= options->world)
        return mr__fail(detail, MR_EARGUMENT, "rank %" PRIu32 " of a world of %" PRIu32 ": it must be below",
                        options->rank, options->world);
    *ranks = (mr__ranks){.rank = options->rank, .world = options->world, .found_in = "the arguments"};
    return 0;
}

/* Two numbers of 32 bits: always fits. */
static uint64_t global_batch(const mr__deal *deal)
{
    return (uint64_t)deal->batch * deal->world;
}

uint64_t mr__deal_batches(const mr__deal *deal)
{
    if (deal->start >= deal->positions)
        return 0;
    uint64_t left = deal->positions - deal->start, whole = left / global_batch(deal);
    return !deal->drop_last && left % global_batch(deal) != 0 ? whole + 1 : whole;
}

uint64_t mr__deal_position(const mr__deal *deal, uint64_t batch, uint32_t place)
{
    uint64_t batches = mr__deal_batches(deal), at = (uint64_t)place * deal->world + deal->rank;
    if (batch >= batches)
        return UINT64_MAX;
    uint64_t first = deal->start + batch * global_batch(deal);
    return at < deal->positions - first ? first + at : UINT64_MAX;
}
