// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "device/sim/hardware.h"
#include "files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* In memory of its own, so that a sanitizer sees a read behind its end. */
static int read_text(const char *text, mr__hardware *out, mr__detail *detail)
{
    size_t nbytes = strlen(text);
    char *copy = malloc(nbytes != 0 ? nbytes : 1);
    memcpy(copy, text, nbytes);
    mr__detail_clear(detail);
    int code = mr__hardware_read("h.json", copy, nbytes, out, detail);
    free(copy);
    return code;
}

static void every_field_is_read(void **state)
{
    (void)state;
    static mr__hardware h;
    mr__detail detail;
    int code = read_text(
        "{\"name\": \"n\\u006f\", \"comment\": \"why\", \"seed\": 77,\n"
        "\"trainer\": {\"device\": \"b\", \"step_ms\": 2.5, \"jitter\": 0.1, \"interference\": 0.25},\n"
        "\"devices\": [{\"name\": \"a\"},\n"
        " {\"name\": \"b\", \"kind\": \"accelerator\", \"lanes\": 3, \"speed\": 2.5, \"speeds\": {\"jpeg\": 6, \"l3\": "
        "20},\n"
        "  \"lacks\": [\"png\", \"elastic\"], \"launch_us\": 300.5, \"link_gbs\": 12, \"output_back\": true,\n"
        "  \"link_overlaps\": true, \"memory_mb\": 64, \"jitter\": 0.3, \"depth\": 7, \"group\": 16, \"faults\": [\n"
        "  {\"kind\": \"slow\", \"factor\": 4, \"from_ms\": 1, \"until_ms\": 2},\n"
        "  {\"kind\": \"freeze\", \"lane\": 2, \"at_ms\": 5, \"for_ms\": 10},\n"
        "  {\"after\": 9, \"kind\": \"lost\", \"back_ms\": 3}, {\"kind\": \"hang\", \"after\": 0},\n"
        "  {\"kind\": \"wrong\", \"every\": 5}, {\"kind\": \"memory\", \"at_ms\": 1, \"mb\": 32}]}],\n"
        "\"cost\": {\"default\": {\"us\": 50}, \"l3\": {\"ns_per_pixel\": 6, \"ns_per_byte\": 0.5, \"spread\": 0.2}}}",
        &h, &detail);
    assert_string_equal(detail.text, "");
    assert_int_equal(code, 0);
    assert_string_equal(h.name, "no");
    assert_true(h.seed == 77 && h.device_count == 2 && h.trainer.device == 2);
    assert_true(h.trainer.step_ns == 5 * MS / 2 && h.trainer.jitter == 0.1 && h.trainer.interference == 0.25);
    const mr__hardware_device *d = &h.devices[1];
    assert_true(d->kind == MR__HARDWARE_ACCELERATOR && d->lanes == 3 && d->speed == 2.5 && d->launch_ns == 300500);
    assert_true(d->speeds[MR_FORM_JPEG] == 6.0 && d->speeds[MR_FORM_L3] == 20.0 && d->speeds[MR_FORM_PNG] == 0.0);
    assert_true(d->lacks_form[MR_FORM_PNG] && d->lacks_step[MR_STEP_ELASTIC] && !d->lacks_step[MR_STEP_RRC]);
    assert_true(d->link_gbs == 12.0 && d->output_back && d->link_overlaps && d->memory_nbytes == 64000000);
    assert_true(d->jitter == 0.3 && d->depth == 7 && d->group == 16 && d->fault_count == 6);
    const mr__fault *f = d->faults;
    assert_true(f[0].kind == MR__FAULT_SLOW && f[0].factor == 4.0 && f[0].from_ns == MS && f[0].until_ns == 2 * MS);
    assert_true(f[1].kind == MR__FAULT_FREEZE && f[1].lane == 3 && f[1].from_ns == 5 * MS && f[1].until_ns == 15 * MS);
    assert_true(f[2].kind == MR__FAULT_LOST && f[2].after == 9 && f[2].back_ns == 3 * MS);
    assert_true(f[3].kind == MR__FAULT_HANG && f[3].after == 0 && f[3].back_ns == 0 && f[3].lane == 0);
    assert_true(f[4].kind == MR__FAULT_WRONG && f[4].every == 5);
    assert_true(f[5].kind == MR__FAULT_MEMORY && f[5].nbytes == 32000000 && f[5].until_ns == 0);
    assert_true(h.devices[0].lanes == 0 && h.devices[0].kind == MR__HARDWARE_CPU);
    assert_int_equal(mr__hardware_find(&h, "b"), 1);
    assert_int_equal(mr__hardware_find(&h, "c"), 2);
}

