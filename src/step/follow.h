// SPDX-License-Identifier: Apache-2.0
/*
 * Where pixels went: the moves of a chain in the order of its steps, as they are and not as they were fused. What
 * belongs to an image (boxes, rotated boxes, keypoints, masks) goes the same way, by torchvision's rules for each.
 *
 *     follow.c          the moves
 *     follow_boxes.c    boxes
 *     follow_rotated.c  rotated boxes
 *     follow_points.c   keypoints
 *     follow_masks.c    masks
 *
 * target.h has all of them together, for one sample.
 */
#ifndef MR_STEP_FOLLOW_H
#define MR_STEP_FOLLOW_H

#include "step/chain.h"

typedef enum mr__move_kind {
    MR__MOVE_CROP,
    MR__MOVE_RESIZE,
    MR__MOVE_FLIP,
    MR__MOVE_PAD,
    MR__MOVE_AFFINE,
    MR__MOVE_ROTATE,
    MR__MOVE_PERSPECTIVE,
    MR__MOVE_ELASTIC,
    MR__MOVE_SANITIZE, /* nothing moves: boxes that are too small or stick out are left out */
    MR__MOVE_MIDDLES   /* nothing moves: boxes whose middle is not inside u.crop become nothing (ioucrop) */
} mr__move_kind;

typedef struct mr__move {
    mr__move_kind kind;
    uint32_t width, height;       /* of the image before */
    uint32_t to_width, to_height; /* and after */
    union {
        mr_rect crop;
        bool flip[2]; /* x, y */
        struct {
            uint32_t sides[4];
            mr_border border;
        } pad;
        mr__affine affine;
        struct {
            double degrees;
            bool expand, has_center;
            double center[2];
        } rotate;
        struct {
            double c[8]; /* Pillow's coefficients: from the result back to the source */
            int32_t corners[4][2];
        } perspective;
        mr__elastic elastic;
        struct {
            double min_side, min_area;
        } sanitize;
    } u;
} mr__move;

enum { MR__MOVES_MAX = 128 };

/* Of an object: whether it is there as a box, or a rotated one. */
enum { MR__PLACE_BOX = 1, MR__PLACE_ROTATED = 2 };

/*
 * Where an object is. Of a rotated one `box` is what encloses its corners, cut to the image. Neither: it has keypoints
 * or a mask alone, and nothing that moves or sanitizes boxes is about it.
 */
typedef struct mr__place {
    float box[4];     /* left, top, right, bottom */
    float corners[8]; /* of MR__PLACE_ROTATED, x before y: left top, right top, right bottom, left bottom, as it was
                         before it was turned */
    uint32_t object;  /* its number in the annotation */
    uint32_t flags;   /* MR__PLACE_... */
} mr__place;

/* Memory for a part of an elastic field and for who looks at it; kept. */
typedef struct mr__follow_room {
    const mr_hooks *hooks;
    mr__buffer *buffer;
    mr__cpu_flags cpu; /* which instructions may be used; results are the same */
} mr__follow_room;

struct mr__follow {
    mr__move moves[MR__MOVES_MAX];
    size_t count;
    const mr__place *places; /* of the image's objects as it is stored, for steps that look at them; somebody else's */
    size_t place_count;
    mr__place *work; /* room for place_count, for those steps */
    mr__follow_room room;
};

/* No moves yet, no objects. */
void mr__follow_init(mr__follow *follow);

/* Takes a note of a move; `follow` may be NULL. MR_ELIMIT, with detail, beyond MR__MOVES_MAX. */
int mr__follow_note(mr__follow *follow, const mr__move *move, mr__detail *detail);

/* Where objects are after a move, and how many are left. MR_ENOMEM, with detail. */
int mr__follow_places(const mr__move *move, mr__follow_room room, mr__place *places, size_t *count, mr__detail *detail);

/* The objects that are left of follow->places after the moves so far: in follow->work. None: *count is 0. */
int mr__follow_look(mr__follow *follow, size_t *count, mr__detail *detail);

/*
 * Keypoints after a move: x, y and one number more for each. They leave the image with their part of it, as torchvision
 * has it: nothing cuts them.
 */
int mr__follow_points(const mr__move *move, mr__follow_room room, float *points, size_t count, mr__detail *detail);

/* Whether the middle of a box is inside, and not on its edge. */
bool mr__follow_has_middle(const mr_rect *rect, const float box[4]);

/* What the files of follow share among themselves. */

/*
 * torchvision's matrix of an affine move or a rotation around `center`, from the old places to the new, or, `back`, the
 * other way: x' = m0 x + m1 y + m2, y' = m3 x + m4 y + m5.
 */
void mr__follow_matrix(const mr__move *move, bool back, const double center[2], double matrix[6]);

/* Where points go by an affine move, a rotation or a perspective. */
typedef struct mr__line_up {
    float m[8];
    float by[2]; /* of a rotation that expands: to be taken off afterwards */
    bool perspective;
} mr__line_up;

void mr__follow_line_up(const mr__move *move, mr__line_up *line_up);
void mr__follow_point(const mr__line_up *line_up, float point[2]);

/* Numbers that are none, behind a horizon or beyond a float, make a box nothing. */
void mr__follow_finite(float *values, size_t count);

/*
 * Where an elastic move takes pixels of the image, the next ones for places outside. `find` says where x and y of a
 * point from 0 to count - 1 are; NULL: there is none of that number. However many, the field is made once at most.
 * MR_ENOMEM and MR_ELIMIT, with detail; then some may have gone.
 */
typedef float *mr__find_point(void *points, size_t i);

int mr__follow_bend(const mr__move *move, mr__follow_room room, mr__find_point *find, void *points, size_t count,
                    mr__detail *detail);

/* A rotated box after a move, other than elastic: place->corners. */
void mr__follow_corners(const mr__move *move, mr__place *place);

/* An elastic move takes the middle along, as the pixel right of and below it: its place before, and what the box is
 * when it is known where that has gone. */
void mr__corners_middle(const float corners[8], float middle[2]);
void mr__corners_bend(const mr__move *move, const float middle[2], float corners[8]);

/* Between corners and middle x, y, width, height, degrees: as torchvision has CXCYWHR and XYXYXYXY. */
void mr__corners_of_rotated(const float rotated[5], float corners[8]);
void mr__rotated_of_corners(const float corners[8], float rotated[5]);

/* The box around corners, cut to the image. */
void mr__corners_box(const float corners[8], uint32_t width, uint32_t height, float box[4]);

#endif
