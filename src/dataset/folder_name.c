// SPDX-License-Identifier: Apache-2.0
#include "dataset/folder_name.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

/* The next code point of a string that ends with a zero, 0 at its end. */
static uint32_t next_point(const uint8_t **text)
{
    const uint8_t *at = *text;
    size_t left = strnlen((const char *)at, 4), nbytes = left != 0 ? mr__utf8_nbytes(at, left) : 0;
    if (left == 0)
        return 0;
    *text += nbytes != 0 ? nbytes : 1;
    if (nbytes == 0)
        return 0xdc00u + *at;
    uint32_t point = nbytes == 1 ? *at : *at & (0x7fu >> nbytes);
    for (size_t i = 1; i < nbytes; i++)
        point = point << 6 | (at[i] & 0x3fu);
    return point;
}

int mr__name_compare(const char *one, const char *other)
{
    const uint8_t *a = (const uint8_t *)one, *b = (const uint8_t *)other;
    size_t i = 0;
    while (a[i] == b[i] && a[i] != 0)
        i++;
    if (a[i] == b[i])
        return 0;
    size_t start = i; /* of the character that differs, or before it */
    while (start > 0 && a[start - 1] >= 0x80)
        start--;
    if (start == i && (a[i] < 0x80 || b[i] < 0x80))
        return (int)a[i] - (int)b[i];
    for (a += start, b += start;;) {
        uint32_t x = next_point(&a), y = next_point(&b);
        if (x != y || x == 0)
            return (x > y) - (x < y);
    }
}

static void merge(const uint32_t *from, uint32_t *to, size_t middle, size_t count, mr__name_order *order,
                  const void *context)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < count; i++)
        to[i] = b == count || (a < middle && order(context, from[a], from[b]) <= 0) ? from[a++] : from[b++];
}

void mr__name_sort(uint32_t *items, uint32_t *spare, size_t count, mr__name_order *order, const void *context)
{
    uint32_t *from = items, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t some = count - i < 2 * width ? count - i : 2 * width, middle = some < width ? some : width;
            if (middle == some || order(context, from[i + middle - 1], from[i + middle]) <= 0)
                memcpy(to + i, from + i, some * sizeof *to); /* sorted already */
            else
                merge(from + i, to + i, middle, some, order, context);
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

bool mr__name_is_image(const char *name, mr_form *form)
{
    static const char theirs[][5] = {"jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp"};
    const char *dot = strrchr(name, '.');
    if (dot == NULL)
        return false;
    *form = mr_form_from_name(dot + 1);
    if (*form == MR_FORM_L3 || *form == MR_FORM_RAW)
        return true;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        if (strcasecmp(dot + 1, theirs[i]) == 0)
            return true;
    return false;
}
