// SPDX-License-Identifier: Apache-2.0
/* The options of a loader, by name. One table says what each is; what is None is the default. */
#include "loader.h"
#include "words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { U32, U64, TRUTH, TEXT, PATH, CHOICE, OTHER } kind;

typedef struct option {
    const char *name;
    kind kind;
    size_t offset;             /* in mr_loader_options */
    const char *const *choice; /* CHOICE: names, by number */
} option;

static const char *const ORDERS[] = {"shuffled", "sequential", "windowed", "weighted", "repeated", NULL};
static const char *const READINGS[] = {"auto", "threads", "direct", "ahead", NULL};
static const char *const PINNINGS[] = {"none", "cores", NULL};
static const char *const BADS[] = {"fail", "skip", "replace", NULL};
static const char *const KEEPS[] = {"host", "device", NULL};

#define AT(field) offsetof(mr_loader_options, field)
static const option OPTIONS[] = {
    {"batch", U32, AT(batch), NULL},
    {"seed", U64, AT(seed), NULL},
    {"epoch", U64, AT(epoch), NULL},
    {"epochs", U64, AT(epochs), NULL},
    {"start", U64, AT(start), NULL},
    {"order", CHOICE, AT(order), ORDERS},
    {"block", U64, AT(block), NULL},
    {"window", U64, AT(window), NULL},
    {"weights", OTHER, 0, NULL},
    {"draws", U64, AT(draws), NULL},
    {"repeats", U32, AT(repeats), NULL},
    {"rank", U32, AT(rank), NULL},
    {"world", U32, AT(world), NULL},
    {"drop_last", TRUTH, AT(drop_last), NULL},
    {"form", TEXT, AT(form), NULL},
    {"threads", U32, AT(threads), NULL},
    {"slots", U32, AT(slots), NULL},
    {"memory_nbytes", U64, AT(memory_nbytes), NULL},
    {"reading", CHOICE, AT(reading), READINGS},
    {"read_depth", U32, AT(read_depth), NULL},
    {"check_all", TRUTH, AT(check_all), NULL},
    {"pinning", CHOICE, AT(pinning), PINNINGS},
    {"numa_node", U32, AT(numa_node), NULL},
    {"bad", CHOICE, AT(bad), BADS},
    {"bad_max", U64, AT(bad_max), NULL},
    {"quarantine", PATH, AT(quarantine), NULL},
    {"timeout_ns", U64, AT(timeout_ns), NULL},
    {"device", TEXT, AT(device), NULL},
    {"targets", OTHER, 0, NULL},
    {"mask_member", TEXT, AT(mask_member), NULL},
    {"policy", TEXT, AT(policy), NULL},
    {"beside", TEXT, AT(beside), NULL},
    {"share", TEXT, AT(share), NULL},
    {"trace", U64, AT(trace), NULL},
    {"device_memory_nbytes", U64, AT(device_memory_nbytes), NULL},
    {"keep", CHOICE, AT(keep), KEEPS},
    {"limits", OTHER, 0, NULL},
};
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS };

static const option *find_option(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(OPTIONS[i].name, name) == 0)
            return &OPTIONS[i];
    char names[1024];
    size_t length = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", OPTIONS[i].name);
    PyErr_Format(PyExc_TypeError, "Loader has no option '%s'; it has dataset, recipe, %s", name, names);
    return NULL;
}

static int read_number(mr_py_state *state, const option *o, PyObject *value, char *to)
{
    uint64_t number;
    if (mr_py_number(state, o->name, value, o->kind == U32 ? UINT32_MAX : UINT64_MAX, &number) < 0)
        return -1;
    if (o->kind == U32)
        memcpy(to, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else
        memcpy(to, &number, sizeof number);
    return 0;
}

static int read_text(mr_py_state *state, const option *o, PyObject *value, char *to)
{
    const char *text = mr_py_text(o->name, value);
    if (text == NULL)
        return -1;
    if (o->kind == TEXT) {
        memcpy(to, &text, sizeof text);
        return 0;
    }
    int choice = mr_py_choice(state, o->name, text, o->choice);
    _Static_assert(sizeof(mr_order_kind) == sizeof(int) && sizeof(mr_reading) == sizeof(int) &&
                       sizeof(mr_pinning) == sizeof(int) && sizeof(mr_bad_policy) == sizeof(int) &&
                       sizeof(mr_keep) == sizeof(int),
                   "a choice is written as an int");
    memcpy(to, &choice, sizeof choice);
    return choice < 0 ? -1 : 0;
}

/* As the file system has it: names need not be UTF-8. */
static int read_path(const option *o, PyObject *value, char *to, PyObject **kept)
{
    if (!mr_py_to_path(value, kept)) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must be a path, not %R", o->name, Py_TYPE(value));
        return -1;
    }
    const char *path = *kept != NULL ? PyBytes_AsString(*kept) : NULL;
    memcpy(to, &path, sizeof path);
    return 0;
}

