// SPDX-License-Identifier: Apache-2.0
/*
 * Loader.
 *
 * 1. Its object has a reference of the counted loader until close(); whoever is inside a call, and each batch, has one
 *    of his own. So close() may come at any time, from any thread.
 * 2. Everything that waits does so without the GIL, and next() listens for signals meanwhile.
 */
#include "loader.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_NS = 50000000 }; /* so often a wait looks for signals */

typedef struct loader {
    PyObject_HEAD mr_py_loader *inside; /* NULL: closed */
    pthread_mutex_t mutex;              /* of `inside`: held for no longer than it takes to count */
} loader;

static void free_loader(mr_py_owner *owner)
{
    mr_py_loader *l = (mr_py_loader *)owner;
    mr_loader_free(l->loader);
    pthread_mutex_destroy(&l->turn);
    free(l);
}

/* A reference for a call; NULL with an exception when it is closed. */
static mr_py_loader *enter(PyObject *self)
{
    loader *l = (loader *)self;
    pthread_mutex_lock(&l->mutex);
    mr_py_loader *inside = l->inside;
    if (inside != NULL)
        mr_py_ref(&inside->owner);
    pthread_mutex_unlock(&l->mutex);
    if (inside == NULL)
        mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), MR_ECLOSED, "the loader was closed");
    return inside;
}

static void leave(mr_py_loader *inside)
{
    mr_py_drop(&inside->owner);
}

static mr_py_loader *make(mr_py_state *state, mr_py_dataset *dataset, const mr_recipe *recipe,
                          const mr_loader_options *options)
{
    mr_py_loader *l = calloc(1, sizeof *l);
    if (l == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    char detail[1024] = "";
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = mr_loader_new(dataset->dataset, recipe, options, &l->loader, detail, sizeof detail);
    Py_END_ALLOW_THREADS;
    if (code != 0) {
        free(l);
        mr_py_raise(state, code, detail);
        return NULL;
    }
    mr_py_owner_init(&l->owner, free_loader, &dataset->owner);
    l->owner.waits = true;
    l->process = getpid();
    l->targets = options->targets;
    atomic_init(&l->held, 0);
    pthread_mutex_init(&l->turn, NULL);
    return l;
}

static PyObject *wrap(PyTypeObject *type, mr_py_loader *inside)
{
    loader *l = PyObject_New(loader, type);
    if (l == NULL) {
        mr_py_drop(&inside->owner);
        return NULL;
    }
    l->inside = inside;
    pthread_mutex_init(&l->mutex, NULL);
    return (PyObject *)l;
}

/* The two arguments that are no options: by place, or by name, and then taken out of the dict. */
static PyObject *take_argument(PyObject *arguments, PyObject *options, Py_ssize_t place, const char *name)
{
    if (PyTuple_Size(arguments) > place)
        return Py_NewRef(PyTuple_GetItem(arguments, place));
    PyObject *given = options != NULL ? PyDict_GetItemString(options, name) : NULL;
    if (given == NULL) {
        PyErr_Format(PyExc_TypeError, "Loader needs a %s: Loader(dataset, recipe, ...)", name);
        return NULL;
    }
    Py_INCREF(given);
    if (PyDict_DelItemString(options, name) < 0)
        Py_CLEAR(given);
    return given;
}

static PyObject *new_of(PyTypeObject *type, PyObject *dataset_object, PyObject *recipe_object, PyObject *options)
{
    mr_py_state *state = mr_py_state_of_type(type);
    mr_py_dataset *dataset = mr_py_dataset_of(state, dataset_object);
    mr_recipe *recipe = dataset != NULL ? mr_py_recipe_of(state, recipe_object) : NULL;
    if (recipe == NULL)
        return NULL;
    mr_py_options read;
    mr_py_loader *made = NULL;
    if (mr_py_options_read(state, options, mr_dataset_count(dataset->dataset), &read) == 0)
        made = make(state, dataset, recipe, &read.options);
    mr_py_options_fini(&read);
    return made != NULL ? wrap(type, made) : NULL;
}

static PyObject *new (PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    if (PyTuple_Size(arguments) > 2) {
        PyErr_SetString(PyExc_TypeError, "Loader takes a dataset and a recipe; options are given by name");
        return NULL;
    }
    PyObject *options = keywords != NULL ? PyDict_Copy(keywords) : NULL, *made = NULL;
    if (keywords != NULL && options == NULL)
        return NULL;
    PyObject *dataset = take_argument(arguments, options, 0, "dataset");
    PyObject *recipe = dataset != NULL ? take_argument(arguments, options, 1, "recipe") : NULL;
    if (recipe != NULL)
        made = new_of(type, dataset, recipe, options);
    Py_XDECREF(recipe);
    Py_XDECREF(dataset);
    Py_XDECREF(options);
    return made;
}

/* Lets go of the inside, once. */
static void let_go(PyObject *self)
{
    loader *l = (loader *)self;
    pthread_mutex_lock(&l->mutex);
    mr_py_loader *inside = l->inside;
    l->inside = NULL;
    pthread_mutex_unlock(&l->mutex);
    if (inside == NULL)
        return;
    PyThreadState *thread = mr_py_release();
    mr_loader_stop(inside->loader);
    mr_py_regain(thread);
    leave(inside);
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    let_go(self);
    pthread_mutex_destroy(&((loader *)self)->mutex);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* In a child of a fork nobody may wait for a turn: who has it is not there. */
static bool is_forked(const mr_py_loader *l)
{
    return getpid() != l->process;
}

static PyObject *raise_of(mr_py_state *state, const mr_py_loader *l, int code)
{
    if (code == MR_EFORKED)
        return mr_py_raise(state, code,
                           "the loader was made before a fork, and is the parent's: make it in the child, "
                           "or start processes by spawn or forkserver");
    return mr_py_raise(state, code, mr_loader_detail(l->loader));
}

/*
 * One slice of waiting, then the batch if it is there: MR_ETIMEOUT with *waiting when it is not. Several threads take
 * turns, so that nobody is sent to wait in mr_loader_next, where no signal is heard, by another who was quicker.
 */
static int take(mr_py_loader *l, mr_batch **out, bool *waiting)
{
    *waiting = false;
    if (is_forked(l))
        return MR_EFORKED;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLICE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&l->turn, &until) != 0) {
        *waiting = true;
        return MR_ETIMEOUT;
    }
    int code = mr_loader_wait(l->loader, SLICE_NS);
    *waiting = code == MR_ETIMEOUT;
    if (code == 0)
        code = mr_loader_next(l->loader, out);
    pthread_mutex_unlock(&l->turn);
    return code;
}

