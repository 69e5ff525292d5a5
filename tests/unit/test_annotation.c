// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "failing.h"

#include <millrace/annotation.h>
#include <millrace/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_annotation *annotation;

static int setup(void **state)
{
    (void)state;
    return mr_annotation_new(NULL, &annotation);
}

static int teardown(void **state)
{
    (void)state;
    mr_annotation_free(annotation);
    return 0;
}

/* In memory of its own, so that a sanitizer sees a read behind its end. */
static int read_json(const char *text, size_t nbytes, mr_annotation_view *view)
{
    char *copy = malloc(nbytes != 0 ? nbytes : 1);
    assert_non_null(copy);
    memcpy(copy, text, nbytes);
    int result = mr_annotation_read(annotation, copy, nbytes, view);
    free(copy);
    return result;
}

/* "x,y,w,h:category:flags:area[keypoints] ..." */
static const char *say(const mr_annotation_view *view, char *to, size_t room)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < view->count; i++) {
        const float *box = view->boxes + 4 * i;
        used += (size_t)snprintf(to + used, room - used, "%s%g,%g,%g,%g:%lld:%u:%g[", i != 0 ? " " : "", (double)box[0],
                                 (double)box[1], (double)box[2], (double)box[3], (long long)view->categories[i],
                                 view->flags[i], (double)view->areas[i]);
        for (size_t k = 3 * view->keypoint_starts[i]; k < 3 * view->keypoint_starts[i + 1]; k++)
            used += (size_t)snprintf(to + used, room - used, "%g,", (double)view->keypoints[k]);
        used += (size_t)snprintf(to + used, room - used, "]");
    }
    assert_int_equal(view->keypoint_starts[view->count], view->keypoint_count);
    return to;
}

static void check(const char *text, const char *wanted)
{
    char said[1024];
    mr_annotation_view view = {.struct_size = sizeof view};
    if (read_json(text, strlen(text), &view) != 0)
        fail_msg("%s: %s", text, mr_annotation_detail(annotation));
    assert_string_equal(mr_annotation_detail(annotation), "");
    assert_string_equal(say(&view, said, sizeof said), wanted);
}

static void check_refused(const char *text, int code, const char *part)
{
    mr_annotation_view view = {.struct_size = sizeof view, .count = 77};
    int result = read_json(text, strlen(text), &view);
    if (result != code)
        fail_msg("%s: %s (%s)", text, mr_error_name(result), mr_annotation_detail(annotation));
    assert_contains(mr_annotation_detail(annotation), part);
    assert_int_equal(view.count, 77);
}

static void lists_of_objects(void **state)
{
    (void)state;
    check("[]", "");
    check("[{\"bbox\":[1,2,3,4.5],\"category_id\":3,\"iscrowd\":0,\"area\":12.5,\"id\":9}]", "1,2,3,4.5:3:3:12.5[]");
    check("[{\"category_id\":1},{\"bbox\":[0,0,1e1,2],\"iscrowd\":1},{}]", "0,0,0,0:1:0:0[] 0,0,10,2:-1:5:0[] "
                                                                           "0,0,0,0:-1:0:0[]");
    check("[{\"segmentation\":[[1,2,3,4,5,6]],\"box\":[1,2,3,4],\"category\":2.0,\"x\":{\"y\":[null]}}]",
          "1,2,3,4:2:17:0[]");
    check("[{\"bbox\":null,\"category_id\":null,\"iscrowd\":true,\"area\":null,\"keypoints\":null}]",
          "0,0,0,0:-1:4:0[]");
    check("[{\"iscrowd\":true,\"label\":-5},{\"iscrowd\":false,\"cls\":9007199254740993}]",
          "0,0,0,0:-5:4:0[] 0,0,0,0:9007199254740993:0:0[]");
}

static void keypoints_belong_to_their_object(void **state)
{
    (void)state;
    check("[{\"keypoints\":[1,2,2,3,4,0]},{\"keypoints\":[]},{\"category_id\":1},{\"keypoints\":[[5,6,1],[7,8,1]]}]",
          "0,0,0,0:-1:0:0[1,2,2,3,4,0,] 0,0,0,0:-1:0:0[] 0,0,0,0:1:0:0[] 0,0,0,0:-1:0:0[5,6,1,7,8,1,]");
    check_refused("[{\"keypoints\":[1,2]}]", MR_ECORRUPT, "\"keypoints\" at byte 18: keypoints have three numbers");
    check_refused("[{\"keypoints\":[[1,2],[3]]}]", MR_ECORRUPT, "three numbers");
    check_refused("[{\"keypoints\":[1,[2,3,4]]}]", MR_ECORRUPT, "three numbers");
    check_refused("[{\"keypoints\":[[[1,2,3]]]}]", MR_ECORRUPT, "a number is missing");
    check_refused("[{\"keypoints\":[1,2,3],\"keypoints\":[1,2,3]}]", MR_ECORRUPT, "a second time");
    check_refused("[{\"keypoints\":[1,2,\"3\"]}]", MR_ECORRUPT, "\"keypoints\" at byte 19: a number is missing");
}

