// SPDX-License-Identifier: Apache-2.0
/*
 * Owners: what keeps memory that views show. Nothing of theirs calls Python but mr_py_drop, around what waits. And
 * copies into memory of Python's.
 */
#include "core.h"
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, MUCH_NBYTES = 64 << 10 };

void mr_py_owner_init(mr_py_owner *owner, void (*free_owner)(mr_py_owner *owner), mr_py_owner *parent)
{
    atomic_init(&owner->references, 1);
    owner->free = free_owner;
    owner->parent = parent;
    owner->waits = false;
    if (parent != NULL)
        mr_py_ref(parent);
}

void mr_py_ref(mr_py_owner *owner)
{
    atomic_fetch_add_explicit(&owner->references, 1, memory_order_relaxed);
}

static bool was_last(mr_py_owner *owner)
{
    return owner != NULL && atomic_fetch_sub_explicit(&owner->references, 1, memory_order_acq_rel) == 1;
}

void mr_py_unref(mr_py_owner *owner)
{
    while (was_last(owner)) {
        mr_py_owner *parent = owner->parent;
        owner->free(owner);
        owner = parent;
    }
}

/* Asked of sys, as the limited API has no function for it before 3.13. Without an answer it is taken to be so. */
static bool is_finalizing(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback); // whoever lets go may have one
    PyObject *ask = PySys_GetObject("is_finalizing");
    PyObject *answer = ask != NULL ? PyObject_CallNoArgs(ask) : NULL;
    bool is = answer != Py_False;
    Py_XDECREF(answer);
    PyErr_Restore(type, value, traceback);
    return is;
}

PyThreadState *mr_py_release(void)
{
    return is_finalizing() ? NULL : PyEval_SaveThread();
}

void mr_py_regain(PyThreadState *thread)
{
    if (thread != NULL)
        PyEval_RestoreThread(thread);
}

PyThreadState *mr_py_release_for(size_t nbytes)
{
    return nbytes >= MUCH_NBYTES ? PyEval_SaveThread() : NULL;
}

void mr_py_copy(void *to, const void *from, size_t nbytes)
{
    if (nbytes == 0) // of nothing there may be no address
        return;
    PyThreadState *thread = mr_py_release_for(nbytes);
    memcpy(to, from, nbytes);
    mr_py_regain(thread);
}

PyObject *mr_py_bytes_blank(mr_py_state *state, size_t nbytes)
{
    PyObject *bytes = nbytes <= (size_t)PY_SSIZE_T_MAX ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)nbytes) : NULL;
    return bytes != NULL ? bytes : mr_py_no_memory(state, nbytes);
}

PyObject *mr_py_bytes(mr_py_state *state, const void *from, size_t nbytes)
{
    PyObject *bytes = mr_py_bytes_blank(state, nbytes);
    if (bytes != NULL)
        mr_py_copy(PyBytes_AsString(bytes), from, nbytes);
    return bytes;
}

void mr_py_drop(mr_py_owner *owner)
{
    while (was_last(owner)) {
        mr_py_owner *parent = owner->parent;
        PyThreadState *thread = owner->waits ? mr_py_release() : NULL;
        owner->free(owner);
        mr_py_regain(thread);
        owner = parent;
    }
}

static void free_memory(mr_py_owner *owner)
{
    free(owner);
}

/* It stands behind its owner, in one block. */
mr_py_owner *mr_py_memory(size_t nbytes, void **data)
{
    size_t head = sizeof(mr_py_owner) + ALIGN - 1;
    // calloc, for it does not touch pages that the system has zeroed already
    mr_py_owner *owner = nbytes <= (size_t)PY_SSIZE_T_MAX - head ? calloc(1, head + nbytes) : NULL;
    if (owner == NULL)
        return NULL;
    mr_py_owner_init(owner, free_memory, NULL);
    *data = (void *)(((uintptr_t)owner + head) / ALIGN * ALIGN);
    return owner;
}
