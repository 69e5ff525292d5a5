// SPDX-License-Identifier: Apache-2.0
/* What the files of verify share; verify.c says which they are. */
#ifndef MR_DATASET_VERIFY_H
#define MR_DATASET_VERIFY_H

#include "base/thread.h"
#include "cpu/cpu.h"
#include "dataset/manifest.h"
#include <millrace/pack.h>
#include <stdarg.h>

/* Something that is wrong with a unit. */
typedef struct mr__damage {
    uint64_t ordinal; /* of a sample; UINT64_MAX */
    bool of_index;    /* the file is the index, not the tar */
    bool around;      /* the image: its header, label or another member */
    int code;
    char *text;
} mr__damage;

/* One shard in one form. */
typedef struct mr__verify_unit {
    bool done, from_report;
    bool index_damaged; /* nothing it says counts */
    bool missing;       /* the tar */
    mr__damage *damages;
    size_t damage_count;
} mr__verify_unit;

typedef struct mr__verify {
    mr_hooks hooks;
    mr__cpu_flags cpu; /* for hashes */
    mr_verify_options options;
    const char *folder;
    mr__manifest m;
    mr__detail detail;
    mr_verify_report report;
    uint64_t *first;        /* ordinals, by shard */
    mr__verify_unit *units; /* as m.files */
    mr__buffer *buffers;    /* one for each thread */
    size_t buffer_count;
    uint64_t total_nbytes;
    atomic_uint_least64_t done_nbytes, files, nbytes, records;
    atomic_bool stop, no_memory;
    mr__mutex lock; /* of the report */
    int report_fd;  /* -1: none */
} mr__verify;

/* Notes what is wrong: with a sample, or with ordinal UINT64_MAX. */
__attribute__((format(printf, 5, 6))) void mr__verify_add(mr__verify *v, mr__verify_unit *unit, uint64_t ordinal,
                                                          int code, const char *format, ...);

/* The same of what stands around a sample's image, which is whole. */
void mr__verify_add_around(mr__verify *v, mr__verify_unit *unit, uint64_t ordinal, int code, const char *text);

/* 0 when it could be done, whatever it found; MR_ENOMEM, MR_ECLOSED. */
int mr__verify_shard(mr__verify *v, size_t shard, uint32_t form, mr__buffer *buffer);

/* Notes every header, label and padding of a shard that is not as it was written. */
int mr__verify_locate(mr__verify *v, mr__verify_unit *unit, const mr__index *index, size_t shard, uint32_t form,
                      const mr__file *file);

int mr__verify_report_open(mr__verify *v);
void mr__verify_report_add(mr__verify *v, size_t unit);
void mr__verify_report_close(mr__verify *v);

#endif
