// SPDX-License-Identifier: Apache-2.0
/*
 * Arrays by DLPack.
 *
 * 1. A deleter may run on any thread, without the GIL, and when the interpreter is gone: it calls no Python, and what
 *    it frees came from malloc.
 * 2. A capsule that was consumed has another name, and is then not ours to free.
 */
#include "dlpack.h"
#include <stdlib.h>

/* Both kinds begin their block; shape and strides stand behind. */
typedef struct lent {
    union {
        mr_dl_managed managed;
        mr_dl_versioned versioned;
    } as;
    mr_py_owner *owner;
    int64_t shape[MR_PY_AXES_MAX], strides[MR_PY_AXES_MAX];
} lent;

static const char OLD[] = "dltensor", VERSIONED[] = "dltensor_versioned";

static void delete_managed(mr_dl_managed *self)
{
    lent *l = self->manager;
    mr_py_unref(l->owner);
    free(l);
}

static void delete_versioned(mr_dl_versioned *self)
{
    lent *l = self->manager;
    mr_py_unref(l->owner);
    free(l);
}

/* A capsule that nobody consumed. Here the GIL is held. */
static void destroy_capsule(PyObject *capsule)
{
    bool old = PyCapsule_IsValid(capsule, OLD), versioned = PyCapsule_IsValid(capsule, VERSIONED);
    if (!old && !versioned)
        return;
    void *tensor = PyCapsule_GetPointer(capsule, old ? OLD : VERSIONED);
    lent *l = old ? ((mr_dl_managed *)tensor)->manager : ((mr_dl_versioned *)tensor)->manager;
    mr_py_drop(l->owner);
    free(l);
}

static void describe(const mr_py_array *a, lent *l, mr_dl_tensor *tensor)
{
    static const uint8_t codes[] = {
        [MR_PY_U8] = MR_DL_UINT,     [MR_PY_U16] = MR_DL_UINT, [MR_PY_F32] = MR_DL_FLOAT, [MR_PY_F16] = MR_DL_FLOAT,
        [MR_PY_BF16] = MR_DL_BFLOAT, [MR_PY_I64] = MR_DL_INT,  [MR_PY_U64] = MR_DL_UINT,  [MR_PY_F64] = MR_DL_FLOAT};
    size_t nbytes = mr_py_dtype_nbytes(a->dtype);
    for (int i = 0; i < a->axes; i++) {
        l->shape[i] = a->shape[i];
        l->strides[i] = a->strides[i] / (Py_ssize_t)nbytes;
    }
    *tensor = (mr_dl_tensor){.data = a->data,
                             .device = {MR_DL_CPU, 0},
                             .axes = a->axes,
                             .dtype = {codes[a->dtype], (uint8_t)(8 * nbytes), 1},
                             .shape = l->shape,
                             .strides = l->strides};
}

static PyObject *lend(const mr_py_array *a, bool versioned, bool copied)
{
    lent *l = calloc(1, sizeof *l);
    if (l == NULL)
        return PyErr_NoMemory();
    mr_dl_tensor *tensor = versioned ? &l->as.versioned.tensor : &l->as.managed.tensor;
    describe(a, l, tensor);
    if (versioned) {
        mr_dl_versioned *v = &l->as.versioned;
        v->version.major = MR_DL_VERSION_MAJOR;
        v->version.minor = MR_DL_VERSION_MINOR;
        v->manager = l;
        v->deleter = delete_versioned;
        v->flags = (a->readonly ? MR_DL_READ_ONLY : 0) | (copied ? MR_DL_IS_COPIED : 0);
    } else {
        l->as.managed.manager = l;
        l->as.managed.deleter = delete_managed;
    }
    l->owner = a->owner;
    mr_py_ref(l->owner);
    PyObject *capsule = PyCapsule_New(&l->as, versioned ? VERSIONED : OLD, destroy_capsule);
    if (capsule == NULL) {
        mr_py_drop(l->owner);
        free(l);
    }
    return capsule;
}

/* Two whole numbers of a tuple; -1 with a TypeError that says what they should be. */
static int two_numbers(PyObject *object, const char *what, long pair[2])
{
    if (PyTuple_Check(object) && PyTuple_Size(object) == 2) {
        pair[0] = PyLong_AsLong(PyTuple_GetItem(object, 0));
        pair[1] = PyErr_Occurred() == NULL ? PyLong_AsLong(PyTuple_GetItem(object, 1)) : 0;
        if (PyErr_Occurred() == NULL)
            return 0;
        PyErr_Clear();
    }
    PyErr_Format(PyExc_TypeError, "__dlpack__: %s must be a tuple of two whole numbers or None, not %R", what, object);
    return -1;
}

/* Whether the array can go where it is asked to. */
static int check_place(PyObject *stream, PyObject *device)
{
    long pair[2] = {MR_DL_CPU, 0};
    if (stream != Py_None) {
        PyErr_Format(PyExc_BufferError, "__dlpack__: stream must be None, not %R: the array is in the host's memory",
                     stream);
        return -1;
    }
    if (device != Py_None && two_numbers(device, "dl_device", pair) < 0)
        return -1;
    if (pair[0] == MR_DL_CPU && pair[1] == 0)
        return 0;
    PyErr_Format(PyExc_BufferError,
                 "__dlpack__: dl_device is (%ld, %ld), but the array is in the host's memory, (1, 0): import it there, "
                 "and move it by your framework",
                 pair[0], pair[1]);
    return -1;
}

PyObject *mr_py_array_dlpack(PyObject *self, PyObject *arguments, PyObject *options)
{
    static const char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *most = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "|$OOOO:__dlpack__", (char **)names, &stream, &most, &device,
                                     &copy))
        return NULL;
    long version[2] = {0, 0};
    bool copied = false;
    if (check_place(stream, device) < 0 || (most != Py_None && two_numbers(most, "max_version", version) < 0) ||
        (copy != Py_None && mr_py_truth("__dlpack__: copy", copy, &copied) < 0))
        return NULL;
    mr_py_array *a = (mr_py_array *)self;
    if (a->readonly && !copied && version[0] < 1) {
        PyErr_SetString(PyExc_BufferError, "__dlpack__: the array is read-only, which only DLPack 1.0 and later can "
                                           "say (max_version=(1, 0)); ask for a copy (copy=True, or Array.copy())");
        return NULL;
    }
    if (!copied)
        return lend(a, version[0] >= 1, false);
    PyObject *twin = mr_py_array_copy(self, NULL);
    PyObject *capsule = twin != NULL ? lend((mr_py_array *)twin, version[0] >= 1, true) : NULL;
    Py_XDECREF(twin);
    return capsule;
}

PyObject *mr_py_array_dlpack_device(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return Py_BuildValue("(ii)", MR_DL_CPU, 0);
}
