// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a table of policies: it is read, or there is an error that says in which line and nothing was made. What
 * is read twice is the same, lies within its limits, and does to an image of any size what a chain allows.
 */
#include "check.h"

#include "step/policy_table.h"

#include <string.h>

enum { ROUNDS = 8 };

static int read_table(const mr_hooks *hooks, const char *text, size_t nbytes, mr__policy_table **table)
{
    mr__detail detail;
    mr__detail_clear(&detail);
    *table = NULL;
    int result = mr__policy_table_read("t", text, nbytes, hooks, table, &detail);
    FUZZ_REQUIRE(result == 0 || result == MR_EARGUMENT || result == MR_ELIMIT || result == MR_ENOMEM, "%s",
                 mr_error_name(result));
    FUZZ_REQUIRE((result != 0) == (detail.text[0] != '\0'), "%d, and these words: '%s'", result, detail.text);
    FUZZ_REQUIRE((result != 0) == (*table == NULL), "%d, and %s table", result, *table != NULL ? "a" : "no");
    FUZZ_REQUIRE(result != MR_EARGUMENT || strncmp(detail.text, "t, line ", 8) == 0, "no line: '%s'", detail.text);
    return result;
}

static void check_limits(const mr__policy_table *t)
{
    uint32_t lists = t->stages ? MR__TABLE_OPS_MAX : MR__TABLE_LISTS_MAX;
    uint32_t entries = t->stages ? MR__TABLE_LISTS_MAX : MR__TABLE_OPS_MAX, before = 0;
    FUZZ_REQUIRE(t->lists >= 1 && t->lists <= lists && t->longest <= MR__TABLE_OPS_MAX, "%u lists", t->lists);
    for (uint32_t i = 0; i < t->lists; before = t->end[i++])
        FUZZ_REQUIRE(t->end[i] >= before + t->stages && t->end[i] - before <= entries, "list %u to %u", i, t->end[i]);
    FUZZ_REQUIRE(t->nbytes == sizeof *t + before * sizeof *t->entry, "%zu bytes", t->nbytes);
    for (uint32_t i = 0; i < before; i++) {
        const mr__table_entry *e = &t->entry[i];
        FUZZ_REQUIRE(e->chance >= 0.0 && e->chance <= MR__TABLE_LISTS_MAX, "a chance of %g", e->chance);
        FUZZ_REQUIRE(e->value >= e->op->low && e->value <= e->op->high, "%s with %g", e->op->name, e->value);
    }
}

/* Flips and crops are passes; all else is an op that lies in its image. */
static void check_chain(const mr__policy_table *t, uint32_t width, uint32_t height, const uint32_t key[2])
{
    static const uint8_t fill[4];
    mr__detail detail = {{0}};
    mr__chain chain;
    mr__dice dice;
    mr__dice_init(&dice, key);
    mr__chain_init(&chain, width, height, false, NULL);
    mr__policy_look look = {MR_SAMPLING_NEAREST, fill};
    int result = mr__policy_table_add(t, &dice, &chain, look, &detail);
    FUZZ_REQUIRE(result == 0, "%u x %u: %s", width, height, detail.text);
    FUZZ_REQUIRE(chain.op_count <= t->longest && chain.count <= t->longest + 1 + chain.op_count, "%zu ops, %zu passes",
                 chain.op_count, chain.count);
    for (size_t i = 0; i < chain.op_count; i++) {
        const mr__op *op = &chain.op[i];
        mr_rect r = op->u.erase.rect;
        FUZZ_REQUIRE(op->kind != MR__OP_POSTERIZE || op->whole <= 8, "%u bits", op->whole);
        FUZZ_REQUIRE(op->kind != MR__OP_ERASE ||
                         (r.width >= 1 && r.height >= 1 && r.x < op->width && r.y < op->height &&
                          r.width <= op->width - r.x && r.height <= op->height - r.y),
                     "%u x %u at %u, %u", r.width, r.height, r.x, r.y);
    }
    uint32_t w, h;
    mr__chain_size(&chain, &w, &h);
    FUZZ_REQUIRE((w == width && h == height) || (t->resizes && w == 224 && h == 224), "%u x %u", w, h);
}

static void check(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes, bool failing)
{
    char *copy = malloc(nbytes != 0 ? nbytes : 1); // of its very size
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    FUZZ_REQUIRE(copy != NULL, "no memory");
    if (nbytes != 0)
        memcpy(copy, bytes, nbytes);
    fuzz_heap heap = {.fill = 0x5a, .fail_at = failing};
    mr_hooks given = fuzz_heap_hooks(&heap), hooks;
    mr__policy_table *table, *again;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
    int result = read_table(&hooks, copy, nbytes, &table);
    FUZZ_REQUIRE(result == MR_ENOMEM || heap.calls == (result == 0), "%llu blocks", (unsigned long long)heap.calls);
    heap.fail_at = 0;
    FUZZ_REQUIRE(read_table(&hooks, copy, nbytes, &again) == (result != MR_ENOMEM ? result : 0), "another result");
    if (result == 0) {
        FUZZ_REQUIRE(memcmp(table, again, table->nbytes) == 0, "another table");
        check_limits(table);
        for (int i = 0; i < ROUNDS; i++) {
            uint32_t most = i % 2 == 0 ? 300 : MR_RECIPE_SIDE_MAX - 8; /* with room for the border of RandCrop */
            uint32_t key[2] = {(uint32_t)fuzz_draw_u64(&draw), (uint32_t)i};
            check_chain(table, 1 + fuzz_draw_below(&draw, most), 1 + fuzz_draw_below(&draw, most), key);
        }
    }
    mr__policy_table_free(table, &hooks);
    mr__policy_table_free(again, &hooks);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    free(copy);
}

void fuzz_check_policy(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    check(setting, bytes, nbytes, false);
}

void fuzz_check_policy_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    check(setting, bytes, nbytes, true);
}
