// SPDX-License-Identifier: Apache-2.0
/* Single images: info, decode, encode, recode, row_index. Decoders and encoders are kept for the next call. */
#include "array.h"
#include "pool.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* Work on an image with more bytes than this leaves more memory behind than is worth keeping. */
enum { LARGE_NBYTES = 32 << 20, SHOWN_SIDE_MAX = 4096 };

struct mr_py_codecs {
    mr_py_pool decoders, encoders;
};

/* A decoder of one call; with limits of the caller's it is a new one, as they are fixed when it is made. */
typedef struct decoding {
    mr_decoder *decoder;
    bool own;
    bool large;
} decoding;

static int begin_decoding(mr_py_state *state, PyObject *limits, decoding *d)
{
    mr_limits own;
    *d = (decoding){.own = limits != NULL && limits != Py_None};
    if (!d->own)
        d->decoder = mr_py_pool_take(&state->codecs->decoders);
    if (d->decoder != NULL)
        return 0;
    if (mr_py_limits(state, limits, &own) != 0)
        return -1;
    int code =
        mr_decoder_new(&(mr_decoder_options){.struct_size = sizeof(mr_decoder_options), .limits = &own}, &d->decoder);
    if (code != 0)
        mr_py_raise(state, code, NULL);
    return code != 0 ? -1 : 0;
}

static void end_decoding(mr_py_state *state, decoding *d)
{
    if (d->decoder == NULL)
        return;
    if (d->large && !d->own)
        mr_decoder_trim(d->decoder);
    if (d->own || mr_py_pool_give(&state->codecs->decoders, d->decoder) != NULL)
        mr_decoder_free(d->decoder);
}

/* info. */

static PyObject *dict_of_info(const mr_info *i)
{
    return Py_BuildValue("{s:s,s:I,s:I,s:I,s:I,s:s,s:s,s:I,s:O,s:O,s:O,s:I,s:I,s:O,s:K}", "form", mr_form_name(i->form),
                         "width", (unsigned)i->width, "height", (unsigned)i->height, "channels", (unsigned)i->channels,
                         "depth", (unsigned)i->depth, "color", mr_color_name(i->color), "subsampling",
                         mr_subsampling_name(i->subsampling), "orientation", (unsigned)i->orientation, "progressive",
                         mr_py_bool(i->progressive), "lossless", mr_py_bool(i->lossless), "has_icc",
                         mr_py_bool(i->has_icc), "frames", (unsigned)i->frames, "tiles", (unsigned)i->tiles,
                         "has_origin", mr_py_bool(i->has_origin), "extra_nbytes", (unsigned long long)i->extra_nbytes);
}

