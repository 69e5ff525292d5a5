// SPDX-License-Identifier: Apache-2.0
/*
 * What is on the pictures: open land, a table with fruit, leaves, a street.
 *
 * C leaves open in which order arguments and initialisers are evaluated, so a statement here draws at most once:
 * otherwise two compilers would paint two pictures.
 */
#include "paint.h"

#include <stdlib.h>

/* A scene being painted. `unit` is a hundredth of the shorter side, in 1/16 pixel, so that any size looks alike. */
typedef struct scene {
    const canvas *c;
    dice d;
    int unit;
    int light_x; /* the sun's side, -1 or 1 */
} scene;

/* Hundredths of the shorter side in pixels, at least 1. */
static int span(const scene *s, int hundredths)
{
    int pixels = hundredths * s->unit / 16;
    return pixels < 1 ? 1 : pixels;
}

static int roll(scene *s, int low, int high)
{
    return dice_between(&s->d, low, high);
}

/* A key for what draws by itself: a texture's place, a skyline. */
static uint64_t fork_key(scene *s)
{
    return dice_hash(s->d.key, s->d.drawn++);
}

/* A color near another: lighter or darker as a whole, and a little off in each channel. */
static void vary(scene *s, const int from[3], int spread, int to[3])
{
    int whole = roll(s, -spread, spread);
    for (int i = 0; i < 3; i++) {
        int own = roll(s, -spread / 3, spread / 3);
        int level = from[i] + whole + own;
        to[i] = level < 4 ? 4 : level > 250 ? 250 : level;
    }
}

/* One texture in all channels, more in some: the channels of photographs go together. */
static surface make_surface(scene *s, const int color[3], int spread, texture t, int contrast)
{
    surface made = {.texture = t, .contrast = contrast, .step = 256, .step_across = 256, .opacity = 256, .soft = 20};
    vary(s, color, spread, made.color);
    for (int i = 0; i < 3; i++) {
        int own = roll(s, -16, 16);
        made.tint[i] = 200 + made.color[i] * 80 / 256 + own;
    }
    return made;
}

static thing make_thing(scene *s, outline shape, int x, int y, int half_x, int half_y)
{
    thing made = {.outline = shape, .x = x, .y = y, .half_x = half_x, .half_y = half_y, .turn_x = 64};
    made.half_x += made.half_x == 0;
    made.half_y += made.half_y == 0;
    made.seed = (unsigned)roll(s, 0, 1 << 30);
    return made;
}

static void paint_shadow(const scene *s, const thing *of, int dx, int dy, int opacity, int soft)
{
    thing shadow = *of;
    shadow.x += dx;
    shadow.y += dy;
    shadow.surface = (surface){.color = {18, 18, 24}, .opacity = opacity, .soft = soft * 16};
    paint_thing(s->c, &shadow);
}

static void paint_sky(scene *s, int horizon)
{
    static const int high[3][3] = {{72, 118, 190}, {120, 140, 165}, {96, 110, 150}};
    static const int low[3][3] = {{190, 210, 230}, {205, 206, 204}, {236, 190, 150}};
    static const int cloud[3] = {246, 245, 243};
    int weather = roll(s, 0, 2), cover = roll(s, 0, 200), from[3], to[3];
    vary(s, high[weather], 18, from);
    vary(s, low[weather], 12, to);
    paint_gradient(s->c, 0, horizon + 1, from, to);
    paint_clouds(s->c, 0, horizon, cover, fork_key(s), cloud);
}

/* A tuft of a crown: large ones make its body, small ones its leaves. */
static void paint_tuft(scene *s, int x, int y, int size, int hundredths, const int green[3])
{
    int flat = roll(s, 50, 90);
    thing tuft = make_thing(s, hundredths < 10 ? OUTLINE_LEAF : OUTLINE_ELLIPSE, x, y, size * hundredths / 100 + 1,
                            size * hundredths * flat / 10000 + 1);
    tuft.turn_x = roll(s, 8, 64);
    tuft.turn_y = roll(s, -60, 60);
    tuft.surface = make_surface(s, green, 24, TEXTURE_ROUGH, 26);
    tuft.surface.light_x = 70 * s->light_x;
    tuft.surface.light_y = -90;
    tuft.surface.round = 50;
    tuft.surface.soft = 16 + size * hundredths / 40;
    paint_thing(s->c, &tuft);
}

