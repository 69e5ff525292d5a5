// SPDX-License-Identifier: Apache-2.0
/* pack and verify: long work. */
#include "words.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum { FORMS_MAX = 64, DETAIL_NBYTES = 1024 };

/* pack. */

/* One field of a form, which is a mapping with the names of mr_pack_form's. */
static int read_form_field(mr_py_state *state, PyObject *key, PyObject *value, void *to)
{
    mr_pack_form *form = to;
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    static const char *const words[] = {"form", "max_side", "short_side", "share", "quality", "effort", NULL};
    uint32_t *const fields[] = {NULL, &form->max_side, &form->short_side, &form->share, &form->quality, &form->effort};
    int number = name != NULL ? mr_py_choice(state, "a field of a form", name, words) : -1;
    if (number != 0)
        return number > 0 && mr_py_to_u32(value, fields[number]) ? 0 : -1;
    const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
    if (text == NULL)
        return -1;
    form->form = mr_form_from_name(text);
    if (form->form != MR_FORM_NONE || strcmp(text, "original") == 0)
        return 0;
    mr_py_refuse(state, "there is no form '%s' (one of: original, jpeg, png, webp, l3, raw)", text);
    return -1;
}

static int read_form(mr_py_state *state, PyObject *given, mr_pack_form *form)
{
    *form = (mr_pack_form){.struct_size = sizeof *form};
    return mr_py_entries(state, given, read_form_field, form);
}

static int read_forms(mr_py_state *state, PyObject *given, mr_pack_form forms[FORMS_MAX], size_t *count)
{
    PyObject *list = PySequence_List(given);
    Py_ssize_t length = list != NULL ? PyList_Size(list) : 0;
    int result = list != NULL ? 0 : -1;
    if (length > FORMS_MAX) {
        mr_py_refuse(state, "%zd forms are too many: %d may be", length, FORMS_MAX);
        result = -1;
    }
    for (Py_ssize_t i = 0; i < length && result == 0; i++)
        result = read_form(state, PyList_GetItem(list, i), &forms[i]);
    *count = (size_t)length;
    Py_XDECREF(list);
    return result;
}

typedef struct packing {
    mr_py_work work;
    mr_packer *packer;
    mr_py_dataset *source;
    const char *folder;
    mr_pack_report report;
} packing;

static int run_packing(mr_py_work *work)
{
    packing *p = (packing *)work;
    return mr_packer_run(p->packer, p->source->dataset, p->folder, &p->report);
}

static PyObject *dict_of_report(const mr_pack_report *r)
{
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O}", "samples", (unsigned long long)r->samples, "refused",
                         (unsigned long long)r->refused, "shards", (unsigned long long)r->shards, "shards_found",
                         (unsigned long long)r->shards_found, "in_nbytes", (unsigned long long)r->in_nbytes,
                         "out_nbytes", (unsigned long long)r->out_nbytes, "absent", (unsigned long long)r->absent,
                         "pixel_mode", (unsigned long long)r->pixel_mode, "was_complete", mr_py_bool(r->was_complete));
}

/* The source is kept from going by a reference of its own. */
static PyObject *pack_with(mr_py_state *state, packing *p, mr_pack_options *options)
{
    PyObject *result = NULL;
    options->progress = mr_py_work_progress;
    options->progress_user = &p->work;
    p->report.struct_size = sizeof p->report;
    p->work.run = run_packing;
    int code = mr_packer_new(options, &p->packer);
    mr_py_ref(&p->source->owner);
    if (code != 0)
        mr_py_raise(state, code, p->packer != NULL ? mr_packer_detail(p->packer) : NULL);
    else if (mr_py_work_run(&p->work) == 0)
        result = dict_of_report(&p->report);
    else if (PyErr_Occurred() == NULL)
        mr_py_raise(state, p->work.code, mr_packer_detail(p->packer));
    mr_packer_free(p->packer);
    mr_py_unref(&p->source->owner);
    return result;
}

typedef struct pack_arguments {
    PyObject *dataset, *folder, *forms;
    const char *alignment, *filter;
    int no_row_index, no_check;
} pack_arguments;

static int read_pack_options(mr_py_state *state, const pack_arguments *a, mr_pack_options *o)
{
    static const char *const alignments[] = {"auto", "tar", "page", NULL};
    static const char *const filters[] = {"bilinear", "nearest", "box", "hamming", "bicubic", "lanczos", NULL};
    int alignment = mr_py_choice(state, "alignment", a->alignment, alignments);
    int filter = alignment >= 0 ? mr_py_choice(state, "filter", a->filter, filters) : -1;
    o->alignment = (mr_alignment)alignment;
    o->filter = (mr_filter)filter;
    o->no_row_index = a->no_row_index != 0;
    o->no_check = a->no_check != 0;
    return filter < 0 ? -1 : 0;
}

static PyObject *pack(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {
        "dataset",  "folder",    "forms",  "shard_nbytes", "shard_samples", "budget_nbytes", "no_row_index",
        "no_check", "alignment", "filter", "pillow",       "part",          "parts",         "max_bad",
        "threads",  "progress",  NULL};
    mr_py_state *state = mr_py_state_of(module);
    pack_arguments a = {.alignment = "auto", .filter = "bilinear"};
    mr_pack_options o = {.struct_size = sizeof o};
    mr_pack_form forms[FORMS_MAX];
    PyObject *result = NULL;
    packing p = {.packer = NULL};
    if (!mr_py_parse(args, keywords, "OO&O|$O&O&O&ppssO&O&O&O&O&O", names, &a.dataset, PyUnicode_FSConverter, &a.folder,
                     &a.forms, mr_py_to_u64, &o.shard_nbytes, mr_py_to_u64, &o.shard_samples, mr_py_to_u64,
                     &o.budget_nbytes, &a.no_row_index, &a.no_check, &a.alignment, &a.filter, mr_py_to_u32, &o.pillow,
                     mr_py_to_u32, &o.part, mr_py_to_u32, &o.parts, mr_py_to_u32, &o.max_bad, mr_py_to_u32, &o.threads,
                     &p.work.progress))
        return NULL;
    p.source = mr_py_dataset_of(state, a.dataset);
    p.folder = PyBytes_AsString(a.folder);
    o.forms = forms;
    if (p.source != NULL && read_pack_options(state, &a, &o) == 0 &&
        read_forms(state, a.forms, forms, &o.form_count) == 0)
        result = pack_with(state, &p, &o);
    Py_DECREF(a.folder);
    return result;
}

