// SPDX-License-Identifier: Apache-2.0
/* The module itself: its state, and who adds what to it. */
#include "core.h"
#include <stdlib.h>

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(mr_version_text());
}

static PyObject *cpu(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    size_t length = mr_cpu_text(NULL, 0);
    char *text = malloc(length + 1);
    if (text == NULL)
        return PyErr_NoMemory();
    mr_cpu_text(text, length + 1);
    PyObject *words = PyUnicode_FromString(text);
    free(text);
    return words;
}

static PyObject *threads_default(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    unsigned threads;
    Py_BEGIN_ALLOW_THREADS;
    threads = mr_threads_default();
    Py_END_ALLOW_THREADS;
    return PyLong_FromUnsignedLong(threads);
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of the C library, as \"0.1.0\"."},
    {"cpu", cpu, METH_NOARGS, "cpu()\n--\n\nThe instruction sets that kernels are chosen from, as \"avx2 bmi2 ...\"."},
    {"threads_default", threads_default, METH_NOARGS,
     "threads_default()\n--\n\nHow many threads are used when nobody says: what affinity and the cgroup's quota "
     "allow."},
    {"devices", mr_py_devices, METH_NOARGS,
     "devices()\n--\n\nWho can prepare samples here, a dict each, and why others cannot."},
    {NULL, NULL, 0, NULL}};

mr_py_state *mr_py_state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

mr_py_state *mr_py_state_of_type(PyTypeObject *type)
{
    return PyType_GetModuleState(type);
}

static int execute(PyObject *module)
{
    int (*const add[])(PyObject *, mr_py_state *) = {
        mr_py_add_errors, mr_py_add_array, mr_py_add_recipe,   mr_py_add_dataset, mr_py_add_batch,
        mr_py_add_loader, mr_py_add_codec, mr_py_add_preparer, mr_py_add_pack,
    };
    mr_py_state *state = mr_py_state_of(module);
    for (size_t i = 0; i < sizeof add / sizeof *add; i++)
        if (add[i](module, state) < 0)
            return -1;
    return 0;
}

/* The types of the state, one behind the other. */
static void types_of(mr_py_state *state, PyTypeObject **types[6])
{
    types[0] = &state->array_type;
    types[1] = &state->recipe_type;
    types[2] = &state->dataset_type;
    types[3] = &state->batch_type;
    types[4] = &state->loader_type;
    types[5] = &state->preparer_type;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    mr_py_state *state = mr_py_state_of(module);
    PyTypeObject **types[6];
    types_of(state, types);
    for (int i = 0; i < 16; i++)
        Py_VISIT(state->errors[i]);
    for (int i = 0; i < 6; i++)
        Py_VISIT(*types[i]);
    return 0;
}

static int clear(PyObject *module)
{
    mr_py_state *state = mr_py_state_of(module);
    PyTypeObject **types[6];
    types_of(state, types);
    for (int i = 0; i < 16; i++)
        Py_CLEAR(state->errors[i]);
    for (int i = 0; i < 6; i++)
        Py_CLEAR(*types[i]);
    return 0;
}

static void free_module(void *module)
{
    clear(module);
    mr_py_free_codec(mr_py_state_of(module));
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)execute},
#ifdef Py_mod_multiple_interpreters
                                   {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_mod_gil
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "millrace._core",
    .m_doc = "libmillrace as Python objects, one to one. What people use is built on it: millrace.Loader and others.",
    .m_size = sizeof(mr_py_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
