// SPDX-License-Identifier: Apache-2.0
/* Batch: what a loader has lent. It is given back by the last who shows any of it. */
#include "loader.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of soft labels: with more, one row has over 64 MiB. */
enum { CLASSES_MAX = 1 << 24 };

/* Its parent is the loader. */
typedef struct lent {
    mr_py_owner owner;
    mr_batch *batch;
    pthread_mutex_t mutex; /* lists are put together by one at a time */
} lent;

typedef struct batch {
    PyObject_HEAD lent *lent;
} batch;

static void give_back(mr_py_owner *owner)
{
    lent *l = (lent *)owner;
    mr_batch_release(l->batch);
    atomic_fetch_sub_explicit(&((mr_py_loader *)owner->parent)->held, 1, memory_order_relaxed);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

PyObject *mr_py_batch_new(mr_py_state *state, mr_py_loader *loader, mr_batch *given)
{
    lent *l = malloc(sizeof *l);
    batch *b = l != NULL ? PyObject_New(batch, state->batch_type) : NULL;
    if (b == NULL) {
        free(l);
        mr_batch_release(given);
        return PyErr_NoMemory();
    }
    mr_py_owner_init(&l->owner, give_back, &loader->owner);
    l->owner.waits = true;
    l->batch = given;
    pthread_mutex_init(&l->mutex, NULL);
    atomic_fetch_add_explicit(&loader->held, 1, memory_order_relaxed);
    b->lent = l;
    return (PyObject *)b;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    mr_py_drop(&((batch *)self)->lent->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static mr_batch *batch_of(PyObject *self)
{
    return ((batch *)self)->lent->batch;
}

static PyObject *column(PyObject *self, const void *data, mr_py_dtype dtype, size_t count, bool readonly)
{
    return mr_py_array_new(mr_py_state_of_type(Py_TYPE(self)), &((batch *)self)->lent->owner, data, dtype, 1, &count,
                           readonly);
}

static PyObject *get_epoch(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLongLong(batch_of(self)->epoch);
}

static PyObject *get_number(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLongLong(batch_of(self)->number);
}

static PyObject *get_position(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLongLong(batch_of(self)->position);
}

static PyObject *get_last(PyObject *self, void *none)
{
    (void)none;
    return PyBool_FromLong(batch_of(self)->last);
}

static PyObject *get_size(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLong(batch_of(self)->size);
}

static PyObject *get_count(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromUnsignedLong(batch_of(self)->count);
}

static PyObject *get_images(PyObject *self, void *none)
{
    (void)none;
    const mr_batch *b = batch_of(self);
    const mr_output *o = &b->output;
    if (b->images == NULL)
        return mr_py_refuse(mr_py_state_of_type(Py_TYPE(self)),
                            "the images are in memory of the device (keep=\"device\"): device_data is where");
    size_t planes[] = {b->size, o->channels, o->height, o->width},
           pixels[] = {b->size, o->height, o->width, o->channels};
    return mr_py_array_new(mr_py_state_of_type(Py_TYPE(self)), &((batch *)self)->lent->owner, b->images,
                           mr_py_dtype_of(o->dtype), 4, o->layout == MR_NCHW ? planes : pixels, false);
}

static PyObject *get_device_data(PyObject *self, void *none)
{
    (void)none;
    void *data = batch_of(self)->device_data;
    return data != NULL ? PyLong_FromVoidPtr(data) : Py_NewRef(Py_None);
}

static PyObject *get_labels(PyObject *self, void *none)
{
    (void)none;
    return column(self, batch_of(self)->labels, MR_PY_I64, batch_of(self)->size, false);
}

static PyObject *get_mask(PyObject *self, void *none)
{
    (void)none;
    return column(self, batch_of(self)->mask, MR_PY_U8, batch_of(self)->size, true);
}

static PyObject *get_ordinals(PyObject *self, void *none)
{
    (void)none;
    return column(self, batch_of(self)->ordinals, MR_PY_U64, batch_of(self)->size, true);
}

static PyObject *get_positions(PyObject *self, void *none)
{
    (void)none;
    return column(self, batch_of(self)->positions, MR_PY_U64, batch_of(self)->size, true);
}

/* A place of the batch, from 0; -1 with an exception. */
static int64_t read_place(PyObject *self, PyObject *object)
{
    const mr_batch *b = batch_of(self);
    uint64_t place;
    if (mr_py_number(mr_py_state_of_type(Py_TYPE(self)), "place", object, UINT32_MAX, &place) < 0)
        return -1;
    if (place < b->size)
        return (int64_t)place;
    PyErr_Format(PyExc_IndexError, "place %llu is beyond a batch of %u", (unsigned long long)place, b->size);
    return -1;
}

/* Memory can be read in a child of a fork; what the loader or its dataset have to be asked for is the parent's. */
static int refuse_child(PyObject *self)
{
    if (((mr_py_loader *)((batch *)self)->lent->owner.parent)->process == getpid())
        return 0;
    mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), MR_EFORKED,
                "the batch was made before a fork, and its loader is the parent's: its arrays can be read, no more");
    return -1;
}

static PyObject *get_key(PyObject *self, PyObject *object)
{
    int64_t place = read_place(self, object);
    if (place < 0 || refuse_child(self) < 0)
        return NULL;
    const char *key = mr_batch_key(batch_of(self), (uint32_t)place);
    return mr_py_str(key, strlen(key));
}

static PyObject *get_label(PyObject *self, PyObject *object)
{
    int64_t place = read_place(self, object);
    if (place < 0 || refuse_child(self) < 0)
        return NULL;
    uint8_t mask = batch_of(self)->mask[place];
    if (mask == MR_MASK_PAD || mask == MR_MASK_REPLACED)
        Py_RETURN_NONE;
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    mr_label label;
    int code = mr_batch_label(batch_of(self), (uint32_t)place, &label);
    return code == 0 ? mr_py_label(state, &label) : mr_py_raise(state, code, NULL);
}

static PyObject *get_lists(PyObject *self, PyObject *none)
{
    (void)none;
    lent *l = ((batch *)self)->lent;
    mr_batch_lists lists = {.struct_size = sizeof lists};
    if (refuse_child(self) < 0)
        return NULL;
    pthread_mutex_lock(&l->mutex);
    int code = mr_batch_get_lists(l->batch, &lists);
    pthread_mutex_unlock(&l->mutex);
    if (code != 0)
        return mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), code, NULL);
    if (lists.kind == MR_LABEL_NONE)
        Py_RETURN_NONE;
    size_t count = (size_t)lists.offsets[l->batch->size];
    PyObject *values = lists.kind == MR_LABEL_INTS ? column(self, lists.integers, MR_PY_I64, count, true)
                                                   : column(self, lists.reals, MR_PY_F64, count, true);
    return Py_BuildValue("(NN)", values, column(self, lists.offsets, MR_PY_U64, (size_t)l->batch->size + 1, true));
}

