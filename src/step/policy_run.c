// SPDX-License-Identifier: Apache-2.0
/*
 * What a table does. Fast AutoAugment: one of the policies, all as likely; each of its operations by its own chance.
 * Deep AutoAugment: of every stage one choice, by their weights. Shears, translations and rotations go either way,
 * whatever the level says.
 *
 * Where the authors' code draws with Pillow, the right and the lower edge of a rectangle belong to it.
 */
#include "step/policy_table.h"
#include "step/real.h"

#include <math.h>

/* What those authors put where there is nothing: about the mean of photographs. */
static const uint8_t mean_fill[4] = {125, 123, 114, 0};

static int add_erase(mr__chain *chain, mr_rect rect, mr__detail *detail)
{
    mr__op op = {.kind = MR__OP_ERASE, .u.erase.rect = rect};
    for (size_t i = 0; i < 4; i++)
        op.u.erase.value[i] = (float)mean_fill[i];
    return mr__chain_op(chain, op, detail);
}

/* Along one side: from the first pixel to the last, which is one of the image's. */
static void place(double first, double last, uint32_t side, uint32_t *at, uint32_t *length)
{
    uint32_t end = last < (double)(side - 1) ? (uint32_t)last : side - 1;
    *at = (uint32_t)first;
    *length = end - *at + 1;
}

static double at_least_0(double x)
{
    return x > 0.0 ? x : 0.0;
}

/* The square begins half its side before a place anywhere, and not outside. */
static int add_cutout(mr__chain *chain, mr__dice *dice, double side, mr__detail *detail)
{
    uint32_t width, height;
    mr_rect rect;
    mr__chain_size(chain, &width, &height);
    double x = floor(at_least_0(mr__dice_unit(dice) * width - side / 2.0));
    double y = floor(at_least_0(mr__dice_unit(dice) * height - side / 2.0));
    place(x, x + side, width, &rect.x, &rect.width);
    place(y, y + side, height, &rect.y, &rect.height);
    return add_erase(chain, rect, detail);
}

/* Its middle is anywhere in the `reach` pixels about the image's. */
static void draw_middle(mr__dice *dice, uint32_t side, uint32_t half, uint32_t reach, uint32_t *at, uint32_t *length)
{
    uint32_t middle = side / 2, low = middle > reach / 2 ? middle - reach / 2 : 0;
    uint32_t high = side - middle > reach / 2 ? middle + reach / 2 : side;
    double x = low + (high - low) * mr__dice_unit(dice);
    place(at_least_0(x - half), x + half, side, at, length);
}

static int add_rand_cutout(mr__chain *chain, mr__dice *dice, uint32_t half, uint32_t reach, mr__detail *detail)
{
    uint32_t width, height;
    mr_rect rect;
    mr__chain_size(chain, &width, &height);
    draw_middle(dice, width, half, reach, &rect.x, &rect.width);
    draw_middle(dice, height, half, reach, &rect.y, &rect.height);
    return add_erase(chain, rect, detail);
}

/* Four pixels of border, and the image's size from anywhere in it. */
static int add_rand_crop(mr__chain *chain, mr__dice *dice, mr__detail *detail)
{
    static const uint32_t pad[4] = {4, 4, 4, 4};
    mr_rect rect = {0, 0, 0, 0};
    mr__chain_size(chain, &rect.width, &rect.height);
    rect.y = mr__dice_below(dice, 9);
    rect.x = mr__dice_below(dice, 9);
    int code = mr__chain_pad(chain, pad, MR_BORDER_FILL, mean_fill, detail);
    return code != 0 ? code : mr__chain_crop(chain, rect, detail);
}

enum { RESIZED = 224 };

/* The part of RandomResizedCrop, but where the first attempt does not fit it is the middle at once, as published. */
static mr_rect draw_resized(mr__dice *dice, uint32_t width, uint32_t height)
{
    double area = (double)((uint64_t)width * height) * (0.08 + 0.92 * mr__dice_unit(dice));
    double low = mr__real_log(3.0 / 4.0), high = mr__real_log(4.0 / 3.0);
    double ratio = mr__real_exp(low + (high - low) * mr__dice_unit(dice));
    uint64_t wide = mr__real_round(sqrt(area * ratio)), tall = mr__real_round(sqrt(area / ratio));
    uint32_t x = mr__dice_below(dice, wide <= width ? width - (uint32_t)wide + 1 : 1);
    uint32_t y = mr__dice_below(dice, tall <= height ? height - (uint32_t)tall + 1 : 1);
    if (wide > 0 && wide <= width && tall > 0 && tall <= height)
        return (mr_rect){x, y, (uint32_t)wide, (uint32_t)tall};
    wide = mr__real_round(height * 4.0 / 3.0);
    tall = mr__real_round(width * 4.0 / 3.0);
    mr_rect part = {0, 0, wide < width ? (uint32_t)wide : width, tall < height ? (uint32_t)tall : height};
    part.x = (width - part.width) / 2;
    part.y = (height - part.height) / 2;
    return part;
}