static void paint_tree(scene *s, int x, int y, int size, const int green[3])
{
    static const int bark[3] = {70, 54, 40};
    int crown[3];
    thing trunk = make_thing(s, OUTLINE_BOX, x, y - size / 2, size / 16 + 1, size / 2 + 1);
    vary(s, green, 20, crown);
    trunk.turn_y = roll(s, -4, 4);
    trunk.surface = make_surface(s, bark, 12, TEXTURE_RIDGED, 18);
    trunk.surface.step_across = 64;
    trunk.surface.light_x = 90 * s->light_x;
    paint_thing(s->c, &trunk);
    for (int i = 0; i < 240; i++) {
        int reach = size * roll(s, 10, 100) / 200;
        int side = roll(s, -reach, reach), up = roll(s, -reach, reach);
        int hundredths = i < 24 ? roll(s, 12, 26) : roll(s, 2, 8);
        int lit[3];
        for (int k = 0; k < 3; k++) /* the sun's side of the crown is the bright one */
            lit[k] = crown[k] + (side * s->light_x - up) * 50 / (size + 1);
        paint_tuft(s, x + side, y - size + up, size, hundredths, lit);
    }
}

static void paint_stone(scene *s, int x, int y, int depth)
{
    static const int rock[3] = {112, 106, 100};
    thing stone = make_thing(s, OUTLINE_ELLIPSE, x, y, span(s, 2 + depth / 7), span(s, 1 + depth / 12));
    stone.turn_y = roll(s, -10, 10);
    paint_shadow(s, &stone, -s->light_x * stone.half_x / 3, stone.half_y / 2, 120, stone.half_y / 2);
    stone.surface = make_surface(s, rock, 24, TEXTURE_RIDGED, 34);
    stone.surface.light_x = 60 * s->light_x;
    stone.surface.light_y = -110;
    paint_thing(s->c, &stone);
}

/* One behind the other, bluer the further away. */
static void paint_hill_chain(scene *s, int horizon, const int near[3])
{
    static const int far[3] = {120, 138, 150};
    int hills = roll(s, 1, 4);
    for (int i = 0; i < hills; i++) {
        int color[3];
        for (int k = 0; k < 3; k++)
            color[k] = far[k] + (near[k] - far[k]) * (i + 1) / (hills + 1);
        surface hill = make_surface(s, color, 14, i + 1 < hills ? TEXTURE_MIDDLE : TEXTURE_ROUGH, 6 + 5 * i);
        hill.light_y = -60;
        paint_hills(s->c, horizon + span(s, 5 * i) - span(s, 8), span(s, 14 - 2 * i), fork_key(s), &hill);
    }
}

static void paint_land(scene *s)
{
    static const int green[3] = {82, 96, 52},
                     soils[4][3] = {{112, 116, 62}, {112, 116, 62}, {96, 108, 66}, {176, 156, 122}};
    int horizon = s->c->height * roll(s, 30, 58) / 100, soil = roll(s, 0, 3), rough = roll(s, 22, 34);
    paint_sky(s, horizon + span(s, 4));
    paint_hill_chain(s, horizon, green);
    surface ground = make_surface(s, soils[soil], 22, TEXTURE_ROUGH, rough);
    ground.step = 160;
    ground.step_across = 110;
    ground.light_y = roll(s, -50, 30);
    paint_ground(s->c, horizon + span(s, 6), fork_key(s), &ground);
    int things = roll(s, 3, 9);
    for (int i = 0; i < things; i++) {
        int depth = 8 + i * 80 / things, y = horizon + span(s, 6) + (s->c->height - horizon) * depth / 130;
        int x = roll(s, 0, s->c->width), size = roll(s, 20, 50), kind = roll(s, 0, 2);
        if (kind != 0)
            paint_tree(s, x, y, span(s, 8 + depth * size / 60), green);
        else
            paint_stone(s, x, y, depth);
    }
}

static void paint_fruit(scene *s, int x, int y, int size)
{
    static const int colors[6][3] = {{186, 52, 40},  {214, 140, 44}, {122, 150, 58},
                                     {206, 186, 74}, {96, 44, 74},   {226, 214, 196}};
    int kind = roll(s, 0, 5), tall = roll(s, 80, 108), rough = roll(s, 0, 1), contrast = roll(s, 5, 14);
    thing fruit = make_thing(s, OUTLINE_ELLIPSE, x, y - size * 3 / 4, size, size * tall / 100 + 1);
    thing floor = fruit;
    floor.y = y;
    floor.half_y = size / 3 + 1;
    paint_shadow(s, &floor, -s->light_x * size / 2, size / 8, 150, size / 3 + 1);
    fruit.turn_y = roll(s, -30, 30);
    fruit.surface = make_surface(s, colors[kind], 16, rough != 0 ? TEXTURE_ROUGH : TEXTURE_MIDDLE, contrast);
    fruit.surface.light_x = 95 * s->light_x;
    fruit.surface.light_y = -90;
    fruit.surface.round = 150;
    fruit.surface.shine = roll(s, 0, 220);
    paint_thing(s->c, &fruit);
}

