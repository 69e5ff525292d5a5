// SPDX-License-Identifier: Apache-2.0
/*
 * What stands in an annotation, as it is read; annotation.c makes the view of it.
 *
 * Invariant: keypoints stand one object after the other, so the numbers of each say where they begin.
 */
#ifndef MR_DATASET_ANNOTATION_H
#define MR_DATASET_ANNOTATION_H

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include <millrace/annotation.h>

typedef enum mr__box_mode { MR__BOX_UNSAID, MR__BOX_XYWH, MR__BOX_XYXY, MR__BOX_ROTATED } mr__box_mode;

typedef struct mr__object {
    double box[5]; /* as they stand */
    double area;
    int64_t category;
    size_t points; /* numbers of its keypoints */
    uint8_t flags, mode;
    uint8_t numbers;                     /* of the box: 4 or 5; 0: there is none */
    bool has_runs;                       /* that its segmentation is runs, and not polygons */
    size_t segment_start, segment_count; /* its numbers */
} mr__object;

struct mr_annotation {
    mr_hooks hooks;
    mr__detail detail;
    mr__json json;
    mr__buffer objects, points; /* mr__object, float */
    mr__buffer segments, text;  /* double; of a text of runs */
    size_t count, point_count, segment_count;
    size_t used;    /* of MR_ANNOTATION_NUMBERS_MAX */
    size_t rows;    /* of lists side by side; SIZE_MAX: none yet */
    unsigned seen;  /* which of them there were */
    bool is_listed; /* there were annotations: no second list of them */
    uint8_t mode;
    uint32_t width, height;
    bool has_label;
    int64_t label;
    mr__buffer boxes, categories, areas, flags, starts, rotated; /* of the view */
};

/* Reads all of it into objects and points. */
int mr__annotation_parse(mr_annotation *to, const char *text, size_t nbytes);

#endif
