// SPDX-License-Identifier: Apache-2.0
/* Costs between runs; and what an index tells of an image. */
#include "test.h"

#include "failing.h"
#include "files.h"
#include "pack_make.h"
#include "route/cost.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <millrace/millrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const mr__cost_key key = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333};
#define KEY_NAME "costs/1111111111111111-2222222222222222-3333333333333333.json"

typedef struct place {
    test_folder folder;
    mr_hooks hooks;
    char said[4096]; /* the log */
} place;

static void note(void *user, mr_log_level level, const char *text)
{
    place *p = user;
    size_t used = strlen(p->said);
    (void)level;
    snprintf(p->said + used, sizeof p->said - used, "%s\n", text);
}

static void begin(place *p)
{
    mr_hooks hooks = {.struct_size = sizeof hooks, .user = p, .log = note};
    memset(p, 0, sizeof *p);
    test_folder_init_in_memory(&p->folder);
    assert_int_equal(mr__hooks_init(&p->hooks, &hooks), 0);
}

static mr__features work_of(size_t i)
{
    mr__features f = {.ns = {[MR__WORK_TASK] = 5000.0f}};
    f.ns[1 + i % (MR__WORK_KINDS - 1)] = 100000.0f;
    f.ns[1 + i / 3 % (MR__WORK_KINDS - 1)] += 50000.0f;
    return f;
}

/* A route that has learned something of its own. */
static mr__cost_route route_of(const char *name, double speed)
{
    mr__cost_route route = {.name = ""};
    snprintf(route.name, sizeof route.name, "%s", name);
    mr__cost_init(&route.cost);
    for (size_t i = 0; i < 300; i++) {
        mr__features f = work_of(i);
        mr__cost_learn(&route.cost, &f, (uint64_t)((200000.0 + (double)(i % 7) * 1000.0) / speed));
    }
    return route;
}

static void assert_same(const mr__cost *a, const mr__cost *b)
{
    for (size_t i = 0; i < 50; i++) {
        mr__features f = work_of(i);
        assert_true(fabs(mr__cost_predict(a, &f) / mr__cost_predict(b, &f) - 1.0) < 1e-9);
    }
    assert_true(a->samples == b->samples);
}

static void save(place *p, const mr__cost_route *routes, size_t count)
{
    mr__detail detail;
    if (mr__cost_save(&p->hooks, p->folder.path, &key, routes, count, &detail) != 0)
        fail_msg("%s", detail.text);
}

static mr__cost_route blank(const char *name)
{
    mr__cost_route route = {.name = ""};
    snprintf(route.name, sizeof route.name, "%s", name);
    mr__cost_init(&route.cost);
    return route;
}

static void what_was_learned_is_there_again(void **state)
{
    (void)state;
    place p;
    begin(&p);
    mr__cost_route saved[] = {route_of("jpeg@cpu", 1.0), route_of("odd \"name\"\n@sim:1", 3.0), blank("l3@cpu")};
    mr__cost_route loaded[] = {blank("l3@cpu"), blank("odd \"name\"\n@sim:1"), blank("jpeg@cpu"), blank("png@cpu")};
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, loaded, 4), 0); // nothing there, and no word of it
    assert_string_equal(p.said, "");
    save(&p, saved, 3);
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, loaded, 4), 2);
    assert_same(&loaded[2].cost, &saved[0].cost);
    assert_same(&loaded[1].cost, &saved[1].cost);
    assert_true(loaded[0].cost.samples == 0 && loaded[3].cost.samples == 0);
    mr__cost_key other = key;
    other.machine++;
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &other, loaded, 4), 0);
    assert_string_equal(p.said, "");
    test_folder_fini(&p.folder);
}

