// SPDX-License-Identifier: Apache-2.0
#include "dataset/annotation_segment.h"

#include <float.h>
#include <string.h>

/* Something that is wrong at a token of a member; what is no JSON at all says so itself. */
static int wrong(mr_annotation *a, mr__json_token token, const char *member, const char *what)
{
    if (token.kind == MR__JSON_BAD)
        return mr__fail(&a->detail, MR_ECORRUPT, "annotation: no JSON: %s, at byte %zu (in \"%s\")", a->json.problem,
                        a->json.at, member);
    return mr__fail(&a->detail, MR_ECORRUPT, "annotation: \"%s\" at byte %zu: %s", member, token.at, what);
}

static int count_one(mr_annotation *a, mr__json_token token, const char *member)
{
    if (a->used++ < MR_ANNOTATION_NUMBERS_MAX)
        return 0;
    return mr__fail(&a->detail, MR_ELIMIT, "annotation: \"%s\" at byte %zu: more than %d objects and numbers", member,
                    token.at, MR_ANNOTATION_NUMBERS_MAX);
}

static int read_number(mr_annotation *a, mr__json_token token, const char *member, double *value)
{
    if (!mr__json_f64(token, value))
        return wrong(a, token, member, "a number is missing");
    if (!(*value >= -(double)FLT_MAX && *value <= (double)FLT_MAX))
        return wrong(a, token, member, "a number that is too large");
    return count_one(a, token, member);
}

/* Also 3.0, which is how some write 3. */
static int read_whole(mr_annotation *a, mr__json_token token, const char *member, int64_t *value)
{
    double real;
    if (token.kind == MR__JSON_BAD)
        return wrong(a, token, member, "");
    if (!mr__json_i64(token, value)) {
        if (!mr__json_f64(token, &real) || !(real >= -0x1p53 && real <= 0x1p53) || real != (double)(int64_t)real)
            return mr__fail(&a->detail, MR_EUNSUPPORTED, "annotation: \"%s\" at byte %zu is no whole number", member,
                            token.at);
        *value = (int64_t)real;
    }
    return count_one(a, token, member);
}

/* The object of this number, which is one more than there are at most; NULL: it cannot be. */
static int reach_object(mr_annotation *a, size_t number, mr__json_token token, mr__object **object)
{
    size_t used = a->count * sizeof **object;
    if (number == a->count) {
        int code = count_one(a, token, "an object");
        if (code != 0)
            return code;
        if (mr__buffer_grow(&a->objects, &a->hooks, used, used + sizeof **object) != 0)
            return mr__fail(&a->detail, MR_ENOMEM, "annotation: out of memory after %zu objects", a->count);
        ((mr__object *)a->objects.bytes)[a->count++] = (mr__object){.category = -1};
    }
    *object = &((mr__object *)a->objects.bytes)[number];
    return 0;
}

/* Four or five numbers and the end of their array; `token` is the first of them. */
static int read_box(mr_annotation *a, mr__json_token token, const char *member, mr__object *object)
{
    uint8_t n = 0;
    for (; n < 5 && token.kind != MR__JSON_ARRAY_END; n++, token = mr__json_next(&a->json)) {
        int code = read_number(a, token, member, &object->box[n]);
        if (code != 0)
            return code;
    }
    if (n < 4)
        return wrong(a, token, member, "fewer than four numbers");
    if (token.kind != MR__JSON_ARRAY_END)
        return wrong(a, token, member, "more numbers than the four of a box, or the five of a rotated one");
    object->numbers = n;
    return 0;
}

static int add_point(mr_annotation *a, mr__json_token token, const char *member)
{
    double value = 0;
    int code = read_number(a, token, member, &value);
    if (code != 0)
        return code;
    size_t used = a->point_count * sizeof(float);
    if (mr__buffer_grow(&a->points, &a->hooks, used, used + sizeof(float)) != 0)
        return mr__fail(&a->detail, MR_ENOMEM, "annotation: out of memory after %zu keypoints", a->point_count / 3);
    ((float *)a->points.bytes)[a->point_count++] = (float)value;
    return 0;
}