static PyObject *get_mix(PyObject *self, PyObject *none)
{
    (void)none;
    const mr_batch *b = batch_of(self);
    mr_batch_mix mix = {.struct_size = sizeof mix};
    if (refuse_child(self) < 0)
        return NULL;
    int code = mr_batch_get_mix(b, &mix);
    if (code != 0)
        return mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), code, NULL);
    if (mix.kind == MR_STEP_NONE)
        Py_RETURN_NONE;
    return Py_BuildValue("{s:s,s:d,s:(IIII),s:N,s:N}", "kind", mix.kind == MR_STEP_MIXUP ? "mixup" : "cutmix", "weight",
                         mix.weight, "box", mix.box.x, mix.box.y, mix.box.width, mix.box.height, "partners",
                         column(self, mix.partners, MR_PY_I64, b->size, true), "ordinals",
                         column(self, mix.ordinals, MR_PY_U64, b->size, true));
}

static PyObject *soft_labels(PyObject *self, PyObject *object)
{
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    const mr_batch *b = batch_of(self);
    uint64_t classes;
    if (mr_py_number(state, "soft_labels: classes", object, CLASSES_MAX, &classes) < 0 || refuse_child(self) < 0)
        return NULL;
    size_t shape[] = {b->size, (size_t)classes};
    void *to = NULL;
    PyObject *array = mr_py_array_own(state, MR_PY_F32, 2, shape, &to);
    if (array == NULL)
        return NULL;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = mr_batch_soft_labels(b, (uint32_t)classes, to);
    Py_END_ALLOW_THREADS;
    if (code == 0)
        return array;
    Py_DECREF(array);
    if (code == MR_EARGUMENT)
        return mr_py_refuse(state, "soft_labels: the batch has labels of %llu or more, or below -1",
                            (unsigned long long)classes);
    return mr_py_raise(state, code, NULL);
}

static PyObject *get_targets(PyObject *self, PyObject *object)
{
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    int64_t place = read_place(self, object);
    if (place < 0 || refuse_child(self) < 0)
        return NULL;
    mr_targets targets = {.struct_size = sizeof targets};
    int code = mr_batch_get_targets(batch_of(self), (uint32_t)place, &targets);
    lent *l = ((batch *)self)->lent;
    if (code == 0)
        return mr_py_targets(state, &targets, ((mr_py_loader *)l->owner.parent)->targets, &l->owner);
    if (code == MR_EARGUMENT)
        return mr_py_refuse(state, "the loader was asked for no targets: Loader(..., targets=[\"boxes\"])");
    return mr_py_raise(state, code, NULL);
}

