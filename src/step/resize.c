// SPDX-License-Identifier: Apache-2.0
/*
 * The resizer.
 *
 * What is allocated goes through the meter, so that limits.memory_nbytes holds; if what earlier calls left stands in
 * the way, it is given back and the call tried again.
 */
#include "step/resize.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/meter.h"
#include "base/size.h"
#include "step/axis_cache.h"

#include <string.h>

struct mr_resizer {
    mr__meter meter;
    mr_hooks hooks; /* through the meter: for everything but the handle itself */
    mr_limits limits;
    mr__detail detail;
    mr__resample kernels;
    mr__axis_cache axes;
    mr__buffer work, premultiplied;
};

static const char *const filter_names[] = {"bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"};

enum { FILTERS = sizeof filter_names / sizeof *filter_names };

const char *mr_filter_name(mr_filter filter)
{
    return (unsigned)filter < FILTERS ? filter_names[filter] : "none";
}

int mr_filter_from_name(const char *name, mr_filter *filter)
{
    for (size_t i = 0; name != NULL && filter != NULL && i < FILTERS; i++)
        if (strcmp(filter_names[i], name) == 0) {
            *filter = (mr_filter)i;
            return 0;
        }
    return MR_EARGUMENT;
}

int mr_resizer_new(const mr_resizer_options *options, mr_resizer **out)
{
    mr_resizer_options given;
    mr_hooks hooks;
    mr_limits limits;
    if (out == NULL || !mr__struct_copy(&given, sizeof given, options) || mr__hooks_init(&hooks, given.hooks) != 0 ||
        mr__limits_init(&limits, given.limits) != 0)
        return MR_EARGUMENT;
    mr_resizer *resizer = mr__alloc_zero(&hooks, sizeof *resizer);
    if (resizer == NULL)
        return MR_ENOMEM;
    mr__meter_init(&resizer->meter, &hooks, limits.memory_nbytes);
    resizer->hooks = mr__meter_hooks(&resizer->meter);
    resizer->limits = limits;
    mr__resample_init(&resizer->kernels, mr__cpu_detect());
    mr__axis_cache_init(&resizer->axes, &resizer->hooks, &resizer->kernels);
    *out = resizer;
    return 0;
}

void mr_resizer_trim(mr_resizer *resizer)
{
    if (resizer == NULL)
        return;
    mr__axis_cache_trim(&resizer->axes);
    mr__buffer_fini(&resizer->work, &resizer->hooks);
    mr__buffer_fini(&resizer->premultiplied, &resizer->hooks);
}

void mr_resizer_free(mr_resizer *resizer)
{
    if (resizer == NULL)
        return;
    mr_resizer_trim(resizer);
    mr_hooks hooks = resizer->meter.under;
    mr__free(&hooks, resizer);
}

const char *mr_resizer_detail(const mr_resizer *resizer)
{
    return resizer != NULL ? resizer->detail.text : "";
}

static int fail_memory(mr_resizer *resizer)
{
    if (mr__meter_refused(&resizer->meter))
        return mr__fail(&resizer->detail, MR_ELIMIT,
                        "this resize needs more than %llu bytes of memory, the limit (limits.memory_nbytes)",
                        (unsigned long long)resizer->limits.memory_nbytes);
    return mr__fail(&resizer->detail, MR_ENOMEM, "out of memory: there was too little for this resize");
}

static int reserve(mr_resizer *resizer, mr__buffer *buffer, size_t nbytes)
{
    return mr__buffer_reserve(buffer, &resizer->hooks, nbytes) == 0 ? 0 : fail_memory(resizer);
}

/* NULL: this side stays as it is. */
static int get_axis(mr_resizer *resizer, uint32_t in, uint32_t out, const mr_image *like, mr_filter filter,
                    uint32_t channels, const mr__resample_axis **axis)
{
    mr__axis_key key = {mr__resample_side_whole(in, out, filter, like->depth), channels};
    *axis = NULL;
    int result = in == out ? 0 : mr__axis_cache_get(&resizer->axes, &key, &resizer->detail, axis);
    return result == MR_ENOMEM ? fail_memory(resizer) : result;
}