static const struct {
    const char *text;
    int code;
    const char *words;
} bad[] = {
    {"", MR_EARGUMENT, "h.json, line 1: "},
    {"[]", MR_EARGUMENT, "line 1: here stands an object"},
    {"{}", MR_EARGUMENT, "line 1: there are no devices"},
    {"{\"devices\": [{\"name\": \"a\"}]} x", MR_EARGUMENT, "line 1"},
    {"{\n\"divices\": []}", MR_EARGUMENT, "line 2: a machine has no \"divices\", but: name comment seed devices cost"},
    {"{\"devices\": [\n\n{\"name\": \"a\", \"lane\": 2}]}", MR_EARGUMENT,
     "line 3: a device has no \"lane\", but: name"},
    {"{\"devices\": [{\"name\": \"a\", \"name\": \"b\"}]}", MR_EARGUMENT, "was there before"},
    {"{\"devices\": [{\"lanes\": 2}]}", MR_EARGUMENT, "has no name"},
    {"{\"devices\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", MR_EARGUMENT, "another device has the same name"},
    {"{\"devices\": [{\"name\": \"\"}]}", MR_EARGUMENT, "name is a text of 1 to 31 bytes"},
    {"{\"devices\": [{\"name\": \"0123456789012345678901234567890x\"}]}", MR_EARGUMENT, "1 to 31 bytes"},
    {"{\"devices\": [{\"name\": \"a\", \"lanes\": 0}]}", MR_EARGUMENT, "lanes is a whole number from 1 to 1024"},
    {"{\"devices\": [{\"name\": \"a\", \"lanes\": 1.5}]}", MR_EARGUMENT, "lanes is a whole number"},
    {"{\"devices\": [{\"name\": \"a\", \"lanes\": 1e300}]}", MR_EARGUMENT, "lanes is a whole number"},
    {"{\"devices\": [{\"name\": \"a\", \"speed\": -1}]}", MR_EARGUMENT, "speed is a number from"},
    {"{\"devices\": [{\"name\": \"a\", \"speed\": 1e999}]}", MR_EARGUMENT, "speed is a number from"},
    {"{\"devices\": [{\"name\": \"a\", \"kind\": \"gpu\"}]}", MR_EARGUMENT, "kind is \"cpu\" or \"accelerator\""},
    {"{\"devices\": [{\"name\": \"a\", \"output_back\": 1}]}", MR_EARGUMENT, "output_back is true or false"},
    {"{\"devices\": [{\"name\": \"a\", \"speeds\": {\"jpg\": 1}}]}", MR_EARGUMENT, "but: jpeg, png, webp"},
    {"{\"devices\": [{\"name\": \"a\", \"speeds\": {\"default\": 1}}]}", MR_EARGUMENT, "but: jpeg, png, webp"},
    {"{\"devices\": [{\"name\": \"a\", \"lacks\": [\"jpeg\", \"lastic\"]}]}", MR_EARGUMENT,
     "of a step (doc/recipe.md)"},
    {"{\"devices\": [{\"name\": \"a\", \"depth\": 65536, \"group\": 2}]}", MR_ELIMIT, "depth times group is more than"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{}]}]}", MR_EARGUMENT, "a fault has a kind: slow, freeze"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"slew\"}]}]}", MR_EARGUMENT, "but: slow, freeze, lost"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"slow\"}]}]}", MR_EARGUMENT, "slow has factor"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"lost\", \"after\": 1, \"lane\": 0}]}]}", MR_EARGUMENT,
     "lost has after, back_ms"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"wrong\"}]}]}", MR_EARGUMENT, "wrong has after, every"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"slow\", \"factor\": 2, \"from_ms\": 5, "
     "\"until_ms\": 5}]}]}",
     MR_EARGUMENT, "until_ms is not after from_ms"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"hang\", \"after\": 1, \"lane\": 1}]}]}", MR_EARGUMENT,
     "a lane that it does not have"},
    {"{\"devices\": [{\"name\": \"a\", \"faults\": [{\"kind\": \"memory\", \"at_ms\": 1, \"mb\": 1}]}]}", MR_EARGUMENT,
     "has none of its own (memory_mb)"},
    {"{\"devices\": [{\"name\": \"a\"}], \"cost\": {\"jpeg\": {\"us\": 1}}}", MR_EARGUMENT, "cost has no \"default\""},
    {"{\"devices\": [{\"name\": \"a\"}], \"cost\": {\"default\": {\"ms\": 1}}}", MR_EARGUMENT,
     "a cost has no \"ms\", but: us"},
    {"{\"devices\": [{\"name\": \"a\"}],\n \"trainer\": {\"device\": \"b\"}}", MR_EARGUMENT,
     "line 2: the trainer runs on"},
    {"{\"devices\": [{\"name\": \"a\"}], \"seed\": 9007199254740992}", MR_EARGUMENT,
     "seed is a whole number from 0 to"},
    {"{\"devices\": [{\"name\": \"a\"", MR_EARGUMENT, "line 1"},
};

