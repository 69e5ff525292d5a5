// SPDX-License-Identifier: Apache-2.0
#include "filtering.h"
#include "picture.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static mr_image image_of(uint32_t width, uint32_t height, uint32_t channels)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, 8, NULL), 0);
    return image;
}

static uint8_t *row_of(const mr_image *image, uint32_t y)
{
    return (uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

mr_image filtering_picture(uint32_t width, uint32_t height, uint32_t channels, uint32_t kind)
{
    mr_image image = image_of(width, height, channels);
    size_t row = (size_t)width * channels;
    uint8_t *noise = malloc(row * height);
    assert_non_null(noise);
    picture_noise(noise, row * height, 7);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t i = 0; i < row; i++) {
            uint32_t v = noise[y * row + i], x = i / channels, c = i % channels;
            row_of(&image, y)[i] = (uint8_t)(kind == 0   ? v
                                             : kind == 1 ? (v < 128 ? 0 : 255)
                                                         : (5 * x + 3 * y + 40 * c) % 240 + v % 16);
        }
    free(noise);
    return image;
}

/* Rows without a gap, in a block that ends with them. */
static mr_image cut(const mr_image *image, mr_rect part)
{
    mr_image to = {part.width, part.height, image->channels, 8, (ptrdiff_t)((size_t)part.width * image->channels),
                   NULL};
    to.pixels = malloc((size_t)to.stride * part.height);
    assert_non_null(to.pixels);
    for (uint32_t y = 0; y < part.height; y++)
        memcpy(row_of(&to, y), row_of(image, part.y + y) + (size_t)part.x * image->channels, (size_t)to.stride);
    return to;
}

mr_image filtering_part(mr__op op, const mr_image *image, mr_rect part, mr__cpu_flags cpu)
{
    mr_hooks hooks;
    mr__op_tools *tools;
    mr__detail detail;
    const mr__op_type *type = mr__op_types[op.kind];
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, cpu, &tools), 0);
    op.width = op.to_width = image->width;
    op.height = op.to_height = image->height;
    op.to = part;
    op.from = type->need(&op, part);
    assert_true(op.from.x + op.from.width <= image->width && op.from.y + op.from.height <= image->height);
    mr__op_work work = {.op = &op, .tools = tools, .from = cut(image, op.from), .detail = &detail};
    work.to = image_of(part.width, part.height, image->channels);
    assert_int_equal(type->run(&work), 0);
    free(work.from.pixels);
    mr__op_tools_free(tools);
    return work.to;
}

mr_image filtering_whole(mr__op op, const mr_image *image, mr__cpu_flags cpu)
{
    return filtering_part(op, image, (mr_rect){0, 0, image->width, image->height}, cpu);
}

void filtering_check_parts(mr__op op, const mr_image *image, uint64_t *seed)
{
    mr_image whole = filtering_whole(op, image, 0), again = filtering_whole(op, image, mr__cpu_detect());
    picture_compare(&again, &whole, "with this processor's instructions");
    for (size_t i = 0; i < 4; i++) {
        mr_rect part = picture_random_rect(seed, image->width, image->height);
        mr_image got = filtering_part(op, image, part, i % 2 == 0 ? mr__cpu_detect() : 0);
        assert_true(picture_is_part(&whole, part, &got));
        mr_image_fini(&got, NULL);
    }
    mr_image_fini(&again, NULL);
    mr_image_fini(&whole, NULL);
}

size_t filtering_count_near(const mr_image *got, const uint8_t *wanted)
{
    size_t row = (size_t)got->width * got->channels, count = 0;
    for (uint32_t y = 0; y < got->height; y++)
        for (size_t i = 0; i < row; i++) {
            int difference = row_of(got, y)[i] - wanted[y * row + i];
            if (difference < -1 || difference > 1)
                fail_msg("row %u, sample %zu is %u, and %u in the reference", y, i, row_of(got, y)[i],
                         wanted[y * row + i]);
            count += difference != 0;
        }
    return count;
}
