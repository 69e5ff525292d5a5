// SPDX-License-Identifier: Apache-2.0
/* The numbers of arrays as Python's. */
#include "array.h"
#include <math.h>
#include <string.h>

static double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double sign = half >> 15 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static double brain_to_double(uint16_t brain)
{
    uint32_t bits = (uint32_t)brain << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Copied, because an array over foreign bytes need not be aligned. */
#define LOAD(type, at) (*(type *)memcpy(&(type){0}, at, sizeof(type)))

PyObject *mr_py_array_value(const mr_py_array *array, const char *at)
{
    switch (array->dtype) {
    case MR_PY_U8:
        return PyLong_FromLong(LOAD(uint8_t, at));
    case MR_PY_U16:
        return PyLong_FromLong(LOAD(uint16_t, at));
    case MR_PY_F32:
        return PyFloat_FromDouble((double)LOAD(float, at));
    case MR_PY_F16:
        return PyFloat_FromDouble(half_to_double(LOAD(uint16_t, at)));
    case MR_PY_BF16:
        return PyFloat_FromDouble(brain_to_double(LOAD(uint16_t, at)));
    case MR_PY_I64:
        return PyLong_FromLongLong(LOAD(int64_t, at));
    case MR_PY_U64:
        return PyLong_FromUnsignedLongLong(LOAD(uint64_t, at));
    default:
        return PyFloat_FromDouble(LOAD(double, at));
    }
}

static PyObject *list_axis(const mr_py_array *a, int axis, const char *at)
{
    if (axis == a->axes)
        return mr_py_array_value(a, at);
    PyObject *list = PyList_New(a->shape[axis]);
    for (Py_ssize_t i = 0; list != NULL && i < a->shape[axis]; i++) {
        PyObject *part = list_axis(a, axis + 1, at + i * a->strides[axis]);
        if (part == NULL || PyList_SetItem(list, i, part) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *mr_py_array_tolist(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_array *a = (mr_py_array *)self;
    return list_axis(a, 0, a->data);
}

/* The first axis behind which all numbers stand without gaps. */
static int dense_from(const mr_py_array *a, size_t *nbytes)
{
    int axis = a->axes;
    *nbytes = mr_py_dtype_nbytes(a->dtype);
    while (axis > 0 && (a->shape[axis - 1] == 1 || a->strides[axis - 1] == (Py_ssize_t)*nbytes))
        *nbytes *= (size_t)a->shape[--axis];
    return axis;
}

static char *pour_blocks(const mr_py_array *a, int axis, int dense, size_t nbytes, const char *from, char *to)
{
    if (axis == dense) {
        memcpy(to, from, nbytes);
        return to + nbytes;
    }
    for (Py_ssize_t i = 0; i < a->shape[axis]; i++)
        to = pour_blocks(a, axis + 1, dense, nbytes, from + i * a->strides[axis], to);
    return to;
}

void mr_py_array_pour(const mr_py_array *array, char *to)
{
    if (mr_py_array_count(array) == 0)
        return;
    size_t nbytes;
    int dense = dense_from(array, &nbytes);
    pour_blocks(array, 0, dense, nbytes, array->data, to);
}