/* verify. */

/* What was found, in C: the hook runs on a thread of the library's. */
typedef struct found {
    struct found *next;
    int code;
    uint64_t ordinal;
    char *path, *form, *key, *survivors, *text;
} found;

typedef struct verifying {
    mr_py_work work;
    const char *folder;
    mr_verify_options options;
    mr_verify_report report;
    found *first, **last;
    char detail[DETAIL_NBYTES];
} verifying;

static char *copy_text(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

/* Where there is no memory for it, it is counted all the same. */
static void note_finding(void *user, const mr_finding *finding)
{
    verifying *v = user;
    found *f = calloc(1, sizeof *f);
    if (f == NULL)
        return;
    f->code = finding->code;
    f->ordinal = finding->ordinal;
    f->path = copy_text(finding->path);
    f->form = copy_text(finding->form);
    f->key = copy_text(finding->key);
    f->survivors = copy_text(finding->survivors);
    f->text = copy_text(finding->text);
    *v->last = f;
    v->last = &f->next;
}

static void free_found(found *f)
{
    while (f != NULL) {
        found *next = f->next;
        free(f->path);
        free(f->form);
        free(f->key);
        free(f->survivors);
        free(f->text);
        free(f);
        f = next;
    }
}

static PyObject *text_or_none(const char *text)
{
    return text != NULL ? mr_py_str(text, strlen(text)) : Py_NewRef(Py_None);
}

static PyObject *list_of_found(const found *f)
{
    PyObject *list = PyList_New(0);
    for (; list != NULL && f != NULL; f = f->next) {
        PyObject *ordinal = f->ordinal != UINT64_MAX ? PyLong_FromUnsignedLongLong(f->ordinal) : Py_NewRef(Py_None);
        PyObject *item =
            Py_BuildValue("{s:s,s:N,s:N,s:N,s:N,s:N,s:N}", "code", mr_error_name(f->code), "path",
                          text_or_none(f->path), "form", text_or_none(f->form), "ordinal", ordinal, "key",
                          text_or_none(f->key), "survivors", text_or_none(f->survivors), "text", text_or_none(f->text));
        if (item == NULL || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static int run_verifying(mr_py_work *work)
{
    verifying *v = (verifying *)work;
    return mr_dataset_verify(v->folder, &v->options, &v->report, v->detail, sizeof v->detail);
}

static PyObject *verify_with(mr_py_state *state, verifying *v)
{
    const mr_verify_report *r = &v->report;
    v->last = &v->first;
    v->work.run = run_verifying;
    v->report.struct_size = sizeof v->report;
    v->options.struct_size = sizeof v->options;
    v->options.found = note_finding;
    v->options.found_user = v;
    v->options.progress = mr_py_work_progress;
    v->options.progress_user = &v->work;
    if (mr_py_work_run(&v->work) != 0)
        return PyErr_Occurred() != NULL ? NULL : mr_py_raise(state, v->work.code, v->detail);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:N}", "files", (unsigned long long)r->files, "nbytes",
                         (unsigned long long)r->nbytes, "records", (unsigned long long)r->records, "findings",
                         (unsigned long long)r->findings, "damaged_samples", (unsigned long long)r->damaged_samples,
                         "lost_samples", (unsigned long long)r->lost_samples, "files_before",
                         (unsigned long long)r->files_before, "found", list_of_found(v->first));
}

static PyObject *verify(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"folder", "threads", "report", "progress", NULL};
    verifying v = {.first = NULL};
    PyObject *folder = NULL, *report = NULL;
    if (!mr_py_parse(args, keywords, "O&|$O&O&O", names, PyUnicode_FSConverter, &folder, mr_py_to_u32,
                     &v.options.threads, mr_py_to_path, &report, &v.work.progress))
        return NULL;
    v.folder = PyBytes_AsString(folder);
    v.options.report = report != NULL ? PyBytes_AsString(report) : NULL;
    PyObject *result = verify_with(mr_py_state_of(module), &v);
    free_found(v.first);
    Py_DECREF(folder);
    Py_XDECREF(report);
    return result;
}

static PyMethodDef functions[] = {
    {"pack", (PyCFunction)(void (*)(void))pack, METH_VARARGS | METH_KEYWORDS,
     "pack(dataset, folder, forms, *, shard_nbytes=0, shard_samples=0, budget_nbytes=0, no_row_index=False, "
     "no_check=False, alignment='auto', filter='bilinear', pillow=0, part=0, parts=0, max_bad=0, threads=0, "
     "progress=None)\n--\n\nPacks a dataset into shards."},
    {"verify", (PyCFunction)(void (*)(void))verify, METH_VARARGS | METH_KEYWORDS,
     "verify(folder, *, threads=0, report=None, progress=None)\n--\n\nCompares every hash of a packed dataset."},
    {NULL, NULL, 0, NULL},
};

int mr_py_add_pack(PyObject *module, mr_py_state *state)
{
    (void)state;
    return PyModule_AddFunctions(module, functions);
}
