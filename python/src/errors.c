// SPDX-License-Identifier: Apache-2.0
/* Exceptions, one class for each kind of failure; and what reads arguments, whose errors name them. */
#include "core.h"
#include <stdarg.h>
#include <string.h>

typedef struct kind {
    const char *name;
    PyObject *const *base; /* besides Error */
    int codes[5];          /* until 0 */
    const char *doc;
} kind;

static PyObject *make_class(const char *name, const char *doc, PyObject *bases, const char *code)
{
    PyObject *dict = Py_BuildValue("{s:s}", "code", code);
    PyObject *class = dict != NULL ? PyErr_NewExceptionWithDoc(name, doc, bases, dict) : NULL;
    Py_XDECREF(dict);
    return class;
}

static int add_kind(PyObject *module, mr_py_state *state, const kind *k)
{
    PyObject *bases = PyTuple_Pack(2, state->errors[0], *k->base);
    PyObject *class = bases != NULL ? make_class(k->name, k->doc, bases, mr_error_name(k->codes[0])) : NULL;
    Py_XDECREF(bases);
    if (class == NULL)
        return -1;
    for (const int *code = k->codes; *code != 0; code++)
        state->errors[-*code] = Py_NewRef(class);
    int result = PyModule_AddObjectRef(module, strchr(k->name, '.') + 1, class);
    Py_DECREF(class);
    return result;
}

int mr_py_add_errors(PyObject *module, mr_py_state *state)
{
    const kind kinds[] = {
        {"millrace.ArgumentError",
         &PyExc_ValueError,
         {MR_EARGUMENT},
         "An argument, an option or a recipe makes no sense."},
        {"millrace.MemoryError", &PyExc_MemoryError, {MR_ENOMEM}, "There is no memory for it."},
        {"millrace.StorageError", &PyExc_OSError, {MR_EIO, MR_ESYSTEM}, "The operating system, or a disk, refused."},
        {"millrace.DataError",
         &PyExc_ValueError,
         {MR_EFORMAT, MR_ETRUNCATED, MR_ECORRUPT, MR_EUNSUPPORTED},
         "Stored data is damaged, cut off, of no known kind, or of one that is not supported."},
        {"millrace.LimitError", &PyExc_ValueError, {MR_ELIMIT}, "A limit (pixels, bytes, memory) was exceeded."},
        {"millrace.ClosedError", &PyExc_RuntimeError, {MR_ECLOSED}, "The loader was stopped or closed."},
        {"millrace.TimeoutError", &PyExc_TimeoutError, {MR_ETIMEOUT}, "Nothing moved for as long as was allowed."},
        {"millrace.InternalError", &PyExc_RuntimeError, {MR_EINTERNAL}, "A fault of Millrace's; please report it."},
        {"millrace.DeviceError", &PyExc_RuntimeError, {MR_EDEVICE}, "A device failed, and no other could do its work."},
        {"millrace.ForkedError", &PyExc_RuntimeError, {MR_EFORKED}, "It was made before a fork: it is the parent's."},
    };
    state->errors[0] = make_class("millrace.Error",
                                  "Whatever Millrace reports. Its text says what, where (the sample's key) and what to "
                                  "do; `code` is the C library's name for it.",
                                  NULL, "");
    if (state->errors[0] == NULL || PyModule_AddObjectRef(module, "Error", state->errors[0]) < 0)
        return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (add_kind(module, state, &kinds[i]) < 0)
            return -1;
    return 0;
}

static void raise_text(mr_py_state *state, int code, PyObject *text)
{
    bool known = code < 0 && code > -16 && state->errors[-code] != NULL;
    PyObject *class = state->errors[known ? -code : 0];
    PyObject *error = text != NULL ? PyObject_CallFunctionObjArgs(class, text, NULL) : NULL;
    PyObject *name = error != NULL ? PyUnicode_FromString(mr_error_name(code)) : NULL;
    if (name != NULL && PyObject_SetAttrString(error, "code", name) == 0)
        PyErr_SetObject(class, error);
    Py_XDECREF(name);
    Py_XDECREF(error);
}

PyObject *mr_py_raise(mr_py_state *state, int code, const char *detail)
{
    const char *text = detail != NULL && *detail != '\0' ? detail : mr_error_text(code);
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace"); // keys are any bytes
    raise_text(state, code, words);
    Py_XDECREF(words);
    return NULL;
}

PyObject *mr_py_refuse(mr_py_state *state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *text = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    raise_text(state, MR_EARGUMENT, text);
    Py_XDECREF(text);
    return NULL;
}

PyObject *mr_py_no_memory(mr_py_state *state, size_t nbytes)
{
    PyErr_Clear();
    PyObject *text = nbytes <= (size_t)PY_SSIZE_T_MAX
                         ? PyUnicode_FromFormat("there is no memory for %zu bytes", nbytes)
                         : PyUnicode_FromFormat("more than %zd bytes fit no memory", PY_SSIZE_T_MAX);
    raise_text(state, MR_ENOMEM, text);
    Py_XDECREF(text);
    return NULL;
}

static int refuse_type(const char *what, const char *wanted, PyObject *object)
{
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", what, wanted, name);
    Py_XDECREF(name);
    return -1;
}

int mr_py_number(mr_py_state *state, const char *what, PyObject *object, uint64_t most, uint64_t *number)
{
    PyObject *whole = PyNumber_Index(object);
    if (whole == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        return refuse_type(what, "a whole number", object);
    }
    uint64_t value = PyLong_AsUnsignedLongLong(whole);
    bool wrong = value == UINT64_MAX && PyErr_Occurred() != NULL;
    if (wrong)
        PyErr_Clear(); // what it says does not name the argument
    if (wrong || value > most)
        mr_py_refuse(state, "%s must be from 0 to %llu, not %R", what, (unsigned long long)most, whole);
    else
        *number = value;
    Py_DECREF(whole);
    return wrong || value > most ? -1 : 0;
}

/* NumPy's truths are no Python ones. */
static bool is_truth(PyObject *object)
{
    if (PyBool_Check(object))
        return true;
    PyObject *name = PyType_GetName(Py_TYPE(object));
    bool is = name != NULL && (PyUnicode_CompareWithASCIIString(name, "bool") == 0 ||
                               PyUnicode_CompareWithASCIIString(name, "bool_") == 0);
    Py_XDECREF(name);
    return is;
}

int mr_py_truth(const char *what, PyObject *object, bool *truth)
{
    if (!is_truth(object) && !PyLong_Check(object))
        return PyErr_Occurred() != NULL ? -1 : refuse_type(what, "True or False", object);
    int is = PyObject_IsTrue(object);
    *truth = is > 0;
    return is < 0 ? -1 : 0;
}

const char *mr_py_text(const char *what, PyObject *object)
{
    if (!PyUnicode_Check(object)) {
        refuse_type(what, "a text", object);
        return NULL;
    }
    Py_ssize_t length = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &length);
    if (text != NULL && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s must not have a zero in it", what);
        return NULL;
    }
    return text;
}
