// SPDX-License-Identifier: Apache-2.0
#include "jpeg_own.h"

#include "jpeg_plain.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

const char *const own_kernel_names[OWN_KERNELS] = {"portable", "sse41", "avx2-slowpdep", "avx2", "all"};
mr_decoder *own_decoders[OWN_KERNELS];
mr_decoder *own_either, *own_turbo;

static mr_decoder *make_decoder(mr_jpeg_choice choice)
{
    mr_decoder *made;
    mr_decoder_options options = {.struct_size = sizeof options, .jpeg = choice};
    assert_int_equal(mr_decoder_new(&options, &made), 0);
    return made;
}

int own_setup(void **state)
{
    (void)state;
    const char *given = getenv("MILLRACE_CPU");
    char kept[64] = "";
    if (given != NULL)
        strncat(kept, given, sizeof kept - 1);
    own_decoders[OWN_BEST] = make_decoder(MR_JPEG_OWN); // under the mask that this program was given
    own_either = make_decoder(MR_JPEG_EITHER);
    own_turbo = make_decoder(MR_JPEG_LIBJPEG);
    for (size_t i = 0; i < OWN_BEST; i++) {
        setenv("MILLRACE_CPU", own_kernel_names[i], 1);
        own_decoders[i] = make_decoder(MR_JPEG_OWN);
    }
    unsetenv("MILLRACE_CPU");
    if (given != NULL)
        setenv("MILLRACE_CPU", kept, 1);
    return 0;
}

int own_teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < OWN_KERNELS; i++)
        mr_decoder_free(own_decoders[i]);
    mr_decoder_free(own_either);
    mr_decoder_free(own_turbo);
    return 0;
}

mr_rect own_region(uint32_t i, uint32_t width, uint32_t height, uint64_t *random)
{
    uint32_t x = picture_random_below(random, width), y = picture_random_below(random, height);
    uint32_t few = 1 + picture_random_below(random, 3);
    uint32_t w = few < width ? few : width, h = few < height ? few : height;
    switch (i) {
    case 0:
        return (mr_rect){x, y, 1, 1};
    case 1:
        return (mr_rect){0, y, width, 1};
    case 2:
        return (mr_rect){x, 0, 1, height};
    case 3:
        return (mr_rect){width - w, height - h, w, h};
    case 4:
        return (mr_rect){0, height - h, width, h};
    case 5:
        return (mr_rect){width - w, 0, w, height};
    case 6:
        return (mr_rect){0, 0, w, h};
    default:
        return picture_random_rect(random, width, height);
    }
}

/* The rows around an image: before it, behind it, and between its rows. */
typedef struct field {
    uint8_t *bytes;
    size_t nbytes;
    size_t stride;
    size_t lead; /* bytes before the first row */
    uint8_t fill;
    mr_image to;
} field;

static field make_field(const mr_image *shape, uint64_t *random)
{
    static const size_t gaps[] = {0, 1, 3, 10, 32, 77};
    size_t row = mr_image_row_nbytes(shape);
    field f = {.to = *shape, .fill = (uint8_t)(0x5a + picture_random_below(random, 2) * 0x4b)};
    f.stride = row + gaps[picture_random_below(random, sizeof gaps / sizeof *gaps)];
    f.lead = 64 + picture_random_below(random, 64); // any alignment
    f.nbytes = f.lead + f.stride * shape->height + 128;
    f.bytes = malloc(f.nbytes);
    assert_non_null(f.bytes);
    memset(f.bytes, f.fill, f.nbytes);
    f.to.stride = (ptrdiff_t)f.stride;
    f.to.pixels = f.bytes + f.lead;
    if (picture_random_below(random, 2) != 0)
        f.to = mr_image_upside_down(&f.to);
    return f;
}

static bool is_filled(const field *f, size_t from, size_t end)
{
    for (; from < end; from++)
        if (f->bytes[from] != f->fill)
            return false;
    return true;
}

static bool is_untouched(const field *f)
{
    size_t row = mr_image_row_nbytes(&f->to), end = f->lead + f->stride * f->to.height;
    bool good = is_filled(f, 0, f->lead) && is_filled(f, end, f->nbytes);
    for (size_t at = f->lead; at < end; at += f->stride)
        good = good && is_filled(f, at + row, at + f->stride);
    return good;
}

static void fail_case(const own_case *c, const char *who, mr_rect r, const char *why)
{
    fail_msg("%s, by %s, reduce %u, %u channels, region %u,%u %ux%u: %s", c->what, who, c->reduce, c->channels, r.x,
             r.y, r.width, r.height, why);
}

