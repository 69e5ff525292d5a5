// SPDX-License-Identifier: Apache-2.0
/* Array: a view of memory that an owner keeps; the buffer protocol, and parts along the first axis. */
#include "array.h"
#include "dlpack.h"
#include <string.h>

static const struct {
    const char *name;
    size_t nbytes;
    const char *format; /* of the buffer protocol; NULL: it has none */
} DTYPES[] = {
    [MR_PY_U8] = {"uint8", 1, "B"},    [MR_PY_U16] = {"uint16", 2, "H"},     [MR_PY_F32] = {"float32", 4, "f"},
    [MR_PY_F16] = {"float16", 2, "e"}, [MR_PY_BF16] = {"bfloat16", 2, NULL}, [MR_PY_I64] = {"int64", 8, "l"},
    [MR_PY_U64] = {"uint64", 8, "L"},  [MR_PY_F64] = {"float64", 8, "d"},
};
enum { DTYPE_COUNT = sizeof DTYPES / sizeof *DTYPES };

const char *mr_py_dtype_name(mr_py_dtype dtype)
{
    return DTYPES[dtype].name;
}

size_t mr_py_dtype_nbytes(mr_py_dtype dtype)
{
    return DTYPES[dtype].nbytes;
}

mr_py_dtype mr_py_dtype_of(mr_dtype dtype)
{
    return dtype == MR_F32 ? MR_PY_F32 : dtype == MR_F16 ? MR_PY_F16 : dtype == MR_BF16 ? MR_PY_BF16 : MR_PY_U8;
}

Py_ssize_t mr_py_array_count(const mr_py_array *array)
{
    Py_ssize_t count = 1;
    for (int i = 0; i < array->axes && count != 0; i++)
        count = array->shape[i] != 0 ? count * array->shape[i] : 0;
    return count;
}

static mr_py_array *blank(PyTypeObject *type, mr_py_owner *owner, const char *data)
{
    mr_py_array *a = PyObject_New(mr_py_array, type);
    if (a == NULL)
        return NULL;
    a->owner = owner;
    mr_py_ref(owner);
    a->data = (char *)data;
    return a;
}

/* Strides of what stands without gaps. */
static void set_strides(mr_py_array *a)
{
    Py_ssize_t stride = (Py_ssize_t)DTYPES[a->dtype].nbytes;
    for (int i = a->axes - 1; i >= 0; i--) {
        a->strides[i] = stride;
        stride *= a->shape[i];
    }
}

PyObject *mr_py_array_new(mr_py_state *state, mr_py_owner *owner, const void *data, mr_py_dtype dtype, int axes,
                          const size_t *shape, bool readonly)
{
    mr_py_array *a = blank(state->array_type, owner, data);
    if (a == NULL)
        return NULL;
    a->dtype = dtype;
    a->axes = axes;
    a->readonly = readonly;
    for (int i = 0; i < axes; i++)
        a->shape[i] = (Py_ssize_t)shape[i];
    set_strides(a);
    return (PyObject *)a;
}

/* SIZE_MAX when it does not fit memory: nor may it without the axes that are 0, for others multiply those, as we do for
 * strides. */
static size_t nbytes_of(mr_py_dtype dtype, int axes, const size_t *shape)
{
    size_t nbytes = DTYPES[dtype].nbytes, most = PY_SSIZE_T_MAX;
    bool nothing = false;
    for (int i = 0; i < axes; i++) {
        nothing = nothing || shape[i] == 0;
        if (shape[i] > most / nbytes)
            return SIZE_MAX;
        nbytes *= shape[i] != 0 ? shape[i] : 1;
    }
    return nothing ? 0 : nbytes;
}

PyObject *mr_py_array_own(mr_py_state *state, mr_py_dtype dtype, int axes, const size_t *shape, void **data)
{
    void *memory = NULL;
    size_t nbytes = nbytes_of(dtype, axes, shape);
    mr_py_owner *owner = mr_py_memory(nbytes, &memory);
    if (owner == NULL)
        return mr_py_no_memory(state, nbytes);
    PyObject *array = mr_py_array_new(state, owner, memory, dtype, axes, shape, false);
    mr_py_unref(owner);
    if (data != NULL)
        *data = memory;
    return array;
}

