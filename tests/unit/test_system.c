// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "test.h"

#include "base/system.h"
#include "files.h"

#include <errno.h>
#include <millrace/system.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A machine as /proc and the cgroup mounts show it. '@' stands for the test's folder. */
typedef struct machine {
    const char *name;
    const char *cgroup;
    const char *mountinfo;
    struct {
        const char *path, *text;
    } files[8];
    unsigned expected;
} machine;

#define V2_MOUNT "29 23 0:26 / @/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "33 31 0:30 / @/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"

static const machine machines[] = {
    {"v2, own quota", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "200000 100000\n"}}, 2},
    {"v2, rounded up", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "150000 100000\n"}}, 2},
    {"v2, less than one", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "1000 100000\n"}}, 1},
    {"v2, exactly one", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "100000 100000\n"}}, 1},
    {"v2, none", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "max 100000\n"}}, 0},
    {"v2, files missing", "0::/a/b\n", V2_MOUNT, {{"cg/other", ""}}, 0},
    {"v2, at the mount (a container)", "0::/\n", V2_MOUNT, {{"cg/cpu.max", "300000 100000\n"}}, 3},
    {"v2, the least is above",
     "0::/a/b/c\n",
     V2_MOUNT,
     {{"cg/a/b/c/cpu.max", "800000 100000\n"}, {"cg/a/b/cpu.max", "max 100000\n"}, {"cg/a/cpu.max", "50000 10000\n"}},
     5},
    {"v2, the least is between",
     "0::/a/b/c\n",
     V2_MOUNT,
     {{"cg/a/b/c/cpu.max", "max 100000\n"}, {"cg/a/b/cpu.max", "700000 100000\n"}, {"cg/a/cpu.max", "900000 100000\n"}},
     7},
    {"v2, the least is at the mount",
     "0::/a/b\n",
     V2_MOUNT,
     {{"cg/a/b/cpu.max", "800000 100000\n"}, {"cg/cpu.max", "200000 100000\n"}},
     2},
    {"v2, a sibling's quota is not ours",
     "0::/a\n",
     V2_MOUNT,
     {{"cg/a/cpu.max", "800000 100000\n"}, {"cg/ab/cpu.max", "100000 100000\n"}},
     8},
    {"v2, a middle level is missing", "0::/a/b/c\n", V2_MOUNT, {{"cg/a/cpu.max", "400000 100000\n"}}, 4},
    {"v2, a part of the hierarchy is mounted",
     "0::/docker/12ab/inner\n",
     "29 23 0:26 /docker/12ab @/cg rw - cgroup2 cgroup2 rw\n",
     {{"cg/inner/cpu.max", "600000 100000\n"}, {"cg/cpu.max", "400000 100000\n"}, {"cg/docker/cpu.max", "1 1\n"}},
     4},
    {"v2, mounted exactly at our group",
     "0::/docker/12ab\n",
     "29 23 0:26 /docker/12ab @/cg rw - cgroup2 cgroup2 rw\n",
     {{"cg/cpu.max", "400000 100000\n"}},
     4},
    {"v2, a root that only begins like our path is another",
     "0::/docker/12abc\n",
     "29 23 0:26 /docker/12ab @/other rw - cgroup2 cgroup2 rw\n" V2_MOUNT,
     {{"other/cpu.max", "100000 100000\n"},
      {"otherc/cpu.max", "100000 100000\n"}, // where the path would end up without its first letters
      {"cg/docker/12abc/cpu.max", "400000 100000\n"}},
     4},
    {"v2, nothing but a foreign part is mounted",
     "0::/system.slice/x\n",
     "29 23 0:26 /docker/12ab @/cg rw - cgroup2 cgroup2 rw\n",
     {{"cg/cpu.max", "400000 100000\n"}},
     4},
    {"v2, out of the namespace",
     "0::/../x\n",
     V2_MOUNT,
     {{"x/cpu.max", "100000 100000\n"}, {"cg/cpu.max", "400000 100000\n"}},
     4},
    {"v2, a mount from above the namespace",
     "0::/\n",
     "29 23 0:26 /../.. @/cg rw - cgroup2 cgroup2 rw\n",
     {{"cg/cpu.max", "max 100000\n"}},
     0},
    {"v2, a path with colons", "0::/a:b:c\n", V2_MOUNT, {{"cg/a:b:c/cpu.max", "200000 100000\n"}}, 2},
    {"v2, spaces and backslashes in the mount",
     "0::/my group\n",
     "29 23 0:26 /my\\040group @/c\\040g\\134 rw - cgroup2 cgroup2 rw\n",
     {{"c g\\/cpu.max", "200000 100000\n"}},
     2},
    {"v2, many optional fields and none",
     "0::/a\n",
     "1 1 0:1 / / rw - ext4 /dev/sda rw\n29 23 0:26 / @/cg rw shared:4 master:5 propagate_from:6 - cgroup2 none rw\n",
     {{"cg/a/cpu.max", "200000 100000\n"}},
     2},
    {"v2, the same hierarchy mounted twice",
     "0::/a/b\n",
     V2_MOUNT "30 23 0:26 /a @/part rw - cgroup2 cgroup2 rw\n",
     {{"cg/a/b/cpu.max", "500000 100000\n"}, {"cg/a/cpu.max", "300000 100000\n"}, {"part/b/cpu.max", "max 1\n"}},
     3},
    {"v1",
     "4:cpu,cpuacct:/a\n",
     V1_MOUNT,
     {{"cpu/a/cpu.cfs_quota_us", "250000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     3},
    {"v1, none",
     "4:cpu,cpuacct:/a\n",
     V1_MOUNT,
     {{"cpu/a/cpu.cfs_quota_us", "-1\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"v1, no period", "4:cpu,cpuacct:/a\n", V1_MOUNT, {{"cpu/a/cpu.cfs_quota_us", "250000\n"}}, 0},
    {"v1, nested",
     "5:memory:/m\n4:cpuacct,cpu:/a/b\n",
     V1_MOUNT,
     {{"cpu/a/b/cpu.cfs_quota_us", "900000\n"},
      {"cpu/a/b/cpu.cfs_period_us", "100000\n"},
      {"cpu/a/cpu.cfs_quota_us", "20000\n"},
      {"cpu/a/cpu.cfs_period_us", "5000\n"},
      {"cpu/cpu.cfs_quota_us", "-1\n"},
      {"cpu/cpu.cfs_period_us", "100000\n"}},
     4},
    {"v1, controllers that only contain the word",
     "4:cpuset:/a\n3:cpuacct:/a\n",
     "33 31 0:30 / @/cpu rw - cgroup cgroup rw,cpuset\n33 31 0:30 / @/cpu rw - cgroup cgroup rw,cpuacct\n",
     {{"cpu/a/cpu.cfs_quota_us", "100000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"v1, mounts of other controllers, in which our place has files of that name",
     "4:cpu,cpuacct:/a\n",
     "31 31 0:28 / @/set rw - cgroup cgroup rw,cpuset\n" V1_MOUNT
     "34 31 0:31 / @/memory rw - cgroup cgroup rw,memory\n",
     {{"cpu/a/cpu.cfs_quota_us", "300000\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"},
      {"set/a/cpu.cfs_quota_us", "200000\n"},
      {"set/a/cpu.cfs_period_us", "100000\n"},
      {"memory/a/cpu.cfs_quota_us", "100000\n"},
      {"memory/a/cpu.cfs_period_us", "100000\n"}},
     3},
    {"v1, no mount has the controller",
     "4:cpu:/a\n",
     "31 31 0:28 / @/set rw - cgroup cgroup rw,cpuset\n",
     {{"set/a/cpu.cfs_quota_us", "200000\n"}, {"set/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"v1, a named hierarchy",
     "1:name=systemd:/a\n",
     V1_MOUNT,
     {{"cpu/a/cpu.cfs_quota_us", "100000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}},
     0},
    {"v1, a part is mounted",
     "4:cpu:/docker/12ab\n",
     "33 31 0:30 /docker/12ab @/cpu rw - cgroup cgroup rw,cpu\n",
     {{"cpu/cpu.cfs_quota_us", "200000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     2},
    {"hybrid, the quota is in v1",
     "4:cpu,cpuacct:/a\n0::/a\n",
     V1_MOUNT V2_MOUNT,
     {{"cpu/a/cpu.cfs_quota_us", "200000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"}, {"cg/a/cgroup.procs", "1\n"}},
     2},
    {"hybrid, both have one",
     "4:cpu,cpuacct:/a\n0::/b\n",
     V1_MOUNT V2_MOUNT,
     {{"cpu/a/cpu.cfs_quota_us", "300000\n"},
      {"cpu/a/cpu.cfs_period_us", "100000\n"},
      {"cg/b/cpu.max", "100000 100000"}},
     1},
    {"hybrid, v1 is a foreign part and v2 says nothing",
     "4:cpu:/x\n0::/\n",
     "33 31 0:30 /y @/cpu rw - cgroup cgroup rw,cpu\n" V2_MOUNT,
     {{"cpu/cpu.cfs_quota_us", "200000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     2},
    {"no newline at the end",
     "0::/a",
     "29 23 0:26 / @/cg rw - cgroup2 cgroup2 rw",
     {{"cg/a/cpu.max", "200000 100000"}},
     2},
    {"empty files", "", "", {{"cg/a/cpu.max", "200000 100000"}}, 0},
    {"garbage in cgroup",
     "\n:\n::\n0\n0:\n0::\n0::a\n4:cpu\nx",
     V2_MOUNT V1_MOUNT,
     {{"cg/cpu.max", "100000 100000"}},
     0},
    {"garbage in mountinfo",
     "0::/a\n",
     "\n \n1\n1 2 3 4 5 6\n1 2 3 / @/cg rw\n1 2 3 / @/cg rw -\n1 2 3 / @/cg rw - cgroup2\n- - - - - -\n1 2 3 x y z - "
     "cgroup2 "
     "c rw\n",
     {{"cg/a/cpu.max", "200000 100000\n"}},
     0},
    {"garbage before good lines", "junk\n0::/a\n", "junk\n" V2_MOUNT, {{"cg/a/cpu.max", "200000 100000\n"}}, 2},
    {"an empty quota", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", ""}}, 0},
    {"a quota of words", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "lots of it\n"}}, 0},
    {"a quota without a period", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "200000\n"}}, 0},
    {"a quota of zero", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "0 100000\n"}}, 0},
    {"a negative quota", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "-5 100000\n"}}, 0},
    {"a period of zero", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "100000 0\n"}}, 0},
    {"numbers that do not fit", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "99999999999999999999999 100000\n"}}, 0},
    {"a huge quota", "0::/a\n", V2_MOUNT, {{"cg/a/cpu.max", "9223372036854775807 1\n"}}, UINT32_MAX},
    {"one bad level does not hide another",
     "0::/a/b\n",
     V2_MOUNT,
     {{"cg/a/b/cpu.max", "?\n"}, {"cg/a/cpu.max", "200000 100000\n"}},
     2},
};

/* Writes a text with '@' replaced. */
static void write_text(const test_folder *folder, const char *name, const char *text)
{
    char full[4096];
    size_t used = 0;
    for (; *text != '\0'; text++)
        used += (size_t)snprintf(full + used, sizeof full - used, *text == '@' ? "%s" : "%.1s",
                                 *text == '@' ? folder->path : text);
    test_folder_write(folder, name, full, used);
}

static unsigned quota_in(const test_folder *folder)
{
    char cgroup[512], mountinfo[512];
    return mr__cgroup_quota(test_folder_path(folder, "proc/cgroup", cgroup),
                            test_folder_path(folder, "proc/mountinfo", mountinfo));
}

static void quotas_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const machine *m = &machines[i];
        test_folder folder;
        test_folder_init(&folder);
        write_text(&folder, "proc/cgroup", m->cgroup);
        write_text(&folder, "proc/mountinfo", m->mountinfo);
        for (size_t j = 0; j < 8 && m->files[j].path != NULL; j++)
            test_folder_write(&folder, m->files[j].path, m->files[j].text, strlen(m->files[j].text));
        unsigned quota = quota_in(&folder);
        test_folder_fini(&folder);
        if (quota != m->expected)
            fail_msg("%s: %u processors, not %u", m->name, quota, m->expected);
    }
}

static void without_proc_there_is_no_quota(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    assert_int_equal(quota_in(&folder), 0);
    write_text(&folder, "proc/cgroup", "0::/a\n");
    assert_int_equal(quota_in(&folder), 0);
    test_folder_fini(&folder);
}

/* An overlay's line can be longer than any buffer; a path can be longer than any path. */
static void long_lines_are_passed_over(void **state)
{
    (void)state;
    static char lines[200000], cgroup[40000];
    test_folder folder;
    test_folder_init(&folder);
    memset(lines, 'x', 150000);
    memcpy(lines, "1 1 0:1 / / rw - overlay overlay lowerdir=", 42);
    int tail = snprintf(lines + 150000, 1000, "\n29 23 0:26 / %s/cg rw - cgroup2 cgroup2 rw\n", folder.path);
    test_folder_write(&folder, "proc/mountinfo", lines, 150000 + (size_t)tail);
    test_folder_write(&folder, "cg/a/cpu.max", "200000 100000\n", 14);
    write_text(&folder, "proc/cgroup", "0::/a\n");
    assert_int_equal(quota_in(&folder), 2);
    for (size_t length = 4000; length < 20000; length += 97) { // around PATH_MAX, and past the line buffer
        size_t used = (size_t)snprintf(cgroup, sizeof cgroup, "0::/");
        memset(cgroup + used, 'y', length);
        memcpy(cgroup + used + length, "\n", 1);
        test_folder_write(&folder, "proc/cgroup", cgroup, used + length + 1);
        assert_int_equal(quota_in(&folder), 0);
    }
    test_folder_fini(&folder);
}

/* A kernel for 4096 processors, which lets us run on the first, the 1025th and the last. */
static int ask_large_kernel(size_t nbytes, void *set)
{
    if (nbytes < 4096 / 8) {
        errno = EINVAL;
        return -1;
    }
    CPU_SET_S(0, nbytes, (cpu_set_t *)set);
    CPU_SET_S(1024, nbytes, (cpu_set_t *)set);
    CPU_SET_S(4095, nbytes, (cpu_set_t *)set);
    return 0;
}

static int ask_and_be_refused(size_t nbytes, void *set)
{
    (void)nbytes, (void)set;
    errno = EPERM;
    return -1;
}

static void affinity_of_more_than_1024_processors(void **state)
{
    (void)state;
    assert_int_equal(mr__affinity_count(ask_large_kernel), 3);
    assert_int_equal(mr__affinity_count(ask_and_be_refused), 0);
}

static void the_default_obeys_affinity(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    unsigned count = mr_threads_default();
    assert_in_range(count, 1, (unsigned)CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(mr_threads_default(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_are_found),           cmocka_unit_test(without_proc_there_is_no_quota),
        cmocka_unit_test(long_lines_are_passed_over), cmocka_unit_test(affinity_of_more_than_1024_processors),
        cmocka_unit_test(the_default_obeys_affinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
