// SPDX-License-Identifier: Apache-2.0
/* Tables of policies from files: what is read, what is refused and where, what they do, and what recipes keep of them.
 */
#include "test.h"

#include "base/rng.h"
#include "failing.h"
#include "files.h"
#include "step/follow.h"
#include "step/policy_table.h"
#include "step/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_hooks plain_hooks(void)
{
    mr_hooks hooks;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    return hooks;
}

static int read_text(const char *text, mr__policy_table **out, mr__detail *detail)
{
    mr_hooks hooks = plain_hooks();
    size_t nbytes = strlen(text);
    char *copy = malloc(nbytes + 1); /* of its very size */
    memcpy(copy, text, nbytes);
    copy = realloc(copy, nbytes != 0 ? nbytes : 1);
    mr__detail_clear(detail);
    int code = mr__policy_table_read("table.json", copy, nbytes, &hooks, out, detail);
    free(copy);
    return code;
}

static mr__policy_table *must_read(const char *text)
{
    mr__policy_table *table = NULL;
    mr__detail detail;
    if (read_text(text, &table, &detail) != 0)
        fail_msg("%s: %s", text, detail.text);
    return table;
}

static void drop(mr__policy_table *table)
{
    mr_hooks hooks = plain_hooks();
    mr__policy_table_free(table, &hooks);
}

static void test_read(void **state)
{
    (void)state;
    mr__policy_table *t =
        must_read("[[[\"Contrast\", 0.8, 0.25], [\"Invert\", 0.5]],\n [], [[\"Posterize\", 1, 1.0], "
                  "[\"Equalize\", 0, null], [\"R\\u006ftate\", 1e-1, 0.5], [\"AutoContrast\", 0.3, 0.7]]]");
    assert_false(t->stages || t->resizes);
    assert_int_equal(t->lists, 3);
    assert_int_equal(t->longest, 4);
    assert_int_equal(t->end[0], 2);
    assert_int_equal(t->end[1], 2);
    assert_int_equal(t->end[2], 6);
    assert_true(t->entry[0].chance == 0.8 && t->entry[0].value == 0.25 * (1.9 - 0.1) + 0.1);
    assert_string_equal(t->entry[1].op->name, "Invert");
    assert_true(t->entry[2].value == 8.0 && t->entry[4].value == 0.0);
    assert_string_equal(t->path, "table.json");
    mr__policy_table *same = must_read("{\"comment\": {\"a\": [1]}, \"policies\": [[[\"Contrast\", 0.80, 25e-2], "
                                       "[\"Invert\", 0.5, 1]], [], [[\"Posterize\", 1.0, 1], [\"Equalize\", 0], "
                                       "[\"Rotate\", 0.1, 0.5], [\"AutoContrast\", 0.3]]]}");
    assert_true(t->hash == same->hash);
    mr__policy_table *stages = must_read("{\"stages\": [[[\"Contrast\", 0.8, 0.25], [\"Invert\", 0.5]], "
                                         "[[\"RandResizeCrop_imagenet\", 1]]]}");
    assert_true(stages->stages && stages->resizes && stages->lists == 2 && stages->longest == 2);
    assert_true(stages->entry[1].chance == 0.8 + 0.5 && stages->entry[2].chance == 1.0);
    assert_true(stages->hash != t->hash);
    drop(t);
    drop(same);
    drop(stages);
}

