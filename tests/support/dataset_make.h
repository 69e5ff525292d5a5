// SPDX-License-Identifier: Apache-2.0
/* The same few samples in every layout that can be opened, written without the library's own writers but one: packed.
 */
#ifndef TESTS_SUPPORT_DATASET_MAKE_H
#define TESTS_SUPPORT_DATASET_MAKE_H

#include "files.h"
#include "picture.h"

/* Sample i has the image made_image(i) and the label made_label(i), whatever the layout. */
enum { MADE_SAMPLES = 6, MADE_CLASSES = 3, MADE_LIST_NBYTES = 512 };

typedef enum made_kind {
    MADE_IMAGE_FOLDER, /* cat/0.png cat/1.png dog/2.png ... */
    MADE_FLAT,         /* 0.png ... without labels */
    MADE_TSV,          /* the same with a list of paths and labels */
    MADE_JSONL,        /* likewise, each line a member "json" */
    MADE_TAR,          /* one shard: N.png N.cls N.json */
    MADE_BRACES,       /* three, by a name with braces */
    MADE_SHARDS,       /* three in a folder */
    MADE_TFRECORD,
    MADE_RECORDIO,
    MADE_RECORDIO_IDX, /* with keys of its own */
    MADE_CIFAR_10,
    MADE_CIFAR_100,
    MADE_LIST,   /* offsets in one file */
    MADE_PACKED, /* of MADE_BRACES, the forms original and raw, two shards */
    MADE_KINDS
} made_kind;

typedef struct made_dataset {
    made_kind kind;
    mr_layout layout; /* that it has */
    char path[512];   /* to be opened */
    char list[512];   /* "": without */
    char file[512];   /* a file with bytes of samples */
    size_t shards, members;
} made_dataset;

/* PNGs, the same ones in each program; CIFAR has other pixels. */
const picture_file *made_image(size_t sample);
int64_t made_label(const made_dataset *m, size_t sample, mr_label_kind *kind);

/* The key that sample i has; good until the next call. */
const char *made_key(const made_dataset *m, size_t sample);

/* Writes it into a folder of this folder that is called like its kind. */
void made_init(made_dataset *m, const test_folder *folder, made_kind kind);

/* What it is called. */
const char *made_name(made_kind kind);

/* Opens it; a failure of open is returned, and told by mr_dataset_detail. `options` may be NULL; a list is added. */
int made_open(const made_dataset *m, const mr_dataset_options *options, mr_dataset **out);

/* Opens it with an index that is kept nowhere, which has to succeed. */
mr_dataset *made_open_well(const made_dataset *m);

/* Whether these are the stored bytes of sample i. */
bool made_bytes_are(const made_dataset *m, size_t sample, const void *bytes, size_t nbytes);

/* Reads everything the dataset has and compares it; fails the test where it is otherwise. */
void made_check(const made_dataset *m, mr_dataset *d);

#endif
