// SPDX-License-Identifier: Apache-2.0
/* Masks of segmentations, beside those of pycocotools. */
#include "test.h"

#ifndef SEGMENT_GOLDEN
#define SEGMENT_GOLDEN "../golden/segment_golden.h"
#endif
#include SEGMENT_GOLDEN

#include "failing.h"

#include <millrace/annotation.h>
#include <millrace/error.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int read_json(mr_annotation *annotation, const char *text, mr_annotation_view *view)
{
    size_t nbytes = strlen(text);
    char *copy = malloc(nbytes + 1);
    assert_non_null(copy);
    memcpy(copy, text, nbytes);
    *view = (mr_annotation_view){.struct_size = sizeof *view};
    int result = mr_annotation_read(annotation, copy, nbytes, view);
    free(copy);
    return result;
}

static void masks_are_pycocotools(void **state)
{
    (void)state;
    mr_annotation *annotation;
    size_t wrong = 0;
    assert_int_equal(mr_annotation_new(NULL, &annotation), 0);
    for (size_t i = 0; i < COUNT(segment_cases); i++) {
        mr_annotation_view view;
        mr_image mask;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        if (read_json(annotation, segment_cases[i].json, &view) != 0)
            fail_msg("%s", mr_annotation_detail(annotation));
        assert_int_equal(view.flags[0], MR_OBJECT_SEGMENTS);
        assert_int_equal(mr_image_init(&mask, segment_cases[i].width, segment_cases[i].height, 1, 8, NULL), 0);
        memset(mask.pixels, 77, (size_t)mask.stride * mask.height);
        assert_int_equal(mr_annotation_mask(annotation, 0, &mask), 0);
        for (uint32_t y = 0; y < mask.height; y++)
            for (uint32_t x = 0; x < mask.width; x++)
                hash =
                    (hash ^ ((const uint8_t *)mask.pixels)[(ptrdiff_t)y * mask.stride + x]) * UINT64_C(0x100000001b3);
        if (hash != segment_cases[i].mask) {
            print_error("case %zu, %u x %u: %s\n", i, mask.width, mask.height, segment_cases[i].json);
            wrong++;
        }
        mr_image_fini(&mask, NULL);
    }
    mr_annotation_free(annotation);
    assert_int_equal(wrong, 0);
}

static void check_read(const char *text, int code, const char *says)
{
    mr_annotation *annotation;
    mr_annotation_view view;
    assert_int_equal(mr_annotation_new(NULL, &annotation), 0);
    int result = read_json(annotation, text, &view);
    if (result != code || strstr(mr_annotation_detail(annotation), says) == NULL)
        fail_msg("%s: %d, %s", text, result, mr_annotation_detail(annotation));
    mr_annotation_free(annotation);
}

#define SEGMENTS(text) "[{\"segmentation\":" text "}]"

