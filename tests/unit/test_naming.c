// SPDX-License-Identifier: Apache-2.0
/* Devices as users name them: what is read from a text, what is said of mistakes, and which of those that are here. */
#include "test.h"

#include "base/memory.h"
#include "loader/naming.h"
#include "twin.h"

#include <stdio.h>
#include <string.h>

static const mr__device_type *const types[] = {&mr__device_cpu, &twin_device, &mr__device_sim, NULL};

static int setup(void **state)
{
    (void)state;
    twin_make = (twin_setup){.count = 1};
    return 0;
}

/* The names as one text. */
static const char *joined(const mr__device_names *names)
{
    static char text[400];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < names->count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s", i != 0 ? "," : "", names->at[i].text,
                               names->at[i].any ? ":?" : "");
    return text;
}

static void what_is_read(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cpu", "cpu"},
        {"twin", "twin:?"},
        {"twin:0", "twin:0"},
        {"twin:007", "twin:7"},
        {"twin:999", "twin:999"},
        {"cpu,twin:1", "cpu,twin:1"},
        {"twin:1,cpu", "cpu,twin:1"},
        {"twin:2,twin:0,cpu,twin:1", "cpu,twin:2,twin:0,twin:1"},
        {" cpu , twin:3 ", "cpu,twin:3"},
        {"twin,twin:4", "twin:?,twin:4"},
        {"sim", "sim"},
        {"auto", "cpu"},
        {" auto ", "cpu"},
        {NULL, "cpu"},
        {"cpu,twin:1,twin:2,twin:3,twin:4,twin:5,twin:6,twin:7",
         "cpu,twin:1,twin:2,twin:3,twin:4,twin:5,twin:6,twin:7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__device_names names;
        mr__detail detail = {0};
        if (mr__names_read(cases[i][0], types, &names, &detail) != 0)
            fail_msg("%s: %s", cases[i][0], detail.text);
        assert_string_equal(joined(&names), cases[i][1]);
        assert_null(names.machine);
        assert_int_equal(names.automatic, cases[i][0] != NULL && strstr(cases[i][0], "auto") != NULL);
    }
}

static void a_machine_is_a_file(void **state)
{
    (void)state;
    static const char *const files[] = {"a.json", "", "a,b.json", "folder:x/y", " a"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[64];
        mr__device_names names;
        mr__detail detail;
        snprintf(text, sizeof text, "sim:%s", files[i]);
        assert_int_equal(mr__names_read(text, types, &names, &detail), 0);
        assert_string_equal(names.machine, files[i]);
        assert_int_equal(names.count, 0);
    }
}

static void what_is_said(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "the device has no name: cpu is the host"},
        {" ", "the device has no name: cpu is the host"},
        {",", "a device of the list has no name"},
        {"cpu,", "a device of the list has no name"},
        {"cpu,,twin:1", "a device of the list has no name"},
        {"cpus", "there is no device \"cpus\": do you mean cpu?"},
        {"CPU", "there is no device \"CPU\": do you mean cpu?"},
        {"host", "there is no device \"host\": do you mean cpu?"},
        {"twn:1", "there is no device \"twn:1\": do you mean twin:1?"},
        {"cpu,Twin:0", "there is no device \"Twin:0\": do you mean twin:0?"},
        {"aut", "there is no device \"aut\": do you mean auto?"},
        {"auto:1", "there is no device \"auto:1\": do you mean auto?"},
        {"tensorcore",
         "there is no device \"tensorcore\": auto, cpu, twin[:N], sim[:FILE], or several of them with commas between"},
        {"cpu:0", "the device \"cpu:0\": there is one cpu, and it has no number"},
        {"twin:", "the device \"twin:\": behind the colon stands its number, from 0 on"},
        {"twin:x", "the device \"twin:x\": behind the colon stands its number, from 0 on"},
        {"twin:-1", "the device \"twin:-1\": behind the colon stands its number, from 0 on"},
        {"twin:1x", "the device \"twin:1x\": behind the colon stands its number, from 0 on"},
        {"twin:1:2", "the device \"twin:1:2\": behind the colon stands its number, from 0 on"},
        {"twin:99999999999999999999",
         "the device \"twin:99999999999999999999\": behind the colon stands its number, from 0 on"},
        {"cpu,cpu", "the device cpu is named twice"},
        {"twin:1,cpu,twin:1", "the device twin:1 is named twice"},
        {"twin:1,twin:01", "the device twin:1 is named twice"},
        {"twin,twin", "the device twin is named twice"},
        {"auto,cpu", "auto is the host with every accelerator: it is named alone, or devices are, without it"},
        {"twin,auto", "auto is the host with every accelerator: it is named alone, or devices are, without it"},
        {"cpu,sim", "\"sim\" in a list: what is simulated has devices and a time of its own, and is named alone"},
        {"cpu,sim:a.json",
         "\"sim:a.json\" in a list: what is simulated has devices and a time of its own, and is named alone"},
        {"sim:a.json,cpu",
         "\"sim:a.json\" in a list: what is simulated has devices and a time of its own, and is named alone"},
        {"twin:0,twin:1,twin:2,twin:3,twin:4,twin:5,twin:6,twin:7,cpu", "more than 8 devices are named"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__device_names names;
        mr__detail detail = {0};
        assert_int_equal(mr__names_read(cases[i][0], types, &names, &detail), MR_EARGUMENT);
        assert_string_equal(detail.text, cases[i][1]);
    }
    char large[4096];
    mr__device_names names;
    mr__detail detail = {0};
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    assert_int_equal(mr__names_read(large, types, &names, &detail), MR_EARGUMENT);
    memcpy(large, "twin:", 5);
    memset(large + 5, '0', sizeof large - 6);
    assert_int_equal(mr__names_read(large, types, &names, &detail), MR_EARGUMENT);
}

