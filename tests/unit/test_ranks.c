// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "loader/ranks.h"

#include <stdio.h>
#include <string.h>

/* The environment of a test: "NAME=value" texts, NULL behind the last. */
static const char *const *environment;
static mr__detail detail;

static const char *get(const char *name)
{
    for (const char *const *line = environment; *line != NULL; line++)
        if (strncmp(*line, name, strlen(name)) == 0 && (*line)[strlen(name)] == '=')
            return *line + strlen(name) + 1;
    return NULL;
}

static int find(mr__ranks *ranks, const char *const *lines)
{
    const mr_loader_options options = {.struct_size = sizeof options};
    environment = lines;
    mr__detail_clear(&detail);
    return mr__ranks_init(ranks, &options, get, &detail);
}

static void found(const char *const *lines, uint32_t rank, uint32_t world, const char *where)
{
    mr__ranks ranks = {0};
    assert_int_equal(find(&ranks, lines), 0);
    assert_string_equal(detail.text, "");
    assert_int_equal(ranks.rank, rank);
    assert_int_equal(ranks.world, world);
    assert_contains(ranks.found_in, where);
}

static void refused(const char *const *lines, const char *words, const char *more)
{
    mr__ranks ranks = {.rank = 77};
    assert_int_equal(find(&ranks, lines), MR_EARGUMENT);
    assert_contains(detail.text, words);
    assert_contains(detail.text, more);
    assert_int_equal(ranks.rank, 77);
}

static const char *const nothing[] = {NULL};

static void every_launcher_is_found(void **state)
{
    (void)state;
    found(nothing, 0, 1, "nowhere: one rank");
    found((const char *const[]){"RANK=3", "WORLD_SIZE=8", NULL}, 3, 8, "torchrun (RANK, WORLD_SIZE)");
    found((const char *const[]){"SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_STEP_ID=0", NULL}, 0, 2, "Slurm");
    found((const char *const[]){"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=4", NULL}, 1, 2, "Slurm");
    found((const char *const[]){"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", NULL}, 1, 2, "Open MPI");
    found((const char *const[]){"PMI_RANK=4", "PMI_SIZE=5", NULL}, 4, 5, "PMI (");
    found((const char *const[]){"JOB_COMPLETION_INDEX=2", "WORLD_SIZE=3", NULL}, 2, 3, "Kubernetes");
    found((const char *const[]){"RANK=4294967294", "WORLD_SIZE=4294967295", NULL}, 4294967294u, 4294967295u,
          "torchrun");
    found((const char *const[]){"RANK=007", "WORLD_SIZE=08", NULL}, 7, 8, "torchrun");
}

/* The nearest launcher knows: an mpirun inside of a Slurm job leaves Slurm's variables as its own shell had them. */
static void the_nearest_launcher_wins(void **state)
{
    (void)state;
    static const char *const all[] = {
        "JOB_COMPLETION_INDEX=5", "SLURM_PROCID=4",         "SLURM_NTASKS=6", "PMI_RANK=3",   "PMI_SIZE=6",
        "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=6", "RANK=1",         "WORLD_SIZE=6", NULL};
    static const char *const mpi[] = {"SLURM_PROCID=0", "SLURM_NTASKS=2", "OMPI_COMM_WORLD_RANK=3",
                                      "OMPI_COMM_WORLD_SIZE=4", NULL};
    static const char *const hydra[] = {"SLURM_PROCID=0", "SLURM_NTASKS=2", "PMI_RANK=3", "PMI_SIZE=4", NULL};
    found(all, 1, 6, "torchrun");
    found(mpi, 3, 4, "Open MPI");
    found(hydra, 3, 4, "PMI (");
}

static void arguments_come_first(void **state)
{
    (void)state;
    mr_loader_options options = {.struct_size = sizeof options, .has_rank = true, .rank = 2, .world = 3};
    mr__ranks ranks;
    environment = (const char *const[]){"RANK=x", NULL};
    assert_int_equal(mr__ranks_init(&ranks, &options, get, &detail), 0);
    assert_int_equal(ranks.rank, 2);
    assert_int_equal(ranks.world, 3);
    assert_string_equal(ranks.found_in, "the arguments");
    options.rank = 3;
    assert_int_equal(mr__ranks_init(&ranks, &options, get, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "rank 3 of a world of 3");
    options.rank = options.world = 0;
    assert_int_equal(mr__ranks_init(&ranks, &options, get, &detail), MR_EARGUMENT);
}

static void half_a_pair_is_no_rank_0(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"RANK", "WORLD_SIZE"},           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"},
        {"SLURM_PROCID", "SLURM_NTASKS"}, {"JOB_COMPLETION_INDEX", "WORLD_SIZE"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int half = 0; half < 2; half++) {
            char line[64], empty[64];
            snprintf(line, sizeof line, "%s=2", pairs[i][half]);
            snprintf(empty, sizeof empty, "%s=", pairs[i][1 - half]);
            if (i == 4 && half == 1)
                continue; // WORLD_SIZE is torchrun's
            refused((const char *const[]){line, NULL}, pairs[i][0], pairs[i][1]);
            refused((const char *const[]){line, empty, NULL}, pairs[i][0], pairs[i][1]);
        }
    // LOCAL_RANK is no rank.
    refused((const char *const[]){"LOCAL_RANK=1", "WORLD_SIZE=2", NULL},
            "WORLD_SIZE is in the environment but RANK is not", "");
    found((const char *const[]){"LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", NULL}, 0, 1, "nowhere");
}

