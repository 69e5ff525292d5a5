// SPDX-License-Identifier: Apache-2.0
/*
 * Recipe. The C one keeps what it was last asked for (texts, details), so calls are one at a time. While the lock is
 * held nothing of Python's is called, not even to make a list: that may run the collector, and it anybody's finalizer.
 * What the C library says is copied out, and made Python's after.
 */
#include "core.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct recipe {
    PyObject_HEAD mr_recipe *recipe;
    pthread_mutex_t mutex;
} recipe;

static recipe *lock(PyObject *self)
{
    pthread_mutex_lock(&((recipe *)self)->mutex);
    return (recipe *)self;
}

static void unlock(recipe *r)
{
    pthread_mutex_unlock(&r->mutex);
}

/* What a call came to, as it was said under the lock. */
typedef struct outcome {
    int code;
    char detail[256];
} outcome;

/* Notes it and unlocks. */
static outcome unlock_with(recipe *r, int code)
{
    outcome o = {.code = code};
    if (code != 0)
        strncpy(o.detail, mr_recipe_detail(r->recipe), sizeof o.detail - 1);
    unlock(r);
    return o;
}

/* Its code, with the exception. */
static int raise_outcome(PyObject *self, const outcome *o)
{
    if (o->code != 0)
        mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), o->code, o->detail);
    return o->code;
}

static PyObject *wrap(PyTypeObject *type, mr_recipe *made)
{
    recipe *r = PyObject_New(recipe, type);
    if (r == NULL) {
        mr_recipe_free(made);
        return NULL;
    }
    r->recipe = made;
    pthread_mutex_init(&r->mutex, NULL);
    return (PyObject *)r;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    mr_recipe_free(((recipe *)self)->recipe);
    pthread_mutex_destroy(&((recipe *)self)->mutex);
    PyObject_Free(self);
    Py_DECREF(type);
}

enum { SHOWN = 60 }; /* bytes of a text on each side of what is wrong with it */

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; // of a character of several bytes
}

/* The line of the text in which it went wrong, and under it a caret. */
static PyObject *point_at(const char *text, size_t at)
{
    const char *wrong = text + (at < strlen(text) ? at : strlen(text)), *from = wrong, *to = wrong;
    while (from > text && from[-1] != '\n' && (wrong - from < SHOWN || is_inside(*from)))
        from--;
    while (*to != '\0' && *to != '\n' && (to - wrong < SHOWN || is_inside(*to)))
        to++;
    char space[SHOWN * 4];
    size_t count = 0;
    for (const char *c = from; c < wrong && count < sizeof space - 1; c++)
        if (!is_inside(*c))
            space[count++] = *c == '\t' ? '\t' : ' ';
    space[count] = '\0';
    PyObject *line = PyUnicode_DecodeUTF8(from, to - from, "replace");
    PyObject *both = line != NULL ? PyUnicode_FromFormat("    %U\n    %s^", line, space) : NULL;
    Py_XDECREF(line);
    return both;
}

static void raise_parse(mr_py_state *state, const mr_recipe *made, int code, const char *text)
{
    const char *detail = mr_recipe_detail(made);
    PyObject *shown = code == MR_EARGUMENT ? point_at(text, mr_recipe_error_at(made)) : NULL;
    if (shown != NULL)
        mr_py_refuse(state, "recipe: %s\n%U", *detail != '\0' ? detail : mr_error_text(code), shown);
    else if (PyErr_Occurred() == NULL)
        mr_py_raise(state, code, detail);
    Py_XDECREF(shown);
}

static PyObject *new (PyTypeObject *type, PyObject *arguments, PyObject *options)
{
    static const char *names[] = {"text", NULL};
    PyObject *words;
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "O:Recipe", (char **)names, &words))
        return NULL;
    const char *text = mr_py_text("Recipe: text", words);
    if (text == NULL)
        return NULL;
    mr_py_state *state = mr_py_state_of_type(type);
    mr_recipe *made = NULL;
    int code = mr_recipe_new(NULL, &made);
    if (code != 0)
        return mr_py_raise(state, code, NULL);
    code = mr_recipe_parse(made, text);
    if (code == 0)
        return wrap(type, made);
    raise_parse(state, made, code, text);
    mr_recipe_free(made);
    return NULL;
}

mr_recipe *mr_py_recipe_of(mr_py_state *state, PyObject *object)
{
    if (Py_IS_TYPE(object, state->recipe_type))
        return ((recipe *)object)->recipe;
    PyErr_Format(PyExc_TypeError, "recipe must be a millrace._core.Recipe, not %R", Py_TYPE(object));
    return NULL;
}

static PyObject *get_text(PyObject *self, void *none)
{
    (void)none;
    recipe *r = lock(self);
    const char *text = mr_recipe_text(r->recipe);
    char *copy = text != NULL ? strdup(text) : NULL;
    unlock(r);
    PyObject *words = copy != NULL ? PyUnicode_FromString(copy) : PyErr_NoMemory();
    free(copy);
    return words;
}

