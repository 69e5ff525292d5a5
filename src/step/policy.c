// SPDX-License-Identifier: Apache-2.0
#include "step/policy.h"

#include "step/real.h"

#define DEGREES_OF_RADIAN 57.295779513082323

static int add_affine(mr__chain *chain, const mr__affine *affine, mr__policy_look look, mr__detail *detail)
{
    return mr__chain_affine(chain, affine, look.sampling, look.fill, detail);
}

/* About the corner, so that rows or columns move by a multiple of their number. */
static int add_shear(mr__chain *chain, double tangent, bool along_y, mr__policy_look look, mr__detail *detail)
{
    mr__affine affine = {.scale = 1.0, .has_center = true};
    affine.shear[along_y ? 1 : 0] = mr__real_atan(tangent) * DEGREES_OF_RADIAN;
    return add_affine(chain, &affine, look, detail);
}

static int add_translate(mr__chain *chain, double pixels, bool along_y, mr__policy_look look, mr__detail *detail)
{
    mr__affine affine = {.scale = 1.0};
    affine.translate[along_y ? 1 : 0] = pixels;
    return add_affine(chain, &affine, look, detail);
}

/* Those that are an op with a number, or with none. */
static mr__op plain_op(mr__policy_op op, double value)
{
    static const uint8_t kinds[MR__POLICY_OPS] = {
        [MR__POLICY_BRIGHTNESS] = MR__OP_BRIGHTNESS,
        [MR__POLICY_COLOR] = MR__OP_SATURATION,
        [MR__POLICY_CONTRAST] = MR__OP_CONTRAST,
        [MR__POLICY_SHARPNESS] = MR__OP_SHARPNESS,
        [MR__POLICY_POSTERIZE] = MR__OP_POSTERIZE,
        [MR__POLICY_SOLARIZE] = MR__OP_SOLARIZE,
        [MR__POLICY_AUTO_CONTRAST] = MR__OP_AUTOCONTRAST,
        [MR__POLICY_EQUALIZE] = MR__OP_EQUALIZE,
        [MR__POLICY_INVERT] = MR__OP_INVERT,
    };
    mr__op made = {.kind = (mr__op_kind)kinds[op]};
    if (op == MR__POLICY_POSTERIZE)
        made.whole = (uint32_t)value;
    else
        made.amount = value;
    return made;
}

int mr__policy_add(mr__chain *chain, mr__policy_op op, double value, mr__policy_look look, mr__detail *detail)
{
    switch (op) {
    case MR__POLICY_IDENTITY:
        return 0;
    case MR__POLICY_SHEAR_X:
    case MR__POLICY_SHEAR_Y:
        return add_shear(chain, value, op == MR__POLICY_SHEAR_Y, look, detail);
    case MR__POLICY_TRANSLATE_X:
    case MR__POLICY_TRANSLATE_Y:
        return add_translate(chain, value, op == MR__POLICY_TRANSLATE_Y, look, detail);
    case MR__POLICY_ROTATE:
        return mr__chain_rotate(chain, value, false, NULL, look.sampling, look.fill, detail);
    default:
        return mr__chain_op(chain, plain_op(op, value), detail);
    }
}

/* Each list is in the order of torchvision's, whose draws choose by number. */
#define PLACES MR__POLICY_SHEAR_X, MR__POLICY_SHEAR_Y, MR__POLICY_TRANSLATE_X, MR__POLICY_TRANSLATE_Y, MR__POLICY_ROTATE
#define COLORS MR__POLICY_BRIGHTNESS, MR__POLICY_COLOR, MR__POLICY_CONTRAST, MR__POLICY_SHARPNESS
#define TABLES MR__POLICY_POSTERIZE, MR__POLICY_SOLARIZE, MR__POLICY_AUTO_CONTRAST, MR__POLICY_EQUALIZE

const uint8_t *mr__space_ops(mr__space_kind kind, size_t *count)
{
    static const uint8_t usual[] = {MR__POLICY_IDENTITY, PLACES, COLORS, TABLES};
    static const uint8_t augmix[] = {PLACES, TABLES, COLORS};
    *count = kind == MR__SPACE_AUGMIX ? sizeof augmix : sizeof usual;
    return kind == MR__SPACE_AUGMIX ? augmix : usual;
}

