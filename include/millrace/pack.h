// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PACK_H
#define MILLRACE_PACK_H

#include <millrace/dataset.h>
#include <millrace/resize.h>

/*
 * Packing: any dataset becomes a packed one (doc/format-dataset.md), in one or more forms, on all cores. The same
 * source and options give the same bytes, whatever the number of threads, interruptions and parts.
 */

/* A form to be packed. All zero: images as they came, whatever their form. */
typedef struct mr_pack_form {
    size_t struct_size;
    /*
     * MR_FORM_NONE: every image as it came ("original"). JPEG, PNG, WebP: those images that came in it, unchanged; the
     * others do not have this form. L3, raw: every image, the pixels unchanged. With a side below, every image is made
     * anew in the form: JPEG and WebP then lose what their quality says.
     */
    mr_form form;
    uint32_t max_side;   /* the longer side becomes at most this; 0: as it is */
    uint32_t short_side; /* the shorter side; only one of the two */
    uint32_t share;      /* of the samples, in millionths; 0: all of them. The first form is for all */
    uint32_t quality;    /* of reduced JPEG and WebP; 0: 95 */
    uint32_t effort;     /* of PNG and L3, as in mr_encode_options; 0: its default */
} mr_pack_form;

typedef enum mr_alignment {
    MR_ALIGN_AUTO = 0, /* 4096 bytes for forms whose samples can be expected to average 32 kB or more */
    MR_ALIGN_TAR,      /* 512 bytes, a tar's own */
    MR_ALIGN_PAGE      /* 4096 bytes */
} mr_alignment;

typedef struct mr_pack_options {
    size_t struct_size;
    const mr_hooks *hooks;
    const mr_limits *limits; /* of each image */
    const mr_pack_form *forms;
    size_t form_count;
    uint64_t shard_nbytes;  /* of the source's bytes in one shard; 0: 256 MiB */
    uint64_t shard_samples; /* the most in one shard; 0: no other limit */
    uint64_t budget_nbytes; /* of all shards: forms behind the first are kept to the share that fits; 0: no limit */
    mr_alignment alignment;
    bool no_row_index;    /* JPEGs get no row index */
    bool no_check;        /* what is kept as it came is not decoded to see that it is whole: header and hash only */
    mr_filter filter;     /* of reduced forms */
    uint32_t pillow;      /* pass order of the resampler; 0: 13; 12: that of Pillow before 13 */
    uint32_t part, parts; /* this part of so many, from 0; parts 0: all */
    uint32_t max_bad;     /* bad images, in millionths of the samples; 0: none */
    uint32_t threads;     /* 0: mr_threads_default */
    mr_progress_hook *progress;
    void *progress_user;
} mr_pack_options;

typedef struct mr_pack_report {
    size_t struct_size;
    uint64_t samples; /* of this part */
    uint64_t refused;
    uint64_t shards;
    uint64_t shards_found; /* of them, those that an earlier run had finished */
    uint64_t in_nbytes;    /* read by this run */
    uint64_t out_nbytes;   /* of all shards and indexes */
    uint64_t absent;       /* records that are not there because their sample cannot have the form */
    uint64_t pixel_mode;   /* JPEGs that L3 holds as pixels */
    bool was_complete;     /* there was nothing to do */
} mr_pack_report;

/*
 * Threads: one at a time.
 * Ownership: mr_packer_free frees it.
 * Limits: memory is a few images for each thread, and one shard's index for each form.
 */
typedef struct mr_packer mr_packer;

/* Something that verify found. Pointers are there during the call alone. */
typedef struct mr_finding {
    size_t struct_size;
    int code;
    const char *path;      /* of the file */
    const char *form;      /* of the shard; NULL: the dataset's own files */
    uint64_t ordinal;      /* of the damaged sample; UINT64_MAX: none in particular */
    const char *key;       /* NULL: none */
    const char *survivors; /* other forms of the sample that are whole, separated by spaces; "" */
    const char *text;      /* what is wrong, and where */
} mr_finding;

typedef void mr_finding_hook(void *user, const mr_finding *finding);

typedef struct mr_verify_options {
    size_t struct_size;
    const mr_hooks *hooks;
    uint32_t threads;
    const char *report; /* a file that keeps what was verified, so that a run that was stopped goes on; NULL: none */
    mr_finding_hook *found; /* from one thread at a time, in the order of the dataset */
    void *found_user;
    mr_progress_hook *progress;
    void *progress_user;
} mr_verify_options;

typedef struct mr_verify_report {
    size_t struct_size;
    uint64_t files; /* read */
    uint64_t nbytes;
    uint64_t records; /* hashes compared */
    uint64_t findings;
    uint64_t damaged_samples;
    uint64_t lost_samples; /* of them, those of which no form is whole */
    uint64_t files_before; /* verified by an earlier run, by the report */
} mr_verify_report;

MR_BEGIN_DECLS

MR_API int mr_packer_new(const mr_pack_options *options, mr_packer **out);
MR_API void mr_packer_free(mr_packer *packer);

/*
 * Packs into a folder, which is made if it is not there. Goes on where an earlier run with the same source and options
 * stopped; a folder that holds anything else is refused. MR_ELIMIT when more images are bad than max_bad allows:
 * quarantine.jsonl lists those seen so far, and a run with a higher one goes on.
 */
MR_API int mr_packer_run(mr_packer *packer, mr_dataset *source, const char *folder, mr_pack_report *report);

/*
 * Joins all parts of a dataset (folders that mr_packer_run made with `parts`) into one in `folder`, which may be one of
 * them; equals what an undivided run makes, byte for byte. Shards are moved where that is possible and copied where
 * not; every hash is checked first.
 */
MR_API int mr_packer_merge(mr_packer *packer, const char *const *folders, size_t count, const char *folder,
                           mr_pack_report *report);

/* What the last call failed of; "" after a success. */
MR_API const char *mr_packer_detail(const mr_packer *packer);

/*
 * Reads every byte of a packed dataset and compares every hash. 0 when it could be done, whatever it found;
 * `detail_text` (may be NULL) gets the words of an error.
 */
MR_API int mr_dataset_verify(const char *folder, const mr_verify_options *options, mr_verify_report *report,
                             char *detail_text, size_t detail_nbytes);

MR_END_DECLS

#endif
