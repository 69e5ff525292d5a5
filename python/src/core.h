// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_CORE_H
#define MILLRACE_PYTHON_CORE_H

/*
 * The extension module millrace._core. Its objects are libmillrace's handles one to one (python/millrace/_core.pyi has
 * them all); what is pleasant is built on them in Python.
 *
 * 1. Nothing of libmillrace waits or works while the GIL is held: Py_BEGIN_ALLOW_THREADS around every such call.
 * 2. No thread of libmillrace's ever runs Python: hooks write into C memory, and the thread that called (which listens
 *    for signals meanwhile) shows it: work.h.
 * 3. Memory that views show is counted in C (mr_py_owner), so that the last view may go without the GIL, on any
 *    thread, and after the interpreter is gone.
 * 4. No Python while a mutex of ours is held, for any object that is made may run the collector, and that a finalizer
 *    which comes back here; no wait for one with the GIL, unless its holder needs none.
 * 5. Only the limited API of 3.11, heap types, no static state: everything is in the module's state.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <millrace/millrace.h>
#include <stdatomic.h>

/*
 * What memory belongs to. Whoever shows it has a reference. `free` may run without the GIL, on any thread; it frees the
 * owner itself. The parent, of which the owner has a reference (a batch's loader, a loader's dataset), is let go after.
 */
typedef struct mr_py_owner {
    atomic_size_t references;
    void (*free)(struct mr_py_owner *owner);
    struct mr_py_owner *parent; /* may be NULL */
    bool waits;                 /* `free` may take long */
} mr_py_owner;

/* With one reference, the caller's; takes one of the parent. */
void mr_py_owner_init(mr_py_owner *owner, void (*free)(mr_py_owner *owner), mr_py_owner *parent);
void mr_py_ref(mr_py_owner *owner);
void mr_py_unref(mr_py_owner *owner); /* from anywhere; NULL is accepted */
void mr_py_drop(mr_py_owner *owner);  /* the same by who has the GIL: it is released while freeing waits */

/*
 * Py_BEGIN_ALLOW_THREADS and its end for what is let go of. Not when the process is ending: a thread that then asks for
 * the GIL anew may be ended instead, with what it was about to free. NULL: it was not released.
 */
PyThreadState *mr_py_release(void);
void mr_py_regain(PyThreadState *thread);

/* The same for work on so many bytes; NULL where it costs less than releasing the GIL does. */
PyThreadState *mr_py_release_for(size_t nbytes);

/* Copies, without the GIL where it is much: what is copied must stay without it. */
void mr_py_copy(void *to, const void *from, size_t nbytes);

/* Memory of its own, zeroed, 64-byte aligned: *data stays until the owner goes. Needs no GIL; NULL without an exception
 * where there is none. */
mr_py_owner *mr_py_memory(size_t nbytes, void **data);

typedef struct mr_py_state {
    PyObject *errors[16]; /* by -code; errors[0] is Error */
    PyTypeObject *array_type, *recipe_type, *dataset_type, *batch_type, *loader_type, *preparer_type;
    struct mr_py_codecs *codecs; /* codec.c's */
} mr_py_state;

mr_py_state *mr_py_state_of(PyObject *module);
mr_py_state *mr_py_state_of_type(PyTypeObject *type); /* of a type of ours */

/* Sets the exception of a code, with the detail (NULL or "": the code's own text); returns NULL. */
PyObject *mr_py_raise(mr_py_state *state, int code, const char *detail);

/* MR_EARGUMENT with a text made as PyUnicode_FromFormat makes it; returns NULL. */
PyObject *mr_py_refuse(mr_py_state *state, const char *format, ...);

/* MR_ENOMEM for so many bytes, in place of the exception that there may be; returns NULL. */
PyObject *mr_py_no_memory(mr_py_state *state, size_t nbytes);

/*
 * Numbers and texts of arguments, for which `what` is the name that errors have: TypeError, or ArgumentError for a
 * number beyond 0 to `most`. 0, or -1 with an exception.
 */
int mr_py_number(mr_py_state *state, const char *what, PyObject *object, uint64_t most, uint64_t *number);
int mr_py_truth(const char *what, PyObject *object, bool *truth);
const char *mr_py_text(const char *what, PyObject *object); /* the object's; NULL with an exception */

/* A bytes object of so many, to be written by who made it; one that is a copy. NULL with an exception. */
PyObject *mr_py_bytes_blank(mr_py_state *state, size_t nbytes);
PyObject *mr_py_bytes(mr_py_state *state, const void *from, size_t nbytes);

