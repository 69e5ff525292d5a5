// SPDX-License-Identifier: Apache-2.0
/* Everything below the codecs that allocates or starts a thread, with each allocation and each thread refused. */
#include "test.h"

#include "base/pool.h"
#include "base/queue.h"
#include "failing.h"

#include <millrace/millrace.h>
#include <string.h>

static int make_image(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    mr_image image = {.width = 99};
    int result = mr_image_init(&image, 33, 21, 3, 16, hooks);
    if (result == 0)
        mr_image_fini(&image, hooks);
    else
        assert_int_equal(image.width, 99);
    return result;
}

static int make_decoder(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    mr_decoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_decoder *decoder = NULL;
    int result = mr_decoder_new(&options, &decoder);
    assert_int_equal(decoder == NULL, result != 0);
    mr_decoder_trim(decoder);
    mr_decoder_free(decoder);
    return result;
}

static int make_encoder(const mr_hooks *hooks, void *arg)
{
    (void)arg;
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = hooks};
    mr_encoder *encoder = NULL;
    int result = mr_encoder_new(&options, &encoder);
    assert_int_equal(encoder == NULL, result != 0);
    mr_encoder_free(encoder);
    return result;
}

static int fill_buffers(const mr_hooks *given, void *arg)
{
    (void)arg;
    mr_hooks hooks;
    mr__buffer buffer = {0};
    int result = mr__hooks_init(&hooks, given);
    for (size_t used = 0; used < 500 && result == 0; used += 10)
        result = mr__buffer_grow(&buffer, &hooks, used, used + 10);
    if (result == 0)
        result = mr__buffer_reserve(&buffer, &hooks, 5000);
    mr__buffer_fini(&buffer, &hooks);
    return result;
}

static int use_queue(const mr_hooks *given, void *arg)
{
    mr_hooks hooks;
    mr__queue queue;
    int result = mr__hooks_init(&hooks, given);
    if (result == 0)
        result = mr__queue_init(&queue, &hooks, *(mr__queue_kind *)arg, 3, sizeof(int));
    if (result != 0)
        return result;
    result = mr__queue_push(&queue, &(int){1});
    mr__queue_fini(&queue); // with an item in it
    return result;
}

static void count_job(void *arg, size_t worker)
{
    (void)worker;
    __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

static int use_pool(const mr_hooks *hooks, void *arg)
{
    mr__pool *pool = NULL;
    int count = 0;
    int result = mr__pool_new(hooks, "failing", *(size_t *)arg, 2, &pool);
    assert_int_equal(pool == NULL, result != 0);
    for (int i = 0; i < 10 && result == 0; i++)
        result = mr__pool_add(pool, count_job, &count);
    mr__pool_free(pool);
    assert_int_equal(count, result == 0 ? 10 : 0);
    return result;
}

static void images(void **state)
{
    (void)state;
    failing_run(make_image, NULL);
}

static void handles(void **state)
{
    (void)state;
    failing_run(make_decoder, NULL);
    failing_run(make_encoder, NULL);
}

static void buffers(void **state)
{
    (void)state;
    failing_run(fill_buffers, NULL);
}

static void queues(void **state)
{
    (void)state;
    failing_run(use_queue, &(mr__queue_kind){MR__QUEUE_THREADS});
    failing_run(use_queue, &(mr__queue_kind){MR__QUEUE_SINGLE});
}

static void pools(void **state)
{
    (void)state;
    for (size_t threads = 0; threads <= 3; threads++)
        failing_run(use_pool, &threads);
}

static void run_nothing(void *arg)
{
    (void)arg;
}

static void a_thread_that_cannot_be_had(void **state)
{
    (void)state;
    mr__thread thread;
    failing_threads(1);
    assert_int_equal(mr__thread_start(&thread, "none", run_nothing, NULL), MR_ESYSTEM);
    mr__thread_join(&thread);
    assert_int_equal(mr__thread_start(&thread, "some", run_nothing, NULL), 0);
    mr__thread_join(&thread);
}

/* Those that were started are joined, and everything is given back. */
static void a_pool_short_of_one_thread(void **state)
{
    (void)state;
    mr_hooks hooks = failing_hooks();
    for (size_t nth = 1; nth <= 4; nth++) {
        mr__pool *pool = NULL;
        failing_begin(0, false);
        failing_threads(nth);
        int result = mr__pool_new(&hooks, "short", 3, 2, &pool);
        failing_threads(0);
        assert_int_equal(result, nth <= 3 ? MR_ESYSTEM : 0);
        assert_int_equal(pool == NULL, result != 0);
        mr__pool_free(pool);
        failing_counts counts = failing_end();
        assert_null(counts.fault);
        assert_int_equal(counts.live_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(handles),
        cmocka_unit_test(buffers),
        cmocka_unit_test(queues),
        cmocka_unit_test(pools),
        cmocka_unit_test(a_thread_that_cannot_be_had),
        cmocka_unit_test(a_pool_short_of_one_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