/* Every change of what is done is another hash. */
static void test_hash(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[[[\"ShearX\", 0.5, 0.5]]]",     "[[[\"ShearY\", 0.5, 0.5]]]",     "[[[\"ShearX\", 0.25, 0.5]]]",
        "[[[\"ShearX\", 0.5, 0.25]]]",    "[[[\"ShearX\", 0.5, 0.5]], []]", "{\"stages\": [[[\"ShearX\", 0.5, 0.5]]]}",
        "[[], [[\"ShearX\", 0.5, 0.5]]]",
    };
    uint64_t hashes[8];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mr__policy_table *t = must_read(texts[i]);
        hashes[i] = t->hash;
        drop(t);
        for (size_t k = 0; k < i; k++)
            assert_true(hashes[i] != hashes[k]);
    }
}

static void check_wrong(const char *text, int code, const char *words)
{
    mr__policy_table *table = NULL;
    mr__detail detail;
    assert_int_equal(read_text(text, &table, &detail), code);
    assert_null(table);
    assert_contains(detail.text, words);
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "table.json, line 1: "},
        {"7", "line 1: a table is a list"},
        {"[]", "line 1: the list is empty"},
        {"{}", "line 1: there are neither policies nor stages"},
        {"{\"policies\": []}", "the list is empty"},
        {"{\"policies\": 3}", "here stands a list of lists"},
        {"{\"policies\": [[]], \"stages\": [[[\"Invert\", 1]]]}", "one member"},
        {"{\"polices\": [[]]}", "one member"},
        {"{\"comment\": }", "line 1: "},
        {"[\n[[\"Invert\", 1]],\n[7]]", "line 3: here stands an operation"},
        {"[\n3]", "line 2: here stands a list of operations"},
        {"[[[\"Inwert\", 1]]]", "no operation has this name"},
        {"[[[3, 1]]]", "begins with its name"},
        {"[[[\"Invert\"]]]", "a probability"},
        {"[[[\"Invert\", -0.1]]]", "a probability"},
        {"[[[\"Invert\", 1.01]]]", "a probability"},
        {"[[[\"Invert\", 1e999]]]", "a probability"},
        {"[[[\"Rotate\", 1]]]", "a level"},
        {"[[[\"Rotate\", 1, null]]]", "a level"},
        {"[[[\"Rotate\", 1, 2]]]", "a level"},
        {"[[[\"Rotate\", 1, -0.5]]]", "a level"},
        {"[[[\"Rotate\", 1, \"a\"]]]", "a level"},
        {"[[[\"Invert\", 1, 5]]]", "a level"},
        {"[[[\"Rotate\", 1, 1, 1]]]", "an operation is a name"},
        {"[[]] 3", "line 1: "},
        {"[[]", "line 1: "},
        {"[[[\"Rotate\", 1, 1]\n[", "line 2: "},
        {"{\"stages\": [[]]}", "all 0"},
        {"{\"stages\": [[[\"Invert\", 0]]]}", "all 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_wrong(cases[i].text, MR_EARGUMENT, cases[i].words);
}

/* As many as there may be are read, and one more is refused. */
static char *repeated(const char *before, const char *item, size_t count, const char *after)
{
    size_t nbytes = strlen(before) + (strlen(item) + 1) * count + strlen(after) + 1;
    char *text = malloc(nbytes), *at = text;
    at += snprintf(at, nbytes, "%s", before);
    for (size_t i = 0; i < count; i++)
        at += snprintf(at, nbytes, "%s%s", i != 0 ? "," : "", item);
    snprintf(at, nbytes, "%s", after);
    return text;
}

static void check_limit(const char *before, const char *item, size_t most, const char *after, const char *words)
{
    char *text = repeated(before, item, most, after);
    drop(must_read(text));
    free(text);
    text = repeated(before, item, most + 1, after);
    check_wrong(text, MR_ELIMIT, words);
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    check_limit("[", "[]", 1024, "]", "at most 1024 policies");
    check_limit("[[", "[\"Invert\",1]", 16, "]]", "at most 16 operations");
    check_limit("{\"stages\":[", "[[\"Invert\",1]]", 16, "]}", "at most 16 stages");
    check_limit("{\"stages\":[[", "[\"Invert\",1]", 1024, "]]}", "at most 1024 choices");
    char *text = repeated("[[", "[\"Invert\",1]", 1, "]]");
    text = realloc(text, (1 << 20) + 2);
    size_t used = strlen(text);
    memset(text + used, ' ', (1 << 20) + 1 - used);
    text[1 << 20] = '\0';
    drop(must_read(text));
    text[1 << 20] = ' ';
    text[(1 << 20) + 1] = '\0';
    check_wrong(text, MR_ELIMIT, "more than 1048576 bytes");
    free(text);
}

/* Frequencies: policies and their chances, stages and their weights, signs. */
typedef struct bench {
    mr__chain chain;
    mr__follow follow;
    mr__detail detail;
} bench;

static void run(bench *b, const mr__policy_table *table, uint32_t number, uint32_t width, uint32_t height)
{
    static const uint8_t fill[4];
    mr__dice dice;
    mr__dice_init(&dice, (uint32_t[2]){number * 2654435761u, 77});
    mr__follow_init(&b->follow);
    mr__chain_init(&b->chain, width, height, false, &b->follow);
    mr__policy_look look = {MR_SAMPLING_NEAREST, fill};
    assert_int_equal(mr__policy_table_add(table, &dice, &b->chain, look, &b->detail), 0);
}

static void check_part(uint32_t count, double n, double part)
{
    if (!(fabs(count - n * part) < 4.3 * sqrt(n * part * (1.0 - part))))
        fail_msg("%u of %g, and not %g", count, n, n * part);
}

static void test_policies(void **state)
{
    (void)state;
    static bench b;
    uint32_t n = test_quick() ? 20000 : 200000, inverts = 0, bits = 0, left = 0, right = 0, none = 0;
    mr__policy_table *t = must_read("[[[\"Invert\", 0.25]], [[\"TranslateX\", 0.5, 0.75], [\"Posterize\", 0.1, 0.5]],"
                                    "[[\"Equalize\", 0, 0.3]], []]");
    for (uint32_t i = 0; i < n; i++) {
        run(&b, t, i, 200, 100);
        none += b.chain.op_count == 0;
        for (size_t k = 0; k < b.chain.op_count; k++) {
            inverts += b.chain.op[k].kind == MR__OP_INVERT;
            bits += b.chain.op[k].kind == MR__OP_POSTERIZE && b.chain.op[k].whole == 6;
            assert_true(b.chain.op[k].kind != MR__OP_EQUALIZE);
        }
        if (b.follow.count == 1) {
            double by = b.follow.moves[0].u.affine.translate[0];
            assert_true(fabs(fabs(by) - 45.0) < 1e-12);
            left += by < 0;
            right += by > 0;
        }
    }
    check_part(inverts, n, 0.25 * 0.25);
    check_part(bits, n, 0.25 * 0.1);
    check_part(left, n, 0.25 * 0.25);
    check_part(right, n, 0.25 * 0.25);
    check_part(none, n, 0.5 + 0.25 * 0.75 + 0.25 * 0.5 * 0.9);
    drop(t);
}

static void test_stages(void **state)
{
    (void)state;
    static bench b;
    uint32_t n = test_quick() ? 20000 : 200000, inverts = 0, equals = 0, both = 0, flips = 0;
    mr__policy_table *t = must_read("{\"stages\": [[[\"Identity\", 0.1], [\"Invert\", 0.2], [\"Solarize\", 0, 0.5], "
                                    "[\"Solarize\", 0.1, 0.25]], [[\"Equalize\", 1], [\"RandFlip\", 0.25]]]}");
    for (uint32_t i = 0; i < n; i++) {
        run(&b, t, i, 200, 100);
        bool equal = false, invert = false;
        for (size_t k = 0; k < b.chain.op_count; k++) {
            invert = invert || b.chain.op[k].kind == MR__OP_INVERT;
            equal = equal || b.chain.op[k].kind == MR__OP_EQUALIZE;
            assert_true(b.chain.op[k].kind != MR__OP_SOLARIZE || b.chain.op[k].amount == 64.0);
        }
        inverts += invert;
        equals += equal;
        both += invert && equal;
        flips += b.follow.count == 1;
    }
    check_part(inverts, n, 0.5);
    check_part(equals, n, 0.8);
    check_part(both, n, 0.4);
    check_part(flips, n, 0.1);
    drop(t);
}

/* Cutouts lie in the image, their middle anywhere; crops keep the size; what is resized is 224 x 224. */
static void check_places(const char *name, uint32_t width, uint32_t height, uint32_t most_wide, uint32_t most_tall)
{
    static bench b;
    char text[96];
    snprintf(text, sizeof text, "[[[\"%s\", 1%s]]]", name, strncmp(name, "Rand", 4) == 0 ? "" : ", 1");
    mr__policy_table *t = must_read(text);
    uint32_t widest = 0, tallest = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        run(&b, t, i, width, height);
        assert_int_equal(b.chain.op_count, 1);
        mr_rect r = b.chain.op[0].u.erase.rect;
        assert_int_equal(b.chain.op[0].kind, MR__OP_ERASE);
        assert_true(b.chain.op[0].u.erase.value[0] == 125.0f && b.chain.op[0].u.erase.value[2] == 114.0f);
        assert_true(r.width >= 1 && r.height >= 1 && r.x + r.width <= width && r.y + r.height <= height);
        widest = r.width > widest ? r.width : widest;
        tallest = r.height > tallest ? r.height : tallest;
    }
    assert_int_equal(widest, most_wide);
    assert_int_equal(tallest, most_tall);
    drop(t);
}

