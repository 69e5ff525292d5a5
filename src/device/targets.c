// SPDX-License-Identifier: Apache-2.0
#include "device/targets.h"

#include "base/size.h"
#include "codec/view.h"
#include "dataset/fetch.h"

#include <string.h>

/* What the json is read for. */
enum { OF_OBJECTS = MR_TARGET_BOXES | MR_TARGET_KEYPOINTS | MR_TARGET_MASKS };

struct mr__targets {
    const mr__work *work;
    mr_reader *reader;
    mr_annotation *annotation;
    mr__target scratch; /* for masks and elastic fields, which need more than is worth keeping in each place */
    mr__buffer segment; /* the mask of an object as it is stored */
    mr__follow follow;
};

int mr__task_targets_init(mr__task_targets *t, const mr_hooks *hooks, uint8_t *mask)
{
    *t = (mr__task_targets){.mask = mask};
    return mr__target_init(&t->objects, hooks);
}

void mr__task_targets_fini(mr__task_targets *t, const mr_hooks *hooks)
{
    mr__target_fini(&t->objects);
    mr__buffer_fini(&t->masks, hooks);
}

void mr__task_targets_clear(mr__task_targets *t, const mr_output *o)
{
    t->objects.count = t->objects.keypoint_count = 0;
    t->has_mask = false;
    if (t->mask != NULL)
        memset(t->mask, 0, (size_t)o->width * o->height);
}

mr_targets mr__task_targets_view(const mr__task_targets *t, uint32_t flags, const mr_output *o)
{
    const mr__target *objects = &t->objects;
    mr_targets view = {.struct_size = sizeof view, .width = o->width, .height = o->height};
    if ((flags & OF_OBJECTS) != 0) {
        view.count = objects->count;
        view.categories = objects->categories;
        view.flags = objects->flags;
        view.origins = objects->origins;
    }
    if ((flags & MR_TARGET_BOXES) != 0) {
        view.boxes = objects->boxes;
        view.rotated = objects->rotated;
        view.areas = objects->areas;
    }
    if ((flags & MR_TARGET_KEYPOINTS) != 0) {
        view.keypoint_count = objects->keypoint_count;
        view.keypoint_starts = objects->keypoint_starts;
        view.keypoints = objects->keypoints;
    }
    if ((flags & MR_TARGET_MASK) != 0 && t->has_mask)
        view.mask = t->mask;
    if ((flags & MR_TARGET_MASKS) != 0 && objects->count != 0)
        view.masks = t->masks.bytes;
    return view;
}

int mr__targets_new(const mr__work *work, mr__targets **out)
{
    mr__targets *t = mr__alloc_zero(&work->hooks, sizeof *t);
    if (t == NULL)
        return MR_ENOMEM;
    t->work = work;
    int result = mr__reader_new(work->dataset, &work->hooks, &t->reader);
    if (result == 0)
        result = mr_annotation_new(&work->hooks, &t->annotation);
    if (result == 0)
        result = mr__target_init(&t->scratch, &work->hooks);
    t->scratch.cpu = mr__cpu_detect();
    if (result != 0)
        mr__targets_free(t);
    else
        *out = t;
    return result;
}

void mr__targets_free(mr__targets *t)
{
    if (t == NULL)
        return;
    mr_reader_free(t->reader);
    mr_annotation_free(t->annotation);
    mr__target_fini(&t->scratch);
    mr__buffer_fini(&t->segment, &t->work->hooks);
    mr__free(&t->work->hooks, t);
}

/* 1. Members. */

static bool is_json(const mr__work *work, const char *name)
{
    (void)work;
    return strcmp(name, "json") == 0;
}

/* That of the options; or the first PNG. */
static bool is_mask(const mr__work *work, const char *name)
{
    size_t length = strlen(name);
    if (work->mask_member[0] != '\0')
        return strcmp(name, work->mask_member) == 0;
    return strcmp(name, "png") == 0 || (length > 4 && strcmp(name + length - 4, ".png") == 0);
}

/* The first member that is one; *bytes NULL: there is none. */
static int read_member(mr__targets *t, uint64_t ordinal, bool (*is_it)(const mr__work *, const char *),
                       const void **bytes, size_t *nbytes, mr__detail *detail)
{
    const mr__work *work = t->work;
    mr_sample sample = {.struct_size = sizeof sample};
    mr_member member = {.struct_size = sizeof member};
    int result = mr_dataset_sample(work->dataset, ordinal, &sample);
    *bytes = NULL;
    for (uint32_t i = 0; result == 0 && i < sample.members; i++) {
        result = mr_dataset_member(work->dataset, ordinal, i, &member);
        if (result != 0 || !is_it(work, member.name))
            continue;
        if (member.nbytes > work->limits.nbytes)
            return mr__fail(detail, MR_ELIMIT, "its %s has %llu bytes, more than %llu, the limit (limits.nbytes)",
                            member.name, (unsigned long long)member.nbytes, (unsigned long long)work->limits.nbytes);
        result = mr_reader_member(t->reader, ordinal, i, bytes, nbytes);
        return result == 0 ? 0 : mr__fail(detail, result, "its %s: %s", member.name, mr_reader_detail(t->reader));
    }
    return result == 0 ? 0 : mr__fail(detail, result, "its members: %s", mr_error_text(result));
}