PyObject *mr_py_array_of_image(mr_py_state *state, const mr_image *shape, mr_image *image)
{
    size_t axes[] = {shape->height, shape->width, shape->channels};
    void *pixels = NULL;
    mr_py_dtype dtype = shape->depth == 16 ? MR_PY_U16 : MR_PY_U8;
    PyObject *array = mr_py_array_own(state, dtype, shape->channels == 1 ? 2 : 3, axes, &pixels);
    if (array != NULL) {
        size_t row = (size_t)shape->width * shape->channels * DTYPES[dtype].nbytes;
        *image = (mr_image){shape->width, shape->height, shape->channels, shape->depth, (ptrdiff_t)row, pixels};
    }
    return array;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    mr_py_drop(((mr_py_array *)self)->owner);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *tuple_of(const Py_ssize_t *numbers, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromSsize_t(numbers[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *none)
{
    (void)none;
    return tuple_of(((mr_py_array *)self)->shape, ((mr_py_array *)self)->axes);
}

static PyObject *get_strides(PyObject *self, void *none)
{
    (void)none;
    return tuple_of(((mr_py_array *)self)->strides, ((mr_py_array *)self)->axes);
}

static PyObject *get_dtype(PyObject *self, void *none)
{
    (void)none;
    return PyUnicode_FromString(DTYPES[((mr_py_array *)self)->dtype].name);
}

static PyObject *get_ndim(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromLong(((mr_py_array *)self)->axes);
}

static PyObject *get_itemsize(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromSize_t(DTYPES[((mr_py_array *)self)->dtype].nbytes);
}

static Py_ssize_t nbytes_shown(const mr_py_array *a)
{
    return mr_py_array_count(a) * (Py_ssize_t)DTYPES[a->dtype].nbytes;
}

static PyObject *get_nbytes(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromSsize_t(nbytes_shown((mr_py_array *)self));
}

static PyObject *get_readonly(PyObject *self, void *none)
{
    (void)none;
    return PyBool_FromLong(((mr_py_array *)self)->readonly);
}

static PyObject *get_address(PyObject *self, void *none)
{
    (void)none;
    return PyLong_FromVoidPtr(((mr_py_array *)self)->data);
}

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL, "Lengths of the axes.", NULL},
    {"strides", get_strides, NULL, "Bytes from one place to the next along each axis.", NULL},
    {"dtype", get_dtype, NULL, "What its numbers are, by NumPy's name: \"uint8\", \"float32\", \"bfloat16\", ...",
     NULL},
    {"ndim", get_ndim, NULL, "How many axes it has.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all its numbers.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of one number.", NULL},
    {"readonly", get_readonly, NULL, "Whether it must not be written.", NULL},
    {"address", get_address, NULL, "Where its first number is in memory.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static Py_ssize_t length(PyObject *self)
{
    mr_py_array *a = (mr_py_array *)self;
    if (a->axes > 0)
        return a->shape[0];
    PyErr_SetString(PyExc_TypeError, "an Array without axes has no length; its number is int(array) or float(array)");
    return -1;
}

static PyObject *item(PyObject *self, Py_ssize_t at)
{
    mr_py_array *a = (mr_py_array *)self;
    Py_ssize_t all = length(self);
    if (all < 0)
        return NULL;
    if (at < 0 || at >= all) {
        PyErr_Format(PyExc_IndexError, "index %zd is beyond an Array of length %zd", at, all);
        return NULL;
    }
    mr_py_array *part = blank(Py_TYPE(self), a->owner, a->data + at * a->strides[0]);
    if (part == NULL)
        return NULL;
    part->dtype = a->dtype;
    part->readonly = a->readonly;
    part->axes = a->axes - 1;
    memcpy(part->shape, a->shape + 1, sizeof *a->shape * (size_t)part->axes);
    memcpy(part->strides, a->strides + 1, sizeof *a->strides * (size_t)part->axes);
    return (PyObject *)part;
}

static PyObject *slice(PyObject *self, PyObject *which)
{
    mr_py_array *a = (mr_py_array *)self;
    Py_ssize_t start, stop, step, all = length(self);
    if (all < 0 || PySlice_Unpack(which, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t count = PySlice_AdjustIndices(all, &start, &stop, step);
    mr_py_array *part = blank(Py_TYPE(self), a->owner, count > 0 ? a->data + start * a->strides[0] : a->data);
    if (part == NULL)
        return NULL;
    part->dtype = a->dtype;
    part->readonly = a->readonly;
    part->axes = a->axes;
    memcpy(part->shape, a->shape, sizeof a->shape);
    memcpy(part->strides, a->strides, sizeof a->strides);
    part->shape[0] = count;
    if (count > 1) // a stride of what has no second place does not matter, and may not fit
        part->strides[0] *= step;
    return (PyObject *)part;
}

static PyObject *subscript(PyObject *self, PyObject *which)
{
    if (PySlice_Check(which))
        return slice(self, which);
    if (!PyIndex_Check(which)) {
        PyErr_Format(PyExc_TypeError,
                     "an Array is indexed along its first axis, by a whole number or a slice, not %R: "
                     "for more use array.numpy() or array.torch()",
                     which);
        return NULL;
    }
    Py_ssize_t at = PyNumber_AsSsize_t(which, PyExc_IndexError);
    if (at == -1 && PyErr_Occurred() != NULL)
        return NULL;
    Py_ssize_t all = length(self);
    return all < 0 ? NULL : item(self, at < 0 ? at + all : at);
}

static bool is_dense(const mr_py_array *a)
{
    Py_ssize_t stride = (Py_ssize_t)DTYPES[a->dtype].nbytes;
    if (mr_py_array_count(a) == 0)
        return true;
    for (int i = a->axes - 1; i >= 0; i--) {
        if (a->shape[i] != 1 && a->strides[i] != stride)
            return false;
        stride *= a->shape[i];
    }
    return true;
}

static int refuse_buffer(Py_buffer *view, const char *text)
{
    view->obj = NULL;
    PyErr_SetString(PyExc_BufferError, text);
    return -1;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    mr_py_array *a = (mr_py_array *)self;
    const char *format = DTYPES[a->dtype].format;
    if (format == NULL)
        return refuse_buffer(view, "bfloat16 has no format in the buffer protocol: use DLPack (array.torch(), "
                                   "array.jax()), or a recipe with dtype(f16)");
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && a->readonly)
        return refuse_buffer(view, "the Array is read-only; take a copy: array.copy()");
    *view = (Py_buffer){.buf = a->data,
                        .len = nbytes_shown(a),
                        .readonly = a->readonly,
                        .itemsize = (Py_ssize_t)DTYPES[a->dtype].nbytes,
                        .format = (char *)format,
                        .ndim = a->axes,
                        .shape = a->shape,
                        .strides = a->strides};
    bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    if ((!strided || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS) && !is_dense(a))
        return refuse_buffer(view, "the Array has gaps between its numbers; take a copy: array.copy()");
    if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !PyBuffer_IsContiguous(view, 'F'))
        return refuse_buffer(view, "the Array is not in Fortran's order");
    if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !PyBuffer_IsContiguous(view, 'A'))
        return refuse_buffer(view, "the Array has gaps between its numbers; take a copy: array.copy()");
    if (!strided)
        view->strides = NULL;
    if ((flags & PyBUF_ND) != PyBUF_ND) { // bytes, one behind the other
        view->shape = NULL;
        view->ndim = 1;
    }
    if ((flags & PyBUF_FORMAT) != PyBUF_FORMAT)
        view->format = NULL;
    view->obj = Py_NewRef(self);
    return 0;
}

/* Without the GIL where it is much: who calls has a reference of the array, and that one of its memory. */
static void pour(const mr_py_array *a, char *to)
{
    PyThreadState *thread = mr_py_release_for((size_t)nbytes_shown(a));
    mr_py_array_pour(a, to);
    mr_py_regain(thread);
}

PyObject *mr_py_array_copy(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_array *a = (mr_py_array *)self;
    size_t shape[MR_PY_AXES_MAX];
    for (int i = 0; i < a->axes; i++)
        shape[i] = (size_t)a->shape[i];
    void *data = NULL;
    PyObject *twin = mr_py_array_own(mr_py_state_of_type(Py_TYPE(self)), a->dtype, a->axes, shape, &data);
    if (twin != NULL)
        pour(a, data);
    return twin;
}

static PyObject *tobytes(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_array *a = (mr_py_array *)self;
    PyObject *bytes = mr_py_bytes_blank(mr_py_state_of_type(Py_TYPE(self)), (size_t)nbytes_shown(a));
    if (bytes != NULL)
        pour(a, PyBytes_AsString(bytes));
    return bytes;
}

/* The axes of a shape: whole numbers from 0 on, or one -1 for what is left (where `whole` says how many there are). */
static int read_shape(mr_py_state *state, PyObject *numbers, Py_ssize_t whole, size_t *shape)
{
    Py_ssize_t axes = PySequence_Size(numbers), open = -1, known = 1;
    if (axes < 0)
        return -1;
    if (axes > MR_PY_AXES_MAX) {
        mr_py_refuse(state, "a shape has at most %d axes, not %zd", MR_PY_AXES_MAX, axes);
        return -1;
    }
    for (Py_ssize_t i = 0; i < axes; i++) {
        PyObject *number = PySequence_GetItem(numbers, i);
        Py_ssize_t value = number != NULL ? PyNumber_AsSsize_t(number, PyExc_OverflowError) : -1;
        Py_XDECREF(number);
        if (value == -1 && PyErr_Occurred() != NULL)
            return -1;
        if (value < -1 || (value == -1 && (whole < 0 || open >= 0))) {
            mr_py_refuse(state, "a shape has no axis of length %zd: %R", value, numbers);
            return -1;
        }
        open = value == -1 ? i : open;
        shape[i] = value == -1 ? 1 : (size_t)value;
        known = value != -1 && value != 0 && known <= PY_SSIZE_T_MAX / value ? known * value : value == 0 ? 0 : known;
    }
    if (open >= 0)
        shape[open] = known > 0 ? (size_t)(whole / known) : 0;
    return (int)axes;
}

static PyObject *reshape(PyObject *self, PyObject *arguments)
{
    mr_py_array *a = (mr_py_array *)self;
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    size_t shape[MR_PY_AXES_MAX];
    PyObject *numbers = arguments;
    if (PyTuple_Size(arguments) == 1 && PySequence_Check(PyTuple_GetItem(arguments, 0)))
        numbers = PyTuple_GetItem(arguments, 0);
    int axes = read_shape(state, numbers, mr_py_array_count(a), shape);
    if (axes < 0)
        return NULL;
    if (!is_dense(a))
        return mr_py_refuse(state, "reshape: the Array has gaps between its numbers; take a copy first: array.copy()");
    if (nbytes_of(a->dtype, axes, shape) != (size_t)nbytes_shown(a))
        return mr_py_refuse(state, "reshape: %R does not hold the %zd numbers of the Array", numbers,
                            mr_py_array_count(a));
    return mr_py_array_new(state, a->owner, a->data, a->dtype, axes, shape, a->readonly);
}

/* What a function of a module makes of the array. */
static PyObject *by_function(PyObject *self, const char *module_name, const char *function)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *result = module != NULL ? PyObject_CallMethod(module, function, "O", self) : NULL;
    Py_XDECREF(module);
    return result;
}

static PyObject *to_numpy(PyObject *self, PyObject *none)
{
    (void)none;
    if (((mr_py_array *)self)->dtype != MR_PY_BF16)
        return by_function(self, "numpy", "asarray");
    PyErr_SetString(PyExc_BufferError, "NumPy has no bfloat16: use array.torch() or array.jax(), or a recipe with "
                                       "dtype(f16) or dtype(f32)");
    return NULL;
}

static PyObject *to_torch(PyObject *self, PyObject *none)
{
    (void)none;
    return by_function(self, "torch", "from_dlpack");
}

static PyObject *to_jax(PyObject *self, PyObject *none)
{
    (void)none;
    return by_function(self, "jax.dlpack", "from_dlpack");
}

static PyObject *one_value(PyObject *self)
{
    mr_py_array *a = (mr_py_array *)self;
    if (mr_py_array_count(a) == 1)
        return mr_py_array_value(a, a->data);
    PyErr_SetString(PyExc_TypeError, "only an Array of one number is a number");
    return NULL;
}

static PyObject *as_int(PyObject *self)
{
    PyObject *value = one_value(self);
    PyObject *whole = value != NULL ? PyNumber_Long(value) : NULL;
    Py_XDECREF(value);
    return whole;
}

static PyObject *as_float(PyObject *self)
{
    PyObject *value = one_value(self);
    PyObject *real = value != NULL ? PyNumber_Float(value) : NULL;
    Py_XDECREF(value);
    return real;
}

/* Only whole numbers without axes are indices. */
static PyObject *as_index(PyObject *self)
{
    mr_py_array *a = (mr_py_array *)self;
    bool whole = a->dtype == MR_PY_U8 || a->dtype == MR_PY_U16 || a->dtype == MR_PY_I64 || a->dtype == MR_PY_U64;
    if (a->axes == 0 && whole)
        return one_value(self);
    PyErr_SetString(PyExc_TypeError, "only an Array of whole numbers without axes is an index");
    return NULL;
}

static PyObject *repr(PyObject *self)
{
    mr_py_array *a = (mr_py_array *)self;
    PyObject *shape = get_shape(self, NULL);
    PyObject *values = shape != NULL && mr_py_array_count(a) <= 16 ? mr_py_array_tolist(self, NULL) : NULL;
    PyObject *text = NULL;
    if (values != NULL)
        text = PyUnicode_FromFormat("<millrace.Array %R: %R, %s>", shape, values, DTYPES[a->dtype].name);
    else if (shape != NULL && PyErr_Occurred() == NULL)
        text = PyUnicode_FromFormat("<millrace.Array %R, %s%s>", shape, DTYPES[a->dtype].name,
                                    a->readonly ? ", read-only" : "");
    Py_XDECREF(values);
    Py_XDECREF(shape);
    return text;
}

/* By name; -1 with an exception. */
static int read_dtype(mr_py_state *state, const char *name)
{
    const char *known[DTYPE_COUNT + 1] = {NULL};
    for (int i = 0; i < DTYPE_COUNT; i++)
        known[i] = DTYPES[i].name;
    return mr_py_choice(state, "dtype", name, known);
}

static PyObject *empty(PyObject *module, PyObject *arguments, PyObject *options)
{
    static const char *names[] = {"shape", "dtype", NULL};
    PyObject *numbers;
    const char *name;
    if (!PyArg_ParseTupleAndKeywords(arguments, options, "Os:empty", (char **)names, &numbers, &name))
        return NULL;
    mr_py_state *state = mr_py_state_of(module);
    size_t shape[MR_PY_AXES_MAX];
    int dtype = read_dtype(state, name);
    int axes = dtype >= 0 ? read_shape(state, numbers, -1, shape) : -1;
    return axes >= 0 ? mr_py_array_own(state, (mr_py_dtype)dtype, axes, shape, NULL) : NULL;
}

/* What a pickle is read by: anybody may have written that. */
static PyObject *of_bytes(PyObject *module, PyObject *arguments)
{
    mr_py_state *state = mr_py_state_of(module);
    PyObject *numbers, *array = NULL;
    const char *name;
    Py_buffer data;
    void *to = NULL;
    size_t shape[MR_PY_AXES_MAX];
    if (!PyArg_ParseTuple(arguments, "Osy*:_array", &numbers, &name, &data))
        return NULL;
    int dtype = read_dtype(state, name);
    int axes = dtype >= 0 ? read_shape(state, numbers, -1, shape) : -1;
    if (axes >= 0 && nbytes_of((mr_py_dtype)dtype, axes, shape) != (size_t)data.len)
        mr_py_refuse(state, "an Array of %s, of the shape %R, does not have %zd bytes", DTYPES[dtype].name, numbers,
                     data.len);
    else if (axes >= 0)
        array = mr_py_array_own(state, (mr_py_dtype)dtype, axes, shape, &to);
    if (array != NULL)
        mr_py_copy(to, data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    return array;
}

/* For pickle: the function above, and what to call it with. */
static PyObject *reduce(PyObject *self, PyObject *none)
{
    PyObject *module = PyType_GetModule(Py_TYPE(self));
    PyObject *function = module != NULL ? PyObject_GetAttrString(module, "_array") : NULL;
    PyObject *shape = function != NULL ? get_shape(self, NULL) : NULL;
    PyObject *bytes = shape != NULL ? tobytes(self, none) : NULL;
    if (bytes != NULL)
        return Py_BuildValue("N(NsN)", function, shape, DTYPES[((mr_py_array *)self)->dtype].name, bytes);
    Py_XDECREF(shape);
    Py_XDECREF(function);
    return NULL;
}

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))mr_py_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "The array as a DLPack capsule, without a copy unless copy=True."},
    {"__dlpack_device__", mr_py_array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nWhere it is: (1, 0), the host's memory."},
    {"reshape", reshape, METH_VARARGS,
     "reshape($self, /, *shape)\n--\n\nThe same numbers in another shape, as a view; one length may be -1.\n\n"
     "    batch.images.reshape(-1, 3 * 224 * 224)"},
    {"copy", mr_py_array_copy, METH_NOARGS,
     "copy($self, /)\n--\n\nThe same numbers in memory of their own, which may be kept and written."},
    {"__copy__", mr_py_array_copy, METH_NOARGS, "__copy__($self, /)\n--\n\nAs copy()."},
    {"__deepcopy__", mr_py_array_copy, METH_O, "__deepcopy__($self, memo, /)\n--\n\nAs copy()."},
    {"__reduce__", reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFor pickle: its numbers; elsewhere they have memory of their own, as by copy()."},
    {"tobytes", tobytes, METH_NOARGS, "tobytes($self, /)\n--\n\nThe numbers as bytes, in the machine's byte order."},
    {"tolist", mr_py_array_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe numbers as Python's, in lists within lists; one number where there are no axes."},
    {"numpy", to_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nA NumPy array over the same memory."},
    {"torch", to_torch, METH_NOARGS,
     "torch($self, /)\n--\n\nA torch tensor over the same memory. Of a read-only array it must not be written."},
    {"_repr_png_", mr_py_array_png, METH_NOARGS,
     "_repr_png_($self, /)\n--\n\nA PNG file for notebooks, of 8 or 16 bits and height x width (x 1, 3 or 4); else "
     "None."},
    {"jax", to_jax, METH_NOARGS, "jax($self, /)\n--\n\nA JAX array over the same memory."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     (void *)"Numbers in memory: a view of a batch, or memory of its own.\n\n"
             "What it is a view of stays until the last view is gone: this one, its parts, and the NumPy arrays,\n"
             "torch tensors and others that were made of it. It speaks the buffer protocol and DLPack."},
    {Py_tp_dealloc, (void *)dealloc},
    {Py_tp_repr, (void *)repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_sq_length, (void *)length},
    {Py_sq_item, (void *)item},
    {Py_mp_length, (void *)length},
    {Py_mp_subscript, (void *)subscript},
    {Py_nb_int, (void *)as_int},
    {Py_nb_float, (void *)as_float},
    {Py_nb_index, (void *)as_index},
    {Py_bf_getbuffer, (void *)get_buffer},
    {0, NULL}};

static PyType_Spec spec = {.name = "millrace._core.Array",
                           .basicsize = sizeof(mr_py_array),
                           .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           .slots = slots};

static PyMethodDef functions[] = {
    {"empty", (PyCFunction)(void (*)(void))empty, METH_VARARGS | METH_KEYWORDS,
     "empty(shape, dtype)\n--\n\nAn Array of zeros with memory of its own."},
    {"_array", of_bytes, METH_VARARGS,
     "_array(shape, dtype, data, /)\n--\n\nAn Array of what tobytes() gave, with memory of its own."},
    {NULL, NULL, 0, NULL}};

int mr_py_add_array(PyObject *module, mr_py_state *state)
{
    state->array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (state->array_type == NULL || PyModule_AddType(module, state->array_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