/* x, y, v, ... or [x, y, v], ..., and the end of the array; `token` is the first in it. */
static int read_points(mr_annotation *a, mr__json_token token, const char *member, mr__object *object)
{
    size_t before = a->point_count;
    bool inside = false;
    if (object->points != 0)
        return wrong(a, token, member, "a second time");
    for (;; token = mr__json_next(&a->json)) {
        if (token.kind == MR__JSON_ARRAY_END && !inside)
            break;
        if (token.kind == MR__JSON_ARRAY_END || (token.kind == MR__JSON_ARRAY && !inside)) {
            inside = !inside;
            if ((a->point_count - before) % 3 != 0)
                return wrong(a, token, member, "keypoints have three numbers each");
            continue;
        }
        int code = add_point(a, token, member);
        if (code != 0)
            return code;
    }
    object->points = a->point_count - before;
    return object->points % 3 == 0 ? 0 : wrong(a, token, member, "keypoints have three numbers each");
}

static int read_mode(mr_annotation *a, mr__json_token token, const char *member, uint8_t *mode)
{
    int64_t number = -1;
    bool is_number = mr__json_i64(token, &number);
    if (mr__json_is(token, "xywh") || (is_number && number == 1))
        *mode = MR__BOX_XYWH;
    else if (mr__json_is(token, "xyxy") || (is_number && number == 0))
        *mode = MR__BOX_XYXY;
    else if (mr__json_is(token, "xywha") || mr__json_is(token, "cxcywhr") || (is_number && number == 4))
        *mode = MR__BOX_ROTATED;
    else if (token.kind == MR__JSON_BAD)
        return wrong(a, token, member, "");
    else if (strcmp(member, "format") == 0)
        mr__json_skip(&a->json, token); /* of the image, maybe */
    else
        return mr__fail(&a->detail, MR_EUNSUPPORTED, "annotation: \"%s\" at byte %zu is none of xywh, xyxy and xywha",
                        member, token.at);
    return a->json.problem == NULL ? 0 : wrong(a, mr__json_next(&a->json), member, "");
}

static int pass_over(mr_annotation *a, mr__json_token token, const char *member)
{
    if (mr__json_skip(&a->json, token))
        return 0;
    return wrong(a, (mr__json_token){.kind = MR__JSON_BAD}, member, "");
}

/* What a member of an object is about. */
typedef enum field { OTHER, BOX, CATEGORY, CROWD, AREA, POINTS, MODE, SEGMENTS, LIST, WIDTH, HEIGHT } field;

typedef struct name {
    const char *text;
    field field;
} name;

/* In an object of a list. */
static const name object_names[] = {
    {"bbox", BOX},         {"box", BOX},        {"category_id", CATEGORY}, {"category", CATEGORY},
    {"label", CATEGORY},   {"cls", CATEGORY},   {"iscrowd", CROWD},        {"area", AREA},
    {"keypoints", POINTS}, {"bbox_mode", MODE}, {"box_format", MODE},      {"segmentation", SEGMENTS},
    {NULL, OTHER},
};

/* Of lists side by side. */
static const name column_names[] = {
    {"boxes", BOX},         {"bbox", BOX},
    {"labels", CATEGORY},   {"categories", CATEGORY},
    {"category", CATEGORY}, {"category_id", CATEGORY},
    {"label", CATEGORY},    {"iscrowd", CROWD},
    {"area", AREA},         {"keypoints", POINTS},
    {"bbox_mode", MODE},    {"box_format", MODE},
    {"format", MODE},       {"segmentation", SEGMENTS},
    {NULL, OTHER},
};

/* At the top, beside such lists. */
static const name top_names[] = {
    {"annotations", LIST}, {"objects", LIST},    {"boxes", BOX},        {"bbox", BOX},    {"labels", CATEGORY},
    {"iscrowd", CROWD},    {"area", AREA},       {"keypoints", POINTS}, {"width", WIDTH}, {"height", HEIGHT},
    {"bbox_mode", MODE},   {"box_format", MODE}, {"format", MODE},      {NULL, OTHER},
};

static name find_name(const name *names, mr__json_token token)
{
    while (names->text != NULL && !mr__json_is(token, names->text))
        names++;
    return names->text != NULL ? *names : (name){"a member", OTHER};
}

