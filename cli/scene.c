// SPDX-License-Identifier: Apache-2.0
/* What is on the pictures: open land, a table with fruit, leaves, a street. */
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

/* A colour near another: lighter or darker as a whole, and a little off in each channel. */
static void vary(scene *s, const int from[3], int spread, int to[3])
{
    int whole = roll(s, -spread, spread);
    for (int i = 0; i < 3; i++) {
        int level = from[i] + whole + roll(s, -spread / 3, spread / 3);
        to[i] = level < 4 ? 4 : level > 250 ? 250 : level;
    }
}

static surface make_surface(scene *s, const int colour[3], int spread, texture t, int contrast)
{
    surface made = {.texture = t, .contrast = contrast, .step = 256, .step_across = 256, .opacity = 256, .soft = 20};
    vary(s, colour, spread, made.colour);
    /* One texture in all channels, more in some: the channels of photographs go together. */
    for (int i = 0; i < 3; i++)
        made.tint[i] = 200 + made.colour[i] * 80 / 256 + roll(s, -16, 16);
    return made;
}

static void paint_shadow(scene *s, const thing *of, int dx, int dy, int opacity, int soft)
{
    thing shadow = *of;
    shadow.x += dx;
    shadow.y += dy;
    shadow.surface = (surface){.colour = {18, 18, 24}, .opacity = opacity, .soft = soft * 16};
    paint_thing(s->c, &shadow);
}

static void paint_sky(scene *s, int horizon)
{
    static const int high[3][3] = {{72, 118, 190}, {120, 140, 165}, {96, 110, 150}};
    static const int low[3][3] = {{190, 210, 230}, {205, 206, 204}, {236, 190, 150}};
    static const int cloud[3] = {246, 245, 243};
    int weather = roll(s, 0, 2), from[3], to[3];
    vary(s, high[weather], 18, from);
    vary(s, low[weather], 12, to);
    paint_gradient(s->c, 0, horizon + 1, from, to);
    paint_clouds(s->c, 0, horizon, roll(s, 0, 200), dice_hash(s->d.key, 77), cloud);
}

/* A tuft of a crown: large ones make its body, small ones its leaves. */
static void paint_tuft(scene *s, int x, int y, int size, int hundredths, const int green[3])
{
    thing tuft = {.outline = hundredths < 10 ? OUTLINE_LEAF : OUTLINE_ELLIPSE,
                  .x = x,
                  .y = y,
                  .half_x = size * hundredths / 100 + 1,
                  .half_y = size * hundredths * roll(s, 50, 90) / 10000 + 1,
                  .turn_x = roll(s, 8, 64),
                  .turn_y = roll(s, -60, 60),
                  .seed = (unsigned)roll(s, 0, 1 << 30)};
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
    thing trunk = {.outline = OUTLINE_BOX,
                   .x = x,
                   .y = y - size / 2,
                   .half_x = size / 16 + 1,
                   .half_y = size / 2 + 1,
                   .turn_x = 64,
                   .turn_y = roll(s, -4, 4)};
    vary(s, green, 20, crown);
    trunk.surface = make_surface(s, bark, 12, TEXTURE_RIDGED, 18);
    trunk.surface.step_across = 64;
    trunk.surface.light_x = 90 * s->light_x;
    paint_thing(s->c, &trunk);
    for (int i = 0; i < 240; i++) {
        int reach = size * roll(s, 10, 100) / 200;
        int side = roll(s, -reach, reach), up = roll(s, -reach, reach);
        int lit[3];
        for (int k = 0; k < 3; k++) /* the sun's side of the crown is the bright one */
            lit[k] = crown[k] + (side * s->light_x - up) * 50 / (size + 1);
        paint_tuft(s, x + side, y - size + up, size, i < 24 ? roll(s, 12, 26) : roll(s, 2, 8), lit);
    }
}

