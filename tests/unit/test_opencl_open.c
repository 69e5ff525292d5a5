// SPDX-License-Identifier: Apache-2.0
/* Opening an OpenCL device: which library, and kernels that are kept. On the fake device of the tests. */
#include "test.h"

#include "fake_opencl.h"
#include "files.h"
#include "opencl_play.h"
#include "picture.h"
#include "taping.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fake_opencl fake;

/* A cache of this test's own, with what was logged. */
static test_folder cache;
static char said[4096];

static void note(void *user, mr_log_level level, const char *text)
{
    size_t used = strlen(said);
    (void)user;
    (void)level;
    snprintf(said + used, sizeof said - used, "%s\n", text);
}

static mr_hooks hooks_of(void)
{
    mr_hooks hooks, given = {.struct_size = sizeof given, .log = note, .log_level = MR_LOG_INFO};
    assert_int_equal(mr__hooks_init(&hooks, &given), 0);
    return hooks;
}

/* How often programs were made of text in it is in *built. */
static int open_with(const char *settings, bool no_cache, long long *built, mr__detail *detail)
{
    mr_hooks hooks = hooks_of();
    mr__cl_options options = {.hooks = &hooks, .library = MILLRACE_FAKE_OPENCL, .no_cache = no_cache};
    mr__cl_player *player;
    fake.reset();
    assert_int_equal(fake.configure(settings), 0);
    said[0] = 0;
    int result = mr__cl_player_open(&options, &player, detail);
    if (result == 0)
        mr__cl_player_close(player);
    *built = fake.count("clCreateProgramWithSource");
    assert_int_equal(fake.check(), 0);
    return result;
}

static void libraries_are_found_out(void **state)
{
    mr_hooks hooks = hooks_of();
    mr__cl_options options = {.hooks = &hooks, .library = "/nowhere/libOpenCL.so.1"};
    mr__cl_entry entry;
    mr__detail detail;
    size_t count = 77;
    (void)state;
    assert_int_equal(mr__cl_list(&options, &entry, 1, &count, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "/nowhere/libOpenCL.so.1");
    options.library = "libm.so.6";
    assert_int_equal(mr__cl_list(&options, &entry, 1, &count, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "it has no cl");
    assert_int_equal(count, 77);
    options.library = NULL;
    assert_int_equal(setenv("MILLRACE_OPENCL", "/elsewhere.so", 1), 0);
    assert_int_equal(mr__cl_list(&options, &entry, 1, &count, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "/elsewhere.so");
    assert_int_equal(unsetenv("MILLRACE_OPENCL"), 0);
}

/* --- kernels that are kept --- */

/* How many files are kept; the path of one. */
static size_t kept(char path[512])
{
    char folder[512];
    size_t count = 0;
    DIR *files = opendir(test_folder_path(&cache, "millrace/opencl", folder));
    struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL)
        if (entry->d_name[0] != '.') {
            snprintf(path, 512, "%.250s/%.250s", folder, entry->d_name);
            count++;
        }
    if (files != NULL)
        closedir(files);
    return count;
}

typedef void damage(uint8_t *bytes, size_t *nbytes);

static void cut(uint8_t *bytes, size_t *nbytes)
{
    (void)bytes;
    *nbytes /= 2;
}

static void empty(uint8_t *bytes, size_t *nbytes)
{
    (void)bytes;
    *nbytes = 0;
}

static void flip_a_bit(uint8_t *bytes, size_t *nbytes)
{
    bytes[*nbytes / 2] ^= 4;
}

static void be_of_another_key(uint8_t *bytes, size_t *nbytes)
{
    (void)nbytes;
    bytes[8] ^= 1;
}

static void damage_kept(damage *how)
{
    char path[512];
    static uint8_t bytes[64 << 20];
    assert_int_equal(kept(path), 1);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t nbytes = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    how(bytes, &nbytes);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, nbytes, file), nbytes);
    assert_int_equal(fclose(file), 0);
}