/* Something behind the table, out of focus. */
static void paint_blur(scene *s, int edge, const int wall[3])
{
    int x = roll(s, 0, s->c->width), y = roll(s, 0, edge), wide = roll(s, 6, 26), tall = roll(s, 6, 40);
    int box = roll(s, 0, 1);
    thing blur = make_thing(s, box != 0 ? OUTLINE_BOX : OUTLINE_ELLIPSE, x, y, span(s, wide), span(s, tall));
    blur.turn_y = roll(s, -6, 6);
    blur.surface = make_surface(s, wall, 50, TEXTURE_SOFT, 10);
    blur.surface.step = blur.surface.step_across = 60;
    blur.surface.soft = 16 * span(s, 7);
    blur.surface.light_x = 50 * s->light_x;
    blur.surface.opacity = 210;
    paint_thing(s->c, &blur);
}

static void paint_table(scene *s)
{
    static const int wood[3] = {140, 98, 62}, cloth[3] = {176, 168, 154}, wall[3] = {128, 122, 116};
    int edge = s->c->height * roll(s, 36, 60) / 100, from[3], to[3];
    bool wooden = roll(s, 0, 2) != 0;
    vary(s, wall, 46, from);
    vary(s, from, 20, to);
    paint_gradient(s->c, 0, edge, from, to);
    for (int i = 0; i < 5; i++)
        paint_blur(s, edge, from);
    surface top = make_surface(s, wooden ? wood : cloth, 26, wooden ? TEXTURE_RIDGED : TEXTURE_ROUGH, wooden ? 18 : 20);
    top.step = wooden ? 10 : 110;
    top.step_across = wooden ? 90 : 80;
    top.light_y = roll(s, -40, 40);
    paint_ground(s->c, edge, fork_key(s), &top);
    int count = roll(s, 4, 10);
    for (int i = 0; i < count; i++) {
        int depth = 12 + i * 70 / count;
        int x = roll(s, s->c->width / 12, s->c->width * 11 / 12), size = roll(s, 10, 24);
        paint_fruit(s, x, edge + (s->c->height - edge) * depth / 100, span(s, 5 + depth * size / 100));
    }
}

/* One leaf of the heap; `high` is 0 at the bottom and 256 on top. */
static void paint_leaf(scene *s, int high, const int color[3])
{
    /* Few are large, many are small: sizes fall as a power, which makes all scales alike. */
    int size = 300 / roll(s, 12, 100) + 2 + 6 * high / 256;
    int x = roll(s, 0, s->c->width), y = roll(s, 0, s->c->height), narrow = roll(s, 22, 44);
    int ridged = roll(s, 0, 1), contrast = roll(s, 8, 18);
    thing leaf = make_thing(s, OUTLINE_LEAF, x, y, span(s, size), span(s, size * narrow / 100));
    leaf.turn_x = roll(s, -64, 64);
    leaf.turn_y = roll(s, -64, 64) | 1;
    paint_shadow(s, &leaf, -s->light_x * span(s, 1), span(s, 1), 130, 3);
    leaf.surface =
        make_surface(s, color, 18 + 14 * high / 256, ridged != 0 ? TEXTURE_RIDGED : TEXTURE_MIDDLE, contrast);
    leaf.surface.light_x = roll(s, -70, 70);
    leaf.surface.light_y = roll(s, -90, 90);
    leaf.surface.step_across = 128;
    for (int k = 0; k < 3; k++) /* what lies deep is dark */
        leaf.surface.color[k] = leaf.surface.color[k] * (120 + 136 * high / 256) / 256;
    leaf.surface.soft = high < 85 ? 40 : 20;
    paint_thing(s->c, &leaf);
}

static void paint_leaves(scene *s)
{
    static const int soil[3] = {62, 54, 40};
    static const int colors[5][3] = {{74, 106, 46}, {112, 132, 60}, {58, 84, 50}, {166, 134, 62}, {150, 84, 46}};
    int season = roll(s, 0, 4);
    surface floor = make_surface(s, soil, 16, TEXTURE_ROUGH, 22);
    paint_ground(s->c, -s->c->height, fork_key(s), &floor);
    for (int i = 0; i < 420; i++) {
        bool other = roll(s, 0, 5) == 0;
        paint_leaf(s, i * 256 / 420, colors[(season + other) % 5]);
    }
}