bool mr__policy_signed(mr__policy_op op)
{
    return op >= MR__POLICY_SHEAR_X && op <= MR__POLICY_SHARPNESS;
}

bool mr__policy_measured(mr__policy_op op)
{
    return op >= MR__POLICY_SHEAR_X && op <= MR__POLICY_SOLARIZE;
}

/*
 * One of `bins` numbers at equal distances, in 32 bits as torch.linspace has them: from the nearer end, and the product
 * not rounded before the sum (double holds it; torch uses a fused instruction).
 */
static double spread(float low, float high, uint32_t bins, uint32_t bin)
{
    float by = (high - low) / (float)(bins - 1);
    double value = bin < bins / 2 ? (double)low + (double)by * bin : (double)high - (double)by * (bins - 1 - bin);
    return (double)(float)value;
}

/* Where the bits begin, and how many are lost at most; in 32 bits, rounded to even. */
static double bits_of(mr__space_kind kind, uint32_t bins, uint32_t bin)
{
    double lost = kind == MR__SPACE_TRIVIAL ? 6.0 : 4.0;
    float bits = kind == MR__SPACE_AUGMIX ? 4.0f : 8.0f;
    float quotient = (float)bin / (float)((double)(bins - 1) / lost);
    float rest = bits - quotient;
    return rest > 0.0f ? (double)mr__real_round((double)rest) : 0.0;
}

/* The largest magnitude of translations. */
static double farthest(mr__space_kind kind, uint32_t side)
{
    return kind == MR__SPACE_TRIVIAL ? 32.0 : kind == MR__SPACE_AUGMIX ? side / 3.0 : 150.0 / 331.0 * side;
}

double mr__space_magnitude(mr__space_kind kind, mr__policy_op op, uint32_t bins, uint32_t bin, uint32_t width,
                           uint32_t height)
{
    bool wide = kind == MR__SPACE_TRIVIAL;
    switch (op) {
    case MR__POLICY_SHEAR_X:
    case MR__POLICY_SHEAR_Y:
        return spread(0.0f, wide ? 0.99f : 0.3f, bins, bin);
    case MR__POLICY_TRANSLATE_X:
    case MR__POLICY_TRANSLATE_Y:
        return spread(0.0f, (float)farthest(kind, op == MR__POLICY_TRANSLATE_X ? width : height), bins, bin);
    case MR__POLICY_ROTATE:
        return spread(0.0f, wide ? 135.0f : 30.0f, bins, bin);
    case MR__POLICY_BRIGHTNESS:
    case MR__POLICY_COLOR:
    case MR__POLICY_CONTRAST:
    case MR__POLICY_SHARPNESS:
        return spread(0.0f, wide ? 0.99f : 0.9f, bins, bin);
    case MR__POLICY_POSTERIZE:
        return bits_of(kind, bins, bin);
    case MR__POLICY_SOLARIZE:
        return spread(1.0f, 0.0f, bins, bin);
    default:
        return 0.0;
    }
}

static double value_of(mr__policy_op op, double magnitude)
{
    if (op == MR__POLICY_TRANSLATE_X || op == MR__POLICY_TRANSLATE_Y)
        return (double)(int32_t)magnitude; /* towards 0, as Python's int */
    if (op >= MR__POLICY_BRIGHTNESS && op <= MR__POLICY_SHARPNESS)
        return 1.0 + magnitude;
    return op == MR__POLICY_SOLARIZE ? 255.0 * magnitude : magnitude;
}

int mr__policy_add_magnitude(mr__chain *chain, mr__policy_op op, double magnitude, mr__policy_look look,
                             mr__detail *detail)
{
    return mr__policy_add(chain, op, value_of(op, magnitude), look, detail);
}

int mr__space_add(mr__chain *chain, mr__space_kind kind, mr__policy_draw draw, mr__policy_look look, mr__detail *detail)
{
    uint32_t width, height;
    mr__chain_size(chain, &width, &height);
    double magnitude = mr__space_magnitude(kind, draw.op, draw.bins, draw.bin, width, height);
    if (draw.negative && mr__policy_signed(draw.op))
        magnitude = -magnitude;
    return mr__policy_add_magnitude(chain, draw.op, magnitude, look, detail);
}
