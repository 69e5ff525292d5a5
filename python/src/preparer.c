// SPDX-License-Identifier: Apache-2.0
/* The type Preparer: single samples, as a loader makes them. One run at a time; other threads wait without the GIL. */
#include "words.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { DETAIL_NBYTES = 512 };

typedef struct preparer_object {
    PyObject_HEAD mr_preparer *preparer;
    mr_py_dataset *dataset;
    mr_output output;
    uint32_t asked; /* targets */
    pthread_mutex_t lock;
    pid_t process; /* that made it: after a fork nobody is left who would open the lock, or end what he began */
} preparer_object;

static mr_py_state *state_of(PyObject *self)
{
    return mr_py_state_of_type(Py_TYPE(self));
}

/* Of what a thread of the parent was in the midst of at the fork only a half is here. */
static int refuse_child(preparer_object *self)
{
    if (self->process == getpid())
        return 0;
    mr_py_raise(state_of((PyObject *)self), MR_EFORKED,
                "the preparer was made before a fork, and is the parent's: make it in the child");
    return -1;
}

typedef struct arguments {
    PyObject *dataset, *recipe, *targets, *limits;
    const char *form, *mask_member;
    int check_all;
    uint64_t seed;
} arguments;

/* Fills an object that is all zero. 0, or -1 with an exception. */
static int fill(mr_py_state *state, preparer_object *self, const arguments *a)
{
    char detail[DETAIL_NBYTES] = "";
    mr_limits limits;
    mr_loader_options o = {.struct_size = sizeof o,
                           .limits = &limits,
                           .seed = a->seed,
                           .form = a->form,
                           .check_all = a->check_all != 0,
                           .mask_member = a->mask_member};
    mr_py_dataset *dataset = mr_py_dataset_of(state, a->dataset);
    mr_recipe *recipe = dataset != NULL ? mr_py_recipe_of(state, a->recipe) : NULL;
    if (recipe == NULL || mr_py_target_bits(state, a->targets, &o.targets) != 0 ||
        mr_py_limits(state, a->limits, &limits) != 0)
        return -1;
    if (mr_py_recipe_output(a->recipe, &self->output) < 0)
        return -1;
    int code = mr_preparer_new(dataset->dataset, recipe, &o, &self->preparer, detail, sizeof detail);
    if (code != 0) {
        mr_py_raise(state, code, detail);
        return -1;
    }
    self->asked = o.targets;
    self->dataset = dataset;
    mr_py_ref(&dataset->owner);
    return 0;
}