/* Every place of a batch keeps what its largest sample took. */
static int check_count(const mr_annotation_view *view, mr__detail *detail)
{
    if (view->count <= MR_TARGET_OBJECTS_MAX && view->keypoint_count <= MR_TARGET_KEYPOINTS_MAX)
        return 0;
    return mr__fail(
        detail, MR_ELIMIT,
        "its json has %zu objects with %zu keypoints; a loader takes at most %d objects and %d keypoints of "
        "a sample: leave some out of it",
        view->count, view->keypoint_count, MR_TARGET_OBJECTS_MAX, MR_TARGET_KEYPOINTS_MAX);
}

/* The objects of a sample: none without a json. */
static int read_objects(mr__targets *t, uint64_t ordinal, mr_annotation_view *view, mr__detail *detail)
{
    const void *bytes;
    size_t nbytes;
    *view = (mr_annotation_view){.struct_size = sizeof *view};
    if ((t->work->targets & OF_OBJECTS) == 0)
        return 0;
    int result = read_member(t, ordinal, is_json, &bytes, &nbytes, detail);
    if (result != 0 || bytes == NULL)
        return result;
    result = mr_annotation_read(t->annotation, bytes, nbytes, view);
    return result == 0 ? check_count(view, detail)
                       : mr__fail(detail, result, "its json: %s", mr_annotation_detail(t->annotation));
}

/* A mask that was read, and what it is. */
typedef struct stored_mask {
    const void *bytes; /* NULL: there is none */
    size_t nbytes;
    uint32_t width, height; /* as it is to be shown */
} stored_mask;

static int read_mask(mr__targets *t, mr_decoder *decoder, uint64_t ordinal, stored_mask *mask, mr__detail *detail)
{
    mr_info info = {.struct_size = sizeof info};
    mask->bytes = NULL;
    if ((t->work->targets & MR_TARGET_MASK) == 0)
        return 0;
    int result = read_member(t, ordinal, is_mask, &mask->bytes, &mask->nbytes, detail);
    if (result != 0 || mask->bytes == NULL)
        return result;
    result = mr_decoder_info(decoder, mask->bytes, mask->nbytes, &info);
    if (result != 0)
        return mr__fail(detail, result, "its mask: %s", mr_decoder_detail(decoder));
    bool gray = info.color == MR_COLOR_GRAY && info.channels == 1, palette = info.color == MR_COLOR_PALETTE;
    if ((!gray && !palette) || info.depth != 8 || !info.lossless)
        return mr__fail(detail, MR_EUNSUPPORTED,
                        "its mask has %u channels of %u bits; a mask is a PNG of gray or with a palette, whose numbers "
                        "are classes",
                        info.channels, info.depth);
    bool turned = t->work->needs.orient && info.orientation >= 5;
    mask->width = turned ? info.height : info.width;
    mask->height = turned ? info.width : info.height;
    return 0;
}

/* 2. The way. */

/*
 * The size of the image that objects and mask were made for. Another one than this image has is an error, and most
 * likely a label of another image or one that is to be oriented; but for a form that is made smaller, which they then
 * follow before all else.
 */
static int begin_follow(mr__targets *t, const mr_annotation_view *view, const stored_mask *mask, uint32_t *width,
                        uint32_t *height, mr__detail *detail)
{
    uint32_t image_width = *width, image_height = *height;
    mr__follow_init(&t->follow);
    if (view->width != 0 && view->height != 0) {
        *width = view->width;
        *height = view->height;
    } else if (mask->bytes != NULL && t->work->reduced) {
        *width = mask->width;
        *height = mask->height;
    }
    if (*width == image_width && *height == image_height)
        return 0;
    if (!t->work->reduced)
        return mr__fail(
            detail, MR_ECORRUPT,
            "its json is of an image of %u x %u, but it is %u x %u here: another image's, or one that wants "
            "the step orient",
            *width, *height, image_width, image_height);
    mr__move move = {.kind = MR__MOVE_RESIZE,
                     .width = *width,
                     .height = *height,
                     .to_width = image_width,
                     .to_height = image_height};
    return mr__follow_note(&t->follow, &move, detail);
}

