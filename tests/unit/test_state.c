// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "loader/order.h"
#include "loader/ranks.h"
#include "loader/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr__detail detail;

static const mr__state some = {.seed = UINT64_MAX,
                               .epoch = 7,
                               .position = 1024,
                               .global_batch = 256,
                               .samples = 50000,
                               .dataset = UINT64_C(0x0123456789abcdef),
                               .recipe = 1,
                               .order = UINT64_MAX};

#define SOME                                                                                                           \
    "{\"millrace_state\": 1, \"seed\": 18446744073709551615, \"epoch\": 7, \"position\": 1024, "                       \
    "\"global_batch\": 256, \"samples\": 50000, \"dataset\": \"0123456789abcdef\", "                                   \
    "\"recipe\": \"0000000000000001\", \"order\": \"ffffffffffffffff\"}"

static void write_state(const mr__state *from, char *out, size_t nbytes)
{
    mr_hooks hooks;
    mr__text text;
    const char *string;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__text_init(&text, &hooks);
    mr__state_write(from, &text);
    assert_int_equal(mr__text_finish(&text, &string, NULL), 0);
    assert_true((size_t)snprintf(out, nbytes, "%s", string) < nbytes);
    mr__text_fini(&text);
}

static void a_state_is_one_line(void **state)
{
    (void)state;
    char text[1024];
    mr__state back;
    write_state(&some, text, sizeof text);
    assert_string_equal(text, SOME);
    mr__detail_clear(&detail);
    assert_int_equal(mr__state_read(&back, text, strlen(text), &detail), 0);
    assert_string_equal(detail.text, "");
    assert_memory_equal(&back, &some, sizeof some);
}

/* The same state with `from` replaced by `to` in its text. */
static int read_changed(const char *from, const char *to, mr__state *out)
{
    static char text[2048];
    const char *at = strstr(SOME, from);
    assert_non_null(at);
    int nbytes = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - SOME), SOME, to, at + strlen(from));
    char *copy = malloc((size_t)nbytes); // of its very size, so that a sanitizer sees one byte too many
    assert_non_null(copy);
    memcpy(copy, text, (size_t)nbytes);
    *out = (mr__state){.seed = 99};
    mr__detail_clear(&detail);
    int result = mr__state_read(out, copy, (size_t)nbytes, &detail);
    free(copy);
    return result;
}

static void refused(const char *from, const char *to, const char *words)
{
    mr__state out;
    assert_int_equal(read_changed(from, to, &out), MR_EARGUMENT);
    assert_contains(detail.text, words);
    assert_true(out.seed == 99);
}