/* The numbers of an array, from `token` on, its first, to its end. */
static int read_values(mr_annotation *a, mr__json_token token, name what, mr__object *object)
{
    return what.field == BOX ? read_box(a, token, what.text, object) : read_points(a, token, what.text, object);
}

/* One value of an object, which begins with `token`; null says nothing. */
static int read_field(mr_annotation *a, mr__json_token token, name what, mr__object *object)
{
    double value = 0;
    int code;
    if (token.kind == MR__JSON_NULL)
        return 0;
    switch (what.field) {
    case BOX:
    case POINTS:
        if (token.kind != MR__JSON_ARRAY)
            return wrong(a, token, what.text, "no array");
        return read_values(a, mr__json_next(&a->json), what, object);
    case CATEGORY:
        return read_whole(a, token, what.text, &object->category);
    case CROWD:
        code =
            token.kind == MR__JSON_TRUE || token.kind == MR__JSON_FALSE ? 0 : read_number(a, token, what.text, &value);
        object->flags &= (uint8_t)~MR_OBJECT_CROWD;
        object->flags |= value != 0 || token.kind == MR__JSON_TRUE ? MR_OBJECT_CROWD : 0;
        return code;
    case AREA:
        code = read_number(a, token, what.text, &object->area);
        object->flags |= MR_OBJECT_AREA;
        return code;
    case MODE:
        return read_mode(a, token, what.text, &object->mode);
    case SEGMENTS:
        return mr__annotation_read_segments(a, token, object);
    default:
        return pass_over(a, token, what.text);
    }
}

static int read_object(mr_annotation *a, mr__object *object)
{
    for (;;) {
        mr__json_token token = mr__json_next(&a->json);
        if (token.kind == MR__JSON_OBJECT_END)
            return 0;
        if (token.kind != MR__JSON_NAME)
            return wrong(a, token, "annotations", "");
        name what = find_name(object_names, token);
        int code = read_field(a, mr__json_next(&a->json), what, object);
        if (code != 0)
            return code;
    }
}

/* Objects, and the end of their array. */
static int read_objects(mr_annotation *a, const char *member)
{
    for (;;) {
        mr__json_token token = mr__json_next(&a->json);
        mr__object *object;
        if (token.kind == MR__JSON_ARRAY_END)
            return 0;
        if (token.kind != MR__JSON_OBJECT)
            return wrong(a, token, member, "not an object");
        int code = reach_object(a, a->count, token, &object);
        if (code != 0 || (code = read_object(a, object)) != 0)
            return code;
    }
}

/* [x, y, w, h] instead of [[x, y, w, h]] is one box, and so it is with keypoints. */
static bool is_alone(mr__json_token token, name what, size_t row)
{
    return row == 0 && token.kind == MR__JSON_NUMBER && (what.field == BOX || what.field == POINTS);
}

/* A list with an entry for each object, one of several side by side; `token` is its value. */
static int read_column(mr_annotation *a, mr__json_token token, name what)
{
    mr__object *object;
    size_t row = 0;
    int code;
    if (token.kind != MR__JSON_ARRAY)
        return wrong(a, token, what.text, "no array");
    if (a->is_listed || (a->seen >> what.field & 1) != 0)
        return wrong(a, token, what.text, "objects are given in two ways");
    a->seen |= 1u << what.field;
    for (token = mr__json_next(&a->json); token.kind != MR__JSON_ARRAY_END; token = mr__json_next(&a->json)) {
        if (token.kind == MR__JSON_BAD)
            return wrong(a, token, what.text, "");
        if (a->rows != SIZE_MAX && row == a->rows)
            return wrong(a, token, what.text, "more entries than another list of the objects has");
        if ((code = reach_object(a, row, token, &object)) != 0)
            return code;
        bool alone = is_alone(token, what, row++);
        code = alone ? read_values(a, token, what, object) : read_field(a, token, what, object);
        if (code != 0)
            return code;
        if (alone)
            break;
    }
    if (a->rows != SIZE_MAX && row != a->rows)
        return wrong(a, token, what.text, "fewer entries than another list of the objects has");
    a->rows = row;
    return 0;
}

