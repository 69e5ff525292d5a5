// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_ARRAY_H
#define MILLRACE_PYTHON_ARRAY_H

#include "core.h"

/* Never changes once it is made, so that threads may share it, and buffers may point at its shape. */
typedef struct mr_py_array {
    PyObject_HEAD mr_py_owner *owner;
    char *data;
    mr_py_dtype dtype;
    int axes;
    bool readonly;
    Py_ssize_t shape[MR_PY_AXES_MAX];
    Py_ssize_t strides[MR_PY_AXES_MAX]; /* bytes */
} mr_py_array;

Py_ssize_t mr_py_array_count(const mr_py_array *array); /* of its numbers */

/* Its numbers without gaps, in memory of its own, which may be written. */
PyObject *mr_py_array_copy(PyObject *self, PyObject *none);

/* Array.tolist, and the one number of an array of one: values.c. */
PyObject *mr_py_array_tolist(PyObject *self, PyObject *none);
PyObject *mr_py_array_value(const mr_py_array *array, const char *at);

/* What notebooks show of it, a PNG file; None where it is no picture: codec.c. */
PyObject *mr_py_array_png(PyObject *self, PyObject *none);

/* Copies the numbers of an array to where they stand without gaps. */
void mr_py_array_pour(const mr_py_array *array, char *to);

#endif