/* A script of sbatch that calls a program without srun: one process, with the variables of many. */
static void a_script_of_sbatch_is_no_rank_0(void **state)
{
    (void)state;
    refused((const char *const[]){"SLURM_PROCID=0", "SLURM_NTASKS=4", NULL}, "SLURM_NTASKS is 4", "start it with srun");
    found((const char *const[]){"SLURM_PROCID=0", "SLURM_NTASKS=1", NULL}, 0, 1, "Slurm");
    found((const char *const[]){"SLURM_PROCID=0", "SLURM_NTASKS=4", "RANK=2", "WORLD_SIZE=3", NULL}, 2, 3, "torchrun");
}

/* There is only one rank it can be: a shell of salloc has the tasks, and no process of its own. */
static void a_world_of_one_needs_no_rank(void **state)
{
    (void)state;
    found((const char *const[]){"SLURM_NTASKS=1", NULL}, 0, 1, "Slurm");
    found((const char *const[]){"WORLD_SIZE=1", NULL}, 0, 1, "torchrun");
    // Pods that have nothing to do with each other, which their author said.
    found((const char *const[]){"JOB_COMPLETION_INDEX=5", "WORLD_SIZE=1", NULL}, 0, 1, "WORLD_SIZE");
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "x", "-1", "+1", " 1", "1 ", "1.0", "0x1", "1e0", "99999999999999999999999", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char rank[64], world[64];
        snprintf(rank, sizeof rank, "RANK=%s", wrong[i]);
        snprintf(world, sizeof world, "PMI_SIZE=%s", wrong[i]);
        refused((const char *const[]){rank, "WORLD_SIZE=8", NULL}, "RANK is ", wrong[i]);
        refused((const char *const[]){"PMI_RANK=0", world, NULL}, "PMI_SIZE is ", wrong[i]);
    }
    refused((const char *const[]){"RANK=0", "WORLD_SIZE=4294967296", NULL}, "WORLD_SIZE is 4294967296", "too large");
    refused((const char *const[]){"RANK=8", "WORLD_SIZE=8", NULL}, "RANK is 8 and WORLD_SIZE is 8", "below");
    refused((const char *const[]){"RANK=0", "WORLD_SIZE=0", NULL}, "RANK is 0 and WORLD_SIZE is 0", "below");
    refused((const char *const[]){"JOB_COMPLETION_INDEX=3", "WORLD_SIZE=3", NULL}, "JOB_COMPLETION_INDEX is 3",
            "below");
}

static uint64_t random_state = 3;

static uint64_t below(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* All ranks of a world: every position once, in order, pads last, and as many batches for each. */
static void check_deal(mr__deal deal)
{
    uint64_t batches = mr__deal_batches(&deal), group = (uint64_t)deal.batch * deal.world, next = deal.start;
    bool padded = false;
    for (uint64_t b = 0; b < batches; b++)
        for (uint32_t i = 0; i < deal.batch; i++)
            for (deal.rank = 0; deal.rank < deal.world; deal.rank++) {
                uint64_t position = mr__deal_position(&deal, b, i);
                assert_true(mr__deal_batches(&deal) == batches);
                padded = padded || position == UINT64_MAX;
                assert_true(padded ? position == UINT64_MAX : position == next++);
            }
    deal.rank = 0;
    assert_true(mr__deal_position(&deal, batches, 0) == UINT64_MAX);
    uint64_t left = deal.start < deal.positions ? deal.positions - deal.start : 0;
    assert_true(next == deal.start + (deal.drop_last ? left - left % group : left));
    assert_false(deal.drop_last && padded);
    assert_true(batches == (left + (deal.drop_last ? 0 : group - 1)) / group);
}

static void every_position_is_dealt_once(void **state)
{
    (void)state;
    for (int k = 0; k < 20000; k++) {
        mr__deal deal = {.positions = below(200),
                         .batch = 1 + (uint32_t)below(12),
                         .world = 1 + (uint32_t)below(7),
                         .drop_last = below(2) == 0};
        deal.start = below(4) == 0 ? 0 : below(deal.positions + 3);
        check_deal(deal);
    }
}

static void the_largest_deal_fits(void **state)
{
    (void)state;
    mr__deal deal = {.positions = (UINT64_C(1) << 48) - 1,
                     .start = 5,
                     .batch = UINT32_MAX,
                     .world = UINT32_MAX,
                     .rank = UINT32_MAX - 1};
    assert_true(mr__deal_batches(&deal) == 1);
    assert_true(mr__deal_position(&deal, 0, 0) == 5 + (uint64_t)deal.rank);
    assert_true(mr__deal_position(&deal, 0, UINT32_MAX - 1) == UINT64_MAX);
    assert_true(mr__deal_position(&deal, 1, 0) == UINT64_MAX);
    deal.drop_last = true;
    assert_true(mr__deal_batches(&deal) == 0);
    assert_true(mr__deal_position(&deal, 0, 0) == UINT64_MAX);
    deal.batch = deal.world = 1;
    deal.rank = 0;
    assert_true(mr__deal_position(&deal, deal.positions - 6, 0) == deal.positions - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launcher_is_found),
        cmocka_unit_test(the_nearest_launcher_wins),
        cmocka_unit_test(arguments_come_first),
        cmocka_unit_test(half_a_pair_is_no_rank_0),
        cmocka_unit_test(a_script_of_sbatch_is_no_rank_0),
        cmocka_unit_test(a_world_of_one_needs_no_rank),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(every_position_is_dealt_once),
        cmocka_unit_test(the_largest_deal_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
