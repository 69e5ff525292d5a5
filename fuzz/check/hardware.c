// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a hardware file: it is read, or there is an error that says in which line. What is read runs: each of
 * its devices takes tasks in a world that all share, and gives each back once, unless it hangs: then when it is
 * abandoned.
 */
#include "check.h"

#include "device/sim/sim.h"

#include <string.h>

enum { TASKS = 12, EVENTS = 4096 };

typedef struct bench {
    mr__work work;
    mr__hardware hardware;
    mr__world *world;
    mr__trainer *trainer;
    mr__device *devices[MR__HARDWARE_DEVICES_MAX];
    mr__task tasks[MR__HARDWARE_DEVICES_MAX][TASKS];
    unsigned done;
} bench;

static void count_done(void *user, mr__task *first, size_t count)
{
    bench *b = user;
    for (mr__task *task = first; task != NULL; task = task->next, count--) {
        FUZZ_REQUIRE(task->position == 0, "a task is done again");
        FUZZ_REQUIRE(task->code == 0 || task->code == MR_EDEVICE || task->code == MR_ENOMEM, "code %d", task->code);
        task->position = 1;
        b->done++;
    }
    FUZZ_REQUIRE(count == 0, "a list of another length");
}

static int read_hardware(const char *text, size_t nbytes, mr__hardware *out)
{
    mr__detail detail;
    mr__detail_clear(&detail);
    int code = mr__hardware_read("t", text, nbytes, out, &detail);
    FUZZ_REQUIRE(code == 0 || code == MR_EARGUMENT || code == MR_ELIMIT, "%s", mr_error_name(code));
    FUZZ_REQUIRE((code != 0) == (detail.text[0] != '\0'), "%d, and these words: '%s'", code, detail.text);
    FUZZ_REQUIRE(code == 0 || strncmp(detail.text, "t, line ", 8) == 0, "no line: '%s'", detail.text);
    return code;
}

/* A device of it gets as many tasks as it wants, of all forms. */
static int start_device(bench *b, uint32_t number, unsigned *given)
{
    mr__detail detail;
    mr__sim_options sim = {.world = b->world, .hardware = &b->hardware, .number = number, .blind = true};
    sim.trainer = b->hardware.trainer.device == number + 1 ? b->trainer : NULL;
    mr__device_options options = {.work = &b->work, .done = count_done, .user = b, .sim = &sim};
    int code = mr__device_open(&mr__device_sim, &options, &b->devices[number], &detail);
    if (code != 0)
        return code;
    mr__device_info info = b->devices[number]->type->info(b->devices[number]);
    FUZZ_REQUIRE(info.lanes >= 1 && info.group >= 1 && info.depth >= 1, "%zu tasks", info.depth);
    size_t count = info.depth < TASKS ? info.depth : TASKS;
    for (size_t i = 0; i < count; i++) {
        mr__task *task = &b->tasks[number][i];
        *task = (mr__task){.ordinal = i, .form = (uint32_t)(i % MR__HARDWARE_FORMS)};
        task->next = i + 1 < count ? task + 1 : NULL;
    }
    *given += (unsigned)count;
    code = b->devices[number]->type->submit(b->devices[number], b->tasks[number], count);
    FUZZ_REQUIRE(code == 0, "no room for %zu", count);
    return 0;
}

static void run_all(bench *b, unsigned given)
{
    unsigned events = 0;
    mr__trainer_begin_step(b->trainer);
    uint64_t last = 0;
    while (events < EVENTS && mr__world_advance(b->world)) {
        FUZZ_REQUIRE(mr__world_now_ns(b->world) >= last, "time goes back");
        last = mr__world_now_ns(b->world);
        events++;
    }
    FUZZ_REQUIRE(events < EVENTS, "no end of events");
    FUZZ_REQUIRE(mr__trainer_tell(b->trainer).steps == 1, "the step has no end");
    for (uint32_t i = 0; i < b->hardware.device_count; i++) {
        mr__device_memory m = mr__device_read_memory(b->devices[i]);
        FUZZ_REQUIRE(m.free_nbytes <= m.budget_nbytes && m.budget_nbytes <= m.total_nbytes, "device %u's memory", i);
        FUZZ_REQUIRE(mr__device_abandon(b->devices[i]), "device %u cannot be abandoned", i);
    }
    FUZZ_REQUIRE(b->done == given, "%u tasks done of %u", b->done, given);
}

static void run_hardware(bench *b)
{
    unsigned given = 0;
    int code = mr__world_new(&b->work.hooks, &b->world);
    if (code == 0)
        code = mr__trainer_new(&b->work.hooks, b->world, &b->hardware, NULL, NULL, &b->trainer);
    for (uint32_t i = 0; code == 0 && i < b->hardware.device_count; i++)
        code = start_device(b, i, &given);
    FUZZ_REQUIRE(code == 0 || code == MR_ENOMEM, "%s", mr_error_name(code));
    if (code == 0)
        run_all(b, given);
    for (uint32_t i = 0; i < b->hardware.device_count; i++)
        if (b->devices[i] != NULL)
            b->devices[i]->type->close(b->devices[i], 0);
    mr__trainer_free(b->trainer);
    mr__world_free(b->world);
}

static void check(const uint8_t *bytes, size_t nbytes, bool failing)
{
    char *copy = malloc(nbytes != 0 ? nbytes : 1); // of its very size
    bench *b = calloc(1, sizeof *b), *again = calloc(1, sizeof *again);
    FUZZ_REQUIRE(copy != NULL && b != NULL && again != NULL, "no memory");
    if (nbytes != 0)
        memcpy(copy, bytes, nbytes);
    fuzz_heap heap = {.fill = 0x5a, .fail_at = failing ? 1 + nbytes % 12 : 0};
    mr_hooks given = fuzz_heap_hooks(&heap);
    FUZZ_REQUIRE(mr__hooks_init(&b->work.hooks, &given) == 0, "hooks");
    int code = read_hardware(copy, nbytes, &b->hardware);
    FUZZ_REQUIRE(read_hardware(copy, nbytes, &again->hardware) == code, "another result");
    FUZZ_REQUIRE(memcmp(&b->hardware, &again->hardware, sizeof b->hardware) == 0, "another machine");
    if (code == 0)
        run_hardware(b);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    free(again);
    free(b);
    free(copy);
}

void fuzz_check_hardware(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    check(bytes, nbytes, false);
}

void fuzz_check_hardware_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    check(bytes, nbytes, true);
}
