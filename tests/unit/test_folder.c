// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "test.h"

#include "dataset/folder_name.h"
#include "files.h"
#include "folder_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

/* Files of one byte, their names separated by spaces; a name that ends with / is a folder. */
static void make(const char *names)
{
    char name[256], path[512];
    while (*names != '\0') {
        size_t nbytes = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)nbytes, names);
        bool empty = nbytes != 0 && name[nbytes - 1] == '/';
        test_folder_write(&folder, empty ? strcat(name, "x") : name, "x", 1);
        if (empty)
            assert_int_equal(unlink(test_folder_path(&folder, name, path)), 0);
        names += nbytes + (names[nbytes] == ' ');
    }
}

static void link_to(const char *target, const char *name)
{
    char path[512];
    assert_int_equal(symlink(target, test_folder_path(&folder, name, path)), 0);
}

static mr__folder_scan_options skipping(void)
{
    return (mr__folder_scan_options){.root = folder.path, .broken = MR_BROKEN_SKIP};
}

static mr__folder_scan_options failing(void)
{
    return (mr__folder_scan_options){.root = folder.path};
}

static void check_text(const folder_index *made, const char *wanted)
{
    char *text = folder_index_text(made);
    assert_string_equal(text, wanted);
    free(text);
}

/* A scan that must succeed finds these, and so many problems. */
static void check_scan(mr__folder_scan_options options, const char *wanted, uint64_t problems)
{
    folder_index made;
    if (folder_index_init(&made, options) != 0)
        fail_msg("%s", made.detail.text);
    check_text(&made, wanted);
    if (mr__index_problem_count(&made.index) != problems)
        fail_msg("%llu problems, the first: %s", (unsigned long long)mr__index_problem_count(&made.index),
                 folder_index_problem(&made, 0));
    folder_index_fini(&made);
}

static void check_fails(mr__folder_scan_options options, int code, const char *part)
{
    folder_index made;
    assert_int_equal(folder_index_init(&made, options), code);
    assert_contains(made.detail.text, part);
    folder_index_fini(&made);
}

static void classes_are_folders_in_order(void **state)
{
    (void)state;
    make("dog/2.jpg dog/10.jpg cat/b.PNG cat/a.jpeg cat/notes.txt Zebra/x.webp");
    check_scan(failing(),
               "Zebra/x.webp\t0\n"
               "cat/a.jpeg\t1\ncat/b.PNG\t1\n"
               "dog/10.jpg\t2\ndog/2.jpg\t2\n",
               0);
    folder_index made;
    assert_int_equal(folder_index_init(&made, failing()), 0);
    static const char *const classes[] = {"Zebra", "cat", "dog"};
    assert_int_equal(mr__index_class_count(&made.index), 3);
    for (uint64_t i = 0; i < 3; i++) {
        const char *name;
        size_t nbytes;
        assert_true(mr__index_class(&made.index, i, &name, &nbytes));
        assert_string_equal(name, classes[i]);
    }
    folder_index_fini(&made);
}

/* sorted() over os.walk goes by the path as one string: "-" is before "/". */
static void folders_inside_a_class_go_by_their_path(void **state)
{
    (void)state;
    make("c/z.jpg c/a/1.jpg c/a-b/2.jpg c/a/b/3.jpg c/a0/4.jpg c/a.b/5.jpg c-d/6.jpg c/A/7.jpg");
    check_scan(failing(),
               "c/z.jpg\t0\nc/A/7.jpg\t0\nc/a/1.jpg\t0\nc/a-b/2.jpg\t0\nc/a.b/5.jpg\t0\nc/a/b/3.jpg\t0\nc/a0/4.jpg\t0\n"
               "c-d/6.jpg\t1\n",
               0);
}

static void images_are_known_by_their_ending(void **state)
{
    (void)state;
    make("c/a.jpg c/b.JPEG c/c.png c/d.ppm c/e.bmp c/f.pgm c/g.tif c/h.TIFF c/i.webp c/j.l3 c/k.raw c/l.mrraw "
         "c/.jpg c/.hidden.png c/m.gif c/n.jpg.txt c/jpg c/o.jpe c/p. c/q.pnm c/r.jpg~");
    check_scan(failing(),
               "c/.hidden.png\t0\nc/.jpg\t0\nc/a.jpg\t0\nc/b.JPEG\t0\nc/c.png\t0\nc/d.ppm\t0\nc/e.bmp\t0\n"
               "c/f.pgm\t0\nc/g.tif\t0\nc/h.TIFF\t0\nc/i.webp\t0\nc/j.l3\t0\nc/k.raw\t0\nc/l.mrraw\t0\n",
               0);
}