static void kernels_are_kept(void **state)
{
    static damage *const damages[] = {cut, empty, flip_a_bit, be_of_another_key};
    char path[512];
    mr__detail detail;
    long long built;
    (void)state;
    assert_int_equal(open_with("", false, &built, &detail), 0);
    assert_int_equal(built, 1);
    assert_int_equal(kept(path), 1);
    assert_int_equal(open_with("", false, &built, &detail), 0);
    assert_int_equal(built, 0);
    assert_string_equal(said, "");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damage_kept(damages[i]);
        assert_int_equal(open_with("", false, &built, &detail), 0);
        assert_int_equal(built, 1);
        assert_contains(said, "damaged");
        assert_int_equal(open_with("", false, &built, &detail), 0);
        assert_int_equal(built, 0);
    }
    assert_int_equal(open_with("fail=clCreateProgramWithBinary:1:-42", false, &built, &detail), 0);
    assert_int_equal(built, 1);
    assert_contains(said, "the driver does not take it any more");
    assert_int_equal(open_with("fail=clBuildProgram:1:-11", false, &built, &detail), 0);
    assert_int_equal(built, 1);
    assert_int_equal(kept(path), 1);
}

static void other_devices_have_other_kernels(void **state)
{
    char path[512];
    mr__detail detail;
    long long built;
    (void)state;
    assert_int_equal(kept(path), 1);
    assert_int_equal(open_with("version=20", false, &built, &detail), 0);
    assert_int_equal(built, 1);
    assert_int_equal(kept(path), 2);
}

static void what_is_kept_is_no_more_than_some(void **state)
{
    char path[512], name[64];
    mr__detail detail;
    long long built;
    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "millrace/opencl/00000000000000%02d.bin", i);
        test_folder_write(&cache, name, "", 0);
    }
    test_folder_write(&cache, "millrace/opencl/notes", "", 0); // whose that is we do not know
    assert_int_equal(open_with("version=30", false, &built, &detail), 0);
    assert_int_equal(kept(path), 17);
    assert_int_equal(open_with("version=30", false, &built, &detail), 0);
    assert_int_equal(built, 0);
}

static void nothing_is_kept_where_it_should_not_be(void **state)
{
    char path[512];
    mr__detail detail;
    long long built;
    (void)state;
    test_folder_fini(&cache);
    assert_int_equal(open_with("", true, &built, &detail), 0);
    assert_int_equal(built, 1);
    assert_int_equal(kept(path), 0);
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    assert_int_equal(open_with("", false, &built, &detail), 0);
    assert_contains(said, "the next run builds the kernels anew");
}

/* What Oclgrind is like: floats of its own, and nothing runs but while it is waited for. */
static void simulators_are_taken_on_request(void **state)
{
    opencl_play cl;
    mr__detail detail;
    mr__cl_options options = {.library = MILLRACE_FAKE_OPENCL, .no_cache = true, .simulator = true};
    (void)state;
    fake.reset();
    assert_int_equal(fake.configure("exact=0"), 0);
    assert_int_equal(opencl_play_open(&cl, &options, &detail), 0);
    taping how = {.play = opencl_play_tape, .user = &cl};
    mr_image image = picture_make(31, 17, 3, 8, 1);
    assert_true(taping_recipe(&how, "resize(20)", &image, 1));
    mr_image_fini(&image, NULL);
    opencl_play_close(&cl);
    assert_int_equal(fake.count("clSetEventCallback"), 0);
    assert_int_equal(fake.check(), 0);
    assert_int_equal(fake.configure("exact=0 lanes=32"), 0);
    assert_int_equal(opencl_play_open(&cl, &options, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "64 lanes");
    opencl_play_close(&cl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_are_found_out),
        cmocka_unit_test(simulators_are_taken_on_request),
        cmocka_unit_test(kernels_are_kept),
        cmocka_unit_test(other_devices_have_other_kernels),
        cmocka_unit_test(what_is_kept_is_no_more_than_some),
        cmocka_unit_test(nothing_is_kept_where_it_should_not_be),
    };
    test_folder_init_in_memory(&cache);
    setenv("XDG_CACHE_HOME", cache.path, 1);
    fake = fake_opencl_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