static void other_shapes_are_refused(void **state)
{
    (void)state;
    check_read(SEGMENTS("[]"), 0, "");
    check_read(SEGMENTS("[[]]"), 0, "");
    check_read(SEGMENTS("null"), 0, "");
    check_read(SEGMENTS("\"mask.png\""), 0, "");
    check_read(SEGMENTS("[[1,2,3]]"), MR_ECORRUPT, "an x and no y");
    check_read(SEGMENTS("[1,2,3]"), MR_ECORRUPT, "\"segmentation\" at byte 18: no polygon");
    check_read(SEGMENTS("[[1,2,1e30,3]]"), MR_ECORRUPT, "cannot be");
    check_read(SEGMENTS("[[1,\"a\"]]"), MR_ECORRUPT, "a number is missing");
    check_read(SEGMENTS("[[1,2"), MR_ECORRUPT, "no JSON");
    check_read(SEGMENTS("{\"size\":[3,4]}"), MR_ECORRUPT, "a size without runs");
    check_read(SEGMENTS("{\"counts\":[12]}"), MR_ECORRUPT, "runs without a size");
    check_read(SEGMENTS("{\"counts\":[12],\"counts\":[12]}"), MR_ECORRUPT, "a second time");
    check_read(SEGMENTS("{\"counts\":[-1],\"size\":[3,4]}"), MR_ECORRUPT, "cannot be");
    check_read(SEGMENTS("{\"counts\":3,\"size\":[3,4]}"), MR_ECORRUPT, "numbers or a text");
    check_read(SEGMENTS("{\"counts\":\"!\",\"size\":[3,4]}"), MR_ECORRUPT, "no text of runs");
    check_read(SEGMENTS("{\"counts\":\"oooooooooo\",\"size\":[3,4]}"), MR_ECORRUPT, "no text of runs");
    check_read(SEGMENTS("{\"counts\":\"@\",\"size\":[3,4]}"), MR_ECORRUPT, "a run that cannot be");
    check_read(SEGMENTS("{\"counts\":\"o\",\"size\":[3,4]}"), MR_ECORRUPT, "no text of runs");
    check_read(SEGMENTS("{\"counts\":\"\",\"size\":[3,0]}"), MR_ECORRUPT, "[height, width]");
    check_read(SEGMENTS("{\"counts\":\"\",\"size\":[3]}"), MR_ECORRUPT, "[height, width]");
    check_read(SEGMENTS("{\"more\":{\"x\":1},\"counts\":\"\",\"size\":[3,4]}"), 0, "");
    check_read("[{\"segmentation\":[[1,2]],\"segmentation\":[[1,2]]}]", MR_ECORRUPT, "a second time");
}

static void masks_are_checked(void **state)
{
    (void)state;
    mr_annotation *annotation;
    mr_annotation_view view;
    mr_image mask, rgb;
    assert_int_equal(mr_image_init(&mask, 4, 3, 1, 8, NULL), 0);
    assert_int_equal(mr_image_init(&rgb, 4, 3, 3, 8, NULL), 0);
    assert_int_equal(mr_annotation_new(NULL, &annotation), 0);
    assert_int_equal(mr_annotation_mask(NULL, 0, &mask), MR_EARGUMENT);
    assert_int_equal(mr_annotation_mask(annotation, 0, &mask), MR_EARGUMENT);
    assert_int_equal(read_json(annotation, SEGMENTS("{\"size\":[3,4],\"counts\":[5,8]}"), &view), 0);
    assert_int_equal(mr_annotation_mask(annotation, 0, &mask), MR_ECORRUPT);
    assert_int_equal(mr_annotation_mask(annotation, 0, &rgb), MR_EARGUMENT);
    assert_int_equal(mr_annotation_mask(annotation, 1, &mask), MR_EARGUMENT);
    assert_int_equal(read_json(annotation, SEGMENTS("{\"size\":[4,3],\"counts\":[12]}"), &view), 0);
    assert_int_equal(mr_annotation_mask(annotation, 0, &mask), MR_EARGUMENT);
    assert_int_equal(read_json(annotation, SEGMENTS("[[-1e8,-1e8,1e8,-1e8,1e8,1e8,-1e8,1e8]]"), &view), 0);
    assert_int_equal(mr_annotation_mask(annotation, 0, &mask), 0);
    for (uint32_t y = 0; y < 3; y++)
        for (uint32_t x = 0; x < 4; x++)
            assert_int_equal(((uint8_t *)mask.pixels)[(ptrdiff_t)y * mask.stride + x], 1);
    mr_annotation_free(annotation);
    mr_image_fini(&mask, NULL);
    mr_image_fini(&rgb, NULL);
}

static int read_all(const mr_hooks *hooks, void *arg)
{
    mr_annotation *annotation = NULL;
    mr_annotation_view view;
    (void)arg;
    int result = mr_annotation_new(hooks, &annotation);
    for (size_t i = 0; i < COUNT(segment_cases) && i < 20 && result == 0; i++)
        result = read_json(annotation, segment_cases[i].json, &view);
    mr_annotation_free(annotation);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    failing_run(read_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_pycocotools),
        cmocka_unit_test(other_shapes_are_refused),
        cmocka_unit_test(masks_are_checked),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
