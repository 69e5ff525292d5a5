// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_WORDS_H
#define MILLRACE_PYTHON_WORDS_H

#include "core.h"

/* Text as Python has it, and bytes that are no UTF-8 in it as os.fsdecode has them; a new reference. */
PyObject *mr_py_str(const char *text, size_t nbytes);

/* The bytes of such text; a new reference to bytes. */
PyObject *mr_py_str_bytes(PyObject *text);

/* PyArg_ParseTupleAndKeywords with names that are const. */
int mr_py_parse(PyObject *args, PyObject *keywords, const char *format, const char *const *names, ...);

/* For PyArg_Parse...'s "O&": a number of so many bits; a path as bytes, which is NULL for None. */
int mr_py_to_u32(PyObject *object, void *to);
int mr_py_to_u64(PyObject *object, void *to);
int mr_py_to_path(PyObject *object, void *to);

/* Py_True or Py_False, borrowed. */
PyObject *mr_py_bool(bool value);

/* Reads all entries of a mapping into `to`, until one is refused. 0, or -1 with an exception. */
typedef int mr_py_entry(mr_py_state *state, PyObject *name, PyObject *value, void *to);
int mr_py_entries(mr_py_state *state, PyObject *mapping, mr_py_entry *read, void *to);

/* Puts `value`, of which it takes the reference, under the name; NULL is an exception that is set already. */
int mr_py_put(PyObject *dict, const char *name, PyObject *value);

/* An array of numbers that are copied, or of the owner's; zeros where `numbers` is NULL. */
PyObject *mr_py_numbers(mr_py_state *state, mr_py_owner *owner, const void *numbers, mr_py_dtype dtype, int axes,
                        const size_t *shape);

#endif