static void other_routes_are_kept(void **state)
{
    (void)state;
    place p;
    begin(&p);
    mr__cost_route first = route_of("jpeg@cpu", 1.0), second = route_of("l3@cpu", 2.0), again = route_of("l3@cpu", 5.0);
    mr__cost_route loaded[] = {blank("jpeg@cpu"), blank("l3@cpu")};
    save(&p, &first, 1);
    save(&p, &second, 1);
    save(&p, &again, 1);
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, loaded, 2), 2);
    assert_same(&loaded[0].cost, &first.cost);
    assert_same(&loaded[1].cost, &again.cost);
    for (int i = 0; i < 2 * MR__COST_ROUTES; i++) { // and no more than there is room for
        char name[32];
        snprintf(name, sizeof name, "form%d@cpu", i);
        mr__cost_route one = again;
        snprintf(one.name, sizeof one.name, "%s", name);
        save(&p, &one, 1);
    }
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, loaded, 2), 2);
    assert_string_equal(p.said, "");
    test_folder_fini(&p.folder);
}

static size_t load_bytes(place *p, const void *bytes, size_t nbytes)
{
    mr__cost_route loaded = blank("jpeg@cpu");
    test_folder_write(&p->folder, KEY_NAME, bytes, nbytes);
    p->said[0] = 0;
    size_t found = mr__cost_load(&p->hooks, p->folder.path, &key, &loaded, 1);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        assert_true(isfinite(loaded.cost.weight[i]) && loaded.cost.weight[i] >= 0.0);
    mr__features f = work_of(1);
    double ns = mr__cost_predict(&loaded.cost, &f);
    assert_true(isfinite(ns) && ns >= 1.0 && isfinite(mr__cost_sigma(&loaded.cost)));
    return found;
}

static void damaged_files_are_passed_over(void **state)
{
    (void)state;
    place p;
    begin(&p);
    mr__cost_route route = route_of("jpeg@cpu", 1.0);
    save(&p, &route, 1);
    picture_file file = pack_load(&p.folder, KEY_NAME);
    for (size_t n = 0; n < file.nbytes - 1; n++) { // the newline at its end may be missing
        assert_int_equal(load_bytes(&p, file.bytes, n), 0);
        assert_contains(p.said, "learned anew");
    }
    for (size_t i = 0; i < file.nbytes * 8; i += test_quick() ? 7 : 1) {
        file.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        size_t found = load_bytes(&p, file.bytes, file.nbytes); // a digit may be another one
        assert_true(found <= 1);
        file.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(load_bytes(&p, file.bytes, file.nbytes), 1);
    assert_string_equal(p.said, "");
    load_bytes(&p, "junk", 4);
    save(&p, &route, 1); // written anew
    mr__cost_route loaded = blank("jpeg@cpu");
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, &loaded, 1), 1);
    free(file.bytes);
    test_folder_fini(&p.folder);
}

static void odd_files_are_passed_over(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"version\": 2, \"features\": \"0\", \"routes\": []}",
        "{\"version\": 1, \"features\": \"0000000000000000\", \"routes\": []}",
        "{\"version\": 1, \"routes\": []}",
        "{\"routes\": [[[[[[]]]]]]}",
    };
    place p;
    begin(&p);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(load_bytes(&p, texts[i], strlen(texts[i])), 0);
        assert_contains(p.said, "learned anew");
    }
    size_t large = (1 << 18) + 1;
    char *spaces = malloc(large);
    assert_non_null(spaces);
    memset(spaces, ' ', large);
    assert_int_equal(load_bytes(&p, spaces, large), 0);
    assert_contains(p.said, "learned anew");
    free(spaces);
    char head[256], path[512];
    snprintf(head, sizeof head,
             "{\"version\": 1, \"features\": \"%016llx\", \"routes\": [{\"name\": \"jpeg@cpu\", \"samples\": 1, "
             "\"scale\": 1e999, \"sigma\": -1e999, \"weights\": [",
             (unsigned long long)mr__features_id());
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
    for (size_t i = 0; i < MR__WORK_KINDS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i == 0 ? "" : ",", i % 2 ? "1e999" : "-5");
    used += (size_t)snprintf(text + used, sizeof text - used, "]}]}");
    assert_int_equal(load_bytes(&p, text, used), 1); // numbers that are none: the nearest that are
    assert_int_equal(unlink(test_folder_path(&p.folder, KEY_NAME, path)), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    mr__cost_route route = route_of("jpeg@cpu", 1.0);
    mr__detail detail;
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, &route, 1), 0);
    assert_int_equal(mr__cost_save(&p.hooks, p.folder.path, &key, &route, 1, &detail), MR_EIO);
    assert_contains(detail.text, "could not be written");
    test_folder_fini(&p.folder);
}

