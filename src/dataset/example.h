// SPDX-License-Identifier: Apache-2.0
/*
 * Reads tf.train.Example, as far as a dataset needs it, where it stands in a file: nothing but names and the values
 * that are asked for is taken into memory, so that an image in it costs nothing.
 *
 *     message Example  { Features features = 1; }
 *     message Features { map<string, Feature> feature = 1; }      an entry: key = 1, value = 2
 *     message Feature  { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
 *     message BytesList { repeated bytes value = 1; }             the others: repeated float, int64; packed or not
 *
 * Fields that are not known are passed over; so are known ones of another wire type, as protobuf has it. Of several
 * entries with one name the last one counts, and of several kinds in a Feature the last; lists of that kind are then
 * one list. Groups, which nobody has written for many years, are not supported.
 *
 * Threads: one at a time.
 * Ownership: mr__example_fini frees it; all zero but `window` (and its hooks) is a fresh one.
 * Limits: MR__EXAMPLE_FEATURE_MAX features, names of MR__EXAMPLE_NAME_MAX bytes together, 65,536 entries.
 */
#ifndef MR_DATASET_EXAMPLE_H
#define MR_DATASET_EXAMPLE_H

#include "dataset/index.h"
#include "source/file.h"

enum {
    MR__EXAMPLE_FEATURE_MAX = MR__MEMBER_MAX + 3, /* with image, label and key */
    MR__EXAMPLE_NAME_MAX = 1 << 20,
    MR__EXAMPLE_ENTRY_MAX = 1 << 16
};

typedef struct mr__feature {
    size_t name, name_nbytes; /* where it begins in `names` */
    uint64_t offset, nbytes;  /* of the encoded Feature, in the file */
} mr__feature;

typedef enum mr__feature_kind {
    MR__FEATURE_NONE = 0,
    MR__FEATURE_BYTES = 1, /* the numbers are those of their fields */
    MR__FEATURE_FLOATS = 2,
    MR__FEATURE_INTS = 3
} mr__feature_kind;

typedef struct mr__feature_value {
    mr__feature_kind kind;
    size_t count;            /* values */
    uint64_t offset, nbytes; /* of the first one of BYTES, in the file */
} mr__feature_value;

typedef struct mr__example {
    mr__window *window;
    mr__buffer names;   /* one after the other */
    mr__buffer numbers; /* of the value that was read last: int64_t or double, little-endian */
    size_t names_nbytes;
    mr__feature features[MR__EXAMPLE_FEATURE_MAX];
    size_t count;
    const char *problem; /* what is wrong, after MR_ECORRUPT, MR_EUNSUPPORTED, MR_ELIMIT */
    uint64_t problem_at; /* byte of the file */
} mr__example;

void mr__example_fini(mr__example *example);

/* The features of the Example in this part of the file. MR_EIO, MR_ENOMEM: see the window's error; others as above. */
int mr__example_read(mr__example *example, uint64_t offset, uint64_t nbytes);

/* By its name; by the beginning of its name, where that ends in a slash: the first in the file. NULL: there is none. */
const mr__feature *mr__example_find(const mr__example *example, const char *name);

/* At most `most` numbers are read, MR_ELIMIT beyond. */
int mr__example_value(mr__example *example, const mr__feature *feature, size_t most, mr__feature_value *value);

#endif