static void paint_land(scene *s)
{
    static const int far[3] = {120, 138, 150}, near[3] = {82, 96, 52}, grass[3] = {112, 116, 62},
                     sand[3] = {176, 156, 122}, rock[3] = {112, 106, 100};
    int horizon = s->c->height * roll(s, 30, 58) / 100, hills = roll(s, 1, 4);
    paint_sky(s, horizon + span(s, 4));
    for (int i = 0; i < hills; i++) {
        int colour[3];
        for (int k = 0; k < 3; k++)
            colour[k] = far[k] + (near[k] - far[k]) * (i + 1) / (hills + 1);
        surface hill = make_surface(s, colour, 14, i + 1 < hills ? TEXTURE_MIDDLE : TEXTURE_ROUGH, 6 + 5 * i);
        hill.light_y = -60;
        paint_hills(s->c, horizon + span(s, 5 * i) - span(s, 8), span(s, 14 - 2 * i),
                    dice_hash(s->d.key, 100 + (unsigned)i), &hill);
    }
    surface ground = make_surface(s, roll(s, 0, 3) == 0 ? sand : grass, 22, TEXTURE_ROUGH, roll(s, 16, 26));
    ground.step = 160;
    ground.step_across = 110;
    ground.light_y = roll(s, -50, 30);
    paint_ground(s->c, horizon + span(s, 6), dice_hash(s->d.key, 200), &ground);
    int things = roll(s, 3, 9);
    for (int i = 0; i < things; i++) {
        int depth = 8 + i * 80 / things, y = horizon + span(s, 6) + (s->c->height - horizon) * depth / 130,
            x = roll(s, 0, s->c->width);
        if (roll(s, 0, 2) != 0) {
            paint_tree(s, x, y, span(s, 8 + depth * roll(s, 20, 50) / 60), near);
            continue;
        }
        thing stone = {.x = x,
                       .y = y,
                       .half_x = span(s, 2 + depth / 7),
                       .half_y = span(s, 1 + depth / 12),
                       .turn_x = 64,
                       .turn_y = roll(s, -10, 10),
                       .seed = (unsigned)roll(s, 0, 1 << 30)};
        paint_shadow(s, &stone, -s->light_x * stone.half_x / 3, stone.half_y / 2, 120, stone.half_y / 2);
        stone.surface = make_surface(s, rock, 24, TEXTURE_RIDGED, 34);
        stone.surface.light_x = 60 * s->light_x;
        stone.surface.light_y = -110;
        paint_thing(s->c, &stone);
    }
}

static void paint_fruit(scene *s, int x, int y, int size)
{
    static const int colours[6][3] = {{186, 52, 40},  {214, 140, 44}, {122, 150, 58},
                                      {206, 186, 74}, {96, 44, 74},   {226, 214, 196}};
    thing fruit = {.x = x,
                   .y = y - size * 3 / 4,
                   .half_x = size,
                   .half_y = size * roll(s, 80, 108) / 100 + 1,
                   .turn_x = 64,
                   .turn_y = roll(s, -30, 30),
                   .seed = (unsigned)roll(s, 0, 1 << 30)};
    thing floor = fruit;
    floor.y = y;
    floor.half_y = size / 3 + 1;
    floor.turn_y = 0;
    paint_shadow(s, &floor, -s->light_x * size / 2, size / 8, 150, size / 3 + 1);
    fruit.surface =
        make_surface(s, colours[roll(s, 0, 5)], 16, roll(s, 0, 1) ? TEXTURE_MIDDLE : TEXTURE_ROUGH, roll(s, 5, 14));
    fruit.surface.light_x = 95 * s->light_x;
    fruit.surface.light_y = -90;
    fruit.surface.round = 150;
    fruit.surface.shine = roll(s, 0, 220);
    paint_thing(s->c, &fruit);
}