static void records_have_time_size_and_a_guess_of_the_form(void **state)
{
    (void)state;
    char path[512];
    folder_index made;
    mr__record record;
    struct stat status;
    test_folder_write(&folder, "c/a.jpg", "12345", 5);
    test_folder_write(&folder, "c/b.bmp", "", 0);
    const struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 2}, {.tv_sec = -5, .tv_nsec = 3}};
    test_folder_path(&folder, "c/b.bmp", path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(folder_index_init(&made, failing()), 0);
    assert_int_equal(stat(test_folder_path(&folder, "c/a.jpg", path), &status), 0);
    assert_true(mr__index_record(&made.index, 0, &record));
    assert_int_equal(record.nbytes, 5);
    assert_int_equal(record.form, MR_FORM_JPEG);
    assert_int_equal((int64_t)record.offset, status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec);
    assert_true(mr__index_record(&made.index, 1, &record));
    assert_int_equal(record.nbytes, 0);
    assert_int_equal(record.form, MR_FORM_NONE);
    assert_int_equal((int64_t)record.offset, INT64_C(-5000000000) + 3);
    folder_index_fini(&made);
}

static void a_root_without_folders_is_flat(void **state)
{
    (void)state;
    make("b.jpg a.png readme.md .z.jpg");
    check_scan(failing(), ".z.jpg\tnone\na.png\tnone\nb.jpg\tnone\n", 0);
}

static void images_beside_classes_are_counted_once(void **state)
{
    (void)state;
    folder_index made;
    make("x.jpg a.jpg no.txt c/1.jpg");
    check_scan(failing(), "c/1.jpg\t0\n", 1);
    assert_int_equal(folder_index_init(&made, failing()), 0);
    assert_contains(folder_index_problem(&made, 0), "2 images (a.jpg, ...)");
    folder_index_fini(&made);
}

static void a_class_without_images_keeps_its_number(void **state)
{
    (void)state;
    folder_index made;
    make("a/1.jpg b/ b2/x.txt c/1.jpg");
    check_scan(failing(), "a/1.jpg\t0\nc/1.jpg\t3\n", 2);
    assert_int_equal(folder_index_init(&made, failing()), 0);
    assert_int_equal(mr__index_class_count(&made.index), 4);
    assert_contains(folder_index_problem(&made, 0), "b: a class without any image");
    assert_contains(folder_index_problem(&made, 1), "b2: ");
    folder_index_fini(&made);
}

static void a_folder_without_images_is_an_error(void **state)
{
    (void)state;
    make("a/1.txt b/");
    check_fails(skipping(), MR_EFORMAT, "no image");
    mr__folder_scan_options options = failing();
    options.root = "/nowhere/at/all";
    check_fails(options, MR_EIO, "/nowhere/at/all: the folder cannot be read: No such file");
    char path[512];
    options.root = test_folder_path(&folder, "a/1.txt", path);
    check_fails(options, MR_EIO, "Not a directory");
}

static void links_are_followed_and_circles_not(void **state)
{
    (void)state;
    folder_index made;
    make("a/1.jpg a/sub/2.jpg other/x/3.jpg");
    link_to("..", "a/sub/up");
    link_to("../../other", "a/sub/over");
    link_to("../1.jpg", "a/sub/again.jpg");
    link_to(".", "self");
    check_scan(failing(),
               "a/1.jpg\t0\na/sub/2.jpg\t0\na/sub/again.jpg\t0\na/sub/over/x/3.jpg\t0\n"
               "other/x/3.jpg\t1\n",
               3);
    assert_int_equal(folder_index_init(&made, failing()), 0);
    assert_contains(folder_index_problem(&made, 0), "a/sub/up: a link to a folder that it is in");
    assert_contains(folder_index_problem(&made, 1), "self: a link");
    assert_contains(folder_index_problem(&made, 2), "self: a class without");
    folder_index_fini(&made);
}

