// SPDX-License-Identifier: Apache-2.0
/* The words of kernel/lane/lane.h, by kernels that use them, beside what they are said to give. */
#include "test.h"

#include "fake_opencl.h"
#include "kernel/lane/emulate.h"
#include "lane_shim_run.h"
#include "lane_words.h"
#include "opencl_client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lanes that are threads are slow (test_lanes_threads.c). */
#if defined(MR__FIBER_THREADS)
enum { ITEMS = 5, SEEDS = 2, WITH_OTHERS = 0 };
#else
enum { ITEMS = 37, SEEDS = 5, WITH_OTHERS = 1 };
#endif

enum { ARENA_NBYTES = 1 << 20 };

/* An arena with an order for ITEMS items, and their turns. */
typedef struct stage {
    _Alignas(64) uint8_t arena[ARENA_NBYTES];
    words_order order;
    uint32_t list;
} stage;

static uint32_t *words_at(stage *s, uint32_t at)
{
    return (uint32_t *)(void *)(s->arena + at);
}

/* Numbers of all sizes; the same ones for each kernel. */
static void fill_in(uint32_t *in)
{
    uint32_t state = 12345;
    for (uint32_t i = 0; i < ITEMS * 32; i++) {
        state = state * 1664525u + 1013904223u;
        in[i] = i < 32 ? i : i < 64 ? UINT32_MAX - i : state >> state % 32;
    }
    in[70] = 1999;
}

/* Items come in a turn that is not the groups'. */
static stage *stage_new(uint32_t each)
{
    stage *s = aligned_alloc(64, sizeof *s);
    assert_non_null(s);
    memset(s, 0, sizeof *s);
    s->order = (words_order){.status = 0, .sum = 4, .bits = 8, .in = 128, .each = each};
    s->order.to = s->order.in + ITEMS * 32 * 4;
    s->list = s->order.to + ITEMS * each * 32 * 4;
    uint32_t order_at = 64;
    memcpy(s->arena + order_at, &s->order, sizeof s->order);
    fill_in(words_at(s, s->order.in));
    mr__lane_turn *turns = (mr__lane_turn *)(void *)(s->arena + s->list);
    for (uint32_t i = 0; i < ITEMS; i++)
        turns[i] = (mr__lane_turn){order_at, (i * 3 + 5) % ITEMS};
    return s;
}

/* 1. What the words are said to give: for an item's 32 words. */

typedef void words_formula(const uint32_t *in, uint32_t *to);

static uint32_t bits_of(uint64_t n)
{
    uint32_t count = 0;
    for (; n != 0; n >>= 1)
        count += n & 1;
    return count;
}

static uint32_t ballot_of(const uint32_t *n, uint32_t bit)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < 32; i++)
        all |= (n[i] >> bit & 1) << i;
    return all;
}

static uint32_t sum_of(const uint32_t *n, uint32_t count, uint32_t shift)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += n[i] >> shift;
    return sum;
}

static void collective(const uint32_t *in, uint32_t *to)
{
    for (uint32_t i = 0; i < 32; i++) {
        to[i] = ballot_of(in, 0);
        to[32 + i] = bits_of(to[i] & ((UINT64_C(1) << i) - 1));
        to[64 + i] = sum_of(in, i, 0);
        to[96 + i] = sum_of(in, 32, 0);
        to[128 + i] = in[(in[i] >> 7) % 32];
        to[160 + i] = in[31 - i];
        to[192 + i] = bits_of(in[i]);
        to[224 + i] = 32;
    }
}

static void again(const uint32_t *in, uint32_t *to)
{
    uint32_t n[32], next[32];
    memcpy(n, in, sizeof n);
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < 32; i++)
            next[i] = n[i] + sum_of(n, i, 0);
        for (uint32_t i = 0; i < 32; i++)
            n[i] = next[i] ^ next[(i + round) % 32];
        uint32_t sum = sum_of(n, 32, 3);
        for (uint32_t i = 0; i < 32; i++)
            n[i] += sum;
        uint32_t ballot = ballot_of(n, round);
        for (uint32_t i = 0; i < 32; i++)
            n[i] ^= ballot;
    }
    memcpy(to, n, sizeof n);
}

