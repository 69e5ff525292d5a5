// SPDX-License-Identifier: Apache-2.0
/*
 * autoaug(imagenet), autoaug(cifar10), autoaug(svhn): torchvision's AutoAugment. One of 25 pairs of operations, each
 * with a chance of its own and one of ten magnitudes. autoaug(file="table.json"): what a table says (policy_table.h).
 *
 * The draws:
 *
 *     0, 1   which pair: the high and the low word of x, floor(25 x / 2^64)
 *     2, 4   the first and the second is done where d 2^-32 < its chance
 *     3, 5   its magnitude is negative where d 2^-32 < 1/2
 *
 * and of a table
 *
 *     0, 1   the key of dice, which all else is decided with (dice.h)
 */
#include "step/policy_table.h"
#include "step/real.h"
#include "step/step.h"

enum { DRAWS = 6, TABLE_DRAWS = 2, PAIRS = 25, BINS = 10 };

/* An operation, tenths of a chance, the number of its magnitude. */
typedef struct choice {
    uint8_t op, tenths, bin;
} choice;

#define SHX(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_SHEAR_X, tenths, bin                                                                                \
    }
#define SHY(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_SHEAR_Y, tenths, bin                                                                                \
    }
#define TRX(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_TRANSLATE_X, tenths, bin                                                                            \
    }
#define TRY(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_TRANSLATE_Y, tenths, bin                                                                            \
    }
#define ROT(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_ROTATE, tenths, bin                                                                                 \
    }
#define BRI(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_BRIGHTNESS, tenths, bin                                                                             \
    }
#define COL(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_COLOR, tenths, bin                                                                                  \
    }
#define CON(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_CONTRAST, tenths, bin                                                                               \
    }
#define SHA(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_SHARPNESS, tenths, bin                                                                              \
    }
#define POS(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_POSTERIZE, tenths, bin                                                                              \
    }
#define SOL(tenths, bin)                                                                                               \
    {                                                                                                                  \
        MR__POLICY_SOLARIZE, tenths, bin                                                                               \
    }
#define AUT(tenths)                                                                                                    \
    {                                                                                                                  \
        MR__POLICY_AUTO_CONTRAST, tenths, 0                                                                            \
    }
#define EQU(tenths)                                                                                                    \
    {                                                                                                                  \
        MR__POLICY_EQUALIZE, tenths, 0                                                                                 \
    }
#define INV(tenths)                                                                                                    \
    {                                                                                                                  \
        MR__POLICY_INVERT, tenths, 0                                                                                   \
    }