static void others_words_for_it(void **state)
{
    (void)state;
    static const char *const words[] = {"gpu", "cuda:0", "cl", "opncl"};
    mr__device_names names;
    mr__detail detail = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(mr__names_read(words[i], mr__device_types(), &names, &detail), MR_EARGUMENT);
        assert_non_null(strstr(detail.text, i == 1 ? "do you mean opencl:0?" : "do you mean opencl?"));
    }
}

/* Reads a text, and looks at the machine. */
static int find(const char *text, const char *found, mr__detail *detail)
{
    mr__device_names names;
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__names_read(text, types, &names, detail), 0);
    int result = mr__names_find(&names, types, &hooks, detail);
    if (result == 0)
        assert_string_equal(joined(&names), found);
    return result;
}

static void which_of_those_that_are_here(void **state)
{
    (void)state;
    mr__detail detail = {0};
    twin_make = (twin_setup){.count = 3, .hosts = 1}; // the first is the host's own cores
    assert_int_equal(find("cpu", "cpu", &detail), 0);
    assert_int_equal(find("auto", "cpu,twin:1,twin:2", &detail), 0);
    assert_int_equal(find("twin", "twin:1", &detail), 0);
    assert_int_equal(find("twin:0", "twin:0", &detail), 0);
    assert_int_equal(find("twin:9", "twin:9", &detail), 0); // who opens it says that there is none
    assert_int_equal(find("twin,cpu", "cpu,twin:1", &detail), 0);
    assert_int_equal(find("twin,twin:2", "twin:1,twin:2", &detail), 0);
    assert_int_equal(find("twin:1,twin", "", &detail), MR_EARGUMENT);
    assert_string_equal(detail.text, "the device twin:1 is named twice: once without its number");
    twin_make.broken = 2; // the second cannot be used
    assert_int_equal(find("auto", "cpu,twin:2", &detail), 0);
    assert_int_equal(find("twin", "twin:2", &detail), 0);
    twin_make.broken = 6;
    assert_int_equal(find("auto", "cpu", &detail), 0);
    assert_int_equal(find("twin", "twin:0", &detail), 0);
    twin_make.broken = 7;
    assert_int_equal(find("auto", "cpu", &detail), 0);
    assert_int_equal(find("twin", "", &detail), MR_EUNSUPPORTED);
    assert_string_equal(detail.text, "of the 3 twin devices here none can be used: millrace devices says why");
    twin_make = (twin_setup){.count = 20};
    assert_int_equal(find("auto", "cpu,twin:0,twin:1,twin:2,twin:3,twin:4,twin:5,twin:6", &detail), 0);
    twin_make = (twin_setup){.absent = true};
    assert_int_equal(find("auto", "cpu", &detail), 0);
    assert_int_equal(find("cpu", "cpu", &detail), 0);
    assert_int_equal(find("twin", "", &detail), MR_EUNSUPPORTED);
    assert_string_equal(detail.text, "there is no library of twins");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_read, setup),
        cmocka_unit_test_setup(a_machine_is_a_file, setup),
        cmocka_unit_test_setup(what_is_said, setup),
        cmocka_unit_test_setup(others_words_for_it, setup),
        cmocka_unit_test_setup(which_of_those_that_are_here, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