static PyObject *info(PyObject *module, PyObject *data)
{
    mr_py_state *state = mr_py_state_of(module);
    mr_info i = {.struct_size = sizeof i};
    PyObject *result = NULL;
    Py_buffer bytes;
    decoding d;
    if (PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    if (begin_decoding(state, NULL, &d) == 0) {
        int code;
        Py_BEGIN_ALLOW_THREADS code = mr_decoder_info(d.decoder, bytes.buf, (size_t)bytes.len, &i);
        Py_END_ALLOW_THREADS result =
            code == 0 ? dict_of_info(&i) : mr_py_raise(state, code, mr_decoder_detail(d.decoder));
    }
    end_decoding(state, &d);
    PyBuffer_Release(&bytes);
    return result;
}

/* decode. */

/* (x, y, width, height), or None. */
static int read_region(PyObject *given, mr_rect *region)
{
    if (given == NULL || given == Py_None)
        return 0;
    PyObject *numbers = PySequence_Tuple(given);
    int good = numbers != NULL &&
               PyArg_ParseTuple(numbers, "O&O&O&O&;a region is (x, y, width, height)", mr_py_to_u32, &region->x,
                                mr_py_to_u32, &region->y, mr_py_to_u32, &region->width, mr_py_to_u32, &region->height);
    Py_XDECREF(numbers);
    return good ? 0 : -1;
}

/* Straight into the memory of the array that is returned. */
static PyObject *decode_with(mr_py_state *state, decoding *d, const Py_buffer *data, const mr_decode_hints *hints)
{
    mr_image shape = {0}, image;
    size_t nbytes = (size_t)data->len;
    int code;
    Py_BEGIN_ALLOW_THREADS code = mr_decoder_shape(d->decoder, data->buf, nbytes, hints, &shape);
    Py_END_ALLOW_THREADS if (code != 0) return mr_py_raise(state, code, mr_decoder_detail(d->decoder));
    PyObject *array = mr_py_array_of_image(state, &shape, &image);
    if (array == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mr_decoder_decode_into(d->decoder, data->buf, nbytes, hints, &image);
    Py_END_ALLOW_THREADS d->large = mr_image_row_nbytes(&shape) * shape.height > LARGE_NBYTES || nbytes > LARGE_NBYTES;
    if (code == 0)
        return array;
    Py_DECREF(array);
    return mr_py_raise(state, code, mr_decoder_detail(d->decoder));
}

static PyObject *decode(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"data",           "region", "reduce", "channels", "depth", "orient",
                                        "accept_damaged", "values", "index",  "limits",   NULL};
    mr_py_state *state = mr_py_state_of(module);
    mr_decode_hints hints = {.struct_size = sizeof hints};
    PyObject *data, *region = NULL, *index = NULL, *limits = NULL, *result = NULL;
    Py_buffer bytes = {0}, index_bytes = {0};
    int orient = 0, damaged = 0, values = 0;
    decoding d = {0};
    if (!mr_py_parse(args, keywords, "O|$OO&O&O&pppOO", names, &data, &region, mr_py_to_u32, &hints.reduce,
                     mr_py_to_u32, &hints.channels, mr_py_to_u32, &hints.depth, &orient, &damaged, &values, &index,
                     &limits) ||
        read_region(region, &hints.region) != 0 || PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    if (index == NULL || index == Py_None || PyObject_GetBuffer(index, &index_bytes, PyBUF_SIMPLE) == 0) {
        hints.orient = orient != 0;
        hints.accept_damaged = damaged != 0;
        hints.values = values != 0;
        hints.index = index_bytes.buf;
        hints.index_nbytes = (size_t)index_bytes.len;
        if (begin_decoding(state, limits, &d) == 0)
            result = decode_with(state, &d, &bytes, &hints);
        end_decoding(state, &d);
        PyBuffer_Release(&index_bytes); /* nothing where it was not given */
    }
    PyBuffer_Release(&bytes);
    return result;
}

static PyObject *row_index(PyObject *module, PyObject *data)
{
    mr_py_state *state = mr_py_state_of(module);
    PyObject *result = NULL;
    Py_buffer bytes;
    decoding d;
    if (PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    if (begin_decoding(state, NULL, &d) == 0) {
        const void *index = NULL;
        size_t nbytes = 0;
        int code;
        Py_BEGIN_ALLOW_THREADS code = mr_decoder_index(d.decoder, bytes.buf, (size_t)bytes.len, &index, &nbytes);
        Py_END_ALLOW_THREADS d.large = bytes.len > LARGE_NBYTES;
        if (code != 0)
            mr_py_raise(state, code, mr_decoder_detail(d.decoder));
        else
            result = index != NULL ? mr_py_bytes(state, index, nbytes) : Py_NewRef(Py_None);
    }
    end_decoding(state, &d);
    PyBuffer_Release(&bytes);
    return result;
}

/* encode and recode. */

static mr_encoder *take_encoder(mr_py_state *state)
{
    mr_encoder *encoder = mr_py_pool_take(&state->codecs->encoders);
    if (encoder != NULL)
        return encoder;
    int code = mr_encoder_new(NULL, &encoder);
    if (code != 0)
        mr_py_raise(state, code, NULL);
    return code == 0 ? encoder : NULL;
}

static void give_encoder(mr_py_state *state, mr_encoder *encoder, bool large)
{
    if (encoder != NULL && (large || mr_py_pool_give(&state->codecs->encoders, encoder) != NULL))
        mr_encoder_free(encoder);
}

static int read_form(mr_py_state *state, const char *name, mr_form *form)
{
    *form = mr_form_from_name(name);
    if (*form != MR_FORM_NONE)
        return 0;
    mr_py_refuse(state, "there is no form '%s' (one of: jpeg, png, webp, pnm, raw, l3)", name);
    return -1;
}

/* "4:2:0". */
static int read_subsampling(mr_py_state *state, const char *name, mr_subsampling *subsampling)
{
    static const char *const words[] = {"none", "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1", "4:1:0", "4:4:1", NULL};
    int number = name != NULL ? mr_py_choice(state, "subsampling", name, words) : 0;
    *subsampling = (mr_subsampling)number;
    return number < 0 ? -1 : 0;
}

typedef struct encode_arguments {
    PyObject *image, *icc;
    const char *form, *subsampling, *preset;
    int progressive, lossless;
} encode_arguments;

static int read_encode_options(mr_py_state *state, const encode_arguments *a, mr_encode_options *o)
{
    static const char *const presets[] = {"default", "fast", "small", NULL};
    int preset = mr_py_choice(state, "preset", a->preset, presets);
    o->preset = (mr_l3_preset)preset;
    o->progressive = a->progressive != 0;
    o->lossless = a->lossless != 0;
    return preset < 0 || read_form(state, a->form, &o->form) != 0 ||
                   read_subsampling(state, a->subsampling, &o->subsampling) != 0
               ? -1
               : 0;
}

static PyObject *encode_image(mr_py_state *state, const mr_image *image, const mr_encode_options *options)
{
    mr_encoder *encoder = take_encoder(state);
    const void *out = NULL;
    size_t nbytes = 0;
    int code;
    if (encoder == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mr_encoder_encode(encoder, image, options, &out, &nbytes);
    Py_END_ALLOW_THREADS PyObject *result =
        code == 0 ? mr_py_bytes(state, out, nbytes) : mr_py_raise(state, code, mr_encoder_detail(encoder));
    give_encoder(state, encoder, mr_image_row_nbytes(image) * image->height > LARGE_NBYTES);
    return result;
}

static PyObject *encode(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"image",  "form",        "quality", "subsampling", "progressive", "lossless",
                                        "effort", "orientation", "icc",     "preset",      "threads",     NULL};
    mr_py_state *state = mr_py_state_of(module);
    mr_encode_options o = {.struct_size = sizeof o};
    encode_arguments a = {.preset = "default"};
    PyObject *result = NULL;
    Py_buffer pixels, icc = {0};
    mr_image image;
    if (!mr_py_parse(args, keywords, "Os|$O&zppO&O&OsO&", names, &a.image, &a.form, mr_py_to_u32, &o.quality,
                     &a.subsampling, &a.progressive, &a.lossless, mr_py_to_u32, &o.effort, mr_py_to_u32, &o.orientation,
                     &a.icc, &a.preset, mr_py_to_u32, &o.threads) ||
        read_encode_options(state, &a, &o) != 0 || mr_py_image_of(state, a.image, &pixels, &image) != 0)
        return NULL;
    if (a.icc == NULL || a.icc == Py_None || PyObject_GetBuffer(a.icc, &icc, PyBUF_SIMPLE) == 0) {
        o.icc = icc.len != 0 ? icc.buf : NULL;
        o.icc_nbytes = (size_t)icc.len;
        result = encode_image(state, &image, &o);
        PyBuffer_Release(&icc);
    }
    PyBuffer_Release(&pixels);
    return result;
}

/* Pixels of a picture that a notebook can show; not of a tensor, nor of one that would take seconds. */
static bool is_picture(const mr_py_array *a)
{
    if ((a->dtype != MR_PY_U8 && a->dtype != MR_PY_U16) || (a->axes != 2 && a->axes != 3))
        return false;
    for (int i = 0; i < 2; i++)
        if (a->shape[i] < 1 || a->shape[i] > SHOWN_SIDE_MAX)
            return false;
    return a->axes == 2 || a->shape[2] == 1 || a->shape[2] == 3 || a->shape[2] == 4;
}

PyObject *mr_py_array_png(PyObject *self, PyObject *none)
{
    (void)none;
    mr_py_state *state = mr_py_state_of_type(Py_TYPE(self));
    mr_encode_options o = {.struct_size = sizeof o, .form = MR_FORM_PNG};
    Py_buffer pixels;
    mr_image image;
    if (!is_picture((mr_py_array *)self))
        Py_RETURN_NONE;
    if (mr_py_image_of(state, self, &pixels, &image) != 0)
        return NULL;
    PyObject *png = encode_image(state, &image, &o);
    PyBuffer_Release(&pixels);
    return png;
}

static PyObject *recode_with(mr_py_state *state, mr_encoder *encoder, const Py_buffer *data, const mr_encode_options *o)
{
    mr_recode_report report = {.struct_size = sizeof report};
    const void *out = NULL;
    size_t nbytes = 0;
    int code;
    Py_BEGIN_ALLOW_THREADS code = mr_encoder_recode(encoder, data->buf, (size_t)data->len, o, &out, &nbytes, &report);
    Py_END_ALLOW_THREADS if (code != 0) return mr_py_raise(state, code, mr_encoder_detail(encoder));
    return Py_BuildValue("N{s:O,s:O,s:K,s:s}", mr_py_bytes(state, out, nbytes), "exact", mr_py_bool(report.exact),
                         "has_origin", mr_py_bool(report.has_origin), "origin_nbytes",
                         (unsigned long long)report.origin_nbytes, "why", report.why != NULL ? report.why : "");
}

static PyObject *recode(PyObject *module, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"data", "form", "quality", "without_origin", "threads", NULL};
    mr_py_state *state = mr_py_state_of(module);
    mr_encode_options o = {.struct_size = sizeof o};
    PyObject *data;
    const char *form;
    Py_buffer bytes;
    int without = 0;
    if (!mr_py_parse(args, keywords, "Os|$O&pO&", names, &data, &form, mr_py_to_u32, &o.quality, &without, mr_py_to_u32,
                     &o.threads) ||
        read_form(state, form, &o.form) != 0 || PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    o.without_origin = without != 0;
    mr_encoder *encoder = take_encoder(state);
    PyObject *result = encoder != NULL ? recode_with(state, encoder, &bytes, &o) : NULL;
    give_encoder(state, encoder, bytes.len > LARGE_NBYTES / 8);
    PyBuffer_Release(&bytes);
    return result;
}

/* annotation. */

static int put_objects(mr_py_state *state, PyObject *dict, const mr_annotation_view *v)
{
    const size_t boxes[] = {v->count, 4}, rotated[] = {v->count, 5}, points[] = {v->keypoint_count, 3};
    const size_t starts[] = {v->count + 1};
    return mr_py_put(dict, "boxes", mr_py_numbers(state, NULL, v->boxes, MR_PY_F32, 2, boxes)) != 0 ||
                   mr_py_put(dict, "rotated", mr_py_numbers(state, NULL, v->rotated, MR_PY_F32, 2, rotated)) != 0 ||
                   mr_py_put(dict, "categories", mr_py_numbers(state, NULL, v->categories, MR_PY_I64, 1, boxes)) != 0 ||
                   mr_py_put(dict, "areas", mr_py_numbers(state, NULL, v->areas, MR_PY_F32, 1, boxes)) != 0 ||
                   mr_py_put(dict, "flags", mr_py_numbers(state, NULL, v->flags, MR_PY_U8, 1, boxes)) != 0 ||
                   mr_py_put(dict, "keypoints", mr_py_numbers(state, NULL, v->keypoints, MR_PY_F32, 2, points)) != 0 ||
                   mr_py_put(dict, "keypoint_starts",
                             mr_py_numbers(state, NULL, v->keypoint_starts, MR_PY_U64, 1, starts)) != 0
               ? -1
               : 0;
}

static PyObject *dict_of_annotation(mr_py_state *state, const mr_annotation_view *v)
{
    PyObject *label = v->has_label ? PyLong_FromLongLong(v->label) : Py_NewRef(Py_None);
    PyObject *dict = Py_BuildValue("{s:n,s:I,s:I,s:N}", "count", (Py_ssize_t)v->count, "width", (unsigned)v->width,
                                   "height", (unsigned)v->height, "label", label);
    if (dict != NULL && put_objects(state, dict, v) != 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *annotation(PyObject *module, PyObject *data)
{
    mr_py_state *state = mr_py_state_of(module);
    mr_annotation_view view = {.struct_size = sizeof view};
    mr_annotation *handle = NULL;
    PyObject *result;
    Py_buffer bytes;
    int code;
    if (PyObject_GetBuffer(data, &bytes, PyBUF_SIMPLE) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS code = mr_annotation_new(NULL, &handle);
    if (code == 0)
        code = mr_annotation_read(handle, bytes.buf, (size_t)bytes.len, &view);
    Py_END_ALLOW_THREADS if (code == 0) result = dict_of_annotation(state, &view);
    else result = mr_py_raise(state, code, handle != NULL ? mr_annotation_detail(handle) : NULL);
    mr_annotation_free(handle);
    PyBuffer_Release(&bytes);
    return result;
}

#define WITH_NAMES(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"info", info, METH_O, "info(data, /)\n--\n\nWhat the header of a stored image says."},
    {"decode", WITH_NAMES(decode),
     "decode(data, *, region=None, reduce=0, channels=0, depth=0, orient=False, accept_damaged=False, values=False, "
     "index=None, limits=None)\n--\n\nThe pixels of a stored image."},
    {"encode", WITH_NAMES(encode),
     "encode(image, form, *, quality=0, subsampling=None, progressive=False, lossless=False, effort=0, orientation=0, "
     "icc=None, preset='default', threads=0)\n--\n\nPixels as a stored image."},
    {"recode", WITH_NAMES(recode),
     "recode(data, form, *, quality=0, without_origin=False, threads=0)\n--\n\nFrom one stored form to another: the "
     "bytes, and a report."},
    {"row_index", row_index, METH_O, "row_index(data, /)\n--\n\nThe row index of a JPEG, or None."},
    {"annotation", annotation, METH_O, "annotation(data, /)\n--\n\nThe objects that a sample's JSON tells of."},
    {NULL, NULL, 0, NULL},
};

int mr_py_add_codec(PyObject *module, mr_py_state *state)
{
    state->codecs = calloc(1, sizeof *state->codecs);
    if (state->codecs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddFunctions(module, functions);
}

void mr_py_free_codec(mr_py_state *state)
{
    void *handle;
    if (state->codecs == NULL)
        return;
    while ((handle = mr_py_pool_take(&state->codecs->decoders)) != NULL)
        mr_decoder_free(handle);
    while ((handle = mr_py_pool_take(&state->codecs->encoders)) != NULL)
        mr_encoder_free(handle);
    free(state->codecs);
    state->codecs = NULL;
}