static void what_is_said_of_the_image(void **state)
{
    (void)state;
    mr_annotation_view view = {.struct_size = sizeof view};
    const char text[] = "{\"width\":640,\"height\":480.0,\"label\":7,\"annotations\":[{\"bbox\":[1,2,3,4]}]}";
    assert_int_equal(read_json(text, sizeof text - 1, &view), 0);
    assert_int_equal(view.width, 640);
    assert_int_equal(view.height, 480);
    assert_true(view.has_label && view.label == 7);
    assert_int_equal(view.count, 1);
    /* Nothing is left of it in the next. */
    assert_int_equal(read_json("{}", 2, &view), 0);
    assert_true(view.width == 0 && view.height == 0 && !view.has_label && view.count == 0 && view.label == 0);
    static const char *const labels[] = {"{\"cls\":-1}", "{\"category_id\":-1.0}", "{\"lab\\u0065l\":-1}"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read_json(labels[i], strlen(labels[i]), &view), 0);
        assert_true(view.has_label && view.label == -1);
    }
    static const char *const none[] = {"{\"label\":\"cat\"}", "{\"label\":1.5}", "{\"label\":[1]}", "{\"label\":null}"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(read_json(none[i], strlen(none[i]), &view), 0);
        assert_false(view.has_label);
        assert_string_equal(mr_annotation_detail(annotation), "");
    }
    check_refused("{\"width\":-1}", MR_ECORRUPT, "\"width\" at byte 9: no size");
    check_refused("{\"height\":4294967296}", MR_ECORRUPT, "\"height\" at byte 10");
}

static void lists_side_by_side(void **state)
{
    (void)state;
    check("{\"boxes\":[[1,2,3,4],[5,6,7,8]],\"labels\":[3,4]}", "1,2,3,4:3:1:0[] 5,6,7,8:4:1:0[]");
    check("{\"labels\":[3,null],\"keypoints\":[[1,2,3],[[4,5,6],[7,8,9]]],\"boxes\":[null,[5,6,7,8]],\"area\":[1,2],"
          "\"iscrowd\":[0,1]}",
          "0,0,0,0:3:2:1[1,2,3,] 5,6,7,8:-1:7:2[4,5,6,7,8,9,]");
    check("{\"objects\":{\"bbox\":[[1,2,3,4]],\"category\":[5],\"id\":[1]},\"area\":5}", "1,2,3,4:5:1:0[]");
    check("{\"objects\":[{\"bbox\":[1,2,3,4]}],\"categories\":[{\"id\":1}]}", "1,2,3,4:-1:1:0[]");
    check("{\"bbox\":[1,2,3,4],\"keypoints\":[1,2,3,4,5,6],\"labels\":[2]}", "1,2,3,4:2:1:0[1,2,3,4,5,6,]");
    check("{\"boxes\":[],\"labels\":[]}", "");
    check_refused("{\"boxes\":[[1,2,3,4]],\"labels\":[1,2]}", MR_ECORRUPT, "\"labels\" at byte 33: more entries");
    check_refused("{\"boxes\":[[1,2,3,4],[1,2,3,4]],\"labels\":[1]}", MR_ECORRUPT, "fewer entries");
    check_refused("{\"boxes\":[[1,2,3,4]],\"labels\":[]}", MR_ECORRUPT, "fewer entries");
    check_refused("{\"boxes\":[],\"boxes\":[]}", MR_ECORRUPT, "in two ways");
    check_refused("{\"boxes\":[],\"annotations\":[]}", MR_ECORRUPT, "in two ways");
    check_refused("{\"annotations\":[],\"boxes\":[]}", MR_ECORRUPT, "in two ways");
    check_refused("{\"annotations\":[],\"objects\":[]}", MR_ECORRUPT, "in two ways");
}