static void shared(const uint32_t *in, uint32_t *to)
{
    uint32_t counts[4] = {0};
    for (uint32_t i = 0; i < 32; i++)
        counts[in[i] % 4]++;
    for (uint32_t i = 0; i < 32; i++) {
        to[i] = in[31 - i];
        to[32 + i] = counts[i % 4];
        to[64 + i] = in[(i + 31) % 32];
    }
}

static void mix(uint32_t *n)
{
    uint32_t row[32];
    memcpy(row, n, sizeof row);
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t k = 0; k < 32; k++)
            n[i] = n[i] * 5u + row[(i + k) % 32];
}

static void passed(const uint32_t *in, uint32_t *to)
{
    memcpy(to, in, 32 * sizeof *to);
    for (uint32_t i = 0; i < 50; i++)
        mix(to);
    for (uint32_t i = 0; i < 32; i++)
        to[i] ^= i;
    mix(to);
}

static void alone(const uint32_t *in, uint32_t *to)
{
    for (uint32_t i = 0; i < 64; i++)
        to[i] = in[i % 32] + i;
}

/* 2. Who runs them. */

typedef struct words_case {
    mr__lane_kernel kernel;
    uint32_t each;
    words_formula *formula;
} words_case;

static const words_case cases[] = {
    {{"words_collective", mr__kernel_words_collective, MR__TEAM_LANES}, WORDS_COLLECTIVE, collective},
    {{"words_again", mr__kernel_words_again, MR__TEAM_LANES}, WORDS_AGAIN, again},
    {{"words_shared", mr__kernel_words_shared, MR__TEAM_LANES}, WORDS_SHARED, shared},
    {{"words_passed", mr__kernel_words_passed, MR__TEAM_LANES}, WORDS_PASSED, passed},
    {{"words_alone", mr__kernel_words_alone, MR__ALONE_LANES}, WORDS_ALONE, alone},
};

static void check_items(stage *s, const words_case *c)
{
    uint32_t wanted[WORDS_COLLECTIVE * 32];
    for (uint32_t i = 0; i < ITEMS; i++) {
        const uint32_t *got = words_at(s, s->order.to) + i * c->each * 32;
        c->formula(words_at(s, s->order.in) + i * 32, wanted);
        for (uint32_t k = 0; k < c->each * 32; k++)
            if (got[k] != wanted[k])
                fail_msg("%s: word %u of item %u is %08x, not %08x", c->kernel.name, k, i, got[k], wanted[k]);
    }
}

static void check_together(stage *s)
{
    const uint32_t *in = words_at(s, s->order.in);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < ITEMS * 32; i++)
        bits |= 1u << in[i] % 32;
    assert_int_equal(*words_at(s, s->order.sum), 2 * sum_of(in, ITEMS * 32, 0));
    assert_int_equal(*words_at(s, s->order.bits), bits);
    assert_int_equal(*words_at(s, s->order.status), 1);
}

static void check_case(stage *s, const words_case *c)
{
    check_items(s, c);
    if (c->kernel.lanes == MR__ALONE_LANES)
        check_together(s);
    free(s);
}

static void emulator_gives_them(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__detail detail;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (const words_case *c = cases; c < cases + sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            stage *s = stage_new(c->each);
            mr__emulation emulation = {.hooks = &hooks, .seed = seed};
            if (mr__emulate_function(&emulation, &c->kernel, s->list, ITEMS, s->arena, NULL, &detail) != 0)
                fail_msg("%s", detail.text);
            check_case(s, c);
        }
}

/* What lane.h has for devices, run in C (lane_shim.h): which of the kernels it is has no place in a kernel's arguments.
 */
