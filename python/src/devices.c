// SPDX-License-Identifier: Apache-2.0
/* Who can prepare samples here. */
#include "core.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>

enum { DEVICES_FIRST = 16 };

/* Names of forms that it decodes itself. */
static PyObject *forms_of(const mr_device_info *device)
{
    PyObject *list = PyList_New(0);
    for (int form = MR_FORM_NONE + 1; list != NULL && form <= MR_FORM_L3; form++) {
        PyObject *name = mr_device_decodes(device, (mr_form)form) ? PyUnicode_FromString(mr_form_name((mr_form)form))
                                                                  : Py_NewRef(Py_None);
        if (name == NULL || (name != Py_None && PyList_Append(list, name) < 0))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *lacks_of(const mr_device_info *device)
{
    size_t length = mr_device_lacks(device, NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL)
        return PyErr_NoMemory();
    (void)mr_device_lacks(device, text, length + 1);
    PyObject *words = PyUnicode_FromStringAndSize(text, (Py_ssize_t)length);
    free(text);
    return words;
}

static PyObject *device_dict(const mr_device_info *d)
{
    PyObject *dict = PyDict_New();
    int result = dict != NULL ? mr_py_put(dict, "device", PyUnicode_FromString(d->device)) : -1;
    if (result == 0)
        result = mr_py_put(dict, "name", mr_py_str(d->name, strlen(d->name)));
    if (result == 0)
        result = mr_py_put(dict, "version", mr_py_str(d->version, strlen(d->version)));
    if (result == 0)
        result = mr_py_put(dict, "usable", PyBool_FromLong(d->usable));
    if (result == 0)
        result = mr_py_put(dict, "is_host", PyBool_FromLong(d->is_host));
    if (result == 0)
        result = mr_py_put(dict, "shares_memory", PyBool_FromLong(d->shares_memory));
    if (result == 0)
        result = mr_py_put(dict, "has_doubles", PyBool_FromLong(d->has_doubles));
    if (result == 0)
        result = mr_py_put(dict, "why", mr_py_str(d->why, strlen(d->why)));
    if (result == 0)
        result = mr_py_put(dict, "units", PyLong_FromUnsignedLong(d->units));
    if (result == 0)
        result = mr_py_put(dict, "memory_nbytes", PyLong_FromUnsignedLongLong(d->memory_nbytes));
    if (result == 0)
        result = mr_py_put(dict, "decodes", forms_of(d));
    if (result == 0)
        result = mr_py_put(dict, "lacks", lacks_of(d));
    if (result < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *list_of(const mr_device_info *devices, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *device = device_dict(&devices[i]);
        if (device == NULL || PyList_SetItem(list, (Py_ssize_t)i, device) < 0)
            Py_CLEAR(list);
    }
    return list;
}

PyObject *mr_py_devices(PyObject *module, PyObject *none)
{
    (void)none;
    size_t most = DEVICES_FIRST, count = 0;
    mr_device_info *devices = NULL;
    int code = 0;
    do { // there may be more than that
        most = count > most ? count : most;
        free(devices);
        devices = calloc(most, sizeof *devices);
        if (devices == NULL)
            return PyErr_NoMemory();
        devices[0].struct_size = sizeof *devices;
        Py_BEGIN_ALLOW_THREADS;
        code = mr_devices_list(NULL, devices, most, &count);
        Py_END_ALLOW_THREADS;
    } while (code == 0 && count > most);
    PyObject *list = code == 0 ? list_of(devices, count) : mr_py_raise(mr_py_state_of(module), code, NULL);
    free(devices);
    return list;
}
