// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <string.h>

PyObject *mr_py_numbers(mr_py_state *state, mr_py_owner *owner, const void *numbers, mr_py_dtype dtype, int axes,
                        const size_t *shape)
{
    void *data = NULL;
    size_t nbytes = mr_py_dtype_nbytes(dtype);
    if (owner != NULL && numbers != NULL)
        return mr_py_array_new(state, owner, numbers, dtype, axes, shape, false);
    for (int i = 0; i < axes; i++)
        nbytes *= shape[i];
    PyObject *array = mr_py_array_own(state, dtype, axes, shape, &data);
    if (array != NULL && numbers != NULL)
        mr_py_copy(data, numbers, nbytes);
    return array;
}

typedef struct field {
    const char *name;
    bool wanted; /* else None */
    const void *numbers;
    mr_py_dtype dtype;
    int axes;
    size_t shape[3];
} field;

/* Where a pointer of targets is, and how many bytes it points at. */
typedef struct part {
    size_t offset, nbytes;
} part;

static const void *part_of(const mr_targets *t, const part *p)
{
    const void *from;
    memcpy(&from, (const char *)t + p->offset, sizeof from);
    return from;
}

enum { PART_ALIGN = 64 };

static size_t room_of(const mr_targets *t, const part *p)
{
    return part_of(t, p) != NULL ? (p->nbytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN : 0;
}

mr_py_owner *mr_py_targets_copy(const mr_targets *t, mr_targets *copy)
{
#define PART(field, count)                                                                                             \
    {                                                                                                                  \
        offsetof(mr_targets, field), (count) * sizeof *t->field                                                        \
    }
    const part parts[] = {
        PART(boxes, t->count * 4),
        PART(rotated, t->count * 5),
        PART(categories, t->count),
        PART(areas, t->count),
        PART(flags, t->count),
        PART(origins, t->count),
        PART(keypoints, t->keypoint_count * 3),
        PART(keypoint_starts, t->count + 1),
        PART(mask, (size_t)t->width * t->height),
        PART(masks, t->count * t->width * t->height),
    };
#undef PART
    size_t nbytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        nbytes += room_of(t, &parts[i]);
    void *data = NULL;
    mr_py_owner *owner = mr_py_memory(nbytes, &data);
    *copy = *t;
    for (size_t i = 0; owner != NULL && i < sizeof parts / sizeof *parts; i++) {
        const part *p = &parts[i];
        if (part_of(t, p) == NULL)
            continue;
        memcpy(data, part_of(t, p), p->nbytes);
        memcpy((char *)copy + p->offset, &data, sizeof data);
        data = (char *)data + room_of(t, p);
    }
    return owner;
}

PyObject *mr_py_targets(mr_py_state *state, const mr_targets *t, uint32_t asked, mr_py_owner *owner)
{
    bool boxes = (asked & MR_TARGET_BOXES) != 0, points = (asked & MR_TARGET_KEYPOINTS) != 0;
    bool masks = (asked & MR_TARGET_MASKS) != 0, objects = boxes || points || masks;
    const field fields[] = {
        {"boxes", boxes, t->boxes, MR_PY_F32, 2, {t->count, 4}},
        {"rotated", boxes, t->rotated, MR_PY_F32, 2, {t->count, 5}},
        {"categories", objects, t->categories, MR_PY_I64, 1, {t->count}},
        {"areas", boxes, t->areas, MR_PY_F32, 1, {t->count}},
        {"flags", objects, t->flags, MR_PY_U8, 1, {t->count}},
        {"origins", objects, t->origins, MR_PY_U64, 1, {t->count}},
        {"keypoints", points, t->keypoints, MR_PY_F32, 2, {t->keypoint_count, 3}},
        {"keypoint_starts", points, t->keypoint_starts, MR_PY_U64, 1, {t->count + 1}},
        {"mask", t->mask != NULL, t->mask, MR_PY_U8, 2, {t->height, t->width}},
        {"masks", masks, t->masks, MR_PY_U8, 3, {t->count, t->height, t->width}},
    };
    PyObject *dict = Py_BuildValue("{s:I,s:I}", "width", (unsigned)t->width, "height", (unsigned)t->height);
    for (size_t i = 0; dict != NULL && i < sizeof fields / sizeof *fields; i++) {
        const field *f = &fields[i];
        PyObject *value =
            f->wanted ? mr_py_numbers(state, owner, f->numbers, f->dtype, f->axes, f->shape) : Py_NewRef(Py_None);
        if (mr_py_put(dict, f->name, value) != 0)
            Py_CLEAR(dict);
    }
    return dict;
}