static PyObject *next_of(mr_py_state *state, mr_py_loader *l)
{
    mr_batch *batch = NULL;
    bool waiting = true;
    int code = 0;
    while (waiting) {
        Py_BEGIN_ALLOW_THREADS;
        code = take(l, &batch, &waiting);
        Py_END_ALLOW_THREADS;
        if (waiting && PyErr_CheckSignals() < 0)
            return NULL;
    }
    if (code != 0)
        return raise_of(state, l, code);
    return batch != NULL ? mr_py_batch_new(state, l, batch) : Py_NewRef(Py_None);
}

static PyObject *next(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    PyObject *batch = next_of(mr_py_state_of_type(Py_TYPE(self)), l);
    leave(l);
    return batch;
}

static PyObject *stop(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    PyThreadState *thread = mr_py_release();
    mr_loader_stop(l->loader);
    mr_py_regain(thread);
    leave(l);
    Py_RETURN_NONE;
}

static PyObject *close_loader(PyObject *self, PyObject *none)
{
    (void)none;
    let_go(self);
    Py_RETURN_NONE;
}

static PyObject *get_batches(PyObject *self, void *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    PyObject *batches = is_forked(l) ? raise_of(mr_py_state_of_type(Py_TYPE(self)), l, MR_EFORKED)
                                     : PyLong_FromUnsignedLongLong(mr_loader_batches(l->loader));
    leave(l);
    return batches;
}

static PyObject *get_held(PyObject *self, void *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    size_t held = atomic_load_explicit(&l->held, memory_order_relaxed);
    leave(l);
    return PyLong_FromSize_t(held);
}

/* The state may become longer between asking for its length and its text. */
static PyObject *state_of(mr_py_state *state, mr_py_loader *l)
{
    char *text = NULL;
    size_t room = 0, length = mr_loader_state(l->loader, NULL, 0);
    while (length >= room && length > 0) {
        free(text);
        room = length + 1;
        text = malloc(room);
        if (text == NULL)
            return PyErr_NoMemory();
        length = mr_loader_state(l->loader, text, room);
    }
    PyObject *words = length > 0 ? mr_py_str(text, length) : raise_of(state, l, is_forked(l) ? MR_EFORKED : MR_ENOMEM);
    free(text);
    return words;
}

static PyObject *get_state(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    PyObject *words = state_of(mr_py_state_of_type(Py_TYPE(self)), l);
    leave(l);
    return words;
}

