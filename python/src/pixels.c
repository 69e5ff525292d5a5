// SPDX-License-Identifier: Apache-2.0
/* Images that the program has, by the buffer protocol. */
#include "core.h"
#include <string.h>

/* 8, 16, or 0 for numbers that pixels cannot be. */
static uint32_t depth_of(const Py_buffer *buffer)
{
    const char *format = buffer->format != NULL ? buffer->format : "B";
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    return strcmp(format, "B") == 0 ? 8 : strcmp(format, "H") == 0 ? 16 : 0;
}

/* What is wrong with it, or NULL. */
static const char *read_image(const Py_buffer *b, mr_image *image)
{
    uint32_t depth = depth_of(b);
    if (depth == 0)
        return "its numbers must be uint8 or uint16";
    if (b->ndim != 2 && b->ndim != 3)
        return "its shape must be (height, width) or (height, width, channels)";
    Py_ssize_t channels = b->ndim == 3 ? b->shape[2] : 1;
    if (channels < 1 || channels > 4)
        return "it must have 1 to 4 channels, as its last axis";
    if (b->shape[0] < 1 || b->shape[1] < 1 || b->shape[0] > INT32_MAX || b->shape[1] > INT32_MAX)
        return "its sides must be 1 to 2147483647";
    if ((b->ndim == 3 && channels > 1 && b->strides[2] != b->itemsize) ||
        (b->shape[1] > 1 && b->strides[1] != b->itemsize * channels))
        return "the pixels of a row must stand without gaps (numpy.ascontiguousarray makes it so)";
    Py_ssize_t row = b->shape[1] * channels * b->itemsize;
    *image = (mr_image){(uint32_t)b->shape[1],
                        (uint32_t)b->shape[0],
                        (uint32_t)channels,
                        depth,
                        b->shape[0] > 1 ? b->strides[0] : row,
                        b->buf};
    return mr_image_is_valid(image) ? NULL : "its rows must not overlap, and numbers of 16 bits must be aligned";
}

int mr_py_image_of(mr_py_state *state, PyObject *object, Py_buffer *buffer, mr_image *image)
{
    if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return -1;
    const char *problem = read_image(buffer, image);
    if (problem == NULL)
        return 0;
    mr_py_refuse(state, "image: %s", problem);
    PyBuffer_Release(buffer);
    return -1;
}
