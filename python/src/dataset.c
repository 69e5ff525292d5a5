// SPDX-License-Identifier: Apache-2.0
/* The type Dataset: any number of threads read at once, each by a reader of its own while it does. */
#include "pool.h"
#include "words.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READER_NBYTES_KEPT = 16 << 20 };

/* mr_py_dataset, and the readers that are free. */
typedef struct dataset_memory {
    mr_py_dataset base;
    mr_py_pool readers;
} dataset_memory;

typedef struct dataset_object {
    PyObject_HEAD dataset_memory *memory;
} dataset_object;

static const char *const layout_words[] = {"auto",  "packed", "tar",    "tfrecord", "recordio",
                                           "cifar", "list",   "folder", NULL};
static const char *const index_words[] = {"cache", "beside", "none", NULL};
static const char *const broken_words[] = {"fail", "skip", NULL};

static void free_memory(mr_py_owner *owner)
{
    dataset_memory *memory = (dataset_memory *)owner;
    mr_reader *reader;
    while ((reader = mr_py_pool_take(&memory->readers)) != NULL)
        mr_reader_free(reader);
    mr_dataset_free(memory->base.dataset);
    free(memory);
}

mr_py_dataset *mr_py_dataset_of(mr_py_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->dataset_type))
        return &((dataset_object *)object)->memory->base;
    PyErr_Format(PyExc_TypeError, "dataset must be a millrace._core.Dataset, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

/* Opening. */

typedef struct opening {
    mr_py_work work;
    mr_dataset *dataset;
    const char **paths;
    size_t count;
} opening;

static int run_opening(mr_py_work *work)
{
    opening *o = (opening *)work;
    return mr_dataset_open(o->dataset, o->paths, o->count);
}

/* Paths as bytes: a list that keeps them, and the C strings in it. */
static PyObject *read_paths(PyObject *given, opening *o)
{
    if (PyUnicode_Check(given) || PyBytes_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "paths are a sequence of them, not one");
        return NULL;
    }
    PyObject *list = PySequence_List(given);
    Py_ssize_t count = list != NULL ? PyList_Size(list) : 0;
    o->paths = list != NULL ? PyMem_Calloc((size_t)count + 1, sizeof *o->paths) : NULL;
    if (list != NULL && o->paths == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; o->paths != NULL && i < count; i++) {
        PyObject *bytes = NULL;
        if (!PyUnicode_FSConverter(PyList_GetItem(list, i), &bytes) || PyList_SetItem(list, i, bytes) != 0)
            break;
        o->paths[o->count++] = PyBytes_AsString(bytes);
    }
    if (PyErr_Occurred() != NULL)
        Py_CLEAR(list);
    return list;
}

/* Opens what o has. 0, or -1 with an exception. */
static int open_dataset(mr_py_state *state, opening *o, mr_dataset_options *options)
{
    options->progress = mr_py_work_progress;
    options->progress_user = &o->work;
    int code = mr_dataset_new(options, &o->dataset);
    if (code != 0) {
        mr_py_raise(state, code, NULL);
        return -1;
    }
    o->work.run = run_opening;
    if (mr_py_work_run(&o->work) == 0)
        return 0;
    if (PyErr_Occurred() == NULL)
        mr_py_raise(state, o->work.code, mr_dataset_detail(o->dataset));
    return -1;
}

static PyObject *wrap(PyTypeObject *type, mr_dataset *dataset)
{
    dataset_memory *memory = calloc(1, sizeof *memory);
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    dataset_object *self = memory != NULL ? (dataset_object *)alloc(type, 0) : (dataset_object *)PyErr_NoMemory();
    if (self == NULL) {
        free(memory);
        return NULL;
    }
    mr_py_owner_init(&memory->base.owner, free_memory, NULL);
    memory->base.dataset = dataset;
    self->memory = memory;
    return (PyObject *)self;
}

typedef struct arguments {
    PyObject *paths, *index_folder, *list; /* the last two: bytes, or NULL */
    const char *layout, *index, *broken;
    uint32_t threads;
    int rebuild;
} arguments;

