// SPDX-License-Identifier: Apache-2.0
/* Loaders of several devices, made and run with each allocation refused. */
#include "test.h"

#include "devices.h"
#include "failing.h"
#include "loading.h"
#include "pack_make.h"

static test_folder folder;
static mr_dataset *dataset;

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    devices_keep_cache_in(&folder);
    devices_make_folder(&folder, "source", 7, false);
    mr_dataset *source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    mr_pack_options options = {.struct_size = sizeof options, .threads = 1};
    pack_run(source, &folder, "packed", &options);
    mr_dataset_free(source);
    dataset = pack_open(&folder, "packed", MR_LAYOUT_PACKED);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(dataset);
    test_folder_fini(&folder);
    return 0;
}

typedef struct how {
    mr_loader_options options;
    mr_recipe *recipe;
    uint64_t wanted;
} how;

/* What is refused once a batch is under way is an error of the loader; of what came, all is as it should be. */
static int load(const mr_hooks *hooks, void *arg)
{
    how *h = arg;
    mr_loader_options o = h->options;
    mr_loader *loader = NULL;
    mr_batch *batch;
    uint64_t hash = 0;
    char detail[240];
    o.hooks = hooks;
    int result = mr_loader_new(dataset, h->recipe, &o, &loader, detail, sizeof detail);
    if (result != 0) {
        assert_string_not_equal(detail, "");
        return result;
    }
    while ((result = mr_loader_next(loader, &batch)) == 0 && batch != NULL) {
        hash += mr_batch_hash(batch);
        mr_batch_release(batch);
    }
    if (result == 0)
        assert_true(hash == h->wanted);
    mr_loader_free(loader);
    return result;
}

static void run(const char *machine, const char *policy)
{
    how h = {.options = {.struct_size = sizeof h.options, .batch = 3, .epochs = 1, .threads = 2, .read_depth = 1},
             .recipe = loading_recipe("rrc(8) mixup")};
    h.wanted = loading_all(dataset, "rrc(8) mixup", &h.options).hash;
    h.options.policy = policy;
    h.options.device = machine;
    failing_run(load, &h);
    mr_recipe_free(h.recipe);
}

static void a_simulated_machine(void **state)
{
    (void)state;
    run(devices_machine(&folder, "{\"devices\": [{\"name\": \"cpu\"}, {\"name\": \"gpu\", \"kind\": \"accelerator\", "
                                 "\"memory_mb\": 4, \"launch_us\": 10, \"group\": 2}], \"trainer\": {\"device\": "
                                 "\"gpu\", \"step_ms\": 1}}"),
        NULL);
}

static void real_threads(void **state)
{
    (void)state;
    run(NULL, "auto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulated_machine),
        cmocka_unit_test(real_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