static PyObject *get_hash(PyObject *self, void *none)
{
    (void)none;
    recipe *r = lock(self);
    uint64_t hash = mr_recipe_hash(r->recipe);
    unlock(r);
    return PyLong_FromUnsignedLongLong(hash);
}

int mr_py_recipe_output(PyObject *self, mr_output *output)
{
    *output = (mr_output){.struct_size = sizeof *output};
    recipe *r = lock(self);
    outcome o = unlock_with(r, mr_recipe_output(r->recipe, output));
    return raise_outcome(self, &o) == 0 ? 0 : -1;
}

static PyObject *output_of(PyObject *self, PyObject *none)
{
    (void)none;
    mr_output o;
    if (mr_py_recipe_output(self, &o) != 0)
        return NULL;
    bool planes = o.layout == MR_NCHW;
    PyObject *shape = planes ? Py_BuildValue("(III)", o.channels, o.height, o.width)
                             : Py_BuildValue("(III)", o.height, o.width, o.channels);
    return Py_BuildValue("{s:N,s:s,s:s,s:I,s:I,s:I,s:n}", "shape", shape, "dtype",
                         mr_py_dtype_name(mr_py_dtype_of(o.dtype)), "layout", mr_batch_layout_name(o.layout), "width",
                         o.width, "height", o.height, "channels", o.channels, "nbytes", (Py_ssize_t)o.sample_nbytes);
}

/* The text of one step, which is the caller's: that of a recipe that has no other. NULL: out of memory. */
static char *step_text(const mr_recipe *from, size_t number)
{
    mr_step step = {.struct_size = sizeof step};
    mr_recipe *one = NULL;
    int code = mr_recipe_step(from, number, &step);
    code = code == 0 ? mr_recipe_new(NULL, &one) : code;
    code = code == 0 ? mr_recipe_add(one, &step) : code;
    const char *text = code == 0 ? mr_recipe_text(one) : NULL;
    char *copy = text != NULL ? strdup(text) : NULL;
    mr_recipe_free(one);
    return copy;
}

static PyObject *steps_of(PyObject *self, PyObject *none)
{
    (void)none;
    size_t count = mr_recipe_count(((recipe *)self)->recipe); // its steps never change
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        recipe *r = lock(self);
        char *text = step_text(r->recipe, i);
        unlock(r);
        PyObject *words = text != NULL ? PyUnicode_FromString(text) : PyErr_NoMemory();
        free(text);
        if (words == NULL || PyList_SetItem(list, (Py_ssize_t)i, words) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *visible(PyObject *self, PyObject *none)
{
    (void)none;
    mr_recipe *made = NULL;
    recipe *r = lock(self);
    outcome o = unlock_with(r, mr_recipe_visible(r->recipe, &made));
    return raise_outcome(self, &o) == 0 ? wrap(Py_TYPE(self), made) : NULL;
}

static PyObject *set_fusing(PyObject *self, PyObject *whether)
{
    bool fuse;
    if (mr_py_truth("set_fusing: fuse", whether, &fuse) < 0)
        return NULL;
    recipe *r = lock(self);
    int code = mr_recipe_set_fusing(r->recipe, fuse);
    unlock(r);
    return code == 0 ? Py_NewRef(Py_None) : mr_py_raise(mr_py_state_of_type(Py_TYPE(self)), code, NULL);
}

/* Which draws: seed, epoch and key of a call. */
typedef struct draws {
    uint64_t seed, epoch, key;
} draws;

static int read_draws(mr_py_state *state, PyObject *const objects[3], draws *d)
{
    *d = (draws){0};
    if ((objects[0] != NULL && mr_py_number(state, "seed", objects[0], UINT64_MAX, &d->seed) < 0) ||
        (objects[1] != NULL && mr_py_number(state, "epoch", objects[1], UINT32_MAX, &d->epoch) < 0) ||
        (objects[2] != NULL && mr_py_number(state, "key", objects[2], UINT64_MAX, &d->key) < 0))
        return -1;
    return 0;
}

static size_t explain_into(PyObject *self, const uint64_t size[2], const draws *d, char *text, size_t nbytes)
{
    recipe *r = lock(self);
    size_t length = mr_recipe_explain(r->recipe, (uint32_t)size[0], (uint32_t)size[1], d->seed, (uint32_t)d->epoch,
                                      d->key, text, nbytes);
    outcome o = unlock_with(r, length == 0 ? MR_EARGUMENT : 0);
    if (strncmp(o.detail, "out of memory", 13) == 0) // a length has no code
        o.code = MR_ENOMEM;
    raise_outcome(self, &o);
    return length;
}

static PyObject *explain(PyObject *self, PyObject *arguments, PyObject *options)
{
    static const char *names[] = {"width", "height", "seed", "epoch", "key", NULL};
    PyObject *sides[2], *three[3] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "OO|OOO:explain", (char **)names, &sides[0], &sides[1],
                                     &three[0], &three[1], &three[2]))
        return NULL;
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    uint64_t size[2];
    draws d;
    if (mr_py_number(state, "width", sides[0], UINT32_MAX, &size[0]) < 0 ||
        mr_py_number(state, "height", sides[1], UINT32_MAX, &size[1]) < 0 || read_draws(state, three, &d) < 0)
        return NULL;
    size_t length = explain_into(self, size, &d, NULL, 0);
    char *text = length > 0 ? malloc(length + 1) : NULL;
    if (text == NULL)
        return length > 0 ? PyErr_NoMemory() : NULL;
    length = explain_into(self, size, &d, text, length + 1);
    PyObject *words = length > 0 ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace") : NULL;
    free(text);
    return words;
}

