// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of annotations, whatever the bytes: arrays that can be read to their ends, finite numbers, the same
 * twice without new memory, a handle that goes on working, and nothing written after a failure.
 */
#include "check.h"

#include <math.h>
#include <string.h>

static mr_annotation *handle_new(fuzz_heap *heap)
{
    mr_annotation *made = NULL;
    mr_hooks hooks = fuzz_heap_hooks(heap);
    int result = mr_annotation_new(&hooks, &made);
    FUZZ_REQUIRE(result == 0 || (result == MR_ENOMEM && heap->fail_at != 0), "%s", mr_error_name(result));
    return result == 0 ? made : NULL;
}

/* Reads all that the view points at; the sum depends on every byte. */
static uint64_t check_view(const mr_annotation_view *view)
{
    uint64_t sum = view->count + 3 * (uint64_t)view->label + 5 * (uint64_t)view->width + 7 * (uint64_t)view->height;
    FUZZ_REQUIRE(view->count + 3 * view->keypoint_count <= MR_ANNOTATION_NUMBERS_MAX, "%zu objects", view->count);
    FUZZ_REQUIRE(view->keypoint_starts[0] == 0, "the first keypoint is %zu", view->keypoint_starts[0]);
    FUZZ_REQUIRE(view->keypoint_starts[view->count] == view->keypoint_count, "%zu keypoints", view->keypoint_count);
    for (size_t i = 0; i < view->count; i++) {
        float values[10];
        uint32_t bits[10];
        memcpy(values, view->boxes + 4 * i, 4 * sizeof *values);
        values[4] = view->areas[i];
        memcpy(values + 5, view->rotated + 5 * i, 5 * sizeof *values);
        memcpy(bits, values, sizeof bits);
        for (size_t k = 0; k < 10; k++) {
            FUZZ_REQUIRE(isfinite(values[k]), "box or area of object %zu", i);
            sum = sum * 31 + bits[k];
        }
        FUZZ_REQUIRE(view->keypoint_starts[i] <= view->keypoint_starts[i + 1], "keypoints of object %zu", i);
        FUZZ_REQUIRE((view->flags[i] & ~31) == 0, "flags %u", view->flags[i]);
        FUZZ_REQUIRE((view->flags[i] & MR_OBJECT_AREA) != 0 || values[4] == 0, "an area that is none");
        sum = sum * 31 + (uint64_t)view->categories[i] + view->flags[i] + view->keypoint_starts[i];
    }
    for (size_t i = 0; i < 3 * view->keypoint_count; i++) {
        uint32_t bits;
        memcpy(&bits, view->keypoints + i, sizeof bits);
        FUZZ_REQUIRE(isfinite(view->keypoints[i]), "keypoint %zu", i / 3);
        sum = sum * 31 + bits;
    }
    return sum;
}

/* Masks of the first few objects: 0 and 1, or a reason. */
static uint64_t check_masks(mr_annotation *annotation, const mr_annotation_view *view)
{
    uint8_t pixels[24 * 17];
    uint64_t sum = 0;
    for (size_t i = 0; i < view->count && i < 4; i++) {
        const mr_image mask = {24, 17, 1, 8, 24, pixels};
        memset(pixels, 0x77, sizeof pixels);
        int result = mr_annotation_mask(annotation, i, &mask);
        FUZZ_REQUIRE(result == 0 || result == MR_EARGUMENT || result == MR_ECORRUPT, "%s", mr_error_name(result));
        FUZZ_REQUIRE((view->flags[i] & MR_OBJECT_SEGMENTS) != 0 || result == MR_EARGUMENT, "a mask of nothing");
        for (size_t k = 0; result == 0 && k < sizeof pixels; k++) {
            FUZZ_REQUIRE(pixels[k] <= 1, "pixel %zu is %u", k, pixels[k]);
            sum = sum * 31 + pixels[k];
        }
    }
    return sum;
}

static int read_once(mr_annotation *annotation, const uint8_t *bytes, size_t nbytes, uint64_t *sum)
{
    mr_annotation_view view, untouched;
    memset(&view, 0xc3, sizeof view);
    view.struct_size = sizeof view;
    memcpy(&untouched, &view, sizeof view);
    int result = mr_annotation_read(annotation, bytes, nbytes, &view);
    FUZZ_REQUIRE((result == 0) == (mr_annotation_detail(annotation)[0] == '\0'), "%s: \"%s\"", mr_error_name(result),
                 mr_annotation_detail(annotation));
    *sum = 0;
    if (result == 0)
        *sum = check_view(&view) + check_masks(annotation, &view);
    else
        FUZZ_REQUIRE(memcmp(&view, &untouched, sizeof view) == 0, "the view was written after a failure");
    return result;
}

void fuzz_check_annotation(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    uint64_t sums[2];
    int results[2];
    for (int i = 0; i < 2; i++) { /* whatever stands in new memory */
        fuzz_heap heap = {.fill = i == 0 ? 0x5a : 0xff};
        uint64_t again, calls;
        mr_annotation *annotation = handle_new(&heap);
        results[i] = read_once(annotation, bytes, nbytes, &sums[i]);
        FUZZ_REQUIRE(results[i] == 0 || results[i] == MR_ECORRUPT || results[i] == MR_EUNSUPPORTED ||
                         results[i] == MR_ELIMIT,
                     "%s", mr_error_name(results[i]));
        calls = heap.calls;
        FUZZ_REQUIRE(read_once(annotation, bytes, nbytes, &again) == results[i] && again == sums[i], "another result");
        FUZZ_REQUIRE(heap.calls == calls, "it takes memory each time");
        mr_annotation_free(annotation);
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
    FUZZ_REQUIRE(results[0] == results[1] && sums[0] == sums[1], "it depends on what stood in new memory");
}

void fuzz_check_annotation_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    fuzz_heap heap = {.fill = 0x5a};
    uint64_t wanted, sum;
    mr_annotation *annotation = handle_new(&heap);
    int result = read_once(annotation, bytes, nbytes, &wanted);
    uint64_t calls = heap.calls;
    mr_annotation_free(annotation);
    for (uint64_t at = 1; at <= calls && at <= 24; at++) {
        heap = (fuzz_heap){.fill = 0x5a, .fail_at = at, .fail_on = at % 2 == 0};
        annotation = handle_new(&heap);
        if (annotation != NULL) {
            int failed = read_once(annotation, bytes, nbytes, &sum);
            FUZZ_REQUIRE(failed == MR_ENOMEM || (failed == result && sum == wanted), "%s", mr_error_name(failed));
            heap.fail_at = 0;
            failed = read_once(annotation, bytes, nbytes, &sum);
            FUZZ_REQUIRE(failed == result && sum == wanted, "%s after memory ran out", mr_error_name(failed));
            mr_annotation_free(annotation);
        }
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
}