#define AS(backend, number, team)                                                                                      \
    static void as_##backend##number(mr_lane lane, uint32_t group, uint8_t *arena, uint8_t *out, uint32_t list)        \
    {                                                                                                                  \
        shim_run(shim_##backend[number], team, lane, group, arena, out, list);                                         \
    }
#define AS_ALL(backend) AS(backend, 0, 1) AS(backend, 1, 1) AS(backend, 2, 1) AS(backend, 3, 1) AS(backend, 4, 0)
AS_ALL(opencl)
AS_ALL(subgroups)
AS_ALL(cuda)

enum { BACKENDS = 3, CASES = sizeof cases / sizeof *cases };

static void backends_give_them_in_c(void **state)
{
#define AS_NAMES(backend)                                                                                              \
    {                                                                                                                  \
        as_##backend##0, as_##backend##1, as_##backend##2, as_##backend##3, as_##backend##4                            \
    }
    static mr__kernel_function *const functions[BACKENDS][CASES] = {AS_NAMES(opencl), AS_NAMES(subgroups),
                                                                    AS_NAMES(cuda)};
    static const char *const names[] = {"as OpenCL 1.2", "as sub-groups", "as CUDA"};
    (void)state;
    if (!WITH_OTHERS)
        skip();
    mr_hooks hooks;
    mr__detail detail;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (size_t b = 0; b < BACKENDS; b++)
        for (size_t i = 0; i < CASES; i++)
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                stage *s = stage_new(cases[i].each);
                words_case c = cases[i];
                mr__emulation emulation = {.hooks = &hooks, .seed = seed};
                c.kernel.name = names[b];
                c.kernel.run = functions[b][i];
                if (mr__emulate_function(&emulation, &c.kernel, s->list, ITEMS, s->arena, NULL, &detail) != 0)
                    fail_msg("%s: %s", cases[i].kernel.name, detail.text);
                check_case(s, &c);
            }
}

static void run_on(opencl_client *client)
{
    mr__detail detail;
    for (const words_case *c = cases; c < cases + sizeof cases / sizeof *cases; c++) {
        stage *s = stage_new(c->each);
        char name[64];
        snprintf(name, sizeof name, "mr_%s", c->kernel.name);
        if (opencl_client_run(client, name, c->kernel.lanes, s->list, ITEMS, s->arena, s->list + 4096, &detail) != 0)
            fail_msg("%s: %s", name, detail.text);
        check_case(s, c);
    }
    opencl_client_close(client);
}

static void device_gives_them(void **state)
{
    (void)state;
    opencl_client client;
    mr__detail detail;
    char *text = opencl_client_text(MILLRACE_SOURCE_ROOT "/tests/support/lane_words.h");
    int result = opencl_client_open(&client, NULL, text, &detail);
    free(text);
    if (result == MR_EUNSUPPORTED) {
        print_message("%s\n", detail.text);
        skip();
    }
    if (result != 0)
        fail_msg("%s", detail.text);
    run_on(&client);
}

/* The kernels are this program's, and who runs them is the fake library's emulator. */
static void fake_device_gives_them(void **state)
{
    (void)state;
    opencl_client client;
    mr__detail detail;
    if (!WITH_OTHERS) // its lanes are other fibers
        skip();
    fake_opencl fake = fake_opencl_open();
    char *text = opencl_client_text(MILLRACE_SOURCE_ROOT "/tests/support/lane_words.h");
    fake.reset();
    for (const words_case *c = cases; c < cases + sizeof cases / sizeof *cases; c++)
        assert_int_equal(fake.kernel(&c->kernel), 0);
    if (opencl_client_open(&client, MILLRACE_FAKE_OPENCL, text, &detail) != 0)
        fail_msg("%s", detail.text);
    free(text);
    run_on(&client);
    assert_int_equal(fake.check(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulator_gives_them),
        cmocka_unit_test(backends_give_them_in_c),
        cmocka_unit_test(device_gives_them),
        cmocka_unit_test(fake_device_gives_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
