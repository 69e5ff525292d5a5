// SPDX-License-Identifier: Apache-2.0
#ifndef MR_DATASET_ANNOTATION_SEGMENT_H
#define MR_DATASET_ANNOTATION_SEGMENT_H

#include "dataset/annotation.h"

/* Of a polygon's corners: so that five times as much is an int. */
#define MR__POLYGON_MAX 1e8

/* Numbers of an object's polygons: so that making its mask has an end. */
enum { MR__POLYGONS_MAX = 65536 };

/* The value of "segmentation" that begins with this token; what is neither an array nor an object is passed over. */
int mr__annotation_read_segments(mr_annotation *a, mr__json_token token, mr__object *object);

#endif
