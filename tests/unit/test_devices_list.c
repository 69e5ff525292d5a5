// SPDX-License-Identifier: Apache-2.0
/* The list of devices, as programs see it. */
#include "test.h"

#include "fake_opencl.h"

#include <millrace/millrace.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static size_t list(mr_device_info devices[MOST])
{
    size_t count = 0;
    memset(devices, 0x5a, MOST * sizeof *devices);
    devices[0].struct_size = sizeof *devices;
    assert_int_equal(mr_devices_list(NULL, devices, MOST, &count), 0);
    assert_in_range(count, 3, MOST);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(devices[i].struct_size, sizeof *devices);
        assert_int_equal(devices[i].usable, devices[i].why[0] == 0);
    }
    return count;
}

static void the_host_is_the_first(void **state)
{
    mr_device_info devices[MOST];
    char text[512], cpu[320];
    size_t count = list(devices);
    (void)state;
    assert_string_equal(devices[0].device, "cpu");
    assert_true(devices[0].usable && devices[0].is_host && devices[0].name[0] != 0);
    assert_int_equal(devices[0].units, mr_threads_default());
    if (mr_cpu_text(cpu, sizeof cpu) != 0)
        assert_string_equal(devices[0].version, cpu);
    assert_string_equal(devices[count - 1].device, "sim");
    for (size_t i = 0; i < count; i += count - 1) {
        assert_int_equal(mr_device_lacks(&devices[i], text, sizeof text), 0);
        assert_string_equal(text, "");
        assert_true(mr_device_decodes(&devices[i], MR_FORM_WEBP));
        assert_false(mr_device_decodes(&devices[i], MR_FORM_NONE));
        assert_true(mr_device_takes(&devices[i], MR_STEP_USER));
    }
}

static void without_a_library_it_is_said(void **state)
{
    mr_device_info devices[MOST];
    (void)state;
    assert_int_equal(setenv("MILLRACE_OPENCL", "/nowhere.so", 1), 0);
    assert_int_equal(list(devices), 3);
    assert_string_equal(devices[1].device, "opencl");
    assert_false(devices[1].usable);
    assert_contains(devices[1].why, "/nowhere.so");
    assert_false(mr_device_takes(&devices[1], MR_STEP_RESIZE));
    assert_false(mr_device_decodes(&devices[1], MR_FORM_RAW));
    assert_int_equal(unsetenv("MILLRACE_OPENCL"), 0);
}

static void accelerators_have_numbers(void **state)
{
    mr_device_info devices[MOST];
    char text[512], part[5];
    (void)state;
    fake_opencl fake = fake_opencl_open();
    fake.reset();
    assert_int_equal(fake.configure("devices=2"), 0);
    assert_int_equal(setenv("MILLRACE_OPENCL", MILLRACE_FAKE_OPENCL, 1), 0);
    assert_int_equal(list(devices), 4);
    assert_string_equal(devices[2].device, "opencl:1");
    assert_true(devices[2].usable && !devices[2].is_host && !devices[2].shares_memory && devices[2].units != 0);
    assert_true(mr_device_takes(&devices[2], MR_STEP_RRC));
    assert_false(mr_device_takes(&devices[2], MR_STEP_USER));
    size_t needed = mr_device_lacks(&devices[2], text, sizeof text);
    assert_int_equal(needed, strlen(text));
    assert_contains(text, "user");
    assert_int_equal(mr_device_lacks(&devices[2], part, sizeof part), needed);
    assert_memory_equal(part, text, sizeof part - 1);
    assert_int_equal(mr_device_lacks(&devices[2], NULL, 0), needed);
    assert_int_equal(fake.configure("devices=1 kind=cpu doubles=0"), 0);
    assert_int_equal(list(devices), 3);
    assert_true(devices[1].is_host && devices[1].shares_memory);
    assert_true(mr_device_takes(&devices[2], MR_STEP_ROTATE));
    assert_false(mr_device_takes(&devices[1], MR_STEP_ROTATE));
    assert_true(mr_device_lacks(&devices[1], text, sizeof text) > needed);
    assert_int_equal(unsetenv("MILLRACE_OPENCL"), 0);
}

static void programs_of_other_times_can_ask(void **state)
{
    /* An older one, whose struct ended with the name; then one that is newer. */
    struct {
        size_t struct_size;
        char device[32], name[128];
    } older[2];
    struct {
        mr_device_info known;
        uint64_t more;
    } newer[2];
    size_t count = 0;
    (void)state;
    older[0].struct_size = sizeof older[0];
    assert_int_equal(mr_devices_list(NULL, (mr_device_info *)(void *)older, 2, &count), 0);
    assert_true(count >= 3);
    assert_string_equal(older[0].device, "cpu");
    assert_int_equal(strncmp(older[1].device, "opencl", 6), 0);
    memset(newer, 0x5a, sizeof newer);
    newer[0].known.struct_size = sizeof newer[0];
    assert_int_equal(mr_devices_list(NULL, &newer[0].known, 2, &count), 0);
    assert_int_equal(strncmp(newer[1].known.device, "opencl", 6), 0);
    assert_int_equal(newer[1].more, 0);
    assert_int_equal(mr_devices_list(NULL, NULL, 0, &count), 0);
    assert_true(count >= 3);
}

static void what_cannot_be_is_refused(void **state)
{
    mr_device_info device = {.struct_size = 0};
    size_t count = 77;
    (void)state;
    assert_int_equal(mr_devices_list(NULL, &device, 1, &count), MR_EARGUMENT);
    assert_int_equal(mr_devices_list(NULL, NULL, 1, &count), MR_EARGUMENT);
    assert_int_equal(mr_devices_list(NULL, NULL, 0, NULL), MR_EARGUMENT);
    assert_int_equal(count, 77);
    assert_false(mr_device_takes(NULL, MR_STEP_RRC));
    assert_false(mr_device_decodes(&device, MR_FORM_RAW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_the_first),     cmocka_unit_test(without_a_library_it_is_said),
        cmocka_unit_test(accelerators_have_numbers), cmocka_unit_test(programs_of_other_times_can_ask),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