static PyObject *new_preparer(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"dataset", "recipe",      "seed",   "form", "check_all",
                                        "targets", "mask_member", "limits", NULL};
    arguments a = {.dataset = NULL};
    if (!mr_py_parse(args, keywords, "OO|$O&zpOzO", names, &a.dataset, &a.recipe, mr_py_to_u64, &a.seed, &a.form,
                     &a.check_all, &a.targets, &a.mask_member, &a.limits))
        return NULL;
    preparer_object *self = (preparer_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    self->process = getpid();
    if (fill(mr_py_state_of_type(type), self, &a) != 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    preparer_object *self = (preparer_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->process == getpid()) { // else it is left, as it may be half of one
        mr_preparer_free(self->preparer);
        pthread_mutex_destroy(&self->lock);
        if (self->dataset != NULL)
            mr_py_unref(&self->dataset->owner);
    }
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

typedef struct sample_place {
    uint64_t ordinal, epoch;
    uint32_t repeat;
} sample_place;

static int run_into_memory(preparer_object *self, const sample_place *p, void *to)
{
    char detail[DETAIL_NBYTES] = "";
    int code;
    if (refuse_child(self) < 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&self->lock);
    code = mr_preparer_run(self->preparer, p->ordinal, p->epoch, p->repeat, to);
    if (code != 0)
        strncpy(detail, mr_preparer_detail(self->preparer), sizeof detail - 1);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS if (code == MR_EARGUMENT && p->ordinal >= mr_dataset_count(self->dataset->dataset))
        PyErr_Format(PyExc_IndexError, "there is no sample %llu", (unsigned long long)p->ordinal);
    else if (code != 0) mr_py_raise(state_of((PyObject *)self), code, detail);
    return code != 0 ? -1 : 0;
}

static PyObject *run(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"ordinal", "epoch", "repeat", NULL};
    preparer_object *self = (preparer_object *)object;
    const mr_output *o = &self->output;
    const size_t planes[] = {o->channels, o->height, o->width}, pixels[] = {o->height, o->width, o->channels};
    sample_place p = {0};
    void *data = NULL;
    if (!mr_py_parse(args, keywords, "O&|O&O&", names, mr_py_to_u64, &p.ordinal, mr_py_to_u64, &p.epoch, mr_py_to_u32,
                     &p.repeat))
        return NULL;
    PyObject *array =
        mr_py_array_own(state_of(object), mr_py_dtype_of(o->dtype), 3, o->layout == MR_NCHW ? planes : pixels, &data);
    if (array != NULL && run_into_memory(self, &p, data) != 0)
        Py_CLEAR(array);
    return array;
}

static PyObject *run_into(PyObject *object, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"ordinal", "to", "epoch", "repeat", NULL};
    preparer_object *self = (preparer_object *)object;
    sample_place p = {0};
    int result = -1;
    PyObject *given;
    Py_buffer to;
    if (!mr_py_parse(args, keywords, "O&O|O&O&", names, mr_py_to_u64, &p.ordinal, &given, mr_py_to_u64, &p.epoch,
                     mr_py_to_u32, &p.repeat) ||
        PyObject_GetBuffer(given, &to, PyBUF_WRITABLE) != 0)
        return NULL;
    if ((size_t)to.len == self->output.sample_nbytes)
        result = run_into_memory(self, &p, to.buf);
    else
        mr_py_refuse(state_of(object), "a sample has %zu bytes, and the buffer %zd", self->output.sample_nbytes,
                     to.len);
    PyBuffer_Release(&to);
    return result == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *targets(PyObject *object, PyObject *none)
{
    preparer_object *self = (preparer_object *)object;
    mr_targets t = {.struct_size = sizeof t}, copy;
    mr_py_owner *owner = NULL;
    int code;
    (void)none;
    if (refuse_child(self) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&self->lock);
    code = mr_preparer_get_targets(self->preparer, &t);
    if (code == 0)
        owner = mr_py_targets_copy(&t, &copy);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS if (code != 0) return mr_py_refuse(state_of(object), "the preparer was asked for no targets");
    if (owner == NULL)
        return PyErr_NoMemory();
    PyObject *dict = mr_py_targets(state_of(object), &copy, self->asked, owner);
    mr_py_unref(owner);
    return dict;
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_VARARGS | METH_KEYWORDS,
     "run($self, ordinal, epoch=0, repeat=0)\n--\n\nA sample, prepared."},
    {"run_into", (PyCFunction)(void (*)(void))run_into, METH_VARARGS | METH_KEYWORDS,
     "run_into($self, ordinal, to, epoch=0, repeat=0)\n--\n\nLikewise, into a writable buffer of as many bytes."},
    {"targets", targets, METH_NOARGS, "targets($self, /)\n--\n\nWhat belongs to the sample of the last run."},
    {NULL, NULL, 0, NULL},
};

int mr_py_add_preparer(PyObject *module, mr_py_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)new_preparer},
        {Py_tp_dealloc, (void *)dealloc},
        {Py_tp_methods, methods},
        {Py_tp_doc,
         (void *)"Preparer(dataset, recipe, *, seed=0, form=None, check_all=False, targets=(), mask_member=None, "
                 "limits=None)\n--\n\nPrepares single samples, exactly as a loader does."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "millrace._core.Preparer",
        .basicsize = sizeof(preparer_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (type == NULL)
        return -1;
    state->preparer_type = (PyTypeObject *)type;
    return PyModule_AddType(module, state->preparer_type);
}
