// SPDX-License-Identifier: Apache-2.0
/* Batches that stay on an OpenCL device that is really there; skipped where there is none. */
#define _GNU_SOURCE // readlink
#include "test.h"

#include "device/opencl/cl.h"
#include "files.h"
#include "loading.h"
#include "pack_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 45 };

#define RECIPE  "rrc(24) flip normalize(imagenet)"
#define OPTIONS .struct_size = sizeof(mr_loader_options)

static test_folder folder;
static mr_dataset *source;
static mr__cl cl; /* as a program would have it, that links with the library */

static int setup(void **state)
{
    (void)state;
    test_folder_init_in_memory(&folder);
    pack_make_folder(&folder, "source", SAMPLES, 14);
    source = pack_open(&folder, "source", MR_LAYOUT_FOLDER);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mr_dataset_free(source);
    test_folder_fini(&folder);
    return 0;
}

static mr_loader_options plain(const char *device, mr_keep keep)
{
    return (mr_loader_options){OPTIONS,      .batch = 8,       .seed = 3,   .epochs = 2,
                               .threads = 2, .device = device, .keep = keep};
}

/* What a program does with a batch: a kernel's turn is taken by a read, in the queue that it was given. */
static void read_batch(const mr_batch *batch, uint8_t *to)
{
    mr_batch_device at = {.struct_size = sizeof at};
    assert_int_equal(mr_batch_get_device(batch, &at), 0);
    assert_int_equal(strncmp(at.name, "opencl:", 7), 0);
    assert_ptr_equal(at.memory, batch->device_data);
    assert_null(batch->images);
    cl_int error = cl.EnqueueReadBuffer(at.queue, at.memory, 1, 0, batch->images_nbytes, to, 0, NULL, NULL);
    assert_int_equal(error, CL_SUCCESS);
    cl_command_queue own = cl.CreateCommandQueue(at.context, at.device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    (void)cl.ReleaseCommandQueue(own);
}

static void compare(const char *device, const char *policy)
{
    mr_loader_options here = plain("cpu", MR_KEEP_HOST), there = plain(device, MR_KEEP_DEVICE);
    there.policy = policy;
    there.slots = 3;
    mr_loader *a = loading_new(source, RECIPE, &here), *b = loading_new(source, RECIPE, &there);
    uint8_t *bytes = NULL;
    for (;;) {
        mr_batch *x, *y;
        assert_int_equal(mr_loader_next(a, &x), 0);
        int result = mr_loader_next(b, &y);
        if (result != 0)
            fail_msg("%s: %s", device, mr_loader_detail(b));
        assert_int_equal(x == NULL, y == NULL);
        if (x == NULL)
            break;
        bytes = realloc(bytes, x->images_nbytes);
        read_batch(y, bytes);
        assert_memory_equal(bytes, x->images, x->images_nbytes);
        assert_true(mr_batch_hash(x) == mr_batch_hash(y));
        mr_batch_release(x);
        mr_batch_release(y);
    }
    free(bytes);
    mr_loader_free(a);
    mr_loader_free(b);
}

static void alone(void **state)
{
    (void)state;
    compare("opencl", NULL);
}

static void beside_the_host(void **state)
{
    (void)state;
    compare("cpu,opencl", "auto");
    compare("cpu,opencl", "naive-device");
    compare("cpu,opencl", "intrabatch");
}

/* Freed in the midst of it, batches held and others under way. */
static void left_early(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        mr_loader_options o = plain(i % 2 == 0 ? "cpu,opencl" : "opencl", MR_KEEP_DEVICE);
        mr_batch *batch;
        mr_loader *loader = loading_new(source, RECIPE, &o);
        for (uint64_t k = 0; k < i; k++)
            assert_int_equal(mr_loader_next(loader, &batch), 0);
        mr_loader_free(loader);
    }
}

/* Kernels that were built, and what is learned of costs: beside the program, and never where the user has his own. */
static void keep_cache_beside(void)
{
    char path[4096 + 16];
    ssize_t nbytes = readlink("/proc/self/exe", path, 4096);
    while (nbytes > 0 && path[nbytes - 1] != '/')
        nbytes--;
    if (nbytes > 0)
        snprintf(path + nbytes, 16, "opencl-cache");
    assert_int_equal(nbytes > 0 ? setenv("XDG_CACHE_HOME", path, 1) : -1, 0);
}

int main(void)
{
    mr_hooks hooks;
    mr__cl_player *player;
    mr__detail detail;
    keep_cache_beside();
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    const mr__cl_options options = {.hooks = &hooks};
    int result = mr__cl_player_open(&options, &player, &detail);
    if (result == MR_EUNSUPPORTED) {
        printf("skipped: %s\n", detail.text);
        return 77;
    }
    if (result == 0)
        mr__cl_player_close(player);
    assert_int_equal(mr__cl_load(&options, &cl, &detail), 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(beside_the_host),
        cmocka_unit_test(left_early),
    };
    result = cmocka_run_group_tests(tests, setup, teardown);
    mr__cl_unload(&cl);
    return result;
}