static bool is_doubles(const Py_buffer *buffer)
{
    const char *format = buffer->format != NULL ? buffer->format : "B";
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    return buffer->ndim == 1 && buffer->itemsize == sizeof(double) && strcmp(format, "d") == 0;
}

/* 1: read; 0: the object has no such buffer; -1 with an exception. */
static int weights_of_buffer(PyObject *object, double **weights, Py_ssize_t *count)
{
    Py_buffer buffer;
    if (!PyObject_CheckBuffer(object))
        return 0;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
        PyErr_Clear(); // with gaps: number by number
        return 0;
    }
    int result = is_doubles(&buffer);
    if (result > 0) {
        *count = buffer.len / (Py_ssize_t)sizeof(double);
        *weights = malloc(buffer.len > 0 ? (size_t)buffer.len : 1);
        if (*weights != NULL)
            mr_py_copy(*weights, buffer.buf, (size_t)buffer.len);
        else
            PyErr_NoMemory();
        result = *weights != NULL ? 1 : -1;
    }
    PyBuffer_Release(&buffer);
    return result;
}

static int weights_of_list(PyObject *list, double **weights, Py_ssize_t *count)
{
    *count = PyList_Size(list);
    *weights = calloc((size_t)*count + 1, sizeof **weights);
    if (*weights == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        (*weights)[i] = PyFloat_AsDouble(PyList_GetItem(list, i));
        if ((*weights)[i] == -1 && PyErr_Occurred() != NULL) {
            PyErr_Format(PyExc_TypeError, "weights must be numbers; that of sample %zd is %R", i,
                         PyList_GetItem(list, i));
            return -1;
        }
    }
    return 0;
}

static int read_weights(mr_py_state *state, PyObject *value, uint64_t samples, mr_py_options *to)
{
    Py_ssize_t count = 0;
    int result = weights_of_buffer(value, &to->weights, &count);
    if (result == 0) {
        PyObject *list = PySequence_List(value);
        if (list == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "weights must be a buffer of float64 or a sequence of numbers, not %R",
                         Py_TYPE(value));
        result = list != NULL ? weights_of_list(list, &to->weights, &count) : -1;
        Py_XDECREF(list);
    }
    if (result < 0)
        return -1;
    if ((uint64_t)count != samples) {
        mr_py_refuse(state, "weights has %zd numbers, but the dataset has %llu samples: it takes one for each", count,
                     (unsigned long long)samples);
        return -1;
    }
    to->options.weights = to->weights;
    return 0;
}

static int read_other(mr_py_state *state, const option *o, PyObject *value, uint64_t samples, mr_py_options *to)
{
    if (strcmp(o->name, "weights") == 0)
        return read_weights(state, value, samples, to);
    if (strcmp(o->name, "targets") == 0)
        return mr_py_target_bits(state, value, &to->options.targets);
    to->options.limits = &to->limits;
    return mr_py_limits(state, value, &to->limits);
}

static int read_option(mr_py_state *state, const option *o, PyObject *value, uint64_t samples, mr_py_options *to)
{
    char *field = (char *)&to->options + o->offset;
    if (value == Py_None)
        return 0;
    switch (o->kind) {
    case U32:
    case U64:
        return read_number(state, o, value, field);
    case TRUTH:
        return mr_py_truth(o->name, value, (bool *)field);
    case PATH:
        return read_path(o, value, field, &to->path);
    case TEXT:
    case CHOICE:
        return read_text(state, o, value, field);
    default:
        return read_other(state, o, value, samples, to);
    }
}

static bool is_given(PyObject *dict, const char *name)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    return value != NULL && value != Py_None;
}

/* Options that mean something only together. */
static int check_together(mr_py_state *state, PyObject *dict, mr_py_options *to)
{
    mr_loader_options *o = &to->options;
    if (is_given(dict, "rank") != is_given(dict, "world")) {
        mr_py_refuse(state, "rank and world are given together, or neither");
        return -1;
    }
    if (o->weights != NULL && o->order != MR_ORDER_WEIGHTED) {
        mr_py_refuse(state, "weights are for order=\"weighted\", not \"%s\"", mr_order_name(o->order));
        return -1;
    }
    o->has_rank = is_given(dict, "rank");
    o->has_numa_node = is_given(dict, "numa_node");
    return 0;
}

int mr_py_options_read(mr_py_state *state, PyObject *dict, uint64_t samples, mr_py_options *options)
{
    *options = (mr_py_options){.options = {.struct_size = sizeof options->options}};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (dict != NULL && PyDict_Next(dict, &at, &key, &value)) {
        const char *name = mr_py_text("the name of an option", key);
        const option *o = name != NULL ? find_option(name) : NULL;
        if (o == NULL || read_option(state, o, value, samples, options) < 0)
            return -1;
    }
    return dict != NULL ? check_together(state, dict, options) : 0;
}

void mr_py_options_fini(mr_py_options *options)
{
    free(options->weights);
    Py_XDECREF(options->path);
}
