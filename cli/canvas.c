// SPDX-License-Identifier: Apache-2.0
/* Things on a canvas, each over what is there. */
#include "paint.h"

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

/* Lays a color in Q8 over a pixel; cover is 0 to 256. */
static void lay(uint16_t *pixel, const int color[3], int cover)
{
    for (int i = 0; i < 3; i++) {
        int to = clamp(color[i], 0, 65280);
        pixel[i] = (uint16_t)(pixel[i] + ((to - pixel[i]) * cover >> 8));
    }
}

static uint16_t *pixel_at(const canvas *c, int x, int y)
{
    return c->level + ((size_t)y * (size_t)c->width + (size_t)x) * 3;
}

void paint_gradient(const canvas *c, int top, int bottom, const int from[3], const int to[3])
{
    for (int y = top < 0 ? 0 : top; y < bottom && y < c->height; y++) {
        int color[3], part = (y - top) * 4096 / (bottom - top);
        for (int i = 0; i < 3; i++)
            color[i] = from[i] * 256 + ((to[i] - from[i]) * part >> 4);
        for (int x = 0; x < c->width; x++)
            lay(pixel_at(c, x, y), color, 256);
    }
}

/* The color of a surface with its texture (of -16384 to 16384) and its light (in 1/256). */
static void shade(const surface *s, int texel, int light, int color[3])
{
    for (int i = 0; i < 3; i++) {
        int base = s->color[i] * (256 + light);
        color[i] = base + (texel * s->contrast / (TEXTURE_DEVIATION / 256) * s->tint[i] >> 8);
    }
}

/* How far inside its outline a point is, in 1/16 pixel; u and v are 4096 at the ends of the axes. */
static int depth_inside(const thing *t, int64_t u, int64_t v)
{
    int64_t au = u < 0 ? -u : u, av = v < 0 ? -v : v;
    int64_t least = lesser(t->half_x, t->half_y);
    int64_t depth;
    if (t->outline == OUTLINE_BOX) {
        int64_t across = (4096 - au) * t->half_x, along = (4096 - av) * t->half_y;
        depth = (across < along ? across : along) >> 8;
    } else if (t->outline == OUTLINE_LEAF) {
        depth = (4096 - (u * u >> 12) - av) * t->half_y >> 8;
    } else {
        depth = (4096 - ((u * u + v * v) >> 12)) * least >> 9;
    }
    return (int)(depth < -4096 ? -4096 : depth > 4096 ? 4096 : depth);
}

/* Light from one side, darker rims, a highlight: what makes a disc a ball. */
static int light_at(const surface *s, int64_t u, int64_t v)
{
    int64_t square = (u * u + v * v) >> 12;
    int64_t light = (u * s->light_x + v * s->light_y) >> 12;
    light -= (square * square >> 12) * s->round >> 12;
    if (s->shine != 0) {
        int64_t hu = u - s->light_x * 6, hv = v - s->light_y * 6;
        int64_t near = 1200 - ((hu * hu + hv * hv) >> 10);
        if (near > 0)
            light += near * s->shine / 1200;
    }
    return (int)light;
}

/* Windows: bands of darker and lighter panes. `x` and `y` are pixels along the axes. */
static int pane_at(const surface *s, unsigned seed, int x, int y)
{
    unsigned column = (unsigned)(x + (1 << 16)), row = (unsigned)(y + (1 << 16)), size = (unsigned)s->grid;
    unsigned in_x = column % size * 16 / size, in_y = row % size * 16 / size;
    if (in_x < 4 || in_x > 12 || in_y < 3 || in_y > 12)
        return 0;
    int lit = (int)(dice_hash(seed, (uint64_t)(row / size) << 32 | column / size) >> 57);
    return in_y < 5 ? -150 : in_x == 8 ? -20 : -130 + lit;
}

/* A thing's axes as steps a pixel: u and v in 1/2^30 of half its size, texels in 1/65536, pixels in 1/2^14. */
typedef struct axes {
    int64_t cosine, sine; /* of 16384 */
    int64_t u_x, u_y, v_x, v_y;
} axes;

static axes axes_of(const thing *t)
{
    int64_t length2 = (int64_t)t->turn_x * t->turn_x + (int64_t)t->turn_y * t->turn_y, length = 0;
    for (int64_t bit = INT64_C(1) << 30; bit != 0; bit >>= 1)
        if ((length + bit) * (length + bit) <= length2 << 16)
            length += bit;
    axes a = {.cosine = t->turn_x * (INT64_C(16384) << 8) / length, .sine = t->turn_y * (INT64_C(16384) << 8) / length};
    a.u_x = a.cosine * 65536 / t->half_x;
    a.u_y = a.sine * 65536 / t->half_x;
    a.v_x = -a.sine * 65536 / t->half_y;
    a.v_y = a.cosine * 65536 / t->half_y;
    return a;
}

