// SPDX-License-Identifier: Apache-2.0
#include "form_file.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/codec.h"
#include "l3_file.h"
#include "png_reference.h"
#include "test.h"
#include "webp_file.h"

#include <stdlib.h>
#include <string.h>

static const struct file_kind {
    mr_form form;
    uint32_t channels, depth, orientation;
    bool lossless, progressive;
} kinds[] = {
    {MR_FORM_JPEG, 3, 8, 6, false, false}, {MR_FORM_JPEG, 1, 8, 3, false, true},  {MR_FORM_PNG, 3, 8, 7, false, false},
    {MR_FORM_PNG, 4, 16, 1, false, false}, {MR_FORM_PNG, 1, 8, 2, false, false},  {MR_FORM_WEBP, 3, 8, 5, false, false},
    {MR_FORM_WEBP, 4, 8, 8, false, false}, {MR_FORM_WEBP, 4, 8, 4, true, false},  {MR_FORM_PNM, 3, 8, 1, false, false},
    {MR_FORM_PNM, 2, 16, 1, false, false}, {MR_FORM_RAW, 1, 16, 6, false, false}, {MR_FORM_RAW, 4, 8, 5, false, false},
    {MR_FORM_L3, 3, 8, 7, false, false},   {MR_FORM_L3, 4, 8, 2, false, false},   {MR_FORM_L3, 2, 16, 6, false, false},
};

static bool can_encode(mr_form form)
{
    const mr__codec *codec = mr__codec_of_form(form);
    return codec != NULL && codec->encode != NULL;
}

/* The i-th kind of those that can be encoded. */
static const struct file_kind *find_kind(size_t i)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (can_encode(kinds[k].form) && i-- == 0)
            return &kinds[k];
    return NULL;
}

size_t form_file_count(void)
{
    size_t count = 0;
    while (find_kind(count) != NULL)
        count++;
    return count;
}

picture_file form_file_make(size_t i, mr_form *form)
{
    const struct file_kind *k = find_kind(i);
    assert_non_null(k);
    mr_image image = picture_make(21, 13, k->channels, k->depth, i);
    mr_encode_options options = {.struct_size = sizeof options,
                                 .form = k->form,
                                 .orientation = k->orientation,
                                 .lossless = k->lossless,
                                 .progressive = k->progressive};
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    *form = k->form;
    return file;
}

/* Finds the frame header (SOF0) and writes the largest size that JPEG has. */
static void enlarge_jpeg(picture_file *file)
{
    size_t at = 2;
    while (file->bytes[at + 1] != 0xc0)
        at += 2 + (size_t)mr__load_be16(file->bytes + at + 2);
    mr__store_be16(file->bytes + at + 5, 65500);
    mr__store_be16(file->bytes + at + 7, 65500);
}

static void enlarge_png(picture_file *file)
{
    mr__store_be32(file->bytes + 16, 100000);
    mr__store_be32(file->bytes + 20, 100000);
    png_fix_checksums(file);
}

static void enlarge_raw(picture_file *file)
{
    mr__store_le32(file->bytes + 16, 100000);
    mr__store_le32(file->bytes + 20, 100000);
    mr__store_le64(file->bytes + 56, mr__hash(file->bytes, 56));
}

/* A picture has at most 2^28 pixels; the canvas of an animation 2^32, here 60000 a side. */
static void enlarge_webp(picture_file *file)
{
    picture_file frame = *file;
    *file = webp_animate((const picture_file *const[2]){&frame, &frame}, 0, 0);
    free(frame.bytes);
    mr__store_le16(file->bytes + 24, 59999);
    mr__store_le16(file->bytes + 27, 59999);
}

/* Every tile of it has its place in the index, and a few bytes. */
static picture_file make_huge_l3(void)
{
    l3_spec spec = l3_spec_pixel();
    spec.width = spec.height = 100000;
    spec.tile_width = spec.tile_height = 512;
    return l3_file_make(&spec);
}

picture_file form_file_huge(mr_form form)
{
    if (!can_encode(form))
        return (picture_file){0};
    if (form == MR_FORM_L3)
        return make_huge_l3();
    if (form == MR_FORM_PNM)
        return picture_copy("P6 100000 100000 255\nabc", 24);
    mr_image image = picture_make(21, 13, 3, 8, 1);
    mr_encode_options options = {.struct_size = sizeof options, .form = form};
    picture_file file = picture_encode(&image, &options);
    mr_image_fini(&image, NULL);
    if (form == MR_FORM_JPEG)
        enlarge_jpeg(&file);
    else if (form == MR_FORM_PNG)
        enlarge_png(&file);
    else if (form == MR_FORM_RAW)
        enlarge_raw(&file);
    else if (form == MR_FORM_WEBP)
        enlarge_webp(&file);
    return file;
}
