// SPDX-License-Identifier: Apache-2.0
/*
 * One pass of a chain: crop, resize, window, flip, place, finish, border, row by row. What lies between two of them is
 * a few rows, which stay in the cache.
 *
 *     fuse.c           the pass
 *     fuse_border.c    what is around the window
 */
#ifndef MR_STEP_FUSE_H
#define MR_STEP_FUSE_H

#include "step/axis_cache.h"
#include "step/finish.h"

/* What passes keep between images. */
typedef struct mr__fuser {
    const mr_hooks *hooks;
    mr__resample kernels;
    mr__axis_cache axes;
    mr__buffer work, premultiplied;
} mr__fuser;

/* `hooks` stay. It stays in its place, too. */
void mr__fuser_init(mr__fuser *fuser, const mr_hooks *hooks, mr__cpu_flags cpu);
void mr__fuser_fini(mr__fuser *fuser);

/* Where finished numbers go. */
typedef struct mr__canvas {
    const mr__finisher *finisher;
    uint8_t *bytes;
    uint32_t width, height;
} mr__canvas;

/* How they lie there, in bytes. */
typedef struct mr__canvas_steps {
    size_t pixel, row, plane;
    uint32_t planes; /* 1: pixels */
} mr__canvas_steps;

mr__canvas_steps mr__canvas_steps_of(const mr__canvas *canvas);

/*
 * Fills all of a canvas, which has the size that the pass says. `part` has the pixels of `region`, a part of the pass'
 * source that has all that it looks at. MR_ENOMEM, MR_ELIMIT, MR_EINTERNAL, with detail.
 */
int mr__fuse(mr__fuser *fuser, const mr__pass *pass, mr_rect region, const mr_image *part, const mr__canvas *canvas,
             mr__detail *detail);

/* One side of a pass: of the crop's samples what is there, of the resized ones what is kept. */
mr__resample_side mr__pass_side(const mr__pass *pass, uint32_t depth, mr_rect region, bool x);

/* What is outside of the window, once that is there. */
void mr__fuse_border(const mr__pass *pass, const mr__canvas *canvas);

/* All of a canvas with one color; 8 bits a channel, which 16-bit samples have twice. */
void mr__fuse_fill(const mr__canvas *canvas, const uint8_t color[4]);

#endif
