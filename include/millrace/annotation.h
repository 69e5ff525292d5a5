// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_ANNOTATION_H
#define MILLRACE_ANNOTATION_H

#include <millrace/image.h>

/*
 * What a sample's JSON (its member "json") says of the objects in its image: boxes, categories, keypoints. Read are
 *
 *     [{"bbox": [x, y, w, h], "category_id": 3, "iscrowd": 0, "area": 12.5, "keypoints": [x, y, v, ...]}, ...]
 *     {"annotations": [...as above...], "width": 640, "height": 480, "label": 7}
 *     {"objects": [...as above...]}, {"objects": {...as below...}}
 *     {"boxes": [[x, y, w, h], ...], "labels": [3, ...], "keypoints": [[...], ...], "iscrowd": [...], "area": [...]}
 *
 * with "box", "boxes", "bbox"; "category_id", "category", "label", "cls", "labels", "categories" meaning the same, each
 * in its place. Lists side by side have one entry for each object; null is an entry that says nothing. A box is a
 * corner and a size unless "bbox_mode" ("box_format", or "format") says "xyxy", at the top or in the object;
 * detectron2's numbers, 0 for xyxy and 1 for xywh, are read too. Five numbers, or "xywha", "cxcywhr", 4, are a rotated
 * box: its middle, width, height, and degrees counterclockwise. "segmentation" is polygons or runs, as
 * COCO has them (mr_annotation_mask). Whatever else there is is passed over.
 */

enum { MR_ANNOTATION_NUMBERS_MAX = 1 << 20 };

/* What an object has. */
enum {
    MR_OBJECT_BOX = 1, /* one that is not rotated */
    MR_OBJECT_AREA = 2,
    MR_OBJECT_CROWD = 4,
    MR_OBJECT_ROTATED = 8,
    MR_OBJECT_SEGMENTS = 16 /* mr_annotation_mask gives its mask */
};

/* Arrays are the handle's, and stay until its next call. */
typedef struct mr_annotation_view {
    size_t struct_size;
    size_t count;              /* of objects */
    const float *boxes;        /* four for each: left, top, width, height; 0 without MR_OBJECT_BOX */
    const int64_t *categories; /* -1: none */
    const float *areas;        /* 0 without MR_OBJECT_AREA */
    const uint8_t *flags;      /* MR_OBJECT_... */
    /* Object i has the keypoints from keypoint_starts[i] to before keypoint_starts[i + 1]; three floats for each: x, y,
     * and whether it can be seen, as stored. */
    const size_t *keypoint_starts;
    const float *keypoints;
    size_t keypoint_count;
    uint32_t width; /* of the image, 0: it is not said */
    uint32_t height;
    bool has_label; /* of the image: "label", "cls" or "category_id" at the top, a whole number */
    int64_t label;
    const float *rotated; /* five for each: middle x, y, width, height, degrees counterclockwise; 0 without
                             MR_OBJECT_ROTATED */
} mr_annotation_view;

/*
 * Threads: one at a time; any number side by side.
 * Ownership: mr_annotation_free frees it and all it gave out.
 * Limits: MR_ANNOTATION_NUMBERS_MAX objects and numbers in all, 64 levels; memory is kept between calls.
 */
typedef struct mr_annotation mr_annotation;

MR_BEGIN_DECLS

/* `hooks` may be NULL. */
MR_API int mr_annotation_new(const mr_hooks *hooks, mr_annotation **out);
MR_API void mr_annotation_free(mr_annotation *annotation);

/*
 * MR_ECORRUPT for what is no JSON, or has another shape: a box of three numbers, lists of different lengths; a rotated
 * box of four.
 * MR_EUNSUPPORTED for another kind of box, and for categories that are no whole numbers. MR_ELIMIT.
 */
MR_API int mr_annotation_read(mr_annotation *annotation, const void *bytes, size_t nbytes, mr_annotation_view *view);

/*
 * The mask of an object of the last mr_annotation_read: 1 inside, 0 outside, the same pixels as pycocotools gives. `to`
 * has the size of the image and a channel of 8 bits. MR_EARGUMENT for an object without MR_OBJECT_SEGMENTS, and for
 * runs of an image of another size; MR_ECORRUPT for runs that are longer than it.
 */
MR_API int mr_annotation_mask(mr_annotation *annotation, size_t object, const mr_image *to);

/* What the last call failed of: which member, at which byte; "" after a success. */
MR_API const char *mr_annotation_detail(const mr_annotation *annotation);

MR_END_DECLS

#endif