static void boxes_by_corners(void **state)
{
    (void)state;
    check("{\"boxes\":[[1,2,4,6.5]],\"format\":\"xyxy\"}", "1,2,3,4.5:-1:1:0[]");
    check("{\"bbox_mode\":\"xyxy\",\"annotations\":[{\"bbox\":[1,2,4,6]},{\"bbox_mode\":\"xywh\",\"bbox\":[1,2,4,6]}]}",
          "1,2,3,4:-1:1:0[] 1,2,4,6:-1:1:0[]");
    check("[{\"bbox\":[1,2,4,6],\"bbox_mode\":0},{\"bbox\":[1,2,4,6],\"bbox_mode\":1},{\"bbox\":[1,2,4,6]}]",
          "1,2,3,4:-1:1:0[] 1,2,4,6:-1:1:0[] 1,2,4,6:-1:1:0[]");
    check("{\"boxes\":[[1,2,3,4]],\"format\":\"jpeg\"}", "1,2,3,4:-1:1:0[]");
    check("{\"boxes\":[[-3e38,0,3e38,0]],\"box_format\":\"xyxy\"}", "-3e+38,0,3.40282e+38,0:-1:1:0[]");
    check_refused("{\"bbox_mode\":\"cxcywh\"}", MR_EUNSUPPORTED, "\"bbox_mode\" at byte 13 is none of xywh, xyxy");
    check_refused("[{\"bbox_mode\":2}]", MR_EUNSUPPORTED, "none of");
}

static void check_rotated(const char *text, const float wanted[5])
{
    mr_annotation_view view = {.struct_size = sizeof view};
    assert_int_equal(read_json(text, strlen(text), &view), 0);
    assert_int_equal(view.count, 1);
    assert_int_equal(view.flags[0], MR_OBJECT_ROTATED);
    assert_memory_equal(view.rotated, wanted, 5 * sizeof(float));
    const float none[4] = {0};
    assert_memory_equal(view.boxes, none, sizeof none);
}

static void boxes_that_are_rotated(void **state)
{
    (void)state;
    const float wanted[5] = {10, 20, 6, 4, -30.5f}, none[5] = {0};
    check_rotated("[{\"bbox\":[10,20,6,4,-30.5]}]", wanted);
    check_rotated("[{\"bbox\":[10,20,6,4,-30.5],\"bbox_mode\":4}]", wanted);
    check_rotated("{\"boxes\":[[10,20,6,4,-30.5]],\"format\":\"xywha\"}", wanted);
    check_rotated("{\"bbox_mode\":\"xyxy\",\"objects\":[{\"bbox_mode\":\"cxcywhr\",\"bbox\":[10,20,6,4,-30.5]}]}",
                  wanted);
    mr_annotation_view view = {.struct_size = sizeof view};
    const char *both = "[{\"bbox\":[1,2,3,4]},{\"bbox\":[1,2,3,4,5]}]";
    assert_int_equal(read_json(both, strlen(both), &view), 0);
    assert_memory_equal(view.rotated, none, sizeof none);
    assert_int_equal(view.flags[1], MR_OBJECT_ROTATED);
    check_refused("[{},{\"bbox\":[1,2,3,4],\"bbox_mode\":4}]", MR_ECORRUPT,
                  "object 1: a box of 4 numbers, where its mode has 5");
    check_refused("{\"boxes\":[[1,2,3,4,5]],\"format\":\"xyxy\"}", MR_ECORRUPT, "a box of 5 numbers");
}

static void other_shapes_are_refused(void **state)
{
    (void)state;
    check_refused("", MR_ECORRUPT, "no JSON: it ends where a value is wanted, at byte 0");
    check_refused("3", MR_ECORRUPT, "neither an object nor an array");
    check_refused("[1]", MR_ECORRUPT, "\"annotations\" at byte 1: not an object");
    check_refused("[{}", MR_ECORRUPT, "no JSON: an array has no end, at byte 3");
    check_refused("[{}] x", MR_ECORRUPT, "something behind the value");
    check_refused("{\"annotations\":3}", MR_ECORRUPT, "\"annotations\" at byte 15: no array of objects");
    check_refused("[{\"bbox\":[1,2,3]}]", MR_ECORRUPT, "\"bbox\" at byte 15: fewer than four");
    check_refused("[{\"bbox\":[1,2,3,4,5,6]}]", MR_ECORRUPT, "\"bbox\" at byte 20: more numbers than the four");
    check_refused("[{\"bbox\":[1,2,3,null]}]", MR_ECORRUPT, "a number is missing");
    check_refused("[{\"bbox\":[1,2,3,1e39]}]", MR_ECORRUPT, "too large");
    check_refused("[{\"bbox\":{\"x\":1}}]", MR_ECORRUPT, "no array");
    check_refused("[{\"bbox\":[1,2", MR_ECORRUPT, "(in \"bbox\")");
    check_refused("[{\"category_id\":\"cat\"}]", MR_EUNSUPPORTED, "\"category_id\" at byte 16 is no whole number");
    check_refused("[{\"category_id\":1.5}]", MR_EUNSUPPORTED, "no whole number");
    check_refused("[{\"category_id\":1e300}]", MR_EUNSUPPORTED, "no whole number");
    check_refused("[{\"area\":\"big\"}]", MR_ECORRUPT, "\"area\" at byte 9: a number is missing");
    check_refused("[{\"segmentation\":[[1,2}]", MR_ECORRUPT, "a comma is missing");
    check_refused("{\"a\":1,}", MR_ECORRUPT, "a name is missing");
    check_refused("{\"boxes\":3}", MR_ECORRUPT, "no array");
}

