// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_DATASET_H
#define MILLRACE_DATASET_H

#include <millrace/codec.h>

/*
 * A dataset is an ordered set of samples, each with one or more stored forms: a folder of images, tar shards, record
 * files of others, or a packed dataset of ours (doc/format-dataset.md). Nothing is read but an index, which is made
 * once and mapped: opening takes milliseconds, however many samples there are.
 */

/* How samples are stored. */
typedef enum mr_layout {
    MR_LAYOUT_AUTO = 0,     /* find out */
    MR_LAYOUT_PACKED = 1,   /* a folder with a dataset.json */
    MR_LAYOUT_TAR = 2,      /* WebDataset shards */
    MR_LAYOUT_TFRECORD = 3, /* tf.train.Example in TFRecord files */
    MR_LAYOUT_RECORDIO = 4, /* MXNet's .rec */
    MR_LAYOUT_CIFAR = 5,    /* the binary files of CIFAR-10 and CIFAR-100 */
    MR_LAYOUT_LIST = 6,     /* lines of "offset length label" over any file */
    MR_LAYOUT_FOLDER = 7    /* a file for each image; ImageFolder's classes, or a list of paths and labels */
} mr_layout;

/* Where the index of a dataset that is not ours is kept. */
typedef enum mr_index_place {
    /* The user's cache folder: $XDG_CACHE_HOME/millrace/index, ~/.cache/millrace/index; without either, nowhere. */
    MR_INDEX_CACHE = 0,
    MR_INDEX_BESIDE, /* beside the data: shard.tar.mrx, FOLDER/.millrace.mrx */
    MR_INDEX_NONE    /* nowhere: made anew by each open */
} mr_index_place;

/* What is done with a member that is broken, a second sample of one key, a shard that ends too early. */
typedef enum mr_broken_policy {
    MR_BROKEN_FAIL = 0, /* opening fails, and says which */
    MR_BROKEN_SKIP      /* left out, listed (mr_dataset_get_problem) and counted */
} mr_broken_policy;

typedef enum mr_label_kind {
    MR_LABEL_NONE = 0,
    MR_LABEL_INT = 1,
    MR_LABEL_FLOAT = 2,
    MR_LABEL_INTS = 3,
    MR_LABEL_FLOATS = 4,
    MR_LABEL_TEXT = 5,
    MR_LABEL_BYTES = 6
} mr_label_kind;

/* `values` are the dataset's, unaligned and little-endian; text is UTF-8 as far as its source is, without a zero. */
typedef struct mr_label {
    mr_label_kind kind;
    int64_t integer;    /* MR_LABEL_INT */
    double real;        /* MR_LABEL_FLOAT */
    const void *values; /* INTS: int64_t; FLOATS: double; TEXT, BYTES */
    size_t count;       /* of the values: numbers, or bytes */
} mr_label;

/* Of one form of one sample. */
typedef enum mr_record_state {
    MR_RECORD_PRESENT = 0,
    MR_RECORD_ABSENT = 1, /* this sample has no such form, but others */
    MR_RECORD_REFUSED = 2 /* the image was bad when it was packed: an empty record keeps its place */
} mr_record_state;

/* Where one form of one sample is stored, and what is known of it. */
typedef struct mr_record {
    size_t struct_size;
    mr_record_state state;
    mr_form form;   /* MR_FORM_NONE: not known before its bytes are read */
    uint32_t width; /* 0: not known, as are the next three then; as stored, before the orientation */
    uint32_t height;
    uint32_t channels;
    uint32_t depth;
    uint32_t orientation; /* of EXIF, 1 to 8 */
    bool has_hash;
    uint64_t hash; /* of the stored bytes; how it is mixed with the place is in doc/format-dataset.md */
    uint64_t offset;
    uint64_t nbytes;
    uint64_t file;         /* number of the file that has it: mr_dataset_file */
    const void *row_index; /* doc/format-jpeg-index.md; NULL: none */
    size_t row_index_nbytes;
} mr_record;

/* A sample without its image. Pointers are the dataset's and stay until it is freed. */
typedef struct mr_sample {
    size_t struct_size;
    uint64_t ordinal;
    uint64_t shard;    /* that it is in, from 0 */
    uint64_t position; /* in there */
    const char *key;   /* ends with a zero */
    size_t key_nbytes;
    mr_label label;
    uint32_t members; /* other things stored with it: mr_dataset_member */
} mr_sample;

/* Another thing that is stored with a sample: "json", "seg.png". */
typedef struct mr_member {
    size_t struct_size;
    const char *name;
    uint64_t file;
    uint64_t offset;
    uint64_t nbytes;
} mr_member;

/* A form that samples of the dataset have. Those of a dataset that is not packed have one, named "stored". */
typedef struct mr_dataset_form {
    size_t struct_size;
    const char *name;    /* "jpeg", "l3-short256": what --form asks for */
    mr_form form;        /* MR_FORM_NONE: it differs */
    uint32_t max_side;   /* 0: not reduced by it */
    uint32_t short_side; /* likewise */
    uint64_t samples;    /* that have it */
    uint64_t nbytes;     /* of their records; in record files that are not ours: of these files */
} mr_dataset_form;

/* Something that is wrong with a dataset, found when its index was made. */
typedef struct mr_dataset_problem {
    size_t struct_size;
    int code;         /* MR_ETRUNCATED, ... */
    uint64_t file;    /* where; UINT64_MAX: in none in particular, as in a folder */
    uint64_t ordinal; /* of the sample; UINT64_MAX: it is not of one */
    const char *text; /* a sentence: what, where, which key */
} mr_dataset_problem;