static void other_spellings_are_read(void **state)
{
    (void)state;
    mr__state out;
    assert_int_equal(read_changed("{\"millrace_state\": 1, ", " \n{\"\\u0073amples\" : 3 ,\"millrace_state\":1,", &out),
                     MR_EARGUMENT);
    assert_contains(detail.text, "\"samples\" is twice");
    assert_int_equal(read_changed("\"epoch\": 7", "\t\"ep\\u006fch\"\n:\r7 ", &out), 0);
    assert_memory_equal(&out, &some, sizeof some);
    // In any order.
    const char *text = "{\"order\": \"000000000000000a\", \"recipe\": \"0000000000000009\", \"dataset\": "
                       "\"0000000000000008\", \"samples\": 6, \"global_batch\": 5, \"position\": 4, \"epoch\": 3, "
                       "\"seed\": 2, \"millrace_state\": 1}\n";
    assert_int_equal(mr__state_read(&out, text, strlen(text), &detail), 0);
    assert_true(out.seed == 2 && out.epoch == 3 && out.position == 4 && out.global_batch == 5 && out.samples == 6);
    assert_true(out.dataset == 8 && out.recipe == 9 && out.order == 10);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    refused("\"epoch\": 7, ", "", "\"epoch\" is not in the state");
    refused("\"epoch\": 7", "\"epoch\": 7, \"epoch\": 7", "\"epoch\" is twice in the state, again at byte");
    refused("\"epoch\": 7", "\"epoch\": 7, \"rank\": 3", "something unknown in the state, at byte 64: \"rank\"");
    refused("\"epoch\": 7", "\"epoch\": 7, \"rank\": {\"seed\": [1, 2]}", "\"rank\"");
    refused("\"epoch\": 7", "\"epoch\": 7.0", "\"epoch\" at byte 52 of the state is not a whole number");
    refused("\"epoch\": 7", "\"epoch\": -7", "\"epoch\" at byte");
    refused("\"epoch\": 7", "\"epoch\": \"7\"", "\"epoch\" at byte");
    refused("\"epoch\": 7", "\"epoch\": {}", "\"epoch\" at byte");
    refused("\"epoch\": 7", "\"epoch\": null", "\"epoch\" at byte");
    refused("\"epoch\": 7", "\"epoch\": 4294967296", "is 4294967296, more than 4294967295");
    refused("\"position\": 1024", "\"position\": 281474976710656", "more than 281474976710655");
    refused("18446744073709551615", "18446744073709551616", "\"seed\" at byte");
    refused("\"0123456789abcdef\"", "\"0123456789ABCDEF\"", "\"dataset\" at byte");
    refused("\"0123456789abcdef\"", "\"0123456789abcde\"", "not 16 digits");
    refused("\"0123456789abcdef\"", "\"0123456789abcdef0\"", "not 16 digits");
    refused("\"0123456789abcdef\"", "\"012345678\\u0039\"", "not 16 digits");
    refused("\"0123456789abcdef\"", "\"0123456789abcdeg\"", "not 16 digits");
    refused("\"0123456789abcdef\"", "81985529216486895", "not 16 digits");
    refused("\"epoch\": 7", "\"epoch\": 7, \"a name as long as thirty-nine letters__\xc3\xa9 and more\": 1",
            "thirty-nine letters__\"");
}

static void the_version_comes_first(void **state)
{
    (void)state;
    refused("1, \"seed\"", "2, \"cursor\": [], \"seed\"",
            "of version 2, and this Millrace reads version 1: use a newer");
    refused("\"ffffffffffffffff\"}", "\"ffffffffffffffff\", \"millrace_state\": 1}", "\"millrace_state\" is twice in");
    refused("\"millrace_state\": 1, ", "", "\"millrace_state\" is not in");
    refused("\"millrace_state\": 1, ", "\"millrace_state\": 0, ", "version 0");
    refused("\"millrace_state\": 1, ", "\"millrace_state\": \"1\", ", "\"millrace_state\" at byte 1");
    refused("\"millrace_state\": 1, ", "\"millrace_state\": 1.0, ", "not a whole number");
    // Inside of something else it is not the state's.
    refused("\"millrace_state\": 1, ", "\"a\": {\"millrace_state\": 1}, ", "\"millrace_state\" is not in");
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    mr__state out;
    static const char *const texts[] = {"",
                                        " ",
                                        "{",
                                        "[]",
                                        "1",
                                        "null",
                                        "{}",
                                        "{}{}",
                                        "{\"millrace_state\"",
                                        "{\"millrace_state\":",
                                        "{\"millrace_state\": 1",
                                        "{\"millrace_state\": 1}",
                                        SOME "x",
                                        SOME SOME,
                                        "{\"a\": [}",
                                        "{\"a\": tru}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mr__detail_clear(&detail);
        assert_int_equal(mr__state_read(&out, texts[i], strlen(texts[i]), &detail), MR_EARGUMENT);
        assert_string_not_equal(detail.text, "");
    }
    // Cut off anywhere; and with a byte that is something else.
    for (size_t i = 0; i < strlen(SOME); i++)
        assert_int_equal(mr__state_read(&out, SOME, i, &detail), MR_EARGUMENT);
    for (size_t i = 0; i < strlen(SOME); i++) {
        char text[] = SOME;
        text[i] = (char)0x80;
        assert_int_equal(mr__state_read(&out, text, strlen(text), &detail), MR_EARGUMENT);
    }
}