static void paint_table(scene *s)
{
    static const int wood[3] = {140, 98, 62}, cloth[3] = {176, 168, 154}, wall[3] = {128, 122, 116};
    int edge = s->c->height * roll(s, 36, 60) / 100, from[3], to[3];
    vary(s, wall, 46, from);
    vary(s, from, 20, to);
    paint_gradient(s->c, 0, edge, from, to);
    for (int i = 0; i < 5; i++) { /* out of focus, behind */
        thing blur = {.outline = roll(s, 0, 1) ? OUTLINE_BOX : OUTLINE_ELLIPSE,
                      .x = roll(s, 0, s->c->width),
                      .y = roll(s, 0, edge),
                      .half_x = span(s, roll(s, 6, 26)),
                      .half_y = span(s, roll(s, 6, 40)),
                      .turn_x = 64,
                      .turn_y = roll(s, -6, 6),
                      .seed = (unsigned)roll(s, 0, 1 << 30)};
        blur.surface = make_surface(s, from, 50, TEXTURE_SOFT, 10);
        blur.surface.step = blur.surface.step_across = 60;
        blur.surface.soft = 16 * span(s, 7);
        blur.surface.light_x = 50 * s->light_x;
        blur.surface.opacity = 210;
        paint_thing(s->c, &blur);
    }
    bool wooden = roll(s, 0, 2) != 0;
    surface top = make_surface(s, wooden ? wood : cloth, 26, wooden ? TEXTURE_RIDGED : TEXTURE_ROUGH, wooden ? 16 : 12);
    top.step = wooden ? 10 : 110;
    top.step_across = wooden ? 90 : 80;
    top.light_y = roll(s, -40, 40);
    paint_ground(s->c, edge, dice_hash(s->d.key, 300), &top);
    int count = roll(s, 4, 10);
    for (int i = 0; i < count; i++) {
        int depth = 12 + i * 70 / count;
        paint_fruit(s, roll(s, s->c->width / 12, s->c->width * 11 / 12), edge + (s->c->height - edge) * depth / 100,
                    span(s, 5 + depth * roll(s, 10, 24) / 100));
    }
}

static void paint_leaves(scene *s)
{
    static const int soil[3] = {62, 54, 40},
                     colours[5][3] = {{74, 106, 46}, {112, 132, 60}, {58, 84, 50}, {166, 134, 62}, {150, 84, 46}};
    int season = roll(s, 0, 4);
    surface floor = make_surface(s, soil, 16, TEXTURE_ROUGH, 22);
    paint_ground(s->c, -s->c->height, dice_hash(s->d.key, 400), &floor);
    int count = 420;
    for (int i = 0; i < count; i++) {
        /* Few are large, many are small: sizes fall as a power, which makes all scales alike. */
        int size = 300 / roll(s, 12, 100) + 2 + 6 * i / count;
        thing leaf = {.outline = OUTLINE_LEAF,
                      .x = roll(s, 0, s->c->width),
                      .y = roll(s, 0, s->c->height),
                      .half_x = span(s, size),
                      .half_y = span(s, size * roll(s, 22, 44) / 100),
                      .turn_x = roll(s, -64, 64),
                      .turn_y = roll(s, -64, 64) | 1,
                      .seed = (unsigned)roll(s, 0, 1 << 30)};
        paint_shadow(s, &leaf, -s->light_x * span(s, 1), span(s, 1), 130, 3);
        leaf.surface = make_surface(s, colours[(season + (roll(s, 0, 5) == 0)) % 5], 18 + 14 * i / count,
                                    roll(s, 0, 1) ? TEXTURE_MIDDLE : TEXTURE_RIDGED, roll(s, 8, 18));
        leaf.surface.light_x = roll(s, -70, 70);
        leaf.surface.light_y = roll(s, -90, 90);
        leaf.surface.step_across = 128;
        for (int k = 0; k < 3; k++) /* what lies deep is dark */
            leaf.surface.colour[k] = leaf.surface.colour[k] * (120 + 136 * i / count) / 256;
        leaf.surface.soft = i < count / 3 ? 40 : 20;
        paint_thing(s->c, &leaf);
    }
}