static void several_processes_may_write_at_once(void **state)
{
    (void)state;
    enum { WRITERS = 2, TIMES = 200 };
    place p;
    begin(&p);
    mr__cost_route route = route_of("jpeg@cpu", 1.0), loaded = blank("jpeg@cpu");
    pid_t writers[WRITERS];
    save(&p, &route, 1);
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w] == 0) {
            mr__detail detail;
            int bad = 0;
            for (int i = 0; i < TIMES; i++)
                bad |= mr__cost_save(&p.hooks, p.folder.path, &key, &route, 1, &detail) != 0;
            _exit(bad != 0 || p.said[0] != 0);
        }
    }
    for (int i = 0; i < TIMES; i++) // at any time it is there, and whole
        assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, &loaded, 1), 1);
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
    assert_same(&loaded.cost, &route.cost);
    assert_string_equal(p.said, "");
    test_folder_fini(&p.folder);
}

static size_t count_files(const place *p)
{
    char path[512];
    DIR *files = opendir(test_folder_path(&p->folder, "costs", path));
    size_t count = 0;
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(files);
    return count;
}

static void the_oldest_are_removed(void **state)
{
    (void)state;
    place p;
    begin(&p);
    mr__cost_route route = route_of("jpeg@cpu", 1.0), loaded = blank("jpeg@cpu");
    char name[128], path[512];
    test_folder_write(&p.folder, "costs/notes.txt", "mine", 4); // not ours: stays, and does not count
    for (unsigned i = 0; i < MR__COST_FILES + 8; i++) {
        snprintf(name, sizeof name, "costs/%016x-%016x-%016x.json", i, 0u, 0u);
        test_folder_write(&p.folder, name, "old", 3);
        const struct timespec times[2] = {{1000 + (time_t)i, 0}, {1000 + (time_t)i, 0}};
        assert_int_equal(utimensat(AT_FDCWD, test_folder_path(&p.folder, name, path), times, 0), 0);
    }
    save(&p, &route, 1);
    assert_int_equal(count_files(&p), MR__COST_FILES + 1);
    assert_int_equal(mr__cost_load(&p.hooks, p.folder.path, &key, &loaded, 1), 1);
    assert_false(pack_exists(&p.folder, "costs/0000000000000008-0000000000000000-0000000000000000.json"));
    assert_true(pack_exists(&p.folder, "costs/0000000000000009-0000000000000000-0000000000000000.json"));
    assert_true(pack_exists(&p.folder, "costs/notes.txt"));
    test_folder_fini(&p.folder);
}

static void the_users_cache_is_where_they_are(void **state)
{
    (void)state;
    place p;
    begin(&p);
    mr__cost_route route = route_of("jpeg@cpu", 1.0), loaded = blank("jpeg@cpu");
    mr__detail detail;
    assert_int_equal(setenv("XDG_CACHE_HOME", p.folder.path, 1), 0);
    assert_int_equal(mr__cost_save(&p.hooks, NULL, &key, &route, 1, &detail), 0);
    assert_true(pack_exists(&p.folder, "millrace/" KEY_NAME));
    assert_int_equal(mr__cost_load(&p.hooks, NULL, &key, &loaded, 1), 1);
    assert_int_equal(unsetenv("XDG_CACHE_HOME") | unsetenv("HOME"), 0);
    assert_int_equal(mr__cost_save(&p.hooks, NULL, &key, &route, 1, &detail), 0); // nowhere to keep it
    assert_int_equal(mr__cost_load(&p.hooks, NULL, &key, &loaded, 1), 0);
    assert_true(mr__cost_machine() == mr__cost_machine());
    test_folder_fini(&p.folder);
}

