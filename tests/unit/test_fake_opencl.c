// SPDX-License-Identifier: Apache-2.0
/* The fake OpenCL library finds what a program does wrong, and fails as it is told; what uses it says so, and loses
 * nothing. */
#include "test.h"

#include "device/opencl/cl.h"
#include "fake_opencl.h"
#include "kernel/lane/pass.h"
#include "opencl_play.h"
#include "picture.h"
#include "taping.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fake_opencl fake;

/* 1. Calls as a program makes them. */

MR_KERNEL(fill)
{
    MR_ALONE;
    MR_GLOBAL const mr__lane_turn *turn = &MR_TURN;
    out[turn->item * 64 + lane.id] = (uint8_t)turn->order;
}

static const mr__lane_kernel fill_kernel = {"fill", mr__kernel_fill, MR__ALONE_LANES};

typedef struct client {
    mr_hooks hooks;
    mr__cl cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem arena, out;
} client;

enum { ARENA_NBYTES = 4096, OUT_NBYTES = 256 };

static const mr__lane_turn turns[4] = {{1, 0}, {2, 1}, {3, 2}, {4, 3}};

static client client_open(void)
{
    client c = {.cl = {0}};
    mr__detail detail;
    const char *text = "MR_KERNEL(fill)";
    cl_int error;
    cl_platform_id platform;
    assert_int_equal(mr__hooks_init(&c.hooks, NULL), 0);
    mr__cl_options options = {.hooks = &c.hooks, .library = MILLRACE_FAKE_OPENCL};
    assert_int_equal(mr__cl_load(&options, &c.cl, &detail), 0);
    assert_int_equal(fake.kernel(&fill_kernel), 0);
    assert_int_equal(c.cl.GetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &c.device, NULL), CL_SUCCESS);
    assert_non_null(c.context = c.cl.CreateContext(NULL, 1, &c.device, NULL, NULL, &error));
    assert_non_null(c.queue = c.cl.CreateCommandQueue(c.context, c.device, CL_QUEUE_PROFILING_ENABLE, &error));
    assert_non_null(c.program = c.cl.CreateProgramWithSource(c.context, 1, &text, NULL, &error));
    assert_int_equal(c.cl.BuildProgram(c.program, 1, &c.device, "", NULL, NULL), CL_SUCCESS);
    assert_non_null(c.kernel = c.cl.CreateKernel(c.program, "mr_fill", &error));
    assert_non_null(c.arena = c.cl.CreateBuffer(c.context, CL_MEM_READ_WRITE, ARENA_NBYTES, NULL, &error));
    assert_non_null(c.out = c.cl.CreateBuffer(c.context, CL_MEM_READ_WRITE, OUT_NBYTES, NULL, &error));
    return c;
}

static void client_close(client *c)
{
    (void)c->cl.Finish(c->queue);
    assert_int_equal(c->cl.ReleaseMemObject(c->out), CL_SUCCESS);
    assert_int_equal(c->cl.ReleaseMemObject(c->arena), CL_SUCCESS);
    assert_int_equal(c->cl.ReleaseKernel(c->kernel), CL_SUCCESS);
    assert_int_equal(c->cl.ReleaseProgram(c->program), CL_SUCCESS);
    assert_int_equal(c->cl.ReleaseCommandQueue(c->queue), CL_SUCCESS);
    assert_int_equal(c->cl.ReleaseContext(c->context), CL_SUCCESS);
    mr__cl_unload(&c->cl);
}

static cl_int launch_at(const client *c, uint32_t list, uint32_t groups, cl_event *event)
{
    size_t lanes = MR__ALONE_LANES, items = lanes * groups;
    assert_int_equal(c->cl.SetKernelArg(c->kernel, 0, sizeof c->arena, &c->arena), CL_SUCCESS);
    assert_int_equal(c->cl.SetKernelArg(c->kernel, 1, sizeof c->out, &c->out), CL_SUCCESS);
    assert_int_equal(c->cl.SetKernelArg(c->kernel, 2, sizeof list, &list), CL_SUCCESS);
    assert_int_equal(c->cl.SetKernelArg(c->kernel, 3, MR__KERNEL_WORDS_NBYTES, NULL), CL_SUCCESS);
    return c->cl.EnqueueNDRangeKernel(c->queue, c->kernel, 1, NULL, &items, &lanes, 0, NULL, event);
}

static cl_int write_turns(const client *c, const mr__lane_turn *list, size_t nbytes)
{
    return c->cl.EnqueueWriteBuffer(c->queue, c->arena, 1, 128, nbytes, list, 0, NULL, NULL);
}