static void what_is_wrong_is_said_with_its_line(void **state)
{
    (void)state;
    static mr__hardware h, untouched;
    mr__detail detail;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int code = read_text(bad[i].text, &h, &detail);
        if (code != bad[i].code)
            fail_msg("%s: %d, '%s'", bad[i].text, code, detail.text);
        assert_contains(detail.text, bad[i].words);
        assert_contains(detail.text, "h.json, line ");
        assert_memory_equal(&h, &untouched, sizeof h);
    }
}

static void numbers_of_things_have_limits(void **state)
{
    (void)state;
    static mr__hardware h;
    static char text[8192];
    mr__detail detail;
    for (int many = 16; many <= 17; many++) {
        int at = snprintf(text, sizeof text, "{\"devices\": [");
        for (int i = 0; i < many; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s{\"name\": \"d%d\"}", i != 0 ? "," : "", i);
        snprintf(text + at, sizeof text - (size_t)at, "]}");
        assert_int_equal(read_text(text, &h, &detail), many == 16 ? 0 : MR_ELIMIT);
        at = snprintf(text, sizeof text, "{\"devices\": [{\"name\": \"a\", \"faults\": [");
        for (int i = 0; i < many; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s{\"kind\": \"lost\", \"after\": %d}",
                           i != 0 ? "," : "", i);
        snprintf(text + at, sizeof text - (size_t)at, "]}]}");
        assert_int_equal(read_text(text, &h, &detail), many == 16 ? 0 : MR_ELIMIT);
    }
    assert_contains(detail.text, "at most 16");
    size_t nbytes = MR__HARDWARE_NBYTES_MAX + 1;
    char *large = malloc(nbytes);
    memset(large, ' ', nbytes);
    assert_int_equal(mr__hardware_read("h.json", large, nbytes, &h, &detail), MR_ELIMIT);
    free(large);
}

static void files_are_loaded(void **state)
{
    (void)state;
    static const char *const names[] = {"small-node", "fusionflow-node", "tiny-device", "failing-device"};
    static mr__hardware h;
    mr__detail detail = {{0}};
    mr_hooks hooks;
    char path[512];
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/examples/hardware/%s.json", MILLRACE_SOURCE_ROOT, names[i]);
        int code = mr__hardware_load(path, &hooks, &h, &detail);
        assert_string_equal(detail.text, "");
        assert_int_equal(code, 0);
        assert_string_equal(h.name, names[i]);
    }
    assert_int_equal(mr__hardware_load("/nowhere/h.json", &hooks, &h, &detail), MR_EIO);
    assert_contains(detail.text, "/nowhere/h.json cannot be read: No such file");
    test_folder folder;
    test_folder_init(&folder);
    assert_int_equal(mr__hardware_load(folder.path, &hooks, &h, &detail), MR_EIO);
    static char large[MR__HARDWARE_NBYTES_MAX + 1];
    test_folder_write(&folder, "large", large, sizeof large);
    assert_int_equal(mr__hardware_load(test_folder_path(&folder, "large", path), &hooks, &h, &detail), MR_ELIMIT);
    test_folder_write(&folder, "empty", "", 0);
    assert_int_equal(mr__hardware_load(test_folder_path(&folder, "empty", path), &hooks, &h, &detail), MR_EARGUMENT);
    test_folder_fini(&folder);
}

static void a_cost_is_of_pixels_bytes_and_the_image(void **state)
{
    (void)state;
    static mr__hardware h;
    mr__hardware_plain(&h, 0);
    assert_true(h.device_count == 1 && h.devices[0].lanes == 4);
    assert_int_equal(mr__hardware_core_ns(&h, 5, MR_FORM_JPEG, 1000, 1000), MS);
    h.costs[MR_FORM_L3] = (mr__hardware_cost){.given = true, .us = 50, .ns_per_pixel = 6, .ns_per_byte = 0.5};
    assert_int_equal(mr__hardware_core_ns(&h, 5, MR_FORM_L3, 1000, 100), 50000 + 6000 + 50);
    assert_int_equal(mr__hardware_core_ns(&h, 5, MR_FORM_PNG, 1000, 100), MS);
    h.costs[MR_FORM_NONE].spread = 0.5;
    double sum = 0.0;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t ns = mr__hardware_core_ns(&h, i, MR_FORM_JPEG, 0, 0);
        assert_int_equal(ns, mr__hardware_core_ns(&h, i, MR_FORM_JPEG, 0, 0));
        sum += (double)ns / (double)MS;
    }
    double deviation = sqrt((exp(0.25) - 1.0) / 20000);
    assert_true(fabs(sum / 20000 - 1.0) < 5 * deviation);
    h.costs[MR_FORM_NONE] = (mr__hardware_cost){.given = true, .us = 1e9, .ns_per_pixel = 1e6, .spread = 4};
    assert_true(mr__hardware_core_ns(&h, 1, MR_FORM_JPEG, UINT64_MAX, UINT64_MAX) <= UINT64_C(10000000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(numbers_of_things_have_limits),
        cmocka_unit_test(files_are_loaded),
        cmocka_unit_test(a_cost_is_of_pixels_bytes_and_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