static void paint_house(scene *s, int x, int foot, int wide, int tall)
{
    static const int walls[5][3] = {{150, 96, 76}, {182, 170, 148}, {128, 128, 130}, {196, 178, 140}, {108, 92, 82}};
    int kind = roll(s, 0, 4), contrast = roll(s, 5, 11), window = roll(s, 5, 9), blind = roll(s, 0, 6);
    thing house = make_thing(s, OUTLINE_BOX, x, foot - tall / 2, wide, tall / 2 + 1);
    house.turn_x = 256;
    house.turn_y = roll(s, -2, 2);
    house.surface = make_surface(s, walls[kind], 26, TEXTURE_ROUGH, contrast);
    house.surface.light_x = 36 * s->light_x;
    house.surface.light_y = -20;
    house.surface.grid = blind == 0 ? 0 : span(s, window);
    paint_thing(s->c, &house);
    thing eaves = house;
    eaves.y = foot - tall;
    eaves.half_x = wide + span(s, 1);
    eaves.half_y = span(s, 1);
    eaves.surface.grid = 0;
    for (int k = 0; k < 3; k++)
        eaves.surface.color[k] = eaves.surface.color[k] * 3 / 4;
    paint_thing(s->c, &eaves);
}

static void paint_car(scene *s, int x, int foot, int size)
{
    static const int tyre[3] = {26, 26, 28};
    static const int metal[6][3] = {{160, 36, 34}, {44, 62, 104},   {190, 190, 192},
                                    {40, 42, 46},  {226, 226, 222}, {88, 110, 96}};
    int kind = roll(s, 0, 5);
    thing body = make_thing(s, OUTLINE_BOX, x, foot - size / 2, size * 2, size / 2 + 1);
    thing roof = make_thing(s, OUTLINE_ELLIPSE, x, foot - size, size * 5 / 4, size * 3 / 4 + 1);
    thing glass = make_thing(s, OUTLINE_ELLIPSE, x, foot - size, size, size / 2 + 1);
    paint_shadow(s, &body, 0, size / 2, 170, size / 3 + 1);
    body.surface = make_surface(s, metal[kind], 14, TEXTURE_SOFT, 6);
    body.surface.light_y = -90;
    roof.surface = body.surface;
    roof.surface.shine = 160;
    glass.surface = make_surface(s, tyre, 10, TEXTURE_MIDDLE, 14);
    glass.surface.light_y = -120;
    paint_thing(s->c, &roof);
    paint_thing(s->c, &glass);
    paint_thing(s->c, &body);
    for (int side = -1; side <= 1; side += 2) {
        thing wheel = make_thing(s, OUTLINE_ELLIPSE, x + side * size * 5 / 4, foot, size / 3 + 1, size / 3 + 1);
        wheel.surface = make_surface(s, tyre, 6, TEXTURE_SOFT, 4);
        paint_thing(s->c, &wheel);
    }
}

static void paint_street(scene *s)
{
    static const int tar[3] = {98, 96, 96}, green[3] = {70, 88, 48};
    int horizon = s->c->height * roll(s, 50, 68) / 100;
    int houses = roll(s, 5, 9), trees = roll(s, 0, 2), cars = roll(s, 1, 4);
    paint_sky(s, horizon);
    surface hedge = make_surface(s, green, 16, TEXTURE_ROUGH, 14);
    paint_hills(s->c, horizon - span(s, 3), span(s, 3), fork_key(s), &hedge);
    for (int i = 0; i < houses; i++) {
        int x = roll(s, 0, s->c->width), wide = roll(s, 10, 24), tall = roll(s, 24, 74);
        paint_house(s, x, horizon + span(s, 4) + i * span(s, 1), span(s, wide), span(s, tall - 3 * i));
    }
    surface road = make_surface(s, tar, 24, TEXTURE_ROUGH, 20);
    road.step = 150;
    road.step_across = 100;
    road.light_y = roll(s, -30, 30);
    paint_ground(s->c, horizon + span(s, 5), fork_key(s), &road);
    for (int i = 0; i < trees; i++) {
        int x = roll(s, 0, s->c->width), size = roll(s, 16, 34);
        paint_tree(s, x, horizon + span(s, 10), span(s, size), green);
    }
    for (int i = 0; i < cars; i++) {
        int x = roll(s, 0, s->c->width);
        paint_car(s, x, horizon + span(s, 11 + 7 * i), span(s, 7 + 4 * i));
    }
}

bool scene_paint(const textures *t, unsigned kind, uint64_t key, const mr_image *out)
{
    static void (*const kinds[SCENE_COUNT])(scene *) = {paint_land, paint_table, paint_leaves, paint_street};
    canvas c = {.width = (int)out->width, .height = (int)out->height, .textures = t};
    c.level = calloc((size_t)out->width * out->height, 3 * sizeof *c.level);
    if (c.level == NULL)
        return false;
    scene s = {.c = &c, .d = {.key = key}};
    s.unit = (c.width < c.height ? c.width : c.height) * 16 / 100;
    s.light_x = roll(&s, 0, 1) != 0 ? 1 : -1;
    int noise = roll(&s, 100, 220);
    kinds[kind % SCENE_COUNT](&s);
    paint_develop(&c, dice_hash(key, UINT64_MAX), noise, out);
    free(c.level);
    return true;
}
