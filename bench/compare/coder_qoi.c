// SPDX-License-Identifier: Apache-2.0
#include "coder.h"

#ifdef CODER_QOI
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* qoi.h hands out memory of its own. So that it writes where all the others write, it is given that memory. */
static _Thread_local void *given;

static void *take(size_t nbytes)
{
    void *memory = given != NULL ? given : malloc(nbytes);
    given = NULL;
    return memory;
}

#define QOI_IMPLEMENTATION
#define QOI_NO_STDIO
#define QOI_MALLOC(nbytes) take(nbytes)
#define QOI_FREE(memory)   free(memory)
#include <qoi.h>

static bool encode(const mr_image *image, blob *out)
{
    qoi_desc shape = {.width = image->width, .height = image->height, .channels = 3, .colorspace = QOI_SRGB};
    int nbytes = 0;
    given = NULL;
    out->bytes = qoi_encode(image->pixels, &shape, &nbytes);
    out->nbytes = (size_t)nbytes;
    return out->bytes != NULL;
}

static bool decode(void *state, const blob *stored, const mr_image *to)
{
    qoi_desc shape;
    (void)state;
    given = to->pixels;
    bool good = qoi_decode(stored->bytes, (int)stored->nbytes, &shape, 3) == to->pixels && shape.width == to->width &&
                shape.height == to->height;
    given = NULL;
    return good;
}

static const coder qoi = {.name = "QOI", .made = "qoi.h", .encode = encode, .decode = decode};
const coder *const coder_qoi = &qoi;
#else
const coder *const coder_qoi = NULL;
#endif