/* Cubuk, Zoph, Mane, Vasudevan, Le: "AutoAugment: learning augmentation policies from data", tables 7 to 9. */
static const choice pairs[3][PAIRS][2] = {
    {
        {POS(4, 8), ROT(6, 9)}, {SOL(6, 5), AUT(6)}, {EQU(8), EQU(6)},        {POS(6, 7), POS(6, 6)},
        {EQU(4), SOL(2, 4)},    {EQU(4), ROT(8, 8)}, {SOL(6, 3), EQU(6)},     {POS(8, 5), EQU(10)},
        {ROT(2, 3), SOL(6, 8)}, {EQU(6), POS(4, 6)}, {ROT(8, 8), COL(4, 0)},  {ROT(4, 9), EQU(6)},
        {EQU(0), EQU(8)},       {INV(6), EQU(10)},   {COL(6, 4), CON(10, 8)}, {ROT(8, 8), COL(10, 2)},
        {COL(8, 8), SOL(8, 7)}, {SHA(4, 7), INV(6)}, {SHX(6, 5), EQU(10)},    {COL(4, 0), EQU(6)},
        {EQU(4), SOL(2, 4)},    {SOL(6, 5), AUT(6)}, {INV(6), EQU(10)},       {COL(6, 4), CON(10, 8)},
        {EQU(8), EQU(6)},
    },
    {
        {INV(1), CON(2, 6)},    {ROT(7, 2), TRX(3, 9)}, {SHA(8, 1), SHA(9, 3)}, {SHY(5, 8), TRY(7, 9)},
        {AUT(5), EQU(9)},       {SHY(2, 7), POS(3, 7)}, {COL(4, 3), BRI(6, 7)}, {SHA(3, 9), BRI(7, 9)},
        {EQU(6), EQU(5)},       {CON(6, 7), SHA(6, 5)}, {COL(7, 7), TRX(5, 8)}, {EQU(3), AUT(4)},
        {TRY(4, 3), SHA(2, 6)}, {BRI(9, 6), COL(2, 8)}, {SOL(5, 2), INV(0)},    {EQU(2), AUT(6)},
        {EQU(2), EQU(6)},       {COL(9, 9), EQU(6)},    {AUT(8), SOL(2, 8)},    {BRI(1, 3), COL(7, 0)},
        {SOL(4, 5), AUT(9)},    {TRY(9, 9), TRY(7, 9)}, {AUT(9), SOL(8, 3)},    {EQU(8), INV(1)},
        {TRY(7, 9), AUT(9)},
    },
    {
        {SHX(9, 4), INV(2)},    {SHY(9, 8), INV(7)}, {EQU(6), SOL(6, 6)},    {INV(9), EQU(6)},
        {EQU(6), ROT(9, 3)},    {SHX(9, 4), AUT(8)}, {SHY(9, 8), INV(4)},    {SHY(9, 5), SOL(2, 6)},
        {INV(9), AUT(8)},       {EQU(6), ROT(9, 3)}, {SHX(9, 4), SOL(3, 3)}, {SHY(8, 8), INV(7)},
        {EQU(9), TRY(6, 6)},    {INV(9), EQU(6)},    {CON(3, 3), ROT(8, 4)}, {INV(8), TRY(0, 2)},
        {SHY(7, 6), SOL(4, 8)}, {INV(6), ROT(8, 4)}, {SHY(3, 7), TRX(9, 3)}, {SHX(1, 6), INV(6)},
        {SOL(7, 2), TRY(6, 7)}, {SHY(8, 4), INV(8)}, {SHX(7, 9), TRY(8, 3)}, {SHY(8, 5), AUT(7)},
        {SHX(7, 2), INV(1)},
    },
};

static int settle(mr_step *step, mr__detail *detail)
{
    if ((unsigned)step->policy > MR_AUTOAUG_FILE)
        return mr__fail(detail, MR_EARGUMENT, "autoaug: no policy has the number %u", (unsigned)step->policy);
    if ((step->policy == MR_AUTOAUG_FILE) != (step->path != NULL))
        return mr__fail(detail, MR_EARGUMENT, "autoaug: a table from a file has a path, and others have none");
    return mr__step_settle_sampling(step, MR_SAMPLING_NEAREST, detail);
}

static int shape(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    const mr__policy_table *table = mr__policy_table_of(step);
    if (table != NULL && table->resizes)
        shape->width = shape->height = 0;
    return mr__step_shape_op(step, shape, detail);
}

static uint32_t draw_count(const mr_step *step)
{
    return step->policy == MR_AUTOAUG_FILE ? TABLE_DRAWS : DRAWS;
}

static int add_table(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__policy_look look,
                     mr__detail *detail)
{
    mr__dice dice;
    mr__dice_init(&dice, draws);
    return mr__policy_table_add(mr__policy_table_of(step), &dice, chain, look, detail);
}

static int resolve(const mr_step *step, const uint32_t *draws, mr__chain *chain, mr__detail *detail)
{
    mr__policy_look look = {step->sampling, step->fill};
    if (step->policy == MR_AUTOAUG_FILE)
        return add_table(step, draws, chain, look, detail);
    const choice *pair = pairs[step->policy][mr__real_below(draws, PAIRS)];
    int result = 0;
    for (size_t i = 0; i < 2 && result == 0; i++) {
        const uint32_t *own = draws + 2 + 2 * i;
        mr__policy_draw draw = {
            .op = (mr__policy_op)pair[i].op, .bins = BINS, .bin = pair[i].bin, .negative = own[1] < 0x80000000u};
        if ((double)own[0] * 0x1p-32 < pair[i].tenths / 10.0)
            result = mr__space_add(chain, MR__SPACE_RANDAUG, draw, look, detail);
    }
    return result;
}

const mr__step_type mr__step_autoaug = {
    .kind = MR_STEP_AUTOAUG,
    .name = "autoaug",
    .settle = settle,
    .shape = shape,
    .draw_count = draw_count,
    .resolve = resolve,
};