static PyObject *get_device(PyObject *self, PyObject *none)
{
    (void)none;
    mr_batch_device at = {.struct_size = sizeof at};
    if (refuse_child(self) < 0)
        return NULL;
    if (mr_batch_get_device(batch_of(self), &at) != 0)
        Py_RETURN_NONE;
    return Py_BuildValue("{s:s,s:N,s:N,s:N,s:N}", "name", at.name, "memory", PyLong_FromVoidPtr(at.memory), "context",
                         PyLong_FromVoidPtr(at.context), "device", PyLong_FromVoidPtr(at.device), "queue",
                         PyLong_FromVoidPtr(at.queue));
}

static PyObject *get_hash(PyObject *self, PyObject *none)
{
    (void)none;
    uint64_t hash;
    if (refuse_child(self) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    hash = mr_batch_hash(batch_of(self));
    Py_END_ALLOW_THREADS;
    return PyLong_FromUnsignedLongLong(hash);
}

static PyObject *repr(PyObject *self)
{
    const mr_batch *b = batch_of(self);
    return PyUnicode_FromFormat("<millrace.Batch %llu of epoch %llu: %u of %u places>", (unsigned long long)b->number,
                                (unsigned long long)b->epoch, b->count, b->size);
}

static PyGetSetDef attributes[] = {
    {"epoch", get_epoch, NULL, "The epoch it belongs to.", NULL},
    {"number", get_number, NULL, "Its number in the epoch, from 0.", NULL},
    {"position", get_position, NULL, "The first position of its global batch in the epoch's order.", NULL},
    {"last", get_last, NULL, "Whether it is the last of the epoch.", NULL},
    {"size", get_size, NULL, "Its places.", NULL},
    {"count", get_count, NULL, "Its places before the padding.", NULL},
    {"images", get_images, NULL, "The images of all places.", NULL},
    {"device_data", get_device_data, NULL, "With keep=\"device\": the memory there, of OpenCL a cl_mem; or None.",
     NULL},
    {"labels", get_labels, NULL, "int64; -1 in a pad, 0 where a label is no whole number: label(place).", NULL},
    {"mask", get_mask, NULL, "uint8: 0 a sample, 1 a pad, 2 a substitute for a bad sample, 3 a black image for one.",
     NULL},
    {"ordinals", get_ordinals, NULL, "uint64: which samples of the dataset; 2**64 - 1 in a pad.", NULL},
    {"positions", get_positions, NULL, "uint64: where in the epoch's order; 2**64 - 1 in a pad.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"key", get_key, METH_O, "key($self, place, /)\n--\n\nThe key of the sample of a place; \"\" for a pad."},
    {"label", get_label, METH_O,
     "label($self, place, /)\n--\n\nIts whole label, of any kind; None for a pad and a black image."},
    {"lists", get_lists, METH_NOARGS,
     "lists($self, /)\n--\n\nLabels that are lists: values, and offsets (size + 1) of each place in them; or None."},
    {"mix", get_mix, METH_NOARGS,
     "mix($self, /)\n--\n\nHow mixup or cutmix mixed it: kind, weight, box, partners, ordinals; or None."},
    {"soft_labels", soft_labels, METH_O,
     "soft_labels($self, classes, /)\n--\n\nfloat32, size x classes: what a model that learns from mixed samples "
     "wants."},
    {"targets", get_targets, METH_O,
     "targets($self, place, /)\n--\n\nBoxes, masks and others of the sample of a place."},
    {"device", get_device, METH_NOARGS,
     "device($self, /)\n--\n\nWith keep=\"device\": its name, memory, context, device and queue, as OpenCL has them; "
     "or None."},
    {"hash", get_hash, METH_NOARGS,
     "hash($self, /)\n--\n\nThe sum of the hashes of its samples; over an epoch, modulo 2**64, the epoch's hash."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)"A batch of a Loader. Its memory is used anew when it and all views of it are gone."},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_repr, (void *)repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL}};

static PyType_Spec spec = {.name = "millrace._core.Batch",
                           .basicsize = sizeof(batch),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

int mr_py_add_batch(PyObject *module, mr_py_state *state)
{
    state->batch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->batch_type != NULL ? PyModule_AddType(module, state->batch_type) : -1;
}