static int make_mask(mr__targets *t, mr_decoder *decoder, const stored_mask *mask, mr__task_targets *to,
                     mr__detail *detail)
{
    const mr_output *o = &t->work->finish.output;
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 1, .depth = 8, .values = true};
    mr_image decoded, made = {o->width, o->height, 1, 8, (ptrdiff_t)o->width, to->mask};
    hints.orient = t->work->needs.orient;
    to->has_mask = mask->bytes != NULL;
    if (!to->has_mask) {
        if (to->mask != NULL)
            memset(to->mask, 0, (size_t)o->width * o->height);
        return 0;
    }
    int result = mr__decoder_view(decoder, mask->bytes, mask->nbytes, &hints, &decoded);
    if (result != 0)
        return mr__fail(detail, result, "its mask: %s", mr_decoder_detail(decoder));
    result = mr__target_mask(&t->scratch, &t->follow, &decoded, &made, detail);
    return result == MR_EARGUMENT ? MR_ECORRUPT : result; /* it is of another size: the dataset's fault */
}

/* The mask of one object, as it is stored, becomes that of the image as it is now. */
static int make_segment(mr__targets *t, const mr__target *objects, size_t i, uint8_t *to, mr__detail *detail)
{
    const mr_output *o = &t->work->finish.output;
    mr_image stored = {objects->width, objects->height, 1, 8, (ptrdiff_t)objects->width, t->segment.bytes};
    mr_image made = {o->width, o->height, 1, 8, (ptrdiff_t)o->width, to};
    memset(to, 0, (size_t)o->width * o->height);
    if ((objects->flags[i] & MR_OBJECT_SEGMENTS) == 0)
        return 0;
    int result = mr_annotation_mask(t->annotation, objects->origins[i], &stored);
    if (result != 0)
        return mr__fail(detail, result == MR_EARGUMENT ? MR_ECORRUPT : result, "its json: %s",
                        mr_annotation_detail(t->annotation));
    return mr__target_mask(&t->scratch, &t->follow, &stored, &made, detail);
}

/* One for each object that is left. */
static int make_segments(mr__targets *t, mr__task_targets *to, uint32_t width, uint32_t height, mr__detail *detail)
{
    const mr_output *o = &t->work->finish.output;
    const mr_hooks *hooks = &t->work->hooks;
    size_t nbytes, pixels = (size_t)o->width * o->height, stored;
    if ((t->work->targets & MR_TARGET_MASKS) == 0 || to->objects.count == 0)
        return 0;
    if (!mr__size_mul(to->objects.count, pixels, &nbytes) || nbytes > t->work->limits.memory_nbytes)
        return mr__fail(detail, MR_ELIMIT,
                        "its %zu objects have masks of more than %llu bytes, the limit "
                        "(limits.memory_nbytes)",
                        to->objects.count, (unsigned long long)t->work->limits.memory_nbytes);
    if (!mr__size_mul(width, height, &stored) || mr__buffer_reserve(&to->masks, hooks, nbytes) != 0 ||
        mr__buffer_reserve(&t->segment, hooks, stored) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the masks of %zu objects", to->objects.count);
    mr__target objects = to->objects;
    objects.width = width;
    objects.height = height;
    int result = 0;
    for (size_t i = 0; i < objects.count && result == 0; i++)
        result = make_segment(t, &objects, i, to->masks.bytes + i * pixels, detail);
    return result;
}

int mr__targets_resolve(mr__targets *t, mr_decoder *decoder, const mr__task *task, uint32_t width, uint32_t height,
                        mr__chain *chain, mr__detail *detail)
{
    mr__task_targets *to = task->targets;
    uint32_t from_width = width, from_height = height;
    mr_annotation_view view;
    stored_mask mask;
    int result = read_objects(t, task->ordinal, &view, detail);
    if (result == 0)
        result = read_mask(t, decoder, task->ordinal, &mask, detail);
    if (result == 0)
        result = begin_follow(t, &view, &mask, &from_width, &from_height, detail);
    if (result == 0)
        result = mr__target_set(&to->objects, view.count != 0 ? &view : NULL, from_width, from_height, detail);
    if (result != 0)
        return result;
    mr__target_show(&to->objects, &t->follow);
    t->follow.room = (mr__follow_room){.hooks = &t->work->hooks, .buffer = &t->scratch.room, .cpu = t->scratch.cpu};
    result = mr__recipe_resolve(t->work->recipe, task->draws, width, height, &t->follow, chain, detail);
    chain->follow = NULL; // from here on nobody is told
    if (result == 0)
        result = mr__target_follow(&to->objects, &t->follow, detail);
    if (result == 0)
        result = make_segments(t, to, from_width, from_height, detail);
    return result == 0 ? make_mask(t, decoder, &mask, to, detail) : result;
}