static PyObject *array_for(mr_py_state *state, const mr_output *o, void **data)
{
    size_t planes[] = {o->channels, o->height, o->width}, pixels[] = {o->height, o->width, o->channels};
    return mr_py_array_own(state, mr_py_dtype_of(o->dtype), 3, o->layout == MR_NCHW ? planes : pixels, data);
}

static mr_applier *applier_of(PyObject *self)
{
    mr_applier *applier = NULL;
    recipe *r = lock(self);
    outcome o = unlock_with(r, mr_applier_new(r->recipe, NULL, &applier));
    raise_outcome(self, &o);
    return applier;
}

static PyObject *apply_to(PyObject *self, const mr_image *image, const draws *d)
{
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    mr_output o;
    void *to = NULL;
    mr_applier *applier = mr_py_recipe_output(self, &o) == 0 ? applier_of(self) : NULL;
    PyObject *array = applier != NULL ? array_for(state, &o, &to) : NULL;
    if (array != NULL) {
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = mr_applier_run(applier, image, d->seed, (uint32_t)d->epoch, d->key, to);
        Py_END_ALLOW_THREADS;
        if (code != 0) {
            mr_py_raise(state, code, mr_applier_detail(applier));
            Py_CLEAR(array);
        }
    }
    mr_applier_free(applier);
    return array;
}

static PyObject *apply(PyObject *self, PyObject *arguments, PyObject *options)
{
    static const char *names[] = {"image", "seed", "epoch", "key", NULL};
    PyObject *object, *three[3] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "O|OOO:apply", (char **)names, &object, &three[0], &three[1],
                                     &three[2]))
        return NULL;
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    Py_buffer buffer;
    mr_image image;
    draws d;
    if (read_draws(state, three, &d) < 0 || mr_py_image_of(state, object, &buffer, &image) < 0)
        return NULL;
    PyObject *array = apply_to(self, &image, &d);
    PyBuffer_Release(&buffer);
    return array;
}

static PyObject *repr(PyObject *self)
{
    PyObject *text = get_text(self, NULL);
    PyObject *words = text != NULL ? PyUnicode_FromFormat("Recipe(%R)", text) : NULL;
    Py_XDECREF(text);
    return words;
}

static PyGetSetDef attributes[] = {
    {"text", get_text, NULL, "The text that gives this recipe, in its shortest form.", NULL},
    {"hash", get_hash, NULL, "The same for two recipes that do the same by the same steps.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {
    {"output", output_of, METH_NOARGS,
     "output($self, /)\n--\n\nWhat it gives for one sample: shape, dtype, layout, width, height, channels, nbytes."},
    {"steps", steps_of, METH_NOARGS, "steps($self, /)\n--\n\nThe text of each step."},
    {"visible", visible, METH_NOARGS,
     "visible($self, /)\n--\n\nA copy for eyes: the same draws and pixels, without normalize, as u8 NHWC."},
    {"set_fusing", set_fusing, METH_O,
     "set_fusing($self, fuse, /)\n--\n\nWhether steps are fused. The pixels are the same either way."},
    {"explain", (PyCFunction)(void (*)(void))explain, METH_VARARGS | METH_KEYWORDS,
     "explain($self, /, width, height, seed=0, epoch=0, key=0)\n--\n\n"
     "What is done to an image of this size, pass by pass."},
    {"apply", (PyCFunction)(void (*)(void))apply, METH_VARARGS | METH_KEYWORDS,
     "apply($self, /, image, seed=0, epoch=0, key=0)\n--\n\n"
     "What a loader of this seed makes of the image (height x width x channels, uint8) in this epoch; `key` is the\n"
     "sample's ordinal."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, (void *)"Recipe(text)\n--\n\nThe steps that are applied to each sample.\n\n"
                                                  "    Recipe(\"rrc(224) flip normalize(imagenet)\")"},
                              {Py_tp_new, (void *)new},
                              {Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_repr, (void *)repr},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, attributes},
                              {0, NULL}};

static PyType_Spec spec = {.name = "millrace._core.Recipe",
                           .basicsize = sizeof(recipe),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

int mr_py_add_recipe(PyObject *module, mr_py_state *state)
{
    state->recipe_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->recipe_type != NULL ? PyModule_AddType(module, state->recipe_type) : -1;
}