static uint8_t *row_at(const mr_image *image, size_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* The color of what is transparent must not count: `from` becomes a copy with color times alpha. */
static int premultiply(mr_resizer *resizer, mr_image *from)
{
    size_t nbytes;
    mr_image copy = *from;
    copy.stride = (ptrdiff_t)mr_image_row_nbytes(from);
    if (!mr__size_mul((size_t)copy.stride, copy.height, &nbytes))
        return fail_memory(resizer);
    int result = reserve(resizer, &resizer->premultiplied, nbytes);
    if (result != 0)
        return result;
    copy.pixels = resizer->premultiplied.bytes;
    for (uint32_t y = 0; y < copy.height; y++)
        resizer->kernels.premultiply(row_at(from, y), copy.channels, row_at(&copy, y), copy.width);
    *from = copy;
    return 0;
}

static int resample(mr_resizer *resizer, const mr_image *from, const mr_resize_options *o, const mr_image *to)
{
    mr__resampling r = {.kernels = &resizer->kernels, .from = *from, .to = *to};
    bool alpha = from->depth == 8 && from->channels % 2 == 0;
    size_t nbytes;
    int result = get_axis(resizer, from->width, to->width, from, o->filter, from->channels, &r.x);
    if (result == 0)
        result = get_axis(resizer, from->height, to->height, from, o->filter, 0, &r.y);
    if (result == 0 && alpha)
        result = premultiply(resizer, &r.from);
    if (result != 0)
        return result;
    r.down_first = o->order == MR_RESIZE_PILLOW_13 &&
                   mr__resample_goes_down_first(from->width, from->height, to->width, to->height);
    if (!mr__resampling_nbytes(&r, &nbytes))
        return mr__fail(&resizer->detail, MR_ELIMIT, "from %u x %u to %u x %u: more memory than can be addressed",
                        from->width, from->height, to->width, to->height);
    result = reserve(resizer, &resizer->work, nbytes);
    if (result != 0)
        return result;
    mr__resampling_run(&r, resizer->work.bytes);
    for (uint32_t i = 0; alpha && i < to->height; i++)
        resizer->kernels.unpremultiply(row_at(to, i), to->channels, row_at(to, i), to->width);
    return 0;
}

static int take_nearest(mr_resizer *resizer, const mr_image *from, const mr_image *to)
{
    int result = reserve(resizer, &resizer->work, sizeof(uint32_t) * (size_t)to->width);
    if (result == 0)
        mr__resize_nearest(from, to, (void *)resizer->work.bytes);
    return result;
}

static int check(mr_resizer *resizer, const mr_image *from, const mr_resize_options *o, const mr_image *to)
{
    mr__detail *detail = &resizer->detail;
    if (!mr_image_is_valid(from) || !mr_image_is_valid(to))
        return mr__fail(detail, MR_EARGUMENT, "%s is not a valid image",
                        mr_image_is_valid(from) ? "what to resize to" : "what to resize");
    if (from->channels != to->channels || from->depth != to->depth)
        return mr__fail(detail, MR_EARGUMENT, "a resize from %u channels of %u bits to %u of %u: they have to be equal",
                        from->channels, from->depth, to->channels, to->depth);
    if ((unsigned)o->filter >= FILTERS)
        return mr__fail(detail, MR_EARGUMENT, "no filter has the number %u", (unsigned)o->filter);
    if ((unsigned)o->order > MR_RESIZE_PILLOW_12)
        return mr__fail(detail, MR_EARGUMENT, "no order of passes has the number %u", (unsigned)o->order);
    if ((uint64_t)to->width * to->height > resizer->limits.pixels)
        return mr__fail(detail, MR_ELIMIT, "a resize to %u x %u: more than %llu pixels, the limit (limits.pixels)",
                        to->width, to->height, (unsigned long long)resizer->limits.pixels);
    return 0;
}

static int resize(mr_resizer *resizer, const mr_image *from, const mr_resize_options *o, const mr_image *to)
{
    if (from->width == to->width && from->height == to->height)
        return mr_image_copy(from, to);
    if (o->filter == MR_FILTER_NEAREST)
        return take_nearest(resizer, from, to);
    return resample(resizer, from, o, to);
}

int mr_resizer_resize(mr_resizer *resizer, const mr_image *from, const mr_resize_options *options, const mr_image *to)
{
    mr_resize_options o;
    if (resizer == NULL)
        return MR_EARGUMENT;
    mr__detail_clear(&resizer->detail);
    if (!mr__struct_copy(&o, sizeof o, options))
        return mr__fail(&resizer->detail, MR_EARGUMENT, "the options of a resize have a struct_size that cannot be");
    int result = check(resizer, from, &o, to);
    if (result != 0)
        return result;
    bool kept = mr__meter_begin(&resizer->meter) != 0;
    result = resize(resizer, from, &o, to);
    if (result == 0 || !kept || !mr__meter_refused(&resizer->meter))
        return result;
    mr_resizer_trim(resizer);
    mr__meter_begin(&resizer->meter);
    mr__detail_clear(&resizer->detail);
    return resize(resizer, from, &o, to);
}