typedef struct mr_dataset_info {
    size_t struct_size;
    mr_layout layout;
    uint64_t samples;
    uint64_t shards;
    uint64_t files;   /* shards of all forms; in a folder images, and behind them its list */
    uint64_t classes; /* with names; 0 when labels have none */
    uint32_t forms;
    uint64_t problems;
    uint64_t nbytes;      /* of all files */
    uint64_t fingerprint; /* changes with any key, size or stored byte that its index knows of */
    bool indexed_now;     /* the index was made by this open, and not found */
} mr_dataset_info;

/* What long work has done. Called from one thread at a time, a few times a second. */
typedef struct mr_progress {
    const char *verb; /* "scanning", "indexing", "packing", "merging", "verifying" */
    uint64_t done;
    uint64_t total;   /* 0: not known */
    const char *unit; /* "files", "samples", "bytes", "parts" */
    uint64_t in_nbytes;
    uint64_t out_nbytes;
    uint64_t refused; /* samples */
} mr_progress;

/* Returns false to stop: the work ends with MR_ECLOSED as soon as it can. */
typedef bool mr_progress_hook(void *user, const mr_progress *progress);

typedef struct mr_dataset_options {
    size_t struct_size;
    const mr_hooks *hooks;
    mr_layout layout;
    mr_index_place index;
    const char *index_folder; /* with MR_INDEX_CACHE: instead of the user's cache folder */
    mr_broken_policy broken;
    const char *list; /* for folders and lists: the file with paths (offsets) and labels */
    uint32_t threads; /* 0: mr_threads_default */
    bool rebuild;     /* make the index anew though there is one */
    mr_progress_hook *progress;
    void *progress_user;
} mr_dataset_options;

/*
 * Threads: new, open and free alone; everything else from any number of threads at once.
 * Ownership: mr_dataset_free frees it and all it gave out; its readers are freed before.
 * Limits: 2^32 - 1 samples and 65,536 shards; an index is never trusted: every place it names is checked against the
 * file when it is read.
 */
typedef struct mr_dataset mr_dataset;

/*
 * Reads what samples store, keeping its memory between them.
 *
 * Threads: one at a time; any number of readers side by side.
 * Ownership: mr_reader_free frees it and all it gave out.
 * Limits: a record of more than 1 GiB is refused.
 */
typedef struct mr_reader mr_reader;

MR_BEGIN_DECLS

/* "packed", "tar", ...; "auto" for MR_LAYOUT_AUTO and anything unknown. */
MR_API const char *mr_layout_name(mr_layout layout);

MR_API int mr_dataset_new(const mr_dataset_options *options, mr_dataset **out);
MR_API void mr_dataset_free(mr_dataset *dataset);

/*
 * Opens a dataset, once: a folder, or files, whose names may have braces ("train-{000000..000146}.tar", "{a,b}.tar"),
 * in the order given. Makes the index where there is none.
 */
MR_API int mr_dataset_open(mr_dataset *dataset, const char *const *paths, size_t count);

/* What opening failed of, for a person; "" after a success. A dataset that could not be opened can be tried again. */
MR_API const char *mr_dataset_detail(const mr_dataset *dataset);

MR_API int mr_dataset_get_info(const mr_dataset *dataset, mr_dataset_info *info);
MR_API uint64_t mr_dataset_count(const mr_dataset *dataset);
MR_API int mr_dataset_get_form(const mr_dataset *dataset, uint32_t number, mr_dataset_form *form);

/* The number of the form of this name; MR_EARGUMENT when there is none. */
MR_API int mr_dataset_find_form(const mr_dataset *dataset, const char *name, uint32_t *number);

/* "" beyond the last. Those of a folder are numbered as torchvision numbers them: sorted by name. */
MR_API const char *mr_dataset_class(const mr_dataset *dataset, uint64_t number);

/*
 * The name of a file, as it can be opened, into `path` as snprintf would: returns the length it has. 0 beyond the last.
 */
MR_API size_t mr_dataset_file(const mr_dataset *dataset, uint64_t number, char *path, size_t nbytes);

/* MR_EARGUMENT beyond the last. */
MR_API int mr_dataset_get_problem(const mr_dataset *dataset, uint64_t number, mr_dataset_problem *problem);

/* MR_EARGUMENT beyond the last; MR_ECORRUPT where the index is damaged. */
MR_API int mr_dataset_sample(const mr_dataset *dataset, uint64_t ordinal, mr_sample *sample);
MR_API int mr_dataset_record(const mr_dataset *dataset, uint64_t ordinal, uint32_t form, mr_record *record);
MR_API int mr_dataset_member(const mr_dataset *dataset, uint64_t ordinal, uint32_t number, mr_member *member);

/* The ordinal of a key; MR_EARGUMENT when there is none. The first call sorts, once, where there are several shards. */
MR_API int mr_dataset_find(mr_dataset *dataset, const char *key, uint64_t *ordinal);

MR_API int mr_reader_new(mr_dataset *dataset, mr_reader **out);
MR_API void mr_reader_free(mr_reader *reader);

/*
 * The stored bytes of a form; *bytes are the reader's and stay until its next call. The hash, where there is one, is
 * checked; for a folder, that size and time are those of the index. An absent or refused record is MR_EUNSUPPORTED.
 */
MR_API int mr_reader_record(mr_reader *reader, uint64_t ordinal, uint32_t form, const void **bytes, size_t *nbytes);
MR_API int mr_reader_member(mr_reader *reader, uint64_t ordinal, uint32_t number, const void **bytes, size_t *nbytes);

/* What the last call failed of: the key, the file, what; "" after a success. */
MR_API const char *mr_reader_detail(const mr_reader *reader);

MR_END_DECLS

#endif