static void another_loader_is_told_apart(void **state)
{
    (void)state;
    mr__state ours = some;
    ours.epoch = 0;
    ours.position = 0;
    ours.global_batch = 1;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), 0);
    ours.order = 0xabc;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "another order: hash ffffffffffffffff, and this one has 0000000000000abc");
    ours.seed = 3;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "of seed 18446744073709551615, and this loader has 3");
    ours.recipe = 2;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "another recipe: hash 0000000000000001, and this one has 0000000000000002");
    ours.dataset = 2;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "fingerprint 0123456789abcdef, and this one has 0000000000000002");
    ours.samples = 2;
    assert_int_equal(mr__state_compare(&some, &ours, &detail), MR_EARGUMENT);
    assert_contains(detail.text, "a dataset of 50000 samples, and this one has 2");
}

static uint64_t random_state;

static uint64_t below(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % n;
}

enum { POSITIONS_MOST = 200 };

/* One run of a job: so many batches of every rank, then a state, which is written and read. */
static mr__state run(const mr__epoch_order *of, mr__state from, unsigned char *seen, const mr__order_place *calm)
{
    mr__deal deal = {.positions = of->order->positions,
                     .start = from.position,
                     .batch = 1 + (uint32_t)below(9),
                     .world = 1 + (uint32_t)below(7)};
    uint64_t batches = mr__deal_batches(&deal), until = below(batches + 1);
    for (deal.rank = 0; deal.rank < deal.world; deal.rank++)
        for (uint64_t b = 0; b < until; b++)
            for (uint32_t i = 0; i < deal.batch; i++) {
                uint64_t position = mr__deal_position(&deal, b, i);
                if (position == UINT64_MAX)
                    continue;
                mr__order_place place = mr__order_at(of, position);
                assert_int_equal(seen[position]++, 0);
                assert_true(place.ordinal == calm[position].ordinal && place.key == calm[position].key);
            }
    char text[1024];
    mr__state back;
    uint64_t position = deal.start + until * deal.batch * deal.world;
    from.position = position < deal.positions ? position : deal.positions;
    from.global_batch = (uint64_t)deal.batch * deal.world;
    write_state(&from, text, sizeof text);
    assert_int_equal(mr__state_read(&back, text, strlen(text), &detail), 0);
    assert_int_equal(mr__state_compare(&back, &from, &detail), 0);
    return back;
}

/* Stopped at any batch, and gone on with other ranks and batches, by machines that know the state's text alone. */
static void any_stops_and_worlds_give_the_same_epoch(void **state)
{
    (void)state;
    static double weights[POSITIONS_MOST];
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (uint64_t i = 0; i < POSITIONS_MOST; i++)
        weights[i] = (double)(1 + i % 5);
    for (int k = 0; k < (test_quick() ? 300 : 3000); k++) {
        mr_loader_options options = {.struct_size = sizeof options, .weights = weights};
        options.order = (mr_order_kind)below(5);
        options.seed = below(1000);
        options.block = below(20);
        options.window = below(50);
        options.draws = options.order == MR_ORDER_WEIGHTED ? below(POSITIONS_MOST + 1) : 0;
        uint64_t epoch = below(100), samples = 1 + below(POSITIONS_MOST);
        mr__order order;
        mr__epoch_order of;
        mr__order_place calm[POSITIONS_MOST];
        unsigned char seen[POSITIONS_MOST] = {0};
        assert_int_equal(mr__order_init(&order, &hooks, &options, samples, &detail), 0);
        mr__epoch_order_init(&of, &order, epoch);
        for (uint64_t p = 0; p < order.positions; p++)
            calm[p] = mr__order_at(&of, p);
        mr__state at = {.seed = options.seed, .epoch = epoch, .samples = samples, .order = mr__order_hash(&order)};
        while (at.position < order.positions) {
            mr__epoch_order again; // of another process
            mr__epoch_order_init(&again, &order, at.epoch);
            at = run(&again, at, seen, calm);
        }
        for (uint64_t p = 0; p < order.positions; p++)
            assert_int_equal(seen[p], 1);
        mr__order_fini(&order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_one_line),
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(the_version_comes_first),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(another_loader_is_told_apart),
        cmocka_unit_test(any_stops_and_worlds_give_the_same_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