static void test_places(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 9, 300, 16000};
    static bench b;
    check_places("Cutout", 100, 60, 21, 21);
    check_places("CutoutAbs", 100, 60, 21, 21);
    check_places("RandCutout", 100, 60, 17, 17);
    check_places("RandCutout60", 500, 320, 61, 61);
    check_places("Cutout", 1, 1, 1, 1);
    check_places("CutoutAbs", 3, 1, 3, 1);
    check_places("RandCutout", 7, 1, 7, 1);
    check_places("RandCutout60", 1, 16384, 1, 61);
    mr__policy_table *t = must_read("[[[\"RandCrop\", 1], [\"RandResizeCrop_imagenet\", 1], [\"Flip\", 1]]]");
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t width = sides[i % 5], height = sides[i / 5 % 5];
        run(&b, t, i, width, height);
        mr__chain_size(&b.chain, &width, &height);
        assert_true(width == 224 && height == 224);
    }
    drop(t);
}

/* Recipes. */

static void test_recipe(void **state)
{
    (void)state;
    test_folder folder;
    char path[512], other[512], text[1200];
    static const char table[] = "[[[\"Invert\", 0.5], [\"Rotate\", 1, 0.75]]]";
    test_folder_init(&folder);
    test_folder_write(&folder, "a \xc3\xa4.json", table, strlen(table));
    test_folder_write(&folder, "b.json", table, strlen(table));
    test_folder_path(&folder, "a \xc3\xa4.json", path);
    test_folder_path(&folder, "b.json", other);
    mr_recipe *r[3], *copy, *shown;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(mr_recipe_new(NULL, &r[i]), 0);
    snprintf(text, sizeof text, "rrc(64) autoaug(file=\"%s\") flip", path);
    assert_int_equal(mr_recipe_parse(r[0], text), 0);
    assert_string_equal(mr_recipe_text(r[0]), text);
    snprintf(text, sizeof text, "rrc(64) autoaug(file=\"%s\") flip", other);
    assert_int_equal(mr_recipe_parse(r[1], text), 0);
    assert_true(mr_recipe_hash(r[0]) == mr_recipe_hash(r[1])); /* it is what is in the file that counts */
    assert_true(mr__recipe_draw_count(r[0]) > 2);

    /* Copies have the table as it was read, whatever becomes of the file. */
    static const char changed[] = "[[[\"Invert\", 0.25], [\"Rotate\", 1, 0.75]]]";
    test_folder_write(&folder, "b.json", changed, strlen(changed));
    assert_int_equal(mr__recipe_copy(r[1], NULL, &copy), 0);
    assert_int_equal(mr_recipe_visible(r[1], &shown), 0);
    assert_true(mr_recipe_hash(copy) == mr_recipe_hash(r[0]));
    assert_int_equal(mr_recipe_parse(r[2], text), 0);
    assert_true(mr_recipe_hash(r[2]) != mr_recipe_hash(r[0]));
    mr_step step = {.struct_size = sizeof step};
    assert_int_equal(mr_recipe_step(copy, 1, &step), 0);
    mr_recipe_free(r[1]); /* a copy does not need what it is a copy of */
    assert_string_equal(step.path, other);
    assert_true(mr__policy_table_of(&step)->entry[0].chance == 0.5);
    assert_int_equal(mr_recipe_step(shown, 1, &step), 0);
    assert_true(mr__policy_table_of(&step)->entry[0].chance == 0.5);

    /* A step with a path is read when it is added. */
    step = (mr_step){.struct_size = sizeof step, .kind = MR_STEP_AUTOAUG, .path = other};
    assert_int_equal(mr_recipe_add(r[2], &step), 0);
    assert_int_equal(mr_recipe_step(r[2], 3, &step), 0);
    assert_true(step.path != other && step.policy == MR_AUTOAUG_FILE);
    mr_recipe_free(r[0]);
    mr_recipe_free(r[2]);
    mr_recipe_free(copy);
    mr_recipe_free(shown);
    test_folder_fini(&folder);
}