static PyObject *restore(PyObject *self, PyObject *object)
{
    const char *text = mr_py_text("restore: text", object);
    mr_py_loader *l = text != NULL ? enter(self) : NULL;
    if (l == NULL)
        return NULL;
    int code = MR_EFORKED;
    if (!is_forked(l)) {
        Py_BEGIN_ALLOW_THREADS;
        code = mr_loader_restore(l->loader, text);
        Py_END_ALLOW_THREADS;
    }
    PyObject *result = code == 0 ? Py_NewRef(Py_None) : raise_of(mr_py_state_of_type(Py_TYPE(self)), l, code);
    leave(l);
    return result;
}

static PyObject *stage_dict(const mr_stage_stats *s)
{
    return Py_BuildValue("{s:s,s:K,s:K,s:d,s:d,s:d}", "name", s->name, "count", (unsigned long long)s->count, "nbytes",
                         (unsigned long long)s->nbytes, "seconds", s->seconds, "p50_ns", s->p50_ns, "p99_ns",
                         s->p99_ns);
}

static PyObject *stages_list(const mr_loader_stats *s)
{
    PyObject *list = PyList_New(s->stage_count);
    for (uint32_t i = 0; list != NULL && i < s->stage_count; i++) {
        PyObject *stage = stage_dict(&s->stages[i]);
        if (stage == NULL || PyList_SetItem(list, i, stage) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *text_or_none(const char *text)
{
    return text != NULL ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
}

static PyObject *device_dict(const mr_device_stats *d)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"lanes", d->lanes},         {"samples", d->samples},
                  {"jobs", d->jobs},           {"submissions", d->submissions},
                  {"failures", d->failures},   {"gave_back", d->gave_back},
                  {"late", d->late},           {"damaged", d->damaged},
                  {"no_memory", d->no_memory}, {"recovered", d->recovered},
                  {"returned", d->returned},   {"on_host", d->on_host},
                  {"refused", d->refused}};
    PyObject *dict = PyDict_New();
    int result = dict != NULL ? mr_py_put(dict, "name", PyUnicode_FromString(d->name)) : -1;
    for (size_t i = 0; result == 0 && i < sizeof counts / sizeof *counts; i++)
        result = mr_py_put(dict, counts[i].name, PyLong_FromUnsignedLongLong(counts[i].value));
    if (result == 0)
        result = mr_py_put(dict, "busy_seconds", PyFloat_FromDouble(d->busy_seconds));
    if (result == 0)
        result = mr_py_put(dict, "aside", PyBool_FromLong(d->aside));
    if (result == 0)
        result = mr_py_put(dict, "mishap", text_or_none(d->mishap));
    if (result == 0)
        result = mr_py_put(dict, "cause", PyUnicode_FromString(d->cause));
    if (result == 0)
        result = mr_py_put(dict, "lacks", PyUnicode_FromString(d->lacks));
    if (result < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *devices_list(const mr_loader_stats *s)
{
    PyObject *list = PyList_New(s->device_count);
    for (uint32_t i = 0; list != NULL && i < s->device_count; i++) {
        PyObject *device = device_dict(&s->devices[i]);
        if (device == NULL || PyList_SetItem(list, i, device) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Who did it, and whether that was simulated. */
static int put_devices(PyObject *dict, const mr_loader_stats *s)
{
    int result = mr_py_put(dict, "simulated", PyBool_FromLong(s->simulated));
    if (result == 0)
        result = mr_py_put(dict, "policy", text_or_none(s->policy));
    if (result == 0)
        result = mr_py_put(dict, "beside", text_or_none(s->beside));
    if (result == 0)
        result = mr_py_put(dict, "devices", devices_list(s));
    return result;
}

static PyObject *stats_dict(const mr_loader_stats *s)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"samples", s->samples},
                  {"batches", s->batches},
                  {"bad", s->bad},
                  {"substitutes", s->substitutes},
                  {"threads", s->threads},
                  {"stored_nbytes", s->stored_nbytes},
                  {"reads_cached", s->reads_cached},
                  {"reads_waited", s->reads_waited},
                  {"slots", s->slots},
                  {"consumer_stalls", s->consumer_stalls},
                  {"memory_nbytes", s->memory_nbytes},
                  {"rank", s->rank},
                  {"world", s->world},
                  {"unlisted", s->unlisted},
                  {"traced", s->traced},
                  {"forgotten", s->forgotten}};
    const struct {
        const char *name;
        double value;
    } reals[] = {{"seconds", s->seconds},
                 {"core_seconds", s->core_seconds},
                 {"read_depth_mean", s->read_depth_mean},
                 {"ready_mean", s->ready_mean},
                 {"consumer_stall_seconds", s->consumer_stall_seconds},
                 {"consumer_p50_ns", s->consumer_p50_ns},
                 {"consumer_p99_ns", s->consumer_p99_ns},
                 {"thread_idle_seconds", s->thread_idle_seconds},
                 {"thread_wait_seconds", s->thread_wait_seconds},
                 {"first_batch_seconds", s->first_batch_seconds},
                 {"cores_lent_seconds", s->cores_lent_seconds},
                 {"cores_borrowed_seconds", s->cores_borrowed_seconds}};
    PyObject *dict = PyDict_New();
    int result = dict != NULL ? 0 : -1;
    for (size_t i = 0; result == 0 && i < sizeof counts / sizeof *counts; i++)
        result = mr_py_put(dict, counts[i].name, PyLong_FromUnsignedLongLong(counts[i].value));
    for (size_t i = 0; result == 0 && i < sizeof reals / sizeof *reals; i++)
        result = mr_py_put(dict, reals[i].name, PyFloat_FromDouble(reals[i].value));
    if (result == 0)
        result = mr_py_put(dict, "bottleneck", PyUnicode_FromString(s->bottleneck));
    if (result == 0)
        result = mr_py_put(dict, "left_out", PyUnicode_FromString(s->left_out));
    if (result == 0)
        result = mr_py_put(dict, "stages", stages_list(s));
    if (result == 0)
        result = put_devices(dict, s);
    if (result < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *stats(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_loader *l = enter(self);
    if (l == NULL)
        return NULL;
    mr_loader_stats s = {.struct_size = sizeof s};
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = mr_loader_get_stats(l->loader, &s);
    Py_END_ALLOW_THREADS;
    PyObject *dict = code == 0 ? stats_dict(&s) : raise_of(mr_py_state_of_type(Py_TYPE(self)), l, code);
    leave(l);
    return dict;
}

static PyObject *write_trace(PyObject *self, PyObject *object)
{
    PyObject *path = NULL;
    if (!mr_py_to_path(object, &path))
        return NULL;
    mr_py_loader *l = path != NULL ? enter(self) : NULL;
    if (l == NULL) {
        if (path == NULL)
            PyErr_SetString(PyExc_TypeError, "a trace is written to a path, not to None");
        Py_XDECREF(path);
        return NULL;
    }
    int code = MR_EFORKED;
    if (!is_forked(l)) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS;
        code = mr_loader_write_trace(l->loader, name);
        Py_END_ALLOW_THREADS;
    }
    PyObject *result = code == 0 ? Py_NewRef(Py_None) : raise_of(mr_py_state_of_type(Py_TYPE(self)), l, code);
    leave(l);
    Py_DECREF(path);
    return result;
}

static PyGetSetDef attributes[] = {
    {"batches", get_batches, NULL, "How many batches this rank gets in a whole epoch.", NULL},
    {"held", get_held, NULL, "How many batches are with consumers: they, or views of them, are alive.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"next", next, METH_NOARGS, "next($self, /)\n--\n\nThe next batch, in order; None when all epochs are over."},
    {"stop", stop, METH_NOARGS, "stop($self, /)\n--\n\nMakes everybody inside return with ClosedError, soon."},
    {"close", close_loader, METH_NOARGS,
     "close($self, /)\n--\n\nStops it. Its threads and memory go at once, or with the last view of a batch."},
    {"state", get_state, METH_NOARGS,
     "state($self, /)\n--\n\nWhere it stands, after the last batch that next() gave: JSON without a rank."},
    {"restore", restore, METH_O, "restore($self, text, /)\n--\n\nGoes on from a state. All batches are gone before."},
    {"write_trace", write_trace, METH_O,
     "write_trace($self, path, /)\n--\n\nWhat is remembered of tasks, as a trace for ui.perfetto.dev."},
    {"stats", stats, METH_NOARGS, "stats($self, /)\n--\n\nWhat it did, what that took, and what held it up."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)"Loader(dataset, recipe, **options)\n--\n\nA dataset as batches, epoch after epoch. Options are those "
             "of mr_loader_options by name;\nNone and 0 are the defaults."},
    {Py_tp_new, (void *)new},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL}};

static PyType_Spec spec = {.name = "millrace._core.Loader",
                           .basicsize = sizeof(loader),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

int mr_py_add_loader(PyObject *module, mr_py_state *state)
{
    state->loader_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->loader_type != NULL ? PyModule_AddType(module, state->loader_type) : -1;
}