static int read_columns(mr_annotation *a)
{
    for (;;) {
        mr__json_token token = mr__json_next(&a->json);
        int code;
        if (token.kind == MR__JSON_OBJECT_END)
            return 0;
        if (token.kind != MR__JSON_NAME)
            return wrong(a, token, "objects", "");
        name what = find_name(column_names, token);
        token = mr__json_next(&a->json);
        if (what.field == MODE)
            code = read_mode(a, token, what.text, &a->mode);
        else if (what.field == OTHER || token.kind == MR__JSON_NULL)
            code = pass_over(a, token, what.text);
        else
            code = read_column(a, token, what);
        if (code != 0)
            return code;
    }
}

static int read_list(mr_annotation *a, mr__json_token token, const char *member)
{
    if (a->is_listed || a->rows != SIZE_MAX)
        return wrong(a, token, member, "objects are given in two ways");
    if (token.kind == MR__JSON_OBJECT)
        return read_columns(a);
    a->is_listed = true;
    return token.kind == MR__JSON_ARRAY ? read_objects(a, member) : wrong(a, token, member, "no array of objects");
}

static int read_size(mr_annotation *a, mr__json_token token, const char *member, uint32_t *size)
{
    int64_t value = 0;
    int code = read_whole(a, token, member, &value);
    if (code == 0 && (value < 0 || value > INT32_MAX))
        return wrong(a, token, member, "no size of an image");
    *size = (uint32_t)value;
    return code;
}

/* A label of the image; one that is no whole number is somebody else's. */
static int read_label(mr_annotation *a, mr__json_token token, const char *member)
{
    if (token.kind != MR__JSON_NUMBER)
        return pass_over(a, token, member);
    int code = read_whole(a, token, member, &a->label);
    a->has_label = code == 0;
    if (code != MR_EUNSUPPORTED)
        return code;
    mr__detail_clear(&a->detail);
    return 0;
}

static int read_top_member(mr_annotation *a, mr__json_token token)
{
    static const char *const labels[] = {"label", "cls", "category_id"};
    name what = find_name(top_names, token);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (mr__json_is(token, labels[i]))
            return read_label(a, mr__json_next(&a->json), labels[i]);
    token = mr__json_next(&a->json);
    if (token.kind == MR__JSON_NULL)
        return 0;
    switch (what.field) {
    case LIST:
        return read_list(a, token, what.text);
    case WIDTH:
        return read_size(a, token, what.text, &a->width);
    case HEIGHT:
        return read_size(a, token, what.text, &a->height);
    case MODE:
        return read_mode(a, token, what.text, &a->mode);
    case OTHER:
        return pass_over(a, token, what.text);
    case CROWD:
    case AREA:
        if (token.kind != MR__JSON_ARRAY) /* of the image, not of its objects */
            return pass_over(a, token, what.text);
        return read_column(a, token, what);
    default:
        return read_column(a, token, what);
    }
}

static int read_top(mr_annotation *a)
{
    for (;;) {
        mr__json_token token = mr__json_next(&a->json);
        if (token.kind == MR__JSON_OBJECT_END)
            return 0;
        if (token.kind != MR__JSON_NAME)
            return wrong(a, token, "the annotation", "");
        int code = read_top_member(a, token);
        if (code != 0)
            return code;
    }
}

int mr__annotation_parse(mr_annotation *a, const char *text, size_t nbytes)
{
    a->json = mr__json_init(text, nbytes);
    a->count = a->point_count = a->segment_count = a->used = 0;
    a->rows = SIZE_MAX;
    a->seen = 0;
    a->is_listed = a->has_label = false;
    a->mode = MR__BOX_UNSAID;
    a->width = a->height = 0;
    a->label = 0;
    mr__json_token token = mr__json_next(&a->json);
    int code = 0;
    if (token.kind == MR__JSON_ARRAY)
        code = read_objects(a, "annotations");
    else if (token.kind == MR__JSON_OBJECT)
        code = read_top(a);
    else
        return wrong(a, token, "the annotation", "neither an object nor an array");
    if (code != 0)
        return code;
    token = mr__json_next(&a->json);
    return token.kind == MR__JSON_END ? 0 : wrong(a, token, "the annotation", "");
}
