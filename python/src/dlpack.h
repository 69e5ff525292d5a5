// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_DLPACK_H
#define MILLRACE_PYTHON_DLPACK_H

#include "array.h"

/*
 * DLPack 1.x: how programs in one process hand arrays to each other. The layout of these structures is its ABI; the
 * names are ours, the numbers its. (https://dmlc.github.io/dlpack/latest/c_api.html)
 */
enum { MR_DL_VERSION_MAJOR = 1, MR_DL_VERSION_MINOR = 0 };
enum { MR_DL_CPU = 1 }; /* the device; its number is 0 */
enum { MR_DL_INT = 0, MR_DL_UINT = 1, MR_DL_FLOAT = 2, MR_DL_BFLOAT = 4 };
enum { MR_DL_READ_ONLY = 1, MR_DL_IS_COPIED = 2 };

typedef struct mr_dl_tensor {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t axes;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides; /* in numbers, not bytes */
    uint64_t byte_offset;
} mr_dl_tensor;

/* As it was before 1.0: capsules named "dltensor". */
typedef struct mr_dl_managed {
    mr_dl_tensor tensor;
    void *manager;
    void (*deleter)(struct mr_dl_managed *self);
} mr_dl_managed;

/* Capsules named "dltensor_versioned". */
typedef struct mr_dl_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct mr_dl_versioned *self);
    uint64_t flags;
    mr_dl_tensor tensor;
} mr_dl_versioned;

/* Array.__dlpack__ and Array.__dlpack_device__. */
PyObject *mr_py_array_dlpack(PyObject *self, PyObject *arguments, PyObject *options);
PyObject *mr_py_array_dlpack_device(PyObject *self, PyObject *none);

#endif
