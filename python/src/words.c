// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PyObject *mr_py_str(const char *text, size_t nbytes)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)nbytes, "surrogateescape");
}

PyObject *mr_py_str_bytes(PyObject *text)
{
    return PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
}

int mr_py_parse(PyObject *args, PyObject *keywords, const char *format, const char *const *names, ...)
{
    va_list to;
    va_start(to, names);
    int good = PyArg_VaParseTupleAndKeywords(args, keywords, format, (char **)(uintptr_t)names, to);
    va_end(to);
    return good;
}

int mr_py_to_u64(PyObject *object, void *to)
{
    PyObject *number = PyNumber_Index(object);
    if (number == NULL)
        return 0;
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (value == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        PyErr_Format(PyExc_ValueError, "%R is not a whole number from 0 to 2^64 - 1", object);
        return 0;
    }
    *(uint64_t *)to = value;
    return 1;
}

int mr_py_to_u32(PyObject *object, void *to)
{
    uint64_t value;
    if (!mr_py_to_u64(object, &value))
        return 0;
    if (value > UINT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%R is not a whole number from 0 to 2^32 - 1", object);
        return 0;
    }
    *(uint32_t *)to = (uint32_t)value;
    return 1;
}

int mr_py_to_path(PyObject *object, void *to)
{
    if (object == Py_None)
        return 1;
    return PyUnicode_FSConverter(object, to);
}

PyObject *mr_py_bool(bool value)
{
    return value ? Py_True : Py_False;
}

int mr_py_put(PyObject *dict, const char *name, PyObject *value)
{
    int result = value != NULL ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return result;
}

static PyObject *list_of_numbers(const mr_label *label)
{
    PyObject *list = PyList_New((Py_ssize_t)label->count);
    for (size_t i = 0; list != NULL && i < label->count; i++) {
        const char *from = (const char *)label->values + i * 8; /* unaligned */
        int64_t integer;
        double real;
        memcpy(&integer, from, 8);
        memcpy(&real, from, 8);
        PyObject *number = label->kind == MR_LABEL_INTS ? PyLong_FromLongLong(integer) : PyFloat_FromDouble(real);
        if (number == NULL || PyList_SetItem(list, (Py_ssize_t)i, number) != 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *mr_py_label(mr_py_state *state, const mr_label *label)
{
    switch (label->kind) {
    case MR_LABEL_INT:
        return PyLong_FromLongLong(label->integer);
    case MR_LABEL_FLOAT:
        return PyFloat_FromDouble(label->real);
    case MR_LABEL_INTS:
    case MR_LABEL_FLOATS:
        return list_of_numbers(label);
    case MR_LABEL_TEXT:
        return mr_py_str(label->values, label->count);
    case MR_LABEL_BYTES:
        return mr_py_bytes(state, label->values, label->count);
    case MR_LABEL_NONE:
        break;
    }
    Py_RETURN_NONE;
}

/* "a, b, c". */
static void join(const char *const *names, char *text, size_t nbytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; names[i] != NULL && length < nbytes; i++)
        length += (size_t)snprintf(text + length, nbytes - length, "%s%s", i != 0 ? ", " : "", names[i]);
}

int mr_py_choice(mr_py_state *state, const char *what, const char *name, const char *const *names)
{
    char all[256], text[512];
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    join(names, all, sizeof all);
    snprintf(text, sizeof text, "%s cannot be '%.64s' (one of: %s)", what, name, all);
    mr_py_raise(state, MR_EARGUMENT, text);
    return -1;
}

int mr_py_target_bits(mr_py_state *state, PyObject *names, uint32_t *bits)
{
    static const char *const words[] = {"boxes", "keypoints", "mask", "masks", NULL};
    *bits = 0;
    if (names == NULL || names == Py_None)
        return 0;
    if (PyUnicode_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "targets are a sequence of names, as in (\"boxes\",)");
        return -1;
    }
    PyObject *iterator = PyObject_GetIter(names), *item;
    if (iterator == NULL)
        return -1;
    while ((item = PyIter_Next(iterator)) != NULL) {
        const char *name = mr_py_text("the name of a target", item);
        int number = name != NULL ? mr_py_choice(state, "a target", name, words) : -1;
        Py_DECREF(item);
        if (number < 0)
            break;
        *bits |= UINT32_C(1) << number;
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() != NULL ? -1 : 0;
}

int mr_py_entries(mr_py_state *state, PyObject *mapping, mr_py_entry *read, void *to)
{
    PyObject *items = PyMapping_Items(mapping);
    Py_ssize_t count = items != NULL ? PyList_Size(items) : 0;
    int result = items != NULL ? 0 : -1;
    for (Py_ssize_t i = 0; i < count && result == 0; i++) {
        PyObject *name, *value;
        result = PyArg_ParseTuple(PyList_GetItem(items, i), "OO", &name, &value) ? 0 : -1;
        if (result == 0)
            result = read(state, name, value, to);
    }
    Py_XDECREF(items);
    return result;
}

static int read_limit(mr_py_state *state, PyObject *name, PyObject *value, void *to)
{
    mr_limits *limits = to;
    static const char *const words[] = {"pixels", "nbytes", "scans", "memory_nbytes", NULL};
    uint64_t *const fields[] = {&limits->pixels, &limits->nbytes, &limits->scans, &limits->memory_nbytes};
    const char *text = mr_py_text("the name of a limit", name);
    int number = text != NULL ? mr_py_choice(state, "a limit", text, words) : -1;
    return number >= 0 && mr_py_to_u64(value, fields[number]) ? 0 : -1;
}

int mr_py_limits(mr_py_state *state, PyObject *mapping, mr_limits *limits)
{
    *limits = (mr_limits){.struct_size = sizeof *limits};
    if (mapping == NULL || mapping == Py_None)
        return 0;
    return mr_py_entries(state, mapping, read_limit, limits);
}