static int read_options(mr_py_state *state, const arguments *a, mr_dataset_options *options)
{
    int layout = mr_py_choice(state, "layout", a->layout, layout_words);
    int index = layout >= 0 ? mr_py_choice(state, "index", a->index, index_words) : -1;
    int broken = index >= 0 ? mr_py_choice(state, "broken", a->broken, broken_words) : -1;
    *options = (mr_dataset_options){
        .struct_size = sizeof *options,
        .layout = (mr_layout)layout,
        .index = (mr_index_place)index,
        .index_folder = a->index_folder != NULL ? PyBytes_AsString(a->index_folder) : NULL,
        .broken = (mr_broken_policy)broken,
        .list = a->list != NULL ? PyBytes_AsString(a->list) : NULL,
        .threads = a->threads,
        .rebuild = a->rebuild != 0,
    };
    return broken < 0 ? -1 : 0;
}

static PyObject *new_dataset(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"paths", "layout",  "index",   "index_folder", "broken",
                                        "list",  "threads", "rebuild", "progress",     NULL};
    mr_py_state *state = mr_py_state_of_type(type);
    arguments a = {.layout = "auto", .index = "cache", .broken = "fail"};
    opening o = {.work = {.code = 0}};
    mr_dataset_options options;
    PyObject *self = NULL;
    if (!mr_py_parse(args, keywords, "O|$ssO&sO&O&pO", names, &a.paths, &a.layout, &a.index, mr_py_to_path,
                     &a.index_folder, &a.broken, mr_py_to_path, &a.list, mr_py_to_u32, &a.threads, &a.rebuild,
                     &o.work.progress))
        return NULL;
    PyObject *paths = read_paths(a.paths, &o);
    if (paths != NULL && read_options(state, &a, &options) == 0 && open_dataset(state, &o, &options) == 0)
        self = wrap(type, o.dataset);
    if (self == NULL)
        mr_dataset_free(o.dataset);
    PyMem_Free(o.paths);
    Py_XDECREF(paths);
    Py_XDECREF(a.index_folder);
    Py_XDECREF(a.list);
    return self;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    dataset_memory *memory = ((dataset_object *)self)->memory;
    if (memory != NULL)
        mr_py_unref(&memory->base.owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* What there is of a self. */

static mr_dataset *dataset_of(PyObject *self)
{
    return ((dataset_object *)self)->memory->base.dataset;
}

static mr_py_state *state_of(PyObject *self)
{
    return mr_py_state_of_type(Py_TYPE(self));
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)mr_dataset_count(dataset_of(self));
}

static PyObject *info(PyObject *self, PyObject *none)
{
    mr_dataset_info i = {.struct_size = sizeof i};
    char fingerprint[17];
    (void)none;
    int code = mr_dataset_get_info(dataset_of(self), &i);
    if (code != 0)
        return mr_py_raise(state_of(self), code, NULL);
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)i.fingerprint);
    return Py_BuildValue("{s:s,s:K,s:K,s:K,s:K,s:I,s:K,s:K,s:s,s:O}", "layout", mr_layout_name(i.layout), "samples",
                         (unsigned long long)i.samples, "shards", (unsigned long long)i.shards, "files",
                         (unsigned long long)i.files, "classes", (unsigned long long)i.classes, "forms",
                         (unsigned)i.forms, "problems", (unsigned long long)i.problems, "nbytes",
                         (unsigned long long)i.nbytes, "fingerprint", fingerprint, "indexed_now",
                         mr_py_bool(i.indexed_now));
}