static int save_and_load(const mr_hooks *given, void *arg)
{
    const place *p = arg;
    mr_hooks hooks;
    mr__detail detail;
    mr__cost_route route = route_of("jpeg@cpu", 1.0);
    assert_int_equal(mr__hooks_init(&hooks, given), 0);
    int result = mr__cost_save(&hooks, p->folder.path, &key, &route, 1, &detail);
    (void)mr__cost_load(&hooks, p->folder.path, &key, &route, 1);
    return result;
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    place p;
    begin(&p);
    failing_run(save_and_load, &p);
    test_folder_fini(&p.folder);
}

/* --- headers --- */

static void an_index_tells_headers(void **state)
{
    (void)state;
    place p;
    begin(&p);
    pack_make_folder(&p.folder, "images", 2 * PACK_KINDS, 40);
    mr_dataset *folder = pack_open(&p.folder, "images", MR_LAYOUT_FOLDER);
    mr_pack_form forms[] = {{.struct_size = sizeof *forms}, {.struct_size = sizeof *forms, .form = MR_FORM_L3}};
    mr_pack_options options = {.struct_size = sizeof options, .forms = forms, .form_count = 2, .threads = 1};
    pack_run(folder, &p.folder, "packed", &options);
    mr_dataset *packed = pack_open(&p.folder, "packed", MR_LAYOUT_PACKED);
    for (uint64_t i = 0; i < 2 * PACK_KINDS; i++) {
        mr__header plain, h, l3;
        pack_kind kind = (pack_kind)(i % PACK_KINDS);
        bool progressive = kind == PACK_JPEG_PROGRESSIVE, cmyk = kind == PACK_JPEG_CMYK;
        assert_int_equal(mr__header_of(folder, i, 0, &plain), 0);
        assert_int_equal(mr__header_of(packed, i, 0, &h), 0);
        assert_int_equal(mr__header_of(packed, i, 1, &l3), 0);
        assert_true(plain.nbytes > 0 && plain.nbytes == h.nbytes && plain.width == 0); // a folder: its length alone
        assert_int_equal(h.width, 40 + i % 5);
        assert_int_equal(h.height, 40 + i % 3);
        assert_int_equal(h.row_index, kind <= PACK_JPEG_GRAY);
        assert_int_equal(h.progressive, progressive || cmyk); // gone through whole, either way
        if (cmyk) {
            assert_true(l3.nbytes == 0); // there is none
            continue;
        }
        assert_int_equal(l3.form, MR_FORM_L3);
        assert_true(l3.width == h.width && !l3.row_index && !l3.progressive);
    }
    mr__header none = {.nbytes = 7};
    assert_int_equal(mr__header_of(packed, 2 * PACK_KINDS, 0, &none), MR_EARGUMENT);
    assert_int_equal(none.nbytes, 7);
    mr_dataset_free(folder);
    mr_dataset_free(packed);
    test_folder_fini(&p.folder);
}

static void a_header_that_was_read_does_as_well(void **state)
{
    (void)state;
    picture_file file = pack_image(PACK_JPEG_PROGRESSIVE, 50, 30, 1);
    mr_decoder *decoder;
    mr_info info = {.struct_size = sizeof info};
    mr__header h;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_info(decoder, file.bytes, file.nbytes, &info), 0);
    mr__header_from(&info, file.nbytes, &h);
    assert_true(h.progressive && h.width == 50 && h.height == 30 && h.form == MR_FORM_JPEG && h.nbytes == file.nbytes);
    mr_decoder_free(decoder);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_learned_is_there_again),     cmocka_unit_test(other_routes_are_kept),
        cmocka_unit_test(damaged_files_are_passed_over),       cmocka_unit_test(odd_files_are_passed_over),
        cmocka_unit_test(several_processes_may_write_at_once), cmocka_unit_test(the_oldest_are_removed),
        cmocka_unit_test(without_memory_nothing_is_lost),      cmocka_unit_test(an_index_tells_headers),
        cmocka_unit_test(a_header_that_was_read_does_as_well), cmocka_unit_test(the_users_cache_is_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