static void paint_house(scene *s, int x, int foot, int wide, int tall)
{
    static const int walls[5][3] = {{150, 96, 76}, {182, 170, 148}, {128, 128, 130}, {196, 178, 140}, {108, 92, 82}};
    thing house = {.outline = OUTLINE_BOX,
                   .x = x,
                   .y = foot - tall / 2,
                   .half_x = wide,
                   .half_y = tall / 2 + 1,
                   .turn_x = 256,
                   .turn_y = roll(s, -2, 2),
                   .seed = (unsigned)roll(s, 0, 1 << 30)};
    house.surface = make_surface(s, walls[roll(s, 0, 4)], 26, TEXTURE_ROUGH, roll(s, 5, 11));
    house.surface.light_x = 36 * s->light_x;
    house.surface.light_y = -20;
    house.surface.grid = roll(s, 0, 6) == 0 ? 0 : span(s, roll(s, 5, 9));
    paint_thing(s->c, &house);
    thing eaves = house;
    eaves.y = foot - tall;
    eaves.half_x = wide + span(s, 1);
    eaves.half_y = span(s, 1);
    eaves.surface.grid = 0;
    for (int k = 0; k < 3; k++)
        eaves.surface.colour[k] = eaves.surface.colour[k] * 3 / 4;
    paint_thing(s->c, &eaves);
}

static void paint_street(scene *s)
{
    static const int tar[3] = {98, 96, 96}, green[3] = {70, 88, 48},
                     metal[6][3] = {{160, 36, 34}, {44, 62, 104},   {190, 190, 192},
                                    {40, 42, 46},  {226, 226, 222}, {88, 110, 96}};
    static const int tyre[3] = {26, 26, 28};
    int horizon = s->c->height * roll(s, 50, 68) / 100, houses = roll(s, 5, 9);
    paint_sky(s, horizon);
    surface hedge = make_surface(s, green, 16, TEXTURE_ROUGH, 14);
    paint_hills(s->c, horizon - span(s, 3), span(s, 3), dice_hash(s->d.key, 450), &hedge);
    for (int i = 0; i < houses; i++)
        paint_house(s, roll(s, 0, s->c->width), horizon + span(s, 4) + i * span(s, 1), span(s, roll(s, 10, 24)),
                    span(s, roll(s, 24, 74) - 3 * i));
    surface road = make_surface(s, tar, 24, TEXTURE_ROUGH, 13);
    road.step = 150;
    road.step_across = 100;
    road.light_y = roll(s, -30, 30);
    paint_ground(s->c, horizon + span(s, 5), dice_hash(s->d.key, 500), &road);
    for (int i = roll(s, 0, 2); i > 0; i--)
        paint_tree(s, roll(s, 0, s->c->width), horizon + span(s, 10), span(s, roll(s, 16, 34)), green);
    for (int i = 0, cars = roll(s, 1, 4); i < cars; i++) {
        int size = span(s, 7 + 4 * i), foot = horizon + span(s, 11 + 7 * i), x = roll(s, 0, s->c->width);
        thing body = {.outline = OUTLINE_BOX,
                      .x = x,
                      .y = foot - size / 2,
                      .half_x = size * 2,
                      .half_y = size / 2 + 1,
                      .turn_x = 64,
                      .turn_y = 0,
                      .seed = (unsigned)i};
        thing roof = {.x = x,
                      .y = foot - size,
                      .half_x = size * 5 / 4,
                      .half_y = size * 3 / 4 + 1,
                      .turn_x = 64,
                      .seed = (unsigned)i};
        paint_shadow(s, &body, 0, size / 2, 170, size / 3 + 1);
        body.surface = make_surface(s, metal[roll(s, 0, 5)], 14, TEXTURE_SOFT, 6);
        body.surface.light_y = -90;
        roof.surface = body.surface;
        roof.surface.shine = 160;
        paint_thing(s->c, &roof);
        roof.half_x = size;
        roof.half_y = size / 2 + 1;
        roof.surface = make_surface(s, tyre, 10, TEXTURE_MIDDLE, 14);
        roof.surface.light_y = -120;
        paint_thing(s->c, &roof);
        paint_thing(s->c, &body);
        for (int side = -1; side <= 1; side += 2) {
            thing wheel = {.x = x + side * size * 5 / 4,
                           .y = foot,
                           .half_x = size / 3 + 1,
                           .half_y = size / 3 + 1,
                           .turn_x = 64,
                           .surface = make_surface(s, tyre, 6, TEXTURE_SOFT, 4)};
            paint_thing(s->c, &wheel);
        }
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
    kinds[kind % SCENE_COUNT](&s);
    paint_develop(&c, dice_hash(key, 600), roll(&s, 90, 200), out);
    free(c.level);
    return true;
}