/* Appends `item`, of which it takes the reference; the list goes where that fails. */
static PyObject *append(PyObject *list, PyObject *item)
{
    if (list != NULL && (item == NULL || PyList_Append(list, item) != 0))
        Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

static PyObject *forms(PyObject *self, PyObject *none)
{
    mr_dataset_form f = {.struct_size = sizeof f};
    PyObject *list = PyList_New(0);
    (void)none;
    for (uint32_t i = 0; list != NULL && mr_dataset_get_form(dataset_of(self), i, &f) == 0; i++)
        list = append(list,
                      Py_BuildValue("{s:s,s:s,s:I,s:I,s:K,s:K}", "name", f.name, "form", mr_form_name(f.form),
                                    "max_side", (unsigned)f.max_side, "short_side", (unsigned)f.short_side, "samples",
                                    (unsigned long long)f.samples, "nbytes", (unsigned long long)f.nbytes));
    return list;
}

static PyObject *classes(PyObject *self, PyObject *none)
{
    mr_dataset_info i = {.struct_size = sizeof i};
    PyObject *list = PyList_New(0);
    (void)none;
    mr_dataset_get_info(dataset_of(self), &i);
    for (uint64_t n = 0; list != NULL && n < i.classes; n++) {
        const char *name = mr_dataset_class(dataset_of(self), n);
        list = append(list, mr_py_str(name, strlen(name)));
    }
    return list;
}

/* UINT64_MAX is none. */
static PyObject *number_or_none(uint64_t number)
{
    return number != UINT64_MAX ? PyLong_FromUnsignedLongLong(number) : Py_NewRef(Py_None);
}

static PyObject *problems(PyObject *self, PyObject *none)
{
    mr_dataset_problem p = {.struct_size = sizeof p};
    PyObject *list = PyList_New(0);
    (void)none;
    for (uint64_t i = 0; list != NULL && mr_dataset_get_problem(dataset_of(self), i, &p) == 0; i++)
        list = append(list,
                      Py_BuildValue("{s:s,s:N,s:N,s:N}", "code", mr_error_name(p.code), "file", number_or_none(p.file),
                                    "ordinal", number_or_none(p.ordinal), "text", mr_py_str(p.text, strlen(p.text))));
    return list;
}

static PyObject *file(PyObject *self, PyObject *number)
{
    uint64_t n;
    if (!mr_py_to_u64(number, &n))
        return NULL;
    size_t nbytes = mr_dataset_file(dataset_of(self), n, NULL, 0);
    if (nbytes == 0)
        return PyErr_Format(PyExc_IndexError, "there is no file %llu", (unsigned long long)n);
    char *path = PyMem_Malloc(nbytes + 1);
    if (path == NULL)
        return PyErr_NoMemory();
    mr_dataset_file(dataset_of(self), n, path, nbytes + 1);
    PyObject *text = PyUnicode_DecodeFSDefault(path);
    PyMem_Free(path);
    return text;
}

static PyObject *find(PyObject *self, PyObject *key)
{
    if (!PyUnicode_Check(key))
        return PyErr_Format(PyExc_TypeError, "a key is a str, not %R", (PyObject *)Py_TYPE(key));
    PyObject *bytes = mr_py_str_bytes(key);
    uint64_t ordinal = 0;
    char *text = NULL;
    int code = MR_EARGUMENT;
    if (bytes == NULL)
        return NULL;
    if (PyBytes_AsStringAndSize(bytes, &text, NULL) != 0) { /* a zero within: no key has one */
        PyErr_Clear();
    } else {
        Py_BEGIN_ALLOW_THREADS code = mr_dataset_find(dataset_of(self), text, &ordinal);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(bytes);
    if (code == 0)
        return PyLong_FromUnsignedLongLong(ordinal);
    if (code != MR_EARGUMENT)
        return mr_py_raise(state_of(self), code, NULL);
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

/* Samples. */

static int get_sample(PyObject *self, PyObject *number, mr_sample *sample)
{
    mr_dataset *dataset = dataset_of(self);
    uint64_t ordinal;
    int code;
    *sample = (mr_sample){.struct_size = sizeof *sample};
    if (!mr_py_to_u64(number, &ordinal))
        return -1;
    Py_BEGIN_ALLOW_THREADS code = mr_dataset_sample(dataset, ordinal, sample);
    Py_END_ALLOW_THREADS if (code == MR_EARGUMENT)
        PyErr_Format(PyExc_IndexError, "there is no sample %llu: the dataset has %llu", (unsigned long long)ordinal,
                     (unsigned long long)mr_dataset_count(dataset));
    else if (code != 0) mr_py_raise(state_of(self), code, NULL);
    return code == 0 ? 0 : -1;
}

static PyObject *key(PyObject *self, PyObject *number)
{
    mr_sample s;
    return get_sample(self, number, &s) == 0 ? mr_py_str(s.key, s.key_nbytes) : NULL;
}

static PyObject *label(PyObject *self, PyObject *number)
{
    mr_sample s;
    return get_sample(self, number, &s) == 0 ? mr_py_label(state_of(self), &s.label) : NULL;
}

/* One by one: what the index has of a sample is not one number. */
static int fill_labels(const mr_dataset *dataset, int64_t *to, uint64_t count)
{
    mr_sample s = {.struct_size = sizeof s};
    int code = 0;
    for (uint64_t i = 0; i < count && code == 0; i++) {
        code = mr_dataset_sample(dataset, i, &s);
        to[i] = s.label.kind == MR_LABEL_INT ? s.label.integer : s.label.kind == MR_LABEL_NONE ? -1 : 0;
    }
    return code;
}

static PyObject *labels(PyObject *self, PyObject *none)
{
    mr_dataset *dataset = dataset_of(self);
    size_t count = (size_t)mr_dataset_count(dataset);
    void *data = NULL;
    int code;
    (void)none;
    PyObject *array = mr_py_array_own(state_of(self), MR_PY_I64, 1, &count, &data);
    if (array == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = fill_labels(dataset, data, count);
    Py_END_ALLOW_THREADS if (code == 0) return array;
    Py_DECREF(array);
    return mr_py_raise(state_of(self), code, NULL);
}

enum { LABEL_EMPTY = MR_LABEL_BYTES + 1, LABEL_KINDS }; /* a text of no letters: where others are lists, one of them */

/* Of all samples, how many have which kind. */
static int count_kinds(const mr_dataset *dataset, uint64_t counts[LABEL_KINDS])
{
    mr_sample s = {.struct_size = sizeof s};
    uint64_t count = mr_dataset_count(dataset);
    int code = 0;
    for (uint64_t i = 0; i < count && code == 0; i++) {
        code = mr_dataset_sample(dataset, i, &s);
        counts[s.label.kind == MR_LABEL_TEXT && s.label.count == 0 ? LABEL_EMPTY : (int)s.label.kind]++;
    }
    return code;
}

static PyObject *label_kinds(PyObject *self, PyObject *none)
{
    static const char *const names[] = {"none", "int", "float", "ints", "floats", "text", "bytes", "empty"};
    mr_dataset *dataset = dataset_of(self);
    uint64_t counts[LABEL_KINDS] = {0};
    int code;
    (void)none;
    Py_BEGIN_ALLOW_THREADS code = count_kinds(dataset, counts);
    Py_END_ALLOW_THREADS if (code != 0) return mr_py_raise(state_of(self), code, NULL);
    PyObject *dict = PyDict_New();
    for (int kind = 0; dict != NULL && kind < LABEL_KINDS; kind++)
        if (counts[kind] != 0 && mr_py_put(dict, names[kind], PyLong_FromUnsignedLongLong(counts[kind])) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *member_names(const mr_dataset *dataset, const mr_sample *s)
{
    PyObject *list = PyList_New(0);
    mr_member m = {.struct_size = sizeof m};
    for (uint32_t i = 0; list != NULL && i < s->members; i++)
        if (mr_dataset_member(dataset, s->ordinal, i, &m) == 0)
            list = append(list, mr_py_str(m.name, strlen(m.name)));
    return list;
}

static PyObject *sample(PyObject *self, PyObject *number)
{
    mr_sample s;
    if (get_sample(self, number, &s) != 0)
        return NULL;
    return Py_BuildValue("{s:K,s:K,s:K,s:N,s:N,s:N}", "ordinal", (unsigned long long)s.ordinal, "shard",
                         (unsigned long long)s.shard, "position", (unsigned long long)s.position, "key",
                         mr_py_str(s.key, s.key_nbytes), "label", mr_py_label(state_of(self), &s.label), "members",
                         member_names(dataset_of(self), &s));
}

/* Records. */

static void join_forms(const mr_dataset *dataset, char *text, size_t nbytes)
{
    mr_dataset_form f = {.struct_size = sizeof f};
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; mr_dataset_get_form(dataset, i, &f) == 0 && length < nbytes; i++)
        length += (size_t)snprintf(text + length, nbytes - length, "%s%s", i != 0 ? ", " : "", f.name);
}

typedef struct place {
    uint64_t ordinal;
    uint32_t form;
} place;

/* The arguments of what reads a form: (ordinal, form=None). */
static int read_place(PyObject *self, PyObject *args, PyObject *keywords, place *p)
{
    static const char *const names[] = {"ordinal", "form", NULL};
    const char *form = NULL;
    char all[256];
    PyObject *number;
    mr_sample s;
    p->form = 0;
    if (!mr_py_parse(args, keywords, "O|z", names, &number, &form) || get_sample(self, number, &s) != 0)
        return -1;
    p->ordinal = s.ordinal;
    if (form == NULL || mr_dataset_find_form(dataset_of(self), form, &p->form) == 0)
        return 0;
    join_forms(dataset_of(self), all, sizeof all);
    mr_py_refuse(state_of(self), "the dataset has no form '%s' (it has: %s)", form, all);
    return -1;
}

static PyObject *record(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const states[] = {"present", "absent", "refused"};
    mr_dataset *dataset = dataset_of(self);
    mr_record r = {.struct_size = sizeof r};
    place p;
    int code;
    if (read_place(self, args, keywords, &p) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mr_dataset_record(dataset, p.ordinal, p.form, &r);
    Py_END_ALLOW_THREADS if (code != 0) return mr_py_raise(state_of(self), code, NULL);
    return Py_BuildValue("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:O,s:K,s:K,s:K,s:K}", "state", states[r.state], "form",
                         mr_form_name(r.form), "width", (unsigned)r.width, "height", (unsigned)r.height, "channels",
                         (unsigned)r.channels, "depth", (unsigned)r.depth, "orientation", (unsigned)r.orientation,
                         "has_hash", mr_py_bool(r.has_hash), "hash", (unsigned long long)r.hash, "offset",
                         (unsigned long long)r.offset, "nbytes", (unsigned long long)r.nbytes, "file",
                         (unsigned long long)r.file);
}

/* What reads bytes of a sample: a record, or a member. */
typedef int read_bytes(mr_reader *reader, uint64_t ordinal, uint32_t number, const void **bytes, size_t *nbytes);

/* One that is free, or a new one. */
static int take_reader(dataset_memory *memory, mr_reader **reader)
{
    *reader = mr_py_pool_take(&memory->readers);
    return *reader != NULL ? 0 : mr_reader_new(memory->base.dataset, reader);
}

/* Gives it back; one that has much memory is not kept. */
static void give_reader(dataset_memory *memory, mr_reader *reader, size_t nbytes)
{
    if (reader != NULL && (nbytes > READER_NBYTES_KEPT || mr_py_pool_give(&memory->readers, reader) != NULL))
        mr_reader_free(reader);
}

static PyObject *read_with(PyObject *self, read_bytes *read, uint64_t ordinal, uint32_t number)
{
    dataset_memory *memory = ((dataset_object *)self)->memory;
    mr_reader *reader = NULL;
    const void *bytes = NULL;
    PyObject *result;
    size_t nbytes = 0;
    int code;
    Py_BEGIN_ALLOW_THREADS code = take_reader(memory, &reader);
    if (code == 0)
        code = read(reader, ordinal, number, &bytes, &nbytes);
    Py_END_ALLOW_THREADS if (code == 0) result = mr_py_bytes(state_of(self), bytes, nbytes);
    else result = mr_py_raise(state_of(self), code, reader != NULL ? mr_reader_detail(reader) : NULL);
    give_reader(memory, reader, nbytes);
    return result;
}

static PyObject *read_record(PyObject *self, PyObject *args, PyObject *keywords)
{
    place p;
    if (read_place(self, args, keywords, &p) != 0)
        return NULL;
    return read_with(self, mr_reader_record, p.ordinal, p.form);
}

static PyObject *member(PyObject *self, PyObject *args)
{
    mr_member m = {.struct_size = sizeof m};
    PyObject *number, *name;
    mr_sample s;
    if (!PyArg_ParseTuple(args, "OU", &number, &name) || get_sample(self, number, &s) != 0)
        return NULL;
    PyObject *wanted = mr_py_str_bytes(name);
    const char *text = wanted != NULL ? PyBytes_AsString(wanted) : NULL;
    uint32_t i = 0;
    while (text != NULL && i < s.members &&
           (mr_dataset_member(dataset_of(self), s.ordinal, i, &m) != 0 || strcmp(m.name, text) != 0))
        i++;
    Py_XDECREF(wanted);
    if (text == NULL)
        return NULL;
    if (i < s.members)
        return read_with(self, mr_reader_member, s.ordinal, i);
    PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static PyMethodDef methods[] = {
    {"info", info, METH_NOARGS, "info($self, /)\n--\n\nWhat the dataset is: layout, samples, shards, fingerprint, ..."},
    {"forms", forms, METH_NOARGS, "forms($self, /)\n--\n\nThe stored forms, a dict each."},
    {"classes", classes, METH_NOARGS, "classes($self, /)\n--\n\nThe names of the classes, by number."},
    {"problems", problems, METH_NOARGS,
     "problems($self, /)\n--\n\nWhat is wrong with it, as found when the index was made."},
    {"file", file, METH_O, "file($self, number, /)\n--\n\nThe path of a file."},
    {"find", find, METH_O, "find($self, key, /)\n--\n\nThe ordinal of a key; KeyError."},
    {"key", key, METH_O, "key($self, ordinal, /)\n--\n\nThe key of a sample."},
    {"label", label, METH_O, "label($self, ordinal, /)\n--\n\nThe label of a sample, of any kind."},
    {"label_kinds", label_kinds, METH_NOARGS,
     "label_kinds($self, /)\n--\n\nHow many samples have which kind: none, int, float, ints, floats, text, bytes, "
     "empty (text)."},
    {"labels", labels, METH_NOARGS,
     "labels($self, /)\n--\n\nOf all samples, as int64: 0 for those of another kind, -1 for none."},
    {"sample", sample, METH_O, "sample($self, ordinal, /)\n--\n\nA sample without its image."},
    {"record", (PyCFunction)(void (*)(void))record, METH_VARARGS | METH_KEYWORDS,
     "record($self, ordinal, form=None)\n--\n\nWhere a form of a sample is stored, and what is known of it."},
    {"read", (PyCFunction)(void (*)(void))read_record, METH_VARARGS | METH_KEYWORDS,
     "read($self, ordinal, form=None)\n--\n\nThe bytes of a form of a sample, as stored."},
    {"member", member, METH_VARARGS,
     "member($self, ordinal, name, /)\n--\n\nThe bytes of a member of a sample; KeyError."},
    {NULL, NULL, 0, NULL},
};

int mr_py_add_dataset(PyObject *module, mr_py_state *state)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)new_dataset},
        {Py_tp_dealloc, (void *)dealloc},
        {Py_tp_methods, methods},
        {Py_mp_length, (void *)length},
        {Py_tp_doc,
         (void *)"Dataset(paths, *, layout='auto', index='cache', index_folder=None, broken='fail', list=None, "
                 "threads=0, rebuild=False, progress=None)\n--\n\nSamples in their order, opened once."},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "millrace._core.Dataset",
        .basicsize = sizeof(dataset_object),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (type == NULL)
        return -1;
    state->dataset_type = (PyTypeObject *)type;
    return PyModule_AddType(module, state->dataset_type);
}