static void paint_row(const canvas *c, const thing *t, const axes *a, int y, int left, int right)
{
    const surface *s = &t->surface;
    int64_t base_u = (int64_t)(dice_hash(t->seed, 1) >> 32), base_v = (int64_t)(dice_hash(t->seed, 2) >> 32);
    int soft = s->soft < 16 ? 16 : s->soft;
    for (int x = left; x < right; x++) {
        int64_t dx = x - t->x, dy = y - t->y;
        int64_t u = (dx * a->u_x + dy * a->u_y) >> 18, v = (dx * a->v_x + dy * a->v_y) >> 18;
        int cover = clamp(128 + depth_inside(t, u, v) * 256 / soft, 0, 256);
        if (cover == 0)
            continue;
        int64_t along = dx * a->cosine + dy * a->sine, across = dy * a->cosine - dx * a->sine;
        int texel = texture_at(c->textures, s->texture, base_u + (along * s->step >> 6),
                               base_v + (across * s->step_across >> 6));
        int light = light_at(s, u, v), color[3];
        if (s->grid != 0)
            light += pane_at(s, t->seed, (int)(along >> 14), (int)(across >> 14));
        shade(s, texel, light, color);
        lay(pixel_at(c, x, y), color, cover * s->opacity >> 8);
    }
}

void paint_thing(const canvas *c, const thing *t)
{
    axes a = axes_of(t);
    int64_t cosine = a.cosine < 0 ? -a.cosine : a.cosine, sine = a.sine < 0 ? -a.sine : a.sine;
    int edge = t->surface.soft / 16 + 2;
    int reach_x = (int)((t->half_x * cosine + t->half_y * sine) >> 14) + edge;
    int reach_y = (int)((t->half_x * sine + t->half_y * cosine) >> 14) + edge;
    int left = clamp(t->x - reach_x, 0, c->width), right = clamp(t->x + reach_x + 1, 0, c->width);
    int top = clamp(t->y - reach_y, 0, c->height), bottom = clamp(t->y + reach_y + 1, 0, c->height);
    for (int y = top; y < bottom; y++)
        paint_row(c, t, &a, y, left, right);
}

void paint_hills(const canvas *c, int y, int rough, uint64_t key, const surface *s)
{
    int64_t base = (int64_t)(dice_hash(key, 1) >> 32);
    for (int x = 0; x < c->width; x++) {
        int line = y * 256 + (curve_at(key, x, c->width / 2 + 1, 7) * rough >> 7);
        int top = clamp(line >> 8, 0, c->height);
        for (int row = top; row < c->height; row++) {
            int64_t v = base + (int64_t)(row * 256 - line) * s->step_across;
            int texel = texture_at(c->textures, s->texture, base + (int64_t)x * s->step * 256, v);
            int color[3];
            shade(s, texel, clamp(s->light_y * (row - top) / c->height, -128, 128), color);
            lay(pixel_at(c, x, row), color, row == top ? 256 - (line & 255) : 256);
        }
    }
}

/* A plane in perspective: a row's distance is one over how far it lies below the horizon. */
void paint_ground(const canvas *c, int horizon, uint64_t key, const surface *s)
{
    int64_t base = (int64_t)(dice_hash(key, 1) >> 32), focal = (c->width + c->height) / 2;
    for (int y = clamp(horizon, 0, c->height); y < c->height; y++) {
        int64_t below = y - horizon + 4, tall = c->height - horizon + 4;
        int64_t step = (int64_t)s->step * 256 * tall / below; /* texels a pixel, in 1/65536 */
        int64_t v = base + (int64_t)s->step_across * 256 * tall * focal / below;
        int64_t step_v = (int64_t)s->step_across * 256 * tall * focal / (below * below);
        int64_t finest = step > step_v ? step : step_v;
        surface here = *s;
        if (finest > 65536) /* what is finer than pixels blurs; the coarse octaves stay */
            here.contrast = (int)(here.contrast * INT64_C(131072) / (65536 + finest));
        for (int x = 0; x < c->width; x++) {
            int color[3];
            int texel = texture_at(c->textures, s->texture, base + (x - c->width / 2) * step, v);
            shade(&here, texel, (int)(s->light_y * below / tall), color);
            lay(pixel_at(c, x, y), color, 256);
        }
    }
}

void paint_clouds(const canvas *c, int top, int bottom, int cover, uint64_t key, const int color[3])
{
    int64_t base = (int64_t)(dice_hash(key, 1) >> 32);
    for (int y = clamp(top, 0, c->height); y < bottom && y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            int64_t v = base + (int64_t)y * 65536 * 3 / 4 + (int64_t)y * y * 96,
                    u = base / 3 + (int64_t)x * 65536 * 3 / 8;
            int texel = texture_at(c->textures, TEXTURE_SOFT, u, v);
            int veil = clamp((texel + cover * 40 - 5000) / 40, 0, 230) * (bottom - y) / (bottom - top + 1);
            int lit[3];
            for (int i = 0; i < 3; i++)
                lit[i] = color[i] * 256 - (texel > 0 ? texel : 0);
            lay(pixel_at(c, x, y), lit, veil);
        }
}
