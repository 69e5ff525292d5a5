// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "failing.h"
#include "files.h"
#include "folder_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_folder folder;
static char list_path[512];

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    test_folder_path(&folder, "list.txt", list_path);
    static const char *const names[] = {"a.jpg", "b/c.png", "b/d.webp", "#e.jpg", "f g.tiff", "odd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        test_folder_write(&folder, names[i], names[i], strlen(names[i]));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static mr__folder_scan_options with_list(const char *lines, size_t nbytes, mr_broken_policy broken)
{
    test_folder_write(&folder, "list.txt", lines, nbytes);
    return (mr__folder_scan_options){.root = folder.path, .list = list_path, .broken = broken};
}

static void check_list(const char *lines, mr_broken_policy broken, const char *wanted, uint64_t problems)
{
    folder_index made;
    if (folder_index_init(&made, with_list(lines, strlen(lines), broken)) != 0)
        fail_msg("%s: %s", lines, made.detail.text);
    char *text = folder_index_text(&made);
    assert_string_equal(text, wanted);
    if (mr__index_problem_count(&made.index) != problems)
        fail_msg("%llu problems, the first: %s", (unsigned long long)mr__index_problem_count(&made.index),
                 folder_index_problem(&made, 0));
    free(text);
    folder_index_fini(&made);
}

static void check_fails(const char *lines, size_t nbytes, mr_broken_policy broken, int code, const char *part)
{
    folder_index made;
    assert_int_equal(folder_index_init(&made, with_list(lines, nbytes, broken)), code);
    assert_contains(made.detail.text, part);
    folder_index_fini(&made);
}

#define FAILS(lines, broken, code, part) check_fails(lines, sizeof(lines) - 1, broken, code, part)

/* Refused when broken lines fail; left out, with a problem, when they are skipped. */
static void check_broken(const char *line, size_t nbytes, int code, const char *part)
{
    char lines[512];
    folder_index made;
    check_fails(line, nbytes, MR_BROKEN_FAIL, code, part);
    memcpy(lines, line, nbytes);
    const char *good = strchr(line, '{') == line ? "\n{\"path\":\"a.jpg\"}\n" : "\na.jpg\n";
    memcpy(lines + nbytes, good, strlen(good));
    if (folder_index_init(&made, with_list(lines, nbytes + strlen(good), MR_BROKEN_SKIP)) != 0)
        fail_msg("%s", made.detail.text);
    assert_int_equal(made.index.head.samples, 1);
    assert_int_equal(mr__index_problem_count(&made.index), 1);
    assert_contains(folder_index_problem(&made, 0), part);
    folder_index_fini(&made);
}

#define BROKEN(line, code, part) check_broken(line, sizeof(line) - 1, code, part)

static void lines_are_paths_and_labels(void **state)
{
    (void)state;
    check_list("b/c.png\t7\na.jpg\t-3\n", MR_BROKEN_FAIL, "b/c.png\t7\na.jpg\t-3\n", 0);
    check_list("a.jpg\t1.5\r\n\r\n\nb/c.png\t+2\r\n#e.jpg", MR_BROKEN_FAIL,
               "a.jpg\tfloat 1.5\nb/c.png\t2\n#e.jpg\tnone\n", 0);
    check_list("a.jpg\t1,2, 3\nb/c.png\t1 2.5\t3\nodd\t\nb/d.webp\t4,\n", MR_BROKEN_FAIL,
               "a.jpg\tints 1,2,3\nb/c.png\tfloats 1,2.5,3\nodd\tnone\nb/d.webp\t4\n", 0);
    check_list("\xef\xbb\xbf"
               "a.jpg\t99999999999999999999\nf g.tiff\t1e2\n",
               MR_BROKEN_FAIL, "a.jpg\ttext 99999999999999999999\nf g.tiff\tfloat 100\n", 1);
    check_list("a.jpg\t1,-99999999999999999999\nf g.tiff\t+9223372036854775808\nodd\t1\n", MR_BROKEN_FAIL,
               "a.jpg\ttext 1,-99999999999999999999\nf g.tiff\ttext +9223372036854775808\nodd\t1\n", 1);
    check_list(".//a.jpg\n./b/./c.png\nb//d.webp", MR_BROKEN_FAIL, "a.jpg\tnone\nb/c.png\tnone\nb/d.webp\tnone\n", 0);
}

static void labels_of_text_are_classes(void **state)
{
    (void)state;
    check_list("a.jpg\tzebra\nb/c.png\tcat\nodd\nb/d.webp\tzebra\n#e.jpg\tdog house\n", MR_BROKEN_FAIL,
               "a.jpg\t2\nb/c.png\t0\nodd\tnone\nb/d.webp\t2\n#e.jpg\t1\n", 0);
    folder_index made;
    const char lines[] = "a.jpg\tb\nodd\ta\n";
    assert_int_equal(folder_index_init(&made, with_list(lines, sizeof lines - 1, MR_BROKEN_FAIL)), 0);
    const char *name;
    size_t nbytes;
    assert_int_equal(mr__index_class_count(&made.index), 2);
    assert_true(mr__index_class(&made.index, 0, &name, &nbytes));
    assert_string_equal(name, "a");
    folder_index_fini(&made);
    /* With a number among them text stays text. */
    check_list("a.jpg\tcat\nb/c.png\t3\nodd\t3 blind mice\n", MR_BROKEN_FAIL,
               "a.jpg\ttext cat\nb/c.png\t3\nodd\ttext 3 blind mice\n", 1);
}

static void lines_may_be_json(void **state)
{
    (void)state;
    check_list(" \n{\"path\": \"a.jpg\", \"label\": 3}\r\n\n  "
               "\n{\"boxes\":[[1,2,3,4]],\"file_name\":\"b\\/c.png\",\"x\":{}}\n",
               MR_BROKEN_FAIL, "a.jpg\t3\nb/c.png\tnone\n", 0);
    check_list("{\"image\":\"a.jpg\",\"cls\":[1,2]}\n{\"class\":[1,0.5],\"path\":\"odd\"}\n"
               "{\"path\":\"b/c.png\",\"target\":1.25}\n{\"path\":\"b/d.webp\",\"label\":true}\n"
               "{\"path\":\"#e.jpg\",\"label\":null}",
               MR_BROKEN_FAIL, "a.jpg\tints 1,2\nodd\tfloats 1,0.5\nb/c.png\tfloat 1.25\nb/d.webp\t1\n#e.jpg\tnone\n",
               0);
    check_list("{\"path\":\"a.jpg\",\"label\":99999999999999999999}\n"
               "{\"path\":\"odd\",\"label\":[1, -99999999999999999999 ]}\n{\"path\":\"#e.jpg\",\"label\":1}",
               MR_BROKEN_FAIL, "a.jpg\ttext 99999999999999999999\nodd\ttext [1, -99999999999999999999 ]\n#e.jpg\t1\n",
               1);
    check_list("{\"path\":\"a.jpg\",\"label\":\"z\\u00e9\"}\n{\"path\":\"odd\",\"label\":\"b\"}", MR_BROKEN_FAIL,
               "a.jpg\t1\nodd\t0\n", 0);
    /* The first that means it counts; an image that is no text is no path. */
    check_list("{\"image\":{\"id\":1},\"path\":\"a.jpg\",\"file_name\":\"odd\",\"label\":1,\"cls\":2}", MR_BROKEN_FAIL,
               "a.jpg\t1\n", 0);
}

static void a_line_of_json_is_a_member(void **state)
{
    (void)state;
    const char lines[] = "{\"path\":\"a.jpg\"}\r\n{\"path\":\"odd\",\"boxes\":[]}\n";
    folder_index made;
    mr__member member;
    assert_int_equal(folder_index_init(&made, with_list(lines, sizeof lines - 1, MR_BROKEN_FAIL)), 0);
    assert_int_equal(mr__index_member_count(&made.index, 1), 1);
    assert_true(mr__index_member(&made.index, 1, 0, &member));
    assert_int_equal(member.name_nbytes, 4);
    assert_memory_equal(member.name, "json", 4);
    assert_int_equal(member.offset, 18);
    assert_memory_equal(lines + member.offset, "{\"path\":\"odd\",\"boxes\":[]}", member.nbytes);
    assert_int_equal(member.nbytes, 25);
    assert_true(mr__index_member(&made.index, 0, 0, &member));
    assert_int_equal(member.nbytes, 16); /* without the carriage return */
    folder_index_fini(&made);
}

static void paths_stay_in_the_folder(void **state)
{
    (void)state;
    for (int broken = MR_BROKEN_FAIL; broken <= MR_BROKEN_SKIP; broken++) {
        FAILS("a.jpg\n/etc/passwd\t1\n", (mr_broken_policy)broken, MR_EARGUMENT, "line 2: an absolute path");
        FAILS("../a.jpg\n", (mr_broken_policy)broken, MR_EARGUMENT, "line 1: a path with \"..\"");
        FAILS("\n\nb/../a.jpg\n", (mr_broken_policy)broken, MR_EARGUMENT, "line 3: ");
        FAILS("b/..", (mr_broken_policy)broken, MR_EARGUMENT, "line 1: ");
        FAILS("{\"path\":\"\\u002e./x\"}", (mr_broken_policy)broken, MR_EARGUMENT, "line 1: ");
    }
    test_folder_write(&folder, "..a", "", 0);
    check_list("..a\n", MR_BROKEN_FAIL, "..a\tnone\n", 0);
}

static void broken_lines_go_by_the_policy(void **state)
{
    (void)state;
    BROKEN("none.jpg\t1", MR_EIO, "none.jpg (line 1 of the list): No such file");
    BROKEN("b\t1", MR_EIO, "Is a directory");
    BROKEN("a.jpg/x\t1", MR_EIO, "Not a directory");
    BROKEN("odd\0x\t1", MR_ECORRUPT, "line 1: a zero byte");
    BROKEN("\t1", MR_ECORRUPT, "line 1: no path");
    BROKEN("./\t1", MR_ECORRUPT, "line 1: no path");
    BROKEN("{\"path\":\"odd\"", MR_ECORRUPT, "line 1: no JSON: an object has no end, at its byte 13");
    BROKEN("{\"path\":\"odd\"} 1", MR_ECORRUPT, "something behind the value");
    BROKEN("{\"label\":1}", MR_ECORRUPT, "no \"file_name\"");
    BROKEN("{\"path\":1}", MR_ECORRUPT, "no \"file_name\"");
    BROKEN("{\"path\":\"\\ud800\"}", MR_ECORRUPT, "a path that is no text");
    BROKEN("{\"path\":\"o\\u0000\"}", MR_ECORRUPT, "a path that is no text");
    BROKEN("{\"path\":\"odd\",\"label\":{}}", MR_EUNSUPPORTED, "a label that is");
    BROKEN("{\"path\":\"odd\",\"label\":[1,\"x\"]}", MR_EUNSUPPORTED, "a label that is");
    BROKEN("{\"path\":\"odd\",\"label\":[1,}", MR_ECORRUPT, "no value begins");
    BROKEN("{\"label\":\"\\ud800\",\"path\":\"odd\"}", MR_EUNSUPPORTED, "a label that is");
    FAILS("{\"path\":\"a.jpg\"}\n[1]\n", MR_BROKEN_FAIL, MR_ECORRUPT, "line 2: no JSON object");
    FAILS("", MR_BROKEN_SKIP, MR_EFORMAT, "no line of the list");
    FAILS("\n\n", MR_BROKEN_SKIP, MR_EFORMAT, "no line of the list");
}

static void a_path_stands_once(void **state)
{
    (void)state;
    FAILS("a.jpg\t1\nodd\t2\n./a.jpg\t3\n", MR_BROKEN_FAIL, MR_ECORRUPT, "a.jpg: twice in the list, again in line 3");
    check_list("a.jpg\t1\nodd\t2\n./a.jpg\t3\nodd\t2\n", MR_BROKEN_SKIP, "a.jpg\t1\nodd\t2\n", 2);
}

static void lists_and_folders_that_are_not_there(void **state)
{
    (void)state;
    folder_index made;
    mr__folder_scan_options options = {.root = folder.path, .list = "/nowhere/list"};
    assert_int_equal(folder_index_init(&made, options), MR_EIO);
    assert_contains(made.detail.text, "/nowhere/list: the list cannot be opened");
    folder_index_fini(&made);
    options = with_list("a.jpg", 5, MR_BROKEN_SKIP);
    options.root = "/nowhere";
    assert_int_equal(folder_index_init(&made, options), MR_EIO);
    assert_contains(made.detail.text, "/nowhere: the folder cannot be read");
    folder_index_fini(&made);
}

static void threads_do_not_change_it(void **state)
{
    (void)state;
    enum { LINES = 3000 };
    char *lines = malloc(LINES * 32);
    size_t used = 0;
    folder_index one, many;
    assert_non_null(lines);
    for (int i = 0; i < LINES; i++) {
        char name[32];
        snprintf(name, sizeof name, "n/%d.jpg", i * 7919 % LINES);
        if (i % 10 != 0)
            test_folder_write(&folder, name, name, (size_t)i % 9);
        used += (size_t)sprintf(lines + used, "%s\tc%d\n", name, i % 17);
    }
    mr__folder_scan_options options = with_list(lines, used, MR_BROKEN_SKIP);
    assert_int_equal(folder_index_init(&one, options), 0);
    assert_int_equal(one.index.head.samples, LINES - LINES / 10);
    options.threads = 4;
    assert_int_equal(folder_index_init(&many, options), 0);
    assert_int_equal(many.nbytes, one.nbytes);
    assert_memory_equal(many.bytes, one.bytes, one.nbytes);
    folder_index_fini(&many);
    folder_index_fini(&one);
    free(lines);
}

static void changes_of_the_list_are_seen(void **state)
{
    (void)state;
    folder_index made;
    const char lines[] = "a.jpg\t1\nb/missing.jpg\t2\n";
    assert_int_equal(folder_index_init(&made, with_list(lines, sizeof lines - 1, MR_BROKEN_SKIP)), 0);
    assert_true(mr__folder_is_current(&made.index, folder.path, 1));
    test_folder_write(&folder, "new.jpg", "", 0); /* not in the list */
    assert_true(mr__folder_is_current(&made.index, folder.path, 1));
    usleep(20000);
    test_folder_write(&folder, "b/missing.jpg", "", 0);
    assert_false(mr__folder_is_current(&made.index, folder.path, 1));
    folder_index_fini(&made);

    const char other[] = "a.jpg\t1\nmissing.jpg\t1\nno/such/folder.jpg\t1\n";
    assert_int_equal(folder_index_init(&made, with_list(other, sizeof other - 1, MR_BROKEN_SKIP)), 0);
    assert_true(mr__folder_is_current(&made.index, folder.path, 1));
    test_folder_write(&folder, ".millrace.mrx", "", 0);
    assert_true(mr__folder_is_current(&made.index, folder.path, 1));
    test_folder_write(&folder, "missing.jpg", "", 0);
    assert_false(mr__folder_is_current(&made.index, folder.path, 1));
    folder_index_fini(&made);

    assert_int_equal(folder_index_init(&made, with_list("a.jpg\t1\n", 8, MR_BROKEN_SKIP)), 0);
    assert_true(mr__folder_is_current(&made.index, folder.path, 1));
    usleep(20000);
    test_folder_write(&folder, "list.txt", "a.jpg\t2\n", 8);
    assert_false(mr__folder_is_current(&made.index, folder.path, 1));
    folder_index_fini(&made);
}

static int scan_failing(const mr_hooks *hooks, void *arg)
{
    mr__folder_scan_options options = *(const mr__folder_scan_options *)arg;
    mr__index_build build;
    mr__detail detail = {""};
    options.hooks = hooks;
    mr__index_build_init(&build, hooks);
    int result = mr__folder_scan(&options, &build, &detail);
    assert_int_equal(result == 0, detail.text[0] == '\0');
    if (result == 0)
        assert_true(build.samples != 0);
    mr__index_build_fini(&build);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char lines[] = "a.jpg\tx\nb/c.png\ty\nmissing\tz\na.jpg\n";
    static const char json[] = "{\"path\":\"a.jpg\",\"label\":\"x\"}\n{\"path\":\"odd\",\"label\":[1,2]}\n{\n";
    mr__folder_scan_options options = with_list(lines, sizeof lines - 1, MR_BROKEN_SKIP);
    failing_run(scan_failing, &options);
    options = with_list(json, sizeof json - 1, MR_BROKEN_SKIP);
    failing_run(scan_failing, &options);
    options.list = NULL;
    test_folder_write(&folder, "b/e/f.jpg", "", 0);
    test_folder_write(&folder, "empty/x", "", 0);
    failing_run(scan_failing, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_paths_and_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(labels_of_text_are_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_may_be_json, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_of_json_is_a_member, setup, teardown),
        cmocka_unit_test_setup_teardown(paths_stay_in_the_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_lines_go_by_the_policy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_stands_once, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_and_folders_that_are_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_do_not_change_it, setup, teardown),
        cmocka_unit_test_setup_teardown(changes_of_the_list_are_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_may_run_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
