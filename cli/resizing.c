// SPDX-License-Identifier: Apache-2.0
#include "resizing.h"
#include "image.h"
#include "text.h"

#include <stdio.h>

/* The resizer's own default. */
#define PIXELS_MAX (1ull << 28)

const option options_resizing[] = {
    {.name = "size",
     .kind = OPTION_SIZE,
     .offset = offsetof(settings, size),
     .argument = "WxH",
     .help = "Resize to this size, whatever becomes of the proportions",
     .initial = "as decoded"},
    {.name = "max-side",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, max_side),
     .argument = "N",
     .help = "Resize so that the longer side is N, the other in proportion; never enlarges",
     .min = 1,
     .max = INT32_MAX},
    {.name = "short-side",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, short_side),
     .argument = "N",
     .help = "Resize so that the shorter side is N, the other as torchvision's Resize(N) has it; never enlarges",
     .min = 1,
     .max = INT32_MAX},
    {.name = "filter",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, filter),
     .argument = "WORD",
     .help = "What a resized pixel is made of, as Pillow has it: bilinear, nearest, box, hamming, bicubic or lanczos; "
             "all but nearest antialias",
     .initial = "bilinear",
     .words = "bilinear nearest box hamming bicubic lanczos"},
    {.name = "pillow",
     .kind = OPTION_CHOICE,
     .offset = offsetof(settings, pillow),
     .argument = "N",
     .help = "Give the pixels of Pillow 13, or of Pillow 12 and before: they differ by one in some",
     .initial = "13",
     .words = "12 13"},
    {0},
};

static const char *const sizes[] = {"--size", "--max-side", "--short-side"};

int resizing_check(const command *c, const settings *s)
{
    const char *given = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (!option_is_given(c, s, sizes[i] + 2))
            continue;
        if (given != NULL) {
            complain(NULL, "%s: %s and %s cannot both be: each names a size", c->name, given, sizes[i]);
            return EXIT_USAGE;
        }
        given = sizes[i];
    }
    const char *how = option_is_given(c, s, "filter") ? "filter" : option_is_given(c, s, "pillow") ? "pillow" : NULL;
    if (given == NULL && how != NULL) {
        complain(NULL, "%s: --%s is for --size, --max-side or --short-side, and none is there", c->name, how);
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

/* The option that names a size, and what it comes to. */
static const char *find_size(const settings *s, uint32_t width, uint32_t height, uint32_t *out_width,
                             uint32_t *out_height)
{
    *out_width = width;
    *out_height = height;
    if (s->size.width != 0) {
        *out_width = s->size.width;
        *out_height = s->size.height;
        return sizes[0];
    }
    if (s->max_side != 0)
        mr_resize_max_side(width, height, s->max_side, out_width, out_height);
    else if (s->short_side != 0)
        mr_resize_short_side(width, height, s->short_side, out_width, out_height);
    return s->max_side != 0 ? sizes[1] : s->short_side != 0 ? sizes[2] : NULL;
}

const char *resizing_option(const settings *s, uint32_t width, uint32_t height)
{
    uint32_t out_width, out_height;
    const char *name = find_size(s, width, height, &out_width, &out_height);
    return out_width != width || out_height != height ? name : NULL;
}

static int resize(mr_resizer *resizer, const settings *s, const mr_image *from, const mr_image *to)
{
    mr_resize_options options = {.struct_size = sizeof options};
    options.order = s->pillow == 12 ? MR_RESIZE_PILLOW_12 : MR_RESIZE_PILLOW_13;
    mr_filter_from_name(s->filter, &options.filter);
    return mr_resizer_resize(resizer, from, &options, to);
}

int resizing_run(const settings *s, mr_image *image, mr_image *own, char *error, size_t nbytes)
{
    const mr_limits none = {sizeof none, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    mr_resizer_options options = {.struct_size = sizeof options, .limits = s->no_limits ? &none : NULL};
    mr_resizer *resizer = NULL;
    mr_image to = *image;
    if (find_size(s, image->width, image->height, &to.width, &to.height) == NULL)
        return 0;
    if (!s->no_limits && (uint64_t)to.width * to.height > PIXELS_MAX) { /* before there is memory for them */
        snprintf(error, nbytes, "a resize to %u x %u: more than %llu pixels, the limit (--no-limits lifts it)",
                 to.width, to.height, PIXELS_MAX);
        return MR_ELIMIT;
    }
    int result = mr_image_init(own, to.width, to.height, to.channels, to.depth, NULL);
    if (result == 0)
        result = mr_resizer_new(&options, &resizer);
    if (result == 0)
        result = resize(resizer, s, image, own);
    explain(result, mr_resizer_detail(resizer), error, nbytes);
    mr_resizer_free(resizer);
    if (result == 0)
        *image = *own;
    return result;
}