static int decode_part(mr_decoder *with, const char *who, const picture_file *file, mr_decode_hints hints,
                       mr_rect region, const mr_image *whole, const own_case *c)
{
    mr_image wanted;
    assert_int_equal(mr_image_crop(whole, region, &wanted), 0);
    field f = make_field(&wanted, c->random);
    hints.struct_size = sizeof hints;
    hints.region = region;
    int result = mr_decoder_decode_into(with, file->bytes, file->nbytes, &hints, &f.to);
    uint32_t same = result == 0 ? picture_same_rows(&f.to, &wanted) : 0;
    bool untouched = is_untouched(&f);
    free(f.bytes);
    if (!untouched)
        fail_case(c, who, region, "wrote beside it");
    if (result == 0 && same != wanted.height)
        fail_case(c, who, region, "other pixels than libjpeg's");
    return result;
}

void own_check_part(mr_decoder *with, const char *who, const picture_file *file, mr_decode_hints hints, mr_rect region,
                    const mr_image *whole, const own_case *c)
{
    if (decode_part(with, who, file, hints, region, whole, c) != 0)
        fail_case(c, who, region, mr_decoder_detail(with));
}

/* The row index of a file, ours to keep; free() it. NULL where there is none. */
static void *copy_index(const picture_file *file, size_t *nbytes)
{
    const void *index;
    mr_decoder *with = own_decoders[OWN_BEST];
    if (mr_decoder_index(with, file->bytes, file->nbytes, &index, nbytes) != 0)
        fail_msg("index: %s", mr_decoder_detail(with));
    return index != NULL ? picture_copy(index, *nbytes).bytes : NULL;
}

/* Without the index, and with it where there is one: as many ways to the same bytes. */
static void check_regions(const picture_file *file, const own_case *c, const mr_image *whole)
{
    mr_decode_hints hints = {.reduce = c->reduce, .channels = c->channels}, indexed = hints;
    void *index = c->regions != 0 ? copy_index(file, &indexed.index_nbytes) : NULL;
    indexed.index = index;
    for (uint32_t i = 0; i < c->regions; i++) {
        mr_rect region = own_region(i, whole->width, whole->height, c->random);
        for (size_t k = c->every_kernel ? 0 : OWN_BEST; k < OWN_KERNELS; k++)
            own_check_part(own_decoders[k], own_kernel_names[k], file, hints, region, whole, c);
        if (index != NULL)
            own_check_part(own_decoders[OWN_BEST], "ours with an index", file, indexed, region, whole, c);
        if (c->libjpeg_regions)
            own_check_part(own_turbo, "libjpeg", file, hints, region, whole, c);
    }
    free(index);
}

/* Neither takes what libjpeg does not. */
static int check_refusal(const picture_file *file, const own_case *c)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = c->reduce, .channels = c->channels};
    mr_image out;
    int result = mr_decoder_decode(own_decoders[OWN_BEST], file->bytes, file->nbytes, &hints, &out);
    if (result == 0)
        fail_msg("%s, reduce %u, %u channels: libjpeg does not decode it, ours does", c->what, c->reduce, c->channels);
    if (mr_decoder_decode(own_turbo, file->bytes, file->nbytes, &hints, &out) == 0)
        fail_msg("%s: libjpeg does not decode it, our path through it does", c->what);
    return result;
}

int own_check(const picture_file *file, const own_case *c, bool *plain_takes)
{
    mr_decode_hints hints = {.reduce = c->reduce, .channels = c->channels};
    mr_image whole;
    *plain_takes = plain_decode(file->bytes, file->nbytes, c->reduce, c->channels, &whole) >= 0;
    if (!*plain_takes)
        return check_refusal(file, c);
    mr_rect all = {0, 0, whole.width, whole.height};
    int result = decode_part(own_decoders[OWN_BEST], "ours", file, hints, all, &whole, c);
    if (result != 0 && result != MR_EUNSUPPORTED)
        fail_case(c, "ours", all, mr_decoder_detail(own_decoders[OWN_BEST]));
    for (size_t k = c->every_kernel ? 0 : OWN_BEST; result == 0 && k < OWN_BEST; k++)
        own_check_part(own_decoders[k], own_kernel_names[k], file, hints, all, &whole, c);
    own_check_part(own_turbo, "libjpeg", file, hints, all, &whole, c);
    if (result == 0)
        check_regions(file, c, &whole);
    else
        own_check_part(own_either, "either", file, hints, all, &whole, c);
    mr_image_fini(&whole, NULL);
    return result;
}

void own_must(const picture_file *file, const own_case *c)
{
    bool plain_takes;
    if (own_check(file, c, &plain_takes) != 0)
        fail_msg("%s, reduce %u, %u channels: %s%s", c->what, c->reduce, c->channels,
                 plain_takes ? "" : "libjpeg does not take it either: ", mr_decoder_detail(own_decoders[OWN_BEST]));
}

void own_skip_unless_x86(void)
{
#if defined(__x86_64__)
    bool is_x86 = true;
#else
    bool is_x86 = false;
#endif
    if (!is_x86 || getenv("JSIMD_FORCENONE") != NULL)
        skip();
}