static void what_is_no_file_goes_by_the_policy(void **state)
{
    (void)state;
    char path[512];
    make("a/1.jpg a/2.jpg a/dir.jpg/3.jpg");
    link_to("nowhere", "a/0.jpg");
    check_fails(failing(), MR_EIO, "a/0.jpg: no file that can be read: No such file");
    check_fails(failing(), MR_EIO, "; --broken=skip leaves it out");
    check_scan(skipping(), "a/1.jpg\t0\na/2.jpg\t0\na/dir.jpg/3.jpg\t0\n", 1);
    assert_int_equal(unlink(test_folder_path(&folder, "a/0.jpg", path)), 0);
    assert_int_equal(mkfifo(test_folder_path(&folder, "a/pipe.jpg", path), 0600), 0);
    check_fails(failing(), MR_EIO, "a/pipe.jpg");
    check_scan(skipping(), "a/1.jpg\t0\na/2.jpg\t0\na/dir.jpg/3.jpg\t0\n", 1);
}

static void folders_that_cannot_be_read_go_by_the_policy(void **state)
{
    (void)state;
    char path[512];
    if (geteuid() == 0)
        skip(); /* who may read everything */
    make("a/1.jpg b/2.jpg");
    assert_int_equal(chmod(test_folder_path(&folder, "b", path), 0), 0);
    check_fails(failing(), MR_EIO, "b: the folder cannot be read: Permission denied");
    check_scan(skipping(), "a/1.jpg\t0\n", 2);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Deeper than a path may be long: every user meets that. */
static void a_path_that_is_too_long_goes_by_the_policy(void **state)
{
    (void)state;
    char name[201];
    int at = open(folder.path, O_RDONLY | O_DIRECTORY);
    make("a/1.jpg");
    memset(name, 'd', 200);
    name[200] = '\0';
    for (int i = 0; i < 25; i++) {
        assert_int_equal(mkdirat(at, i == 0 ? "deep" : name, 0700), 0);
        int next = openat(at, i == 0 ? "deep" : name, O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    check_fails(failing(), MR_EIO, "the folder cannot be read: File name too long");
    check_scan(skipping(), "a/1.jpg\t0\n", 2);
    /* nftw could not remove it either. */
    close(at);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s/deep'", folder.path);
    assert_int_equal(system(command), 0);
}

static void stop_ends_it(void **state)
{
    (void)state;
    atomic_bool stop = true;
    make("a/1.jpg");
    test_folder_write(&folder, "list.txt", "a/1.jpg\n", 8);
    mr__folder_scan_options options = skipping();
    options.stop = &stop;
    check_fails(options, MR_ECLOSED, "stopped");
    char path[512];
    options.list = test_folder_path(&folder, "list.txt", path);
    check_fails(options, MR_ECLOSED, "stopped");
}

static int sign(int n)
{
    return (n > 0) - (n < 0);
}

static void names_are_ordered_as_python_does(void **state)
{
    (void)state;
    /* sorted() of the str that os.fsdecode makes of them. */
    static const char *const sorted[] = {"",
                                         "0",
                                         "10",
                                         "2",
                                         "A",
                                         "B",
                                         "a",
                                         "a-",
                                         "a.",
                                         "a/",
                                         "a0",
                                         "ab",
                                         "a\xc3\xa9",
                                         "b",
                                         "\xc2\x80",
                                         "\xe2\x82\xac",
                                         "\xed\x9f\xbf",
                                         "\x80",
                                         "\x80"
                                         "a",
                                         "\xc3",
                                         "\xe2\x82",
                                         "\xe2\x82"
                                         "a",
                                         "\xed\xa0\x80",
                                         "\xff",
                                         "\xee\x80\x80",
                                         "\xef\xbf\xbd",
                                         "\xf0\x9f\x98\x80",
                                         "\xf0\x9f\x98\x81"};
    enum { COUNT = sizeof sorted / sizeof *sorted };
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            if (sign(mr__name_compare(sorted[i], sorted[k])) != sign(i - k))
                fail_msg("%d \"%s\" and %d \"%s\"", i, sorted[i], k, sorted[k]);
}

static int order_numbers(const void *context, uint32_t a, uint32_t b)
{
    const uint8_t *keys = context;
    return (int)keys[a] - (int)keys[b];
}

static void sorting_keeps_equal_ones_as_they_stand(void **state)
{
    (void)state;
    uint8_t keys[200] = {0};
    uint32_t items[200], spare[200];
    for (size_t count = 0; count <= 200; count++) {
        for (size_t i = 0; i < count; i++) {
            keys[i] = (uint8_t)(i * i * 7 % 23);
            items[i] = (uint32_t)i;
        }
        mr__name_sort(items, spare, count, order_numbers, keys);
        for (size_t i = 1; i < count; i++)
            assert_true(keys[items[i - 1]] < keys[items[i]] ||
                        (keys[items[i - 1]] == keys[items[i]] && items[i - 1] < items[i]));
    }
}

/* A tree with odd names, drawn from a small generator. */
static void make_tree(unsigned seed, int count)
{
    static const char *const parts[] = {
        "a",   "b",  "a-b",          "a.b",  "A",     "\xc3\xa9",        "10", "2", "_x",
        "a b", ".h", "\xe2\x82\xac", "\xff", "z\x80", "\xf0\x9f\x98\x80"};
    static const char *const endings[] = {".jpg", ".png", ".JPG", ".txt", ".webp", "", ".l3", ".gif"};
    for (int i = 0; i < count; i++) {
        char name[256];
        size_t used = 0;
        seed = seed * 1664525u + 1013904223u;
        for (unsigned depth = 2 + seed % 3, draw = seed >> 8; depth > 0; depth--, draw = draw * 69069u + 12345u)
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", used != 0 ? "/" : "",
                                     parts[(draw >> 7) % (sizeof parts / sizeof *parts)]);
        snprintf(name + used, sizeof name - used, "%d%s", i % 50, endings[seed >> 13 & 7]);
        char path[512];
        struct stat status;
        if (stat(test_folder_path(&folder, name, path), &status) != 0)
            test_folder_write(&folder, name, name, used);
    }
}

static char *read_command(const char *command)
{
    FILE *from = popen(command, "r");
    size_t nbytes = 0, room = 1 << 20;
    char *text = malloc(room);
    assert_true(from != NULL && text != NULL);
    nbytes = fread(text, 1, room - 1, from);
    text[nbytes] = '\0';
    if (pclose(from) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void orders_are_those_of_torchvision(void **state)
{
    (void)state;
    char command[1024];
    make_tree(7, 1500);
    link_to("../2", "a/linked");
    link_to("a/linked/.h", "00link");
    snprintf(command, sizeof command, "PYTHONUTF8=1 python3 %s/tests/support/folder_peer.py '%s' 2>/dev/null",
             MILLRACE_SOURCE_ROOT, folder.path);
    char *wanted = read_command(command);
    if (wanted == NULL) {
        print_message("no python3 here\n");
        skip();
    }
    assert_true(strlen(wanted) > 1000);
    folder_index made;
    if (folder_index_init(&made, failing()) != 0)
        fail_msg("%s", made.detail.text);
    char *text = folder_index_text(&made);
    if (strcmp(text, wanted) != 0) {
        size_t at = 0;
        while (text[at] == wanted[at])
            at++;
        fail_msg("they part at byte %zu: %.60s; wanted %.60s", at, text + at, wanted + at);
    }
    free(text);
    free(wanted);
    folder_index_fini(&made);
}

static void threads_do_not_change_it(void **state)
{
    (void)state;
    atomic_uint_least64_t seen = 0;
    folder_index one, many;
    static const uint8_t bytes[2300];
    make_tree(3, 1000);
    for (size_t i = 0; i < sizeof bytes; i++) { /* more than two jobs look at, each of a size of its own */
        char name[64];
        snprintf(name, sizeof name, "b/%zu.jpg", i);
        test_folder_write(&folder, name, bytes, i);
    }
    mr__folder_scan_options options = skipping();
    assert_int_equal(folder_index_init(&one, options), 0);
    for (unsigned threads = 2; threads < 9; threads += 3) {
        options.threads = threads;
        options.seen = &seen;
        atomic_store(&seen, 0);
        assert_int_equal(folder_index_init(&many, options), 0);
        assert_int_equal(many.nbytes, one.nbytes);
        assert_memory_equal(many.bytes, one.bytes, one.nbytes);
        assert_true(atomic_load(&seen) >= one.index.head.samples);
        folder_index_fini(&many);
    }
    folder_index_fini(&one);
}

/* Something changes after the index was made: is it seen? A change takes a moment, so that times differ. */
static void check_change(const folder_index *made, bool current)
{
    for (unsigned threads = 0; threads < 5; threads += 4)
        assert_int_equal(mr__folder_is_current(&made->index, folder.path, threads), current);
}

static void names_that_come_or_go_are_seen(void **state)
{
    (void)state;
    char path[512], other[512];
    folder_index made;
    make("a/1.jpg a/deep/2.jpg b/3.jpg");
    for (int i = 0; i < 300; i++) {
        char name[64];
        snprintf(name, sizeof name, "c/%d/1.jpg", i);
        test_folder_write(&folder, name, "", 0);
    }
    for (int change = 0; change < 8; change++) {
        assert_int_equal(folder_index_init(&made, failing()), 0);
        check_change(&made, true);
        switch (change) {
        case 0:
            make("a/deep/new.jpg");
            break;
        case 1:
            assert_int_equal(unlink(test_folder_path(&folder, "b/3.jpg", path)), 0);
            break;
        case 2:
            make("d/");
            break;
        case 3:
            assert_int_equal(rmdir(test_folder_path(&folder, "d", path)), 0);
            break;
        case 4:
            assert_int_equal(
                rename(test_folder_path(&folder, "a/deep", path), test_folder_path(&folder, "a/deeper", other)), 0);
            break;
        case 5:
            make("c/299/2.jpg");
            break;
        case 6:
            make("c/0/x.txt");
            break;
        default:
            make("root.jpg");
        }
        check_change(&made, false);
        folder_index_fini(&made);
    }
}

/* File systems tell time in ticks of some milliseconds: two changes in one of them have the same time. */
static void a_change_right_after_the_scan_is_seen(void **state)
{
    (void)state;
    make("a/0.jpg");
    for (int i = 1; i < 20; i++) {
        char name[32];
        folder_index made;
        snprintf(name, sizeof name, "a/%d.jpg", i);
        make(name);
        assert_int_equal(folder_index_init(&made, failing()), 0);
        snprintf(name, sizeof name, "a/%d.png", i);
        make(name);
        assert_false(mr__folder_is_current(&made.index, folder.path, 1));
        folder_index_fini(&made);
    }
}

static void what_names_do_not_tell_is_not_seen_here(void **state)
{
    (void)state;
    folder_index made;
    make("a/1.jpg");
    assert_int_equal(folder_index_init(&made, failing()), 0);
    test_folder_write(&folder, "a/1.jpg", "other", 5); /* the reader sees that */
    check_change(&made, true);
    make(".millrace.mrx .millrace.mrx.1234"); /* ours may come and go */
    check_change(&made, true);
    make("x");
    check_change(&made, false);
    folder_index_fini(&made);
    test_folder elsewhere = {"/nowhere/at/all"};
    make("b/1.jpg");
    assert_int_equal(folder_index_init(&made, failing()), 0);
    assert_false(mr__folder_is_current(&made.index, elsewhere.path, 1));
    folder_index_fini(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classes_are_folders_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_inside_a_class_go_by_their_path, setup, teardown),
        cmocka_unit_test_setup_teardown(images_are_known_by_their_ending, setup, teardown),
        cmocka_unit_test_setup_teardown(records_have_time_size_and_a_guess_of_the_form, setup, teardown),
        cmocka_unit_test_setup_teardown(a_root_without_folders_is_flat, setup, teardown),
        cmocka_unit_test_setup_teardown(images_beside_classes_are_counted_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_class_without_images_keeps_its_number, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_without_images_is_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(links_are_followed_and_circles_not, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_goes_by_the_policy, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_that_cannot_be_read_go_by_the_policy, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_that_is_too_long_goes_by_the_policy, setup, teardown),
        cmocka_unit_test_setup_teardown(stop_ends_it, setup, teardown),
        cmocka_unit_test(names_are_ordered_as_python_does),
        cmocka_unit_test(sorting_keeps_equal_ones_as_they_stand),
        cmocka_unit_test_setup_teardown(orders_are_those_of_torchvision, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_do_not_change_it, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_come_or_go_are_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_right_after_the_scan_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(what_names_do_not_tell_is_not_seen_here, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
