// SPDX-License-Identifier: Apache-2.0
/*
 * Pictures with the statistics of photographs, for `generate`: 1/f textures, gradients, things that hide each other
 * with soft and hard edges, light and shadow, sensor noise.
 *
 * All arithmetic is on integers and all chance is a hash of the seed and a counter, so that one seed gives the same
 * pixels on every machine. Levels are 0 to 255 in steps of 1/256 ("Q8"); coordinates are pixels.
 */
#ifndef CLI_PAINT_H
#define CLI_PAINT_H

#include <millrace/image.h>
#include <stdbool.h>
#include <stdint.h>

/* A source of chance: the same key gives the same draws. */
typedef struct dice {
    uint64_t key;
    uint64_t drawn;
} dice;

uint64_t dice_hash(uint64_t key, uint64_t number);

/* low to high, both included. */
int dice_between(dice *d, int low, int high);

/* Textures of several octaves that repeat seamlessly; mean 0, deviation TEXTURE_DEVIATION. */
enum { TEXTURE_SIZE = 512, TEXTURE_DEVIATION = 4096 };
typedef enum texture { TEXTURE_SOFT, TEXTURE_MIDDLE, TEXTURE_ROUGH, TEXTURE_RIDGED, TEXTURE_COUNT } texture;

typedef struct textures {
    int16_t texel[TEXTURE_COUNT][TEXTURE_SIZE][TEXTURE_SIZE];
} textures;

/* False when there is no memory. */
bool textures_init(textures *t, uint64_t seed);

/* Between texels; u and v are texels in 1/65536. */
int texture_at(const textures *t, texture which, int64_t u, int64_t v);

/* A smooth curve of one variable in 1/256, -32768 to 32767, with a bend about every `period`. */
int curve_at(uint64_t key, int x, int period, int octaves);

/* What a thing is made of. Colors are levels; the rest is in 1/256 where nothing else is said. */
typedef struct surface {
    int color[3];
    texture texture;
    int contrast; /* of the texture, in levels */
    int tint[3];  /* how much of the texture each channel takes */
    int step;     /* texels a pixel along the thing's axis, up to 256 */
    int step_across;
    int light_x, light_y; /* brighter that way: at the rim by this share */
    int round;            /* darker towards the rim by this share */
    int shine;            /* a highlight, in levels */
    int opacity;          /* 256: hides all behind it */
    int soft;             /* width of its edge in 1/16 pixel */
    int grid;             /* windows of this many pixels; 0: none */
} surface;

typedef enum outline { OUTLINE_ELLIPSE, OUTLINE_BOX, OUTLINE_LEAF } outline;

typedef struct thing {
    outline outline;
    int x, y;           /* its middle */
    int half_x, half_y; /* half its size along its axes, at least 1 */
    int turn_x, turn_y; /* the direction of its axis, any length but 0 */
    surface surface;
    unsigned seed; /* of its texture's place */
} thing;

/* The picture being painted: three interleaved channels in Q8. */
typedef struct canvas {
    int width, height;
    uint16_t *level;
    const textures *textures;
} canvas;

/* A gradient over the rows top to bottom - 1, from one color to another. */
void paint_gradient(const canvas *c, int top, int bottom, const int from[3], const int to[3]);

/* A thing, over what is there. */
void paint_thing(const canvas *c, const thing *t);

/* Everything below a curved line: hills, one behind another. `rough` is how far the line goes up and down. */
void paint_hills(const canvas *c, int y, int rough, uint64_t key, const surface *s);

/* A plane that reaches from the row `horizon` down to the viewer. */
void paint_ground(const canvas *c, int horizon, uint64_t key, const surface *s);

/* A cloudy veil of one color over the rows top to bottom - 1, `cover` of 256. */
void paint_clouds(const canvas *c, int top, int bottom, int cover, uint64_t key, const int color[3]);

/* The lens and the sensor: a little blur, darker corners, noise; into 8-bit RGB. */
void paint_develop(const canvas *c, uint64_t key, int noise, const mr_image *out);

/* A whole picture of kind 0 to SCENE_COUNT - 1, into 8-bit RGB. False when there is no memory. */
enum { SCENE_COUNT = 4 };
bool scene_paint(const textures *t, unsigned kind, uint64_t key, const mr_image *out);

#endif