static void test_recipe_refuses(void **state)
{
    (void)state;
    test_folder folder;
    char path[512], text[1200];
    mr_recipe *r;
    test_folder_init(&folder);
    test_folder_write(&folder, "bad.json", "[\n[3]]", 6);
    test_folder_write(&folder, "good.json", "[[]]", 4);
    assert_int_equal(mr_recipe_new(NULL, &r), 0);
    snprintf(text, sizeof text, "flip autoaug(file=\"%s\")", test_folder_path(&folder, "bad.json", path));
    assert_int_equal(mr_recipe_parse(r, text), MR_EARGUMENT);
    assert_contains(mr_recipe_detail(r), "bad.json, line 2: here stands an operation");
    assert_int_equal(mr_recipe_error_at(r), 19);
    snprintf(text, sizeof text, "autoaug(file=\"%s\")", test_folder_path(&folder, "none.json", path));
    assert_int_equal(mr_recipe_parse(r, text), MR_EIO);
    assert_contains(mr_recipe_detail(r), "none.json cannot be opened");
    snprintf(text, sizeof text, "autoaug(file=\"%s\")", folder.path);
    assert_int_equal(mr_recipe_parse(r, text), MR_EIO);
    assert_int_equal(mr_recipe_parse(r, "autoaug(file=\"/dev/zero\")"), MR_EIO);
    snprintf(text, sizeof text, "autoaug(file=\"%s\") flip(", test_folder_path(&folder, "good.json", path));
    assert_int_equal(mr_recipe_parse(r, text), MR_EARGUMENT); /* a table that is of no use then */
    assert_int_equal(mr_recipe_count(r), 0);
    mr_step step = {.struct_size = sizeof step, .kind = MR_STEP_AUTOAUG, .path = "a\"b"};
    assert_int_equal(mr_recipe_add(r, &step), MR_EARGUMENT);
    step.path = "";
    assert_int_equal(mr_recipe_add(r, &step), MR_EARGUMENT);
    step = (mr_step){.struct_size = sizeof step, .kind = MR_STEP_RANDAUG, .magnitude = 5};
    assert_int_equal(mr_recipe_add(r, &step), MR_EARGUMENT);
    assert_contains(mr_recipe_detail(r), "has_magnitude");
    mr_recipe_free(r);
    test_folder_fini(&folder);
}

static int with_memory(const mr_hooks *hooks, void *arg)
{
    mr_recipe *r = NULL, *copy = NULL;
    int code = mr_recipe_new(hooks, &r);
    if (code == 0)
        code = mr_recipe_parse(r, arg);
    if (code == 0)
        code = mr__recipe_copy(r, hooks, &copy);
    mr_recipe_free(copy);
    mr_recipe_free(r);
    return code;
}

static void test_memory(void **state)
{
    (void)state;
    test_folder folder;
    char path[512], text[1200];
    test_folder_init(&folder);
    test_folder_write(&folder, "t.json", "[[[\"Invert\", 1]]]", 17);
    snprintf(text, sizeof text, "autoaug(file=\"%s\") flip", test_folder_path(&folder, "t.json", path));
    failing_run(with_memory, text);
    test_folder_fini(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),   cmocka_unit_test(test_hash),     cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_policies), cmocka_unit_test(test_stages),
        cmocka_unit_test(test_places), cmocka_unit_test(test_recipe),   cmocka_unit_test(test_recipe_refuses),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