static void numbers_are_limited(void **state)
{
    (void)state;
    static const char box[] = "{\"bbox\":[1,2,3,4]},";
    size_t most = MR_ANNOTATION_NUMBERS_MAX / 5, each = sizeof box - 1; /* the object and four numbers */
    char *text = malloc(2 + (most + 1) * each);
    mr_annotation_view view = {.struct_size = sizeof view};
    assert_non_null(text);
    text[0] = '[';
    for (size_t i = 0; i < most + 1; i++)
        memcpy(text + 1 + i * each, box, each);
    text[most * each] = ']';
    assert_int_equal(mr_annotation_read(annotation, text, 1 + most * each, &view), 0);
    assert_int_equal(view.count, most);
    text[most * each] = ',';
    text[(most + 1) * each] = ']';
    assert_int_equal(mr_annotation_read(annotation, text, 1 + (most + 1) * each, &view), MR_ELIMIT);
    assert_contains(mr_annotation_detail(annotation), "more than 1048576");
    free(text);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    mr_annotation_view view = {.struct_size = sizeof view};
    assert_int_equal(mr_annotation_new(NULL, NULL), MR_EARGUMENT);
    assert_int_equal(mr_annotation_read(NULL, "[]", 2, &view), MR_EARGUMENT);
    assert_int_equal(mr_annotation_read(annotation, "[]", 2, NULL), MR_EARGUMENT);
    assert_int_equal(mr_annotation_read(annotation, NULL, 2, &view), MR_EARGUMENT);
    view.struct_size = 0;
    assert_int_equal(mr_annotation_read(annotation, "[]", 2, &view), MR_EARGUMENT);
    assert_contains(mr_annotation_detail(annotation), "struct_size");
    view.struct_size = sizeof view;
    assert_int_equal(mr_annotation_read(annotation, NULL, 0, &view), MR_ECORRUPT);
    mr_annotation_free(NULL);
    assert_string_equal(mr_annotation_detail(NULL), "");
}

static int scenario(const mr_hooks *hooks, void *arg)
{
    static const char text[] = "[{\"bbox\":[1,2,3,4],\"keypoints\":[1,2,3,4,5,6,7,8,9]},{},{},{}]";
    mr_annotation_view view = {.struct_size = sizeof view};
    mr_annotation *one;
    (void)arg;
    int result = mr_annotation_new(hooks, &one);
    if (result != 0)
        return result;
    result = mr_annotation_read(one, text, sizeof text - 1, &view);
    assert_int_equal(result == 0, mr_annotation_detail(one)[0] == '\0');
    if (result == 0)
        assert_true(view.count == 4 && view.keypoint_count == 3);
    mr_annotation_free(one);
    return result;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    failing_run(scenario, NULL);
}

static void memory_is_kept(void **state)
{
    (void)state;
    static const char text[] = "[{\"bbox\":[1,2,3,4],\"keypoints\":[1,2,3]},{}]";
    mr_annotation_view view = {.struct_size = sizeof view};
    mr_hooks hooks = failing_hooks();
    mr_annotation *one;
    failing_begin(0, false);
    assert_int_equal(mr_annotation_new(&hooks, &one), 0);
    assert_int_equal(mr_annotation_read(one, text, sizeof text - 1, &view), 0);
    size_t before = failing_now().attempts;
    for (int i = 0; i < 3; i++)
        assert_int_equal(mr_annotation_read(one, text, sizeof text - 1, &view), 0);
    assert_int_equal(failing_now().attempts, before);
    mr_annotation_free(one);
    assert_int_equal(failing_end().live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_of_objects, setup, teardown),
        cmocka_unit_test_setup_teardown(keypoints_belong_to_their_object, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_said_of_the_image, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_side_by_side, setup, teardown),
        cmocka_unit_test_setup_teardown(boxes_by_corners, setup, teardown),
        cmocka_unit_test_setup_teardown(boxes_that_are_rotated, setup, teardown),
        cmocka_unit_test_setup_teardown(other_shapes_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_are_checked, setup, teardown),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(memory_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
