// SPDX-License-Identifier: Apache-2.0
#include "tfrecord_file.h"

#include <string.h>

uint32_t tfrecord_sum(const uint8_t *data, size_t nbytes)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

void tfrecord_add_record(made_bytes *file, const made_bytes *data)
{
    size_t head = file->nbytes;
    bytes_add_le(file, data->nbytes, 8);
    bytes_add_le(file, tfrecord_sum(file->data + head, 8), 4);
    bytes_add(file, data->data, data->nbytes);
    bytes_add_le(file, tfrecord_sum(data->data, data->nbytes), 4);
}

void tfrecord_add_varint(made_bytes *b, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        bytes_add_le(b, (value & 127) | 128, 1);
    bytes_add_le(b, value, 1);
}

/* A field of wire type 2. */
void tfrecord_add_field(made_bytes *b, uint32_t number, const void *data, size_t nbytes)
{
    tfrecord_add_varint(b, number << 3 | 2);
    tfrecord_add_varint(b, nbytes);
    bytes_add(b, data, nbytes);
}

/* An entry of the map, with this encoded Feature, into the body of Features. */
void tfrecord_add_entry(made_bytes *features, const char *name, const made_bytes *feature)
{
    static made_bytes entry;
    entry.nbytes = 0;
    tfrecord_add_field(&entry, 1, name, strlen(name));
    tfrecord_add_field(&entry, 2, feature->data, feature->nbytes);
    tfrecord_add_field(features, 1, entry.data, entry.nbytes);
}

/* A Feature with this list in it. */
void tfrecord_add_list(made_bytes *features, const char *name, uint32_t kind, const made_bytes *list)
{
    static made_bytes feature;
    feature.nbytes = 0;
    tfrecord_add_field(&feature, kind, list->data, list->nbytes);
    tfrecord_add_entry(features, name, &feature);
}

void tfrecord_add_bytes(made_bytes *features, const char *name, const void *data, size_t nbytes)
{
    static made_bytes list;
    list.nbytes = 0;
    tfrecord_add_field(&list, 1, data, nbytes);
    tfrecord_add_list(features, name, 1, &list);
}

void tfrecord_add_text(made_bytes *features, const char *name, const char *text)
{
    tfrecord_add_bytes(features, name, text, strlen(text));
}

void tfrecord_add_image(made_bytes *features, const char *name, size_t nbytes)
{
    static made_bytes image;
    image.nbytes = 0;
    bytes_add_jpeg(&image, nbytes);
    tfrecord_add_bytes(features, name, image.data, image.nbytes);
}

void tfrecord_add_ints(made_bytes *features, const char *name, const int64_t *values, size_t count, bool packed)
{
    static made_bytes list, body;
    list.nbytes = body.nbytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!packed)
            tfrecord_add_varint(&list, 1 << 3 | 0);
        tfrecord_add_varint(packed ? &body : &list, (uint64_t)values[i]);
    }
    if (packed)
        tfrecord_add_field(&list, 1, body.data, body.nbytes);
    tfrecord_add_list(features, name, 3, &list);
}

void tfrecord_add_int(made_bytes *features, const char *name, int64_t value)
{
    tfrecord_add_ints(features, name, &value, 1, true);
}

void tfrecord_add_floats(made_bytes *features, const char *name, const float *values, size_t count, bool packed)
{
    static made_bytes list, body;
    list.nbytes = body.nbytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!packed)
            tfrecord_add_varint(&list, 1 << 3 | 5);
        bytes_add_f32(packed ? &body : &list, values[i]);
    }
    if (packed)
        tfrecord_add_field(&list, 1, body.data, body.nbytes);
    tfrecord_add_list(features, name, 2, &list);
}

/* The Example of these features as a record. */
void tfrecord_add_example(made_bytes *file, const made_bytes *features)
{
    static made_bytes example;
    example.nbytes = 0;
    tfrecord_add_field(&example, 1, features->data, features->nbytes);
    tfrecord_add_record(file, &example);
}

/* A plain record: an image of so many bytes, a label. */
void tfrecord_add_sample(made_bytes *file, size_t nbytes, int64_t label)
{
    static made_bytes features;
    features.nbytes = 0;
    tfrecord_add_image(&features, "image/encoded", nbytes);
    tfrecord_add_int(&features, "image/class/label", label);
    tfrecord_add_example(file, &features);
}