static int add_resized(mr__chain *chain, mr__dice *dice, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    int code = mr__chain_crop(chain, draw_resized(dice, width, height), detail);
    return code != 0 ? code : mr__chain_resize(chain, RESIZED, RESIZED, MR_FILTER_BICUBIC, detail);
}

static int add_shift(mr__chain *chain, const mr__table_entry *entry, double value, mr__policy_look look,
                     mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    if (entry->op->act == MR__TABLE_PART)
        value *= entry->op->op == MR__POLICY_TRANSLATE_X ? width : height;
    return mr__policy_add(chain, entry->op->op, -value, look, detail);
}

static int add_plain(mr__chain *chain, const mr__table_entry *entry, mr__dice *dice, mr__policy_look look,
                     mr__detail *detail)
{
    mr__policy_op op = entry->op->op;
    bool turns = op >= MR__POLICY_SHEAR_X && op <= MR__POLICY_ROTATE;
    double value = turns && mr__dice_below(dice, 2) == 1 ? -entry->value : entry->value;
    return entry->op->act == MR__TABLE_PLAIN ? mr__policy_add(chain, op, value, look, detail)
                                             : add_shift(chain, entry, value, look, detail);
}

static int add_cutout_part(mr__chain *chain, mr__dice *dice, double part, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    return part > 0.0 ? add_cutout(chain, dice, part * width, detail) : 0;
}

static int add_entry(mr__chain *chain, const mr__table_entry *entry, mr__dice *dice, mr__policy_look look,
                     mr__detail *detail)
{
    switch (entry->op->act) {
    case MR__TABLE_CUTOUT_PART:
        return add_cutout_part(chain, dice, entry->value, detail);
    case MR__TABLE_CUTOUT:
        return add_cutout(chain, dice, entry->value, detail);
    case MR__TABLE_FLIP:
        return mr__chain_flip(chain, true, false, detail);
    case MR__TABLE_RAND_FLIP:
        return mr__dice_below(dice, 2) == 1 ? mr__chain_flip(chain, true, false, detail) : 0;
    case MR__TABLE_RAND_CROP:
        return add_rand_crop(chain, dice, detail);
    case MR__TABLE_RAND_CUTOUT:
        return add_rand_cutout(chain, dice, 8, 2 * MR_RECIPE_SIDE_MAX, detail);
    case MR__TABLE_RAND_CUTOUT_60:
        return add_rand_cutout(chain, dice, 30, 256, detail);
    case MR__TABLE_RAND_RESIZED:
        return add_resized(chain, dice, detail);
    default:
        return add_plain(chain, entry, dice, look, detail);
    }
}

static const mr__table_entry *choose(const mr__table_entry *entry, size_t count, mr__dice *dice)
{
    double wanted = mr__dice_unit(dice) * entry[count - 1].chance;
    size_t low = 0, high = count - 1; /* the first whose sum is above */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (entry[middle].chance > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return &entry[low];
}

static int add_stages(const mr__policy_table *table, mr__dice *dice, mr__chain *chain, mr__policy_look look,
                      mr__detail *detail)
{
    uint32_t first = 0;
    int code = 0;
    for (uint32_t i = 0; i < table->lists && code == 0; first = table->end[i++])
        code = add_entry(chain, choose(table->entry + first, table->end[i] - first, dice), dice, look, detail);
    return code;
}

int mr__policy_table_add(const mr__policy_table *table, mr__dice *dice, mr__chain *chain, mr__policy_look look,
                         mr__detail *detail)
{
    if (table->stages)
        return add_stages(table, dice, chain, look, detail);
    uint32_t list = mr__dice_below(dice, table->lists), i = list != 0 ? table->end[list - 1] : 0;
    int code = 0;
    for (; i < table->end[list] && code == 0; i++)
        if (mr__dice_unit(dice) < table->entry[i].chance)
            code = add_entry(chain, &table->entry[i], dice, look, detail);
    return code;
}
