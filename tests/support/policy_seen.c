// SPDX-License-Identifier: Apache-2.0
#include "policy_seen.h"

#include "test.h"

void policy_begin(policy_bench *b, uint32_t width, uint32_t height)
{
    mr__follow_init(&b->follow);
    mr__chain_init(&b->chain, width, height, false, &b->follow);
}

static bool see_move(const mr__move *move, policy_seen *s)
{
    const mr__affine *a = &move->u.affine;
    if (move->kind == MR__MOVE_ROTATE) {
        assert_false(move->u.rotate.expand || move->u.rotate.has_center);
        *s = (policy_seen){MR__POLICY_ROTATE, move->u.rotate.degrees};
        return s->value != 0.0;
    }
    assert_int_equal(move->kind, MR__MOVE_AFFINE);
    assert_true(a->degrees == 0.0 && a->scale == 1.0 && a->center[0] == 0.0 && a->center[1] == 0.0);
    double numbers[4] = {a->shear[0], a->shear[1], a->translate[0], a->translate[1]};
    static const mr__policy_op ops[4] = {MR__POLICY_SHEAR_X, MR__POLICY_SHEAR_Y, MR__POLICY_TRANSLATE_X,
                                         MR__POLICY_TRANSLATE_Y};
    *s = (policy_seen){MR__POLICY_IDENTITY, 0.0};
    for (size_t i = 0; i < 4; i++)
        if (numbers[i] != 0.0) {
            assert_true(s->value == 0.0 && a->has_center == (i < 2));
            *s = (policy_seen){ops[i], numbers[i]};
        }
    return s->value != 0.0;
}

static policy_seen see_op(const mr__op *op)
{
    static const mr__policy_op ops[MR__OP_KINDS] = {
        [MR__OP_BRIGHTNESS] = MR__POLICY_BRIGHTNESS,
        [MR__OP_SATURATION] = MR__POLICY_COLOR,
        [MR__OP_CONTRAST] = MR__POLICY_CONTRAST,
        [MR__OP_SHARPNESS] = MR__POLICY_SHARPNESS,
        [MR__OP_POSTERIZE] = MR__POLICY_POSTERIZE,
        [MR__OP_SOLARIZE] = MR__POLICY_SOLARIZE,
        [MR__OP_AUTOCONTRAST] = MR__POLICY_AUTO_CONTRAST,
        [MR__OP_EQUALIZE] = MR__POLICY_EQUALIZE,
        [MR__OP_INVERT] = MR__POLICY_INVERT,
    };
    assert_true(ops[op->kind] != MR__POLICY_IDENTITY);
    return (policy_seen){ops[op->kind], op->kind == MR__OP_POSTERIZE ? op->whole : op->amount};
}

size_t policy_see(const policy_bench *b, policy_seen list[POLICY_SEEN_MAX])
{
    size_t count = 0, move = 0;
    policy_seen s;
    for (size_t i = 0; i < b->chain.op_count; i++) {
        if (b->chain.op[i].kind != MR__OP_WARP) {
            list[count++] = see_op(&b->chain.op[i]);
            continue;
        }
        if (see_move(&b->follow.moves[move++], &s))
            list[count++] = s;
    }
    for (; move < b->follow.count; move++) /* what moves pixels as a pass, or not at all */
        if (see_move(&b->follow.moves[move], &s))
            list[count++] = s;
    return count;
}

bool policy_is_neutral(policy_seen s)
{
    return s.op <= MR__POLICY_ROTATE && s.value == 0.0;
}

size_t policy_cell(policy_seen s)
{
    bool color = s.op >= MR__POLICY_BRIGHTNESS;
    return 2 * (size_t)s.op + (mr__policy_signed(s.op) && (color ? s.value < 1.0 : s.value < 0.0));
}
