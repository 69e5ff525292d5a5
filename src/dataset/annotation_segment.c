// SPDX-License-Identifier: Apache-2.0
/*
 * "segmentation", as COCO has it: polygons, or runs of an image's columns, one after the other, that are outside and
 * inside by turns; as numbers, or as text. In a text a number has five bits a character, from '0' on, the lowest ones
 * first; a sixth bit says that more follow, the highest one is the sign. From the fourth number on it is what there is
 * more than in the number before the last.
 *
 * Kept are numbers: of polygons how many, then as many; of runs the height and width, then the runs.
 */
#include "dataset/annotation_segment.h"

static int corrupt(mr_annotation *a, mr__json_token token, const char *what)
{
    if (token.kind == MR__JSON_BAD)
        return mr__fail(&a->detail, MR_ECORRUPT, "annotation: no JSON: %s, at byte %zu (in \"segmentation\")",
                        a->json.problem, a->json.at);
    return mr__fail(&a->detail, MR_ECORRUPT, "annotation: \"segmentation\" at byte %zu: %s", token.at, what);
}

static int add_number(mr_annotation *a, mr__json_token token, double value)
{
    size_t used = a->segment_count * sizeof(double);
    if (a->used++ >= MR_ANNOTATION_NUMBERS_MAX)
        return mr__fail(&a->detail, MR_ELIMIT, "annotation: \"segmentation\" at byte %zu: more than %d numbers",
                        token.at, MR_ANNOTATION_NUMBERS_MAX);
    if (mr__buffer_grow(&a->segments, &a->hooks, used, used + sizeof(double)) != 0)
        return mr__fail(&a->detail, MR_ENOMEM, "annotation: out of memory after %zu numbers of segmentations",
                        a->segment_count);
    ((double *)a->segments.bytes)[a->segment_count++] = value;
    return 0;
}

static int add_token(mr_annotation *a, mr__json_token token, double low, double high)
{
    double value;
    if (!mr__json_f64(token, &value))
        return corrupt(a, token, "a number is missing");
    if (!(value >= low && value <= high))
        return corrupt(a, token, "a number that cannot be");
    return add_number(a, token, value);
}

/* To the end of its array. */
static int read_polygon(mr_annotation *a, mr__json_token token)
{
    size_t start = a->segment_count;
    int code = add_number(a, token, 0);
    if (code != 0)
        return code;
    for (token = mr__json_next(&a->json); token.kind != MR__JSON_ARRAY_END; token = mr__json_next(&a->json))
        if ((code = add_token(a, token, -MR__POLYGON_MAX, MR__POLYGON_MAX)) != 0)
            return code;
    size_t n = a->segment_count - start - 1;
    ((double *)a->segments.bytes)[start] = (double)n;
    return n % 2 == 0 ? 0 : corrupt(a, token, "a polygon with an x and no y");
}

static int read_polygons(mr_annotation *a)
{
    for (;;) {
        mr__json_token token = mr__json_next(&a->json);
        if (token.kind == MR__JSON_ARRAY_END)
            return 0;
        if (token.kind != MR__JSON_ARRAY)
            return corrupt(a, token, "no polygon");
        int code = read_polygon(a, token);
        if (code != 0)
            return code;
    }
}

/* The next number of a text; false: it is none. */
static bool next_run(const char *text, size_t nbytes, size_t *at, int64_t *value)
{
    uint64_t bits = 0;
    for (unsigned shift = 0; shift < 35 && *at < nbytes; shift += 5) {
        unsigned c = (unsigned char)text[(*at)++];
        if (c < 48 || c >= 48 + 64)
            return false;
        bits |= (uint64_t)((c - 48) & 31) << shift;
        if (((c - 48) & 32) != 0)
            continue;
        bool negative = ((c - 48) & 16) != 0;
        *value = (int64_t)bits - (negative ? INT64_C(32) << shift : 0);
        return true;
    }
    return false;
}