static void kernels_run_in_memory_of_their_own(void **state)
{
    (void)state;
    fake.reset();
    client c = client_open();
    uint8_t got[OUT_NBYTES] = {0};
    assert_int_equal(write_turns(&c, turns, sizeof turns), CL_SUCCESS);
    assert_int_equal(launch_at(&c, 128, 4, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.EnqueueReadBuffer(c.queue, c.out, 1, 0, OUT_NBYTES, got, 0, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < OUT_NBYTES; i++)
        assert_int_equal(got[i], 1 + i / 64);
    assert_int_equal(fake.count("launches"), 1);
    assert_int_equal(fake.count("clEnqueueWriteBuffer"), 1);
    assert_int_equal(fake.count("clNothing"), -1);
    client_close(&c);
    assert_int_equal(fake.check(), 0);
}

static int write_behind(void)
{
    const mr__lane_turn behind[] = {{7, 4}};
    fake.reset();
    client c = client_open();
    assert_int_equal(write_turns(&c, behind, sizeof behind), CL_SUCCESS);
    assert_int_equal(launch_at(&c, 128, 1, NULL), CL_SUCCESS);
    client_close(&c);
    return fake.check();
}

/* By canaries, or by ASan, which ends the process. */
static void stray_writes_are_found(void **state)
{
    (void)state;
    char said[4096];
    assert_false(test_again("behind", said, sizeof said));
    if (strstr(said, "written behind buffer 2 (by a kernel)") == NULL)
        assert_contains(said, "use-after-poison");
}

/* By the environment: its first launch hangs, for ever. */
static int leave_hanging(void)
{
    client c = client_open();
    assert_int_equal(write_turns(&c, turns, sizeof turns), CL_SUCCESS);
    assert_int_equal(launch_at(&c, 128, 1, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.Flush(c.queue), CL_SUCCESS);
    while (fake.count("launches") == 0)
        (void)usleep(1000);
    return 0;
}

static void what_hangs_does_not_keep_the_process(void **state)
{
    (void)state;
    char said[4096];
    assert_int_equal(setenv("FAKE_OPENCL", "hang=1", 1), 0);
    bool ended = test_again("hang", said, sizeof said);
    assert_int_equal(unsetenv("FAKE_OPENCL"), 0);
    if (!ended)
        fail_msg("%s", said);
}

static void what_is_left_is_found(void **state)
{
    (void)state;
    cl_int error;
    fake.reset();
    client c = client_open();
    cl_mem left = c.cl.CreateBuffer(c.context, CL_MEM_READ_WRITE, 64, NULL, &error);
    assert_non_null(left);
    client_close(&c);
    assert_int_equal(fake.check(), 1);
    assert_int_equal(fake.check(), 1); // it is still there
    fake.reset();
    assert_int_equal(fake.check(), 0);
}

static void released_objects_are_known(void **state)
{
    (void)state;
    cl_event event;
    fake.reset();
    client c = client_open();
    assert_int_equal(c.cl.EnqueueMarkerWithWaitList(c.queue, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(c.cl.Finish(c.queue), CL_SUCCESS);
    assert_int_equal(c.cl.ReleaseEvent(event), CL_SUCCESS);
    assert_int_not_equal(c.cl.ReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(fake.check(), 5 + 1 + 1); // with those of the client, that are there
    assert_int_not_equal(c.cl.EnqueueMarkerWithWaitList(c.queue, 1, &event, NULL), CL_SUCCESS);
    assert_int_not_equal(c.cl.Flush((cl_command_queue)c.out), CL_SUCCESS);
    client_close(&c);
    assert_int_equal(fake.check(), 2);
}

static void in_use_and_mapped_are_known(void **state)
{
    (void)state;
    cl_int error;
    uint8_t bytes[64];
    fake.reset();
    assert_int_equal(fake.configure("hang=1"), 0);
    client c = client_open();
    assert_int_equal(write_turns(&c, turns, sizeof turns), CL_SUCCESS);
    assert_int_equal(launch_at(&c, 128, 1, NULL), CL_SUCCESS);
    cl_mem other = c.cl.CreateBuffer(c.context, CL_MEM_READ_WRITE, 64, NULL, &error);
    assert_int_equal(c.cl.EnqueueReadBuffer(c.queue, other, 0, 0, 64, bytes, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.Flush(c.queue), CL_SUCCESS);
    assert_int_equal(c.cl.ReleaseMemObject(other), CL_SUCCESS); // the read is yet to come
    fake.go_on();
    void *at = c.cl.EnqueueMapBuffer(c.queue, c.out, 1, CL_MAP_WRITE, 0, 64, 0, NULL, NULL, &error);
    assert_non_null(at);
    assert_int_equal(launch_at(&c, 128, 1, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.EnqueueUnmapMemObject(c.queue, c.out, at, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(c.cl.EnqueueUnmapMemObject(c.queue, c.out, at, 0, NULL, NULL), CL_SUCCESS);
    assert_int_not_equal(c.cl.EnqueueReadBuffer(c.queue, c.out, 1, 250, 7, bytes, 0, NULL, NULL), CL_SUCCESS);
    assert_int_not_equal(launch_at(&c, ARENA_NBYTES - 8, 2, NULL), CL_SUCCESS);
    client_close(&c);
    assert_int_equal(fake.check(), 5);
}

typedef struct heard {
    atomic_int calls;
    cl_int status;
} heard;

static void hear(cl_event event, cl_int status, void *user)
{
    (void)event;
    ((heard *)user)->status = status;
    atomic_fetch_add(&((heard *)user)->calls, 1);
}

/* Nothing is done before it is flushed, and a callback comes once, with how it went; it may come after clFinish. */
static void events_tell(void **state)
{
    (void)state;
    cl_event event, after;
    cl_int status;
    heard first = {0}, second = {0};
    fake.reset();
    assert_int_equal(fake.configure("resources_quiet=1"), 0);
    client c = client_open();
    assert_int_equal(write_turns(&c, turns, sizeof turns), CL_SUCCESS);
    assert_int_equal(launch_at(&c, 128, 1, &event), CL_SUCCESS);
    assert_int_equal(c.cl.EnqueueMarkerWithWaitList(c.queue, 1, &event, &after), CL_SUCCESS);
    assert_int_equal(c.cl.SetEventCallback(after, CL_COMPLETE, hear, &first), CL_SUCCESS);
    (void)usleep(20000);
    assert_int_equal(fake.count("launches"), 0);
    assert_int_equal(c.cl.Finish(c.queue), CL_SUCCESS);
    while (atomic_load(&first.calls) == 0)
        (void)usleep(1000);
    assert_int_equal(first.status, -14);
    assert_int_equal(c.cl.SetEventCallback(event, CL_COMPLETE, hear, &second), CL_SUCCESS);
    assert_int_equal(atomic_load(&second.calls), 1);
    assert_int_equal(c.cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL), 0);
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    assert_int_equal(c.cl.ReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(c.cl.ReleaseEvent(after), CL_SUCCESS);
    client_close(&c);
    assert_int_equal(atomic_load(&first.calls), 1);
    assert_int_equal(fake.check(), 0);
}

static void settings_are_words(void **state)
{
    (void)state;
    fake.reset();
    assert_int_equal(fake.configure("kind=cpu,lost=3 fail=clFlush:1:-5"), 0);
    assert_int_equal(fake.configure("kind=large"), -1);
    assert_int_equal(fake.configure("lost"), -1);
    assert_int_equal(fake.configure("lost=x"), -1);
    assert_int_equal(fake.configure("fail=clNothing:1:-5"), -1);
    assert_int_equal(fake.configure("hung=1"), -1);
    assert_int_equal(fake.check(), 5);
    fake.reset();
}

/* 2. The player on it. */

static const char recipe[] = "resize(20) resize(30) flip normalize(imagenet)";

static int open_with(const char *settings, const mr__cl_options *more, opencl_play *cl, mr__detail *detail)
{
    mr__cl_options options = more != NULL ? *more : (mr__cl_options){.no_cache = true};
    options.library = MILLRACE_FAKE_OPENCL;
    fake.reset();
    if (fake.configure(settings) != 0)
        fail_msg("%s", settings);
    return opencl_play_open(cl, &options, detail);
}

static void play_some(const char *settings, const mr__cl_options *more)
{
    opencl_play cl;
    mr__detail detail;
    static const uint32_t sizes[][2] = {{1, 1}, {37, 1}, {61, 53}};
    if (open_with(settings, more, &cl, &detail) != 0)
        fail_msg("%s: %s", settings, detail.text);
    taping how = {.play = opencl_play_tape, .user = &cl};
    for (size_t s = 0; s < 3; s++) {
        mr_image image = picture_make(sizes[s][0], sizes[s][1], 3, 8, s + 1);
        assert_true(taping_recipe(&how, recipe, &image, s));
        assert_true(taping_recipe(&how, "resize(20) pad(5, border=symmetric)", &image, s));
        mr_image_fini(&image, NULL);
    }
    opencl_play_close(&cl);
    assert_int_equal(fake.check(), 0);
}

static void devices_of_all_kinds_give_the_same(void **state)
{
    (void)state;
    play_some("kind=discrete", NULL);
    play_some("kind=integrated", NULL);
    play_some("kind=cpu", NULL);
    play_some("kind=cpu", &(mr__cl_options){.no_cache = true, .in_place = true});
    play_some("kind=cpu", &(mr__cl_options){.no_cache = true, .sends = true});
    play_some("kind=discrete misaligned=1", NULL);
    play_some("kind=discrete profiling=0 doubles=0", NULL);
    play_some("kind=discrete slow_ms=1 seed=0", &(mr__cl_options){.no_cache = true, .groups_max = 3});
}

static void devices_that_are_of_no_use(void **state)
{
    static const struct {
        const char *settings, *words;
        int code;
    } cases[] = {
        {"platforms=0", "no driver", MR_EUNSUPPORTED},
        {"devices=0", "finds no device", MR_EUNSUPPORTED},
        {"exact=0", "not IEEE's", MR_EUNSUPPORTED},
        {"version=11", "less than OpenCL 1.2", MR_EUNSUPPORTED},
        {"compiler=0", "no compiler", MR_EUNSUPPORTED},
        {"available=0", "not available", MR_EUNSUPPORTED},
        {"full=0", "embedded", MR_EUNSUPPORTED},
        {"alloc=1000000", "too little memory", MR_EUNSUPPORTED},
        {"lanes=32", "fewer than 64 lanes", MR_EUNSUPPORTED},
        {"build_fails=1", "this program was told not to build", MR_EDEVICE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        opencl_play cl;
        mr__detail detail;
        assert_int_equal(open_with(cases[i].settings, NULL, &cl, &detail), cases[i].code);
        assert_contains(detail.text, cases[i].words);
        opencl_play_close(&cl);
        assert_int_equal(fake.check(), 0);
    }
}

/* A tape of one image that is resized twice: what becomes of it. */
typedef struct outcome {
    int code;
    mr__detail why;
    bool same; /* as the host makes it */
} outcome;

static outcome play_one(opencl_play *cl)
{
    outcome is = {.code = 0};
    mr_image image = picture_make(61, 53, 3, 8, 5);
    mr_recipe *parsed;
    mr_applier *applier;
    mr_output output = {.struct_size = sizeof output};
    assert_int_equal(mr_recipe_new(NULL, &parsed), 0);
    assert_int_equal(mr_recipe_parse(parsed, recipe), 0);
    assert_int_equal(mr_recipe_output(parsed, &output), 0);
    uint8_t *got = aligned_alloc(64, (output.sample_nbytes + 63) / 64 * 64), *wanted = malloc(output.sample_nbytes);
    assert_true(got != NULL && wanted != NULL);
    assert_int_equal(mr_applier_new(parsed, NULL, &applier), 0);
    assert_int_equal(mr_applier_run(applier, &image, 1, 0, 3, wanted), 0);
    playing how = {.play = opencl_play_tape, .user = cl};
    is.code = playing_recipe(&how, parsed, &image, 3, got, output.sample_nbytes, &is.why);
    is.same = is.code == 0 && memcmp(got, wanted, output.sample_nbytes) == 0;
    mr_applier_free(applier);
    mr_recipe_free(parsed);
    mr_image_fini(&image, NULL);
    free(got);
    free(wanted);
    return is;
}

static outcome play_with(const char *settings)
{
    opencl_play cl;
    outcome is;
    is.code = open_with(settings, NULL, &cl, &is.why);
    is.same = false;
    if (is.code == 0)
        is = play_one(&cl);
    opencl_play_close(&cl);
    return is;
}

static void failures_are_told(void **state)
{
    static const struct {
        const char *settings, *words;
    } cases[] = {
        {"lost=1", "CL_DEVICE_NOT_AVAILABLE"},
        {"lost=0 lost_quiet=1", "CL_DEVICE_NOT_AVAILABLE"},
        {"resources=2", "CL_OUT_OF_RESOURCES"},
        {"resources_quiet=2", "CL_OUT_OF_RESOURCES"},
        {"fail=clEnqueueReadBuffer:1:-5", "clEnqueueReadBuffer"},
        {"kind=integrated resources_quiet=1", "CL_OUT_OF_RESOURCES"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome is = play_with(cases[i].settings);
        assert_int_equal(is.code, MR_EDEVICE);
        assert_contains(is.why.text, cases[i].words);
        assert_int_equal(fake.check(), 0);
    }
    outcome is = play_with("wrong=1");
    assert_int_equal(is.code, 0);
    assert_false(is.same); // so that who compares can be tested
    assert_int_equal(fake.check(), 0);
    is = play_with("time_back=1 time_ahead=2");
    assert_true(is.same);
    assert_int_equal(fake.check(), 0);
}

/* Whichever call it is that fails: it is told, or does not matter; and nothing is left behind. */
static void every_call_may_fail(void **state)
{
#define NAME(result, name, arguments) "cl" #name,
    static const char *const names[] = {MR__CL_FUNCTIONS(NAME)};
#undef NAME
    static const char *const kinds[] = {"discrete", "integrated", "cpu"};
    uint32_t told = 0;
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (int nth = 1; nth <= (test_quick() ? 1 : 3); nth++) {
                char settings[96];
                if (strncmp(names[i], "clRelease", 9) == 0)
                    continue; // there is nothing to be done about it
                snprintf(settings, sizeof settings, "kind=%s fail=%s:%d:-5", kinds[k], names[i], nth);
                outcome is = play_with(settings);
                if (is.code == 0 ? !is.same : is.code != MR_EDEVICE && is.code != MR_EUNSUPPORTED)
                    fail_msg("%s: %d, %s", settings, is.code, is.why.text);
                if (fake.check() != 0)
                    fail_msg("%s: see above", settings);
                told += is.code != 0;
            }
    assert_true(told > 30);
}

static void memory_ends(void **state)
{
    static const char *const settings[] = {"kind=discrete memory=70000000", "kind=cpu memory=70000000",
                                           "kind=discrete fail=clCreateBuffer:2:-4", "kind=cpu alloc=70000000"};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        opencl_play cl;
        mr__detail detail;
        assert_int_equal(open_with(settings[i], NULL, &cl, &detail), 0);
        assert_int_equal(mr__cl_deck_new(cl.player, 80 << 20, 80 << 20, &cl.deck, &detail), MR_ENOMEM);
        opencl_play_close(&cl);
        assert_int_equal(fake.check(), 0);
    }
}

/* A play that hangs is not waited for here: the deck is freed once it went on. */
static void hung_launches_go_on(void **state)
{
    (void)state;
    opencl_play cl;
    mr__detail detail;
    opencl_wait wait;
    mr__tape tape = {0};
    assert_int_equal(open_with("hang=1", NULL, &cl, &detail), 0);
    assert_int_equal(mr__cl_deck_new(cl.player, 1 << 20, 1 << 20, &cl.deck, &detail), 0);
    mr__tape_init(&tape, &cl.hooks, mr__cl_deck_bytes(cl.deck), 1 << 20, 1 << 20, 1);
    mr__order_place place = {
        .canvas_width = 1, .canvas_height = 1, .fill = 9, .from = {.channels = 1}, .number_nbytes = 1};
    (void)mr__tape_open(&tape);
    mr__tape_call_of(&tape, MR__KERNEL_place, &place, sizeof place, 1);
    (void)mr__tape_close(&tape);
    assert_int_equal(mr__tape_end(&tape), 0);
    uint8_t out[64] = {0};
    opencl_wait_init(&wait);
    mr__cl_piece piece = {0, sizeof out, out};
    assert_int_equal(mr__cl_deck_play(cl.deck, &tape, sizeof out, &piece, 1, opencl_wait_played, &wait, &detail), 0);
    (void)usleep(50000);
    assert_false(wait.done);
    fake.go_on();
    assert_int_equal(opencl_wait_for(&wait, &detail), 0);
    assert_int_equal(out[0], 9);
    mr__tape_fini(&tape);
    opencl_play_close(&cl);
    assert_int_equal(fake.check(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_run_in_memory_of_their_own),
        cmocka_unit_test(stray_writes_are_found),
        cmocka_unit_test(what_is_left_is_found),
        cmocka_unit_test(released_objects_are_known),
        cmocka_unit_test(in_use_and_mapped_are_known),
        cmocka_unit_test(events_tell),
        cmocka_unit_test(settings_are_words),
        cmocka_unit_test(devices_of_all_kinds_give_the_same),
        cmocka_unit_test(devices_that_are_of_no_use),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(memory_ends),
        cmocka_unit_test(hung_launches_go_on),
        cmocka_unit_test(what_hangs_does_not_keep_the_process),
    };
    fake = fake_opencl_open();
    if (argc == 2)
        return strcmp(argv[1], "hang") == 0 ? leave_hanging() : write_behind();
    fake.reset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
