// SPDX-License-Identifier: Apache-2.0
/* TFRecord files and the Examples in them, put together byte by byte by code that shares nothing with the scanner. */
#ifndef TESTS_SUPPORT_TFRECORD_FILE_H
#define TESTS_SUPPORT_TFRECORD_FILE_H

#include "scanned.h"

uint32_t tfrecord_sum(const uint8_t *data, size_t nbytes);
void tfrecord_add_record(made_bytes *file, const made_bytes *data);
void tfrecord_add_varint(made_bytes *b, uint64_t value);
/* A field of wire type 2. */
void tfrecord_add_field(made_bytes *b, uint32_t number, const void *data, size_t nbytes);
/* An entry of the map, with this encoded Feature, into the body of Features. */
void tfrecord_add_entry(made_bytes *features, const char *name, const made_bytes *feature);
/* A Feature with this list in it. */
void tfrecord_add_list(made_bytes *features, const char *name, uint32_t kind, const made_bytes *list);
void tfrecord_add_bytes(made_bytes *features, const char *name, const void *data, size_t nbytes);
void tfrecord_add_text(made_bytes *features, const char *name, const char *text);
void tfrecord_add_image(made_bytes *features, const char *name, size_t nbytes);
void tfrecord_add_ints(made_bytes *features, const char *name, const int64_t *values, size_t count, bool packed);
void tfrecord_add_int(made_bytes *features, const char *name, int64_t value);
void tfrecord_add_floats(made_bytes *features, const char *name, const float *values, size_t count, bool packed);
/* The Example of these features as a record. */
void tfrecord_add_example(made_bytes *file, const made_bytes *features);
/* A plain record: an image of so many bytes, a label. */
void tfrecord_add_sample(made_bytes *file, size_t nbytes, int64_t label);

#endif