static int read_text(mr_annotation *a, mr__json_token token)
{
    size_t nbytes = 0, at = 0, first = a->segment_count;
    if (mr__buffer_reserve(&a->text, &a->hooks, token.nbytes) != 0)
        return mr__fail(&a->detail, MR_ENOMEM, "annotation: out of memory for a text of %zu bytes", token.nbytes);
    if (!mr__json_unescape(token, (char *)a->text.bytes, &nbytes))
        return corrupt(a, token, "no text of runs");
    while (at < nbytes) {
        int64_t value;
        size_t n = a->segment_count - first;
        if (!next_run((const char *)a->text.bytes, nbytes, &at, &value))
            return corrupt(a, token, "no text of runs");
        if (n > 2)
            value += (int64_t)((const double *)a->segments.bytes)[a->segment_count - 2];
        if (value < 0 || value > UINT32_MAX)
            return corrupt(a, token, "a run that cannot be");
        int code = add_number(a, token, (double)value);
        if (code != 0)
            return code;
    }
    return 0;
}

static int read_counts(mr_annotation *a, mr__json_token token)
{
    if (token.kind == MR__JSON_TEXT)
        return read_text(a, token);
    if (token.kind != MR__JSON_ARRAY)
        return corrupt(a, token, "runs are numbers or a text");
    for (token = mr__json_next(&a->json); token.kind != MR__JSON_ARRAY_END; token = mr__json_next(&a->json)) {
        int code = add_token(a, token, 0, UINT32_MAX);
        if (code != 0)
            return code;
    }
    return 0;
}

/* [height, width] */
static int read_size(mr_annotation *a, mr__json_token token, double size[2])
{
    if (token.kind != MR__JSON_ARRAY)
        return corrupt(a, token, "a size is [height, width]");
    for (size_t i = 0; i < 2; i++) {
        token = mr__json_next(&a->json);
        if (!mr__json_f64(token, &size[i]) || !(size[i] >= 1 && size[i] <= INT32_MAX))
            return corrupt(a, token, "a size is [height, width]");
    }
    token = mr__json_next(&a->json);
    return token.kind == MR__JSON_ARRAY_END ? 0 : corrupt(a, token, "a size is [height, width]");
}

static int read_runs(mr_annotation *a, mr__json_token token)
{
    double size[2] = {0, 0};
    size_t start = a->segment_count;
    bool has_counts = false;
    int code = add_number(a, token, 0);
    if (code == 0)
        code = add_number(a, token, 0);
    while (code == 0) {
        token = mr__json_next(&a->json);
        if (token.kind == MR__JSON_OBJECT_END)
            break;
        if (token.kind != MR__JSON_NAME)
            return corrupt(a, token, "");
        bool counts = mr__json_is(token, "counts"), is_size = mr__json_is(token, "size");
        token = mr__json_next(&a->json);
        if (counts && has_counts)
            return corrupt(a, token, "runs a second time");
        has_counts = has_counts || counts;
        code = counts ? read_counts(a, token) : is_size ? read_size(a, token, size) : 0;
        if (!counts && !is_size && !mr__json_skip(&a->json, token))
            return corrupt(a, (mr__json_token){.kind = MR__JSON_BAD}, "");
    }
    if (code == 0 && (size[0] == 0 || !has_counts))
        return corrupt(a, token, "runs without a size, or a size without runs");
    if (code == 0) {
        ((double *)a->segments.bytes)[start] = size[0];
        ((double *)a->segments.bytes)[start + 1] = size[1];
    }
    return code;
}

int mr__annotation_read_segments(mr_annotation *a, mr__json_token token, mr__object *object)
{
    if (object->segment_count != 0)
        return corrupt(a, token, "a second time");
    size_t start = a->segment_count;
    int code = 0;
    if (token.kind == MR__JSON_ARRAY)
        code = read_polygons(a);
    else if (token.kind == MR__JSON_OBJECT)
        code = read_runs(a, token);
    else if (!mr__json_skip(&a->json, token))
        return corrupt(a, (mr__json_token){.kind = MR__JSON_BAD}, "");
    object->segment_start = start;
    object->segment_count = a->segment_count - start;
    object->has_runs = token.kind == MR__JSON_OBJECT;
    if (code == 0 && token.kind == MR__JSON_ARRAY && object->segment_count > MR__POLYGONS_MAX)
        return mr__fail(&a->detail, MR_ELIMIT,
                        "annotation: \"segmentation\" at byte %zu: more than %d numbers in polygons", token.at,
                        MR__POLYGONS_MAX);
    if (code == 0 && object->segment_count != 0)
        object->flags |= MR_OBJECT_SEGMENTS;
    return code;
}