typedef enum mr_py_dtype {
    MR_PY_U8,
    MR_PY_U16,
    MR_PY_F32,
    MR_PY_F16,
    MR_PY_BF16,
    MR_PY_I64,
    MR_PY_U64,
    MR_PY_F64
} mr_py_dtype;

enum { MR_PY_AXES_MAX = 6 };

/* What the Array of a name is of; -1 with an exception. NumPy's names, as Array.dtype gives them. */
const char *mr_py_dtype_name(mr_py_dtype dtype);
size_t mr_py_dtype_nbytes(mr_py_dtype dtype);
mr_py_dtype mr_py_dtype_of(mr_dtype dtype); /* of a recipe's */

/* An array without gaps over memory of the owner, of which it takes a reference of its own. `data` may be NULL where
 * an axis is 0. */
PyObject *mr_py_array_new(mr_py_state *state, mr_py_owner *owner, const void *data, mr_py_dtype dtype, int axes,
                          const size_t *shape, bool readonly);

/* One of 1 to 4 channels, with memory of its own, to decode into: *image is the view of it. Gray has two axes. */
PyObject *mr_py_array_of_image(mr_py_state *state, const mr_image *shape, mr_image *image);

/* An array with memory of its own, zeroed; *data, if not NULL, is where. */
PyObject *mr_py_array_own(mr_py_state *state, mr_py_dtype dtype, int axes, const size_t *shape, void **data);

/* Pixels that an object shows by the buffer protocol: height x width (x channels), of 8 or 16 bits, rows anywhere. They
 * stay until PyBuffer_Release(buffer). -1 with an exception. */
int mr_py_image_of(mr_py_state *state, PyObject *object, Py_buffer *buffer, mr_image *image);

/* What a recipe, a dataset hold; NULL with a TypeError for another object. */
mr_recipe *mr_py_recipe_of(mr_py_state *state, PyObject *object);

/* What a Recipe gives for one sample. -1 with an exception. */
int mr_py_recipe_output(PyObject *recipe, mr_output *output);

/* A dataset is counted as memory is: loaders outlive its object. */
typedef struct mr_py_dataset {
    mr_py_owner owner;
    mr_dataset *dataset;
} mr_py_dataset;

mr_py_dataset *mr_py_dataset_of(mr_py_state *state, PyObject *object);

/* A batch of a loader, which the Batch takes with one reference of the loader's owner. */
typedef struct mr_py_loader mr_py_loader;
PyObject *mr_py_batch_new(mr_py_state *state, mr_py_loader *loader, mr_batch *batch);

/* A label as a Python object; a new reference. Its memory must stay without the GIL. */
PyObject *mr_py_label(mr_py_state *state, const mr_label *label);

/* Targets as a dict: those that were asked for (MR_TARGET_...), of no objects too. With `owner` NULL its arrays are
 * copies. */
PyObject *mr_py_targets(mr_py_state *state, const mr_targets *targets, uint32_t asked, mr_py_owner *owner);

/* A copy of targets, in memory of the owner that is returned, which needs no Python; NULL: there is no memory. */
mr_py_owner *mr_py_targets_copy(const mr_targets *targets, mr_targets *copy);

/* Of "boxes", "masks", ...: MR_TARGET_... . -1 with an exception. */
int mr_py_target_bits(mr_py_state *state, PyObject *names, uint32_t *bits);

/* Limits of a mapping; None: all zero. -1 with an exception. */
int mr_py_limits(mr_py_state *state, PyObject *mapping, mr_limits *limits);

/* The number of a name in a list that ends with NULL. -1 with an exception that lists them. */
int mr_py_choice(mr_py_state *state, const char *what, const char *name, const char *const *names);

/* Each adds its types and functions to the module. 0, or -1 with an exception. */
int mr_py_add_errors(PyObject *module, mr_py_state *state);
int mr_py_add_array(PyObject *module, mr_py_state *state);
int mr_py_add_recipe(PyObject *module, mr_py_state *state);
int mr_py_add_dataset(PyObject *module, mr_py_state *state);
int mr_py_add_batch(PyObject *module, mr_py_state *state);
int mr_py_add_loader(PyObject *module, mr_py_state *state);
int mr_py_add_preparer(PyObject *module, mr_py_state *state);
int mr_py_add_codec(PyObject *module, mr_py_state *state);
int mr_py_add_pack(PyObject *module, mr_py_state *state);

/* _core.devices(): devices.c. */
PyObject *mr_py_devices(PyObject *module, PyObject *none);

/* What mr_py_add_codec made; when the module goes. */
void mr_py_free_codec(mr_py_state *state);

#endif
