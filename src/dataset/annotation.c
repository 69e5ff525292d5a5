// SPDX-License-Identifier: Apache-2.0
#include "dataset/annotation.h"

#include "base/size.h"

#include <string.h>

int mr_annotation_new(const mr_hooks *hooks, mr_annotation **out)
{
    mr_hooks h;
    if (out == NULL || mr__hooks_init(&h, hooks) != 0)
        return MR_EARGUMENT;
    mr_annotation *made = mr__alloc_zero(&h, sizeof *made);
    if (made == NULL)
        return MR_ENOMEM;
    made->hooks = h;
    *out = made;
    return 0;
}

void mr_annotation_free(mr_annotation *annotation)
{
    if (annotation == NULL)
        return;
    mr_hooks hooks = annotation->hooks;
    mr__buffer *const buffers[] = {
        &annotation->objects, &annotation->points, &annotation->boxes,   &annotation->categories, &annotation->areas,
        &annotation->flags,   &annotation->starts, &annotation->rotated, &annotation->segments,   &annotation->text};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        mr__buffer_fini(buffers[i], &hooks);
    mr__free(&hooks, annotation);
}

static int reserve(mr_annotation *a)
{
    const mr_hooks *hooks = &a->hooks;
    size_t n = a->count; /* at most MR_ANNOTATION_NUMBERS_MAX */
    if (mr__buffer_reserve(&a->boxes, hooks, n * 4 * sizeof(float)) != 0 ||
        mr__buffer_reserve(&a->rotated, hooks, n * 5 * sizeof(float)) != 0 ||
        mr__buffer_reserve(&a->categories, hooks, n * sizeof(int64_t)) != 0 ||
        mr__buffer_reserve(&a->areas, hooks, n * sizeof(float)) != 0 || mr__buffer_reserve(&a->flags, hooks, n) != 0 ||
        mr__buffer_reserve(&a->starts, hooks, (n + 1) * sizeof(size_t)) != 0)
        return mr__fail(&a->detail, MR_ENOMEM, "annotation: out of memory for %zu objects", n);
    return 0;
}

/* Of the differences of two floats one may not be a float. */
static float to_float(double value)
{
    const double most = 3.4028234663852886e38;
    return (float)(value > most ? most : value < -most ? -most : value);
}

/* A box as its mode says. MR_ECORRUPT where it has another number of numbers. */
static int fill_box(mr_annotation *a, size_t number)
{
    mr__object *object = &((mr__object *)a->objects.bytes)[number];
    float *box = (float *)a->boxes.bytes + 4 * number, *rotated = (float *)a->rotated.bytes + 5 * number;
    uint8_t mode = object->mode != MR__BOX_UNSAID ? object->mode : a->mode;
    bool turned = object->numbers == 5;
    if (object->numbers != 0 && mode != MR__BOX_UNSAID && turned != (mode == MR__BOX_ROTATED))
        return mr__fail(&a->detail, MR_ECORRUPT, "annotation: object %zu: a box of %u numbers, where its mode has %d",
                        number, object->numbers, turned ? 4 : 5);
    for (size_t k = 0; k < 5; k++)
        rotated[k] = turned ? to_float(object->box[k]) : 0.0f;
    for (size_t k = 0; k < 4; k++) {
        double value = mode == MR__BOX_XYXY && k >= 2 ? object->box[k] - object->box[k - 2] : object->box[k];
        box[k] = turned ? 0.0f : to_float(value);
    }
    if (object->numbers != 0)
        object->flags |= turned ? MR_OBJECT_ROTATED : MR_OBJECT_BOX;
    return 0;
}

static int fill_view(mr_annotation *a)
{
    size_t start = 0;
    for (size_t i = 0; i < a->count; i++) {
        const mr__object *object = &((const mr__object *)a->objects.bytes)[i];
        int code = fill_box(a, i);
        if (code != 0)
            return code;
        ((int64_t *)a->categories.bytes)[i] = object->category;
        ((float *)a->areas.bytes)[i] = (float)object->area;
        a->flags.bytes[i] = object->flags;
        ((size_t *)a->starts.bytes)[i] = start;
        start += object->points / 3;
    }
    ((size_t *)a->starts.bytes)[a->count] = start;
    return 0;
}

int mr_annotation_read(mr_annotation *a, const void *bytes, size_t nbytes, mr_annotation_view *view)
{
    if (a == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&a->detail);
    if (view == NULL || (bytes == NULL && nbytes != 0))
        return mr__fail(&a->detail, MR_EARGUMENT, "annotation: no bytes, or no view");
    int code = mr__annotation_parse(a, bytes, nbytes);
    if (code == 0)
        code = reserve(a);
    if (code == 0)
        code = fill_view(a);
    if (code != 0)
        return code;
    const mr_annotation_view ours = {
        .struct_size = sizeof ours,
        .count = a->count,
        .boxes = (const float *)a->boxes.bytes,
        .categories = (const int64_t *)a->categories.bytes,
        .areas = (const float *)a->areas.bytes,
        .flags = a->flags.bytes,
        .keypoint_starts = (const size_t *)a->starts.bytes,
        .keypoints = (const float *)a->points.bytes,
        .keypoint_count = a->point_count / 3,
        .width = a->width,
        .height = a->height,
        .has_label = a->has_label,
        .label = a->label,
        .rotated = (const float *)a->rotated.bytes,
    };
    if (!mr__struct_give(view, &ours, sizeof ours))
        return mr__fail(&a->detail, MR_EARGUMENT, "annotation: struct_size of the view is not set");
    return 0;
}

const char *mr_annotation_detail(const mr_annotation *annotation)
{
    return annotation != NULL ? annotation->detail.text : "";
}
