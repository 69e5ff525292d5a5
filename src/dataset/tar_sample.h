// SPDX-License-Identifier: Apache-2.0
/*
 * Members of a tar shard into samples, by WebDataset's rule: the key is the path up to the first dot of its base name,
 * what stands behind it, in lower case, is the name of the member, and members of one key that follow each other are a
 * sample.
 *
 * Passed over, as webdataset 1.0 does: base names without a dot or with one at their beginning, and paths whose
 * first part begins and ends with two underscores. It makes keys of hidden files in folders ("a/._b.jpg" is "a/"
 * there); we pass over these too, and over names with nothing behind the dot.
 */
#ifndef MR_DATASET_TAR_SAMPLE_H
#define MR_DATASET_TAR_SAMPLE_H

#include "dataset/key_set.h"
#include "dataset/scan.h"

/* The image, the label and all others. */
enum { MR__TAR_ENTRY_MAX = MR__MEMBER_MAX + 2 };

typedef struct mr__tar_entry {
    size_t name_at, name_nbytes; /* in `names` */
    uint64_t offset, nbytes;
    bool member; /* not the image, nor the label */
} mr__tar_entry;

/*
 * The sample that is being collected. All zero but `scan` is none.
 *
 * Threads: one at a time.
 * Ownership: mr__tar_sample_fini frees it.
 * Limits: MR__MEMBER_MAX members beside image and label; a label of 64 KiB.
 */
typedef struct mr__tar_sample {
    mr__scan *scan;
    bool begun, has_image, has_label, full;
    mr__buffer key;
    size_t key_nbytes;
    mr__record record;
    mr_label label;
    mr__buffer label_text, label_values;
    mr__buffer names;
    size_t names_nbytes;
    size_t count;
    mr__tar_entry entries[MR__TAR_ENTRY_MAX];
    mr__member members[MR__TAR_ENTRY_MAX];
    mr__key_set keys; /* of samples that were added */
} mr__tar_sample;

/* Takes a regular file of the archive; the sample before it, if it ends here, goes to the index. */
int mr__tar_sample_take(mr__tar_sample *sample, mr__window *window, const char *path, size_t path_nbytes,
                        uint64_t offset, uint64_t nbytes);

/* The same for the sample before it alone: this file is not taken, but it is there. */
int mr__tar_sample_turn(mr__tar_sample *sample, const char *path, size_t path_nbytes);

/* Adds the last one to the index; none is accepted. */
int mr__tar_sample_finish(mr__tar_sample *sample);

/* Whether a file of this name is an image or a label, so that a sample would miss it. */
bool mr__tar_name_counts(const char *path, size_t nbytes);

void mr__tar_sample_drop(mr__tar_sample *sample);
void mr__tar_sample_fini(mr__tar_sample *sample);

/* A path or key for a message: its end, if it is long, and nothing that a terminal would obey. */
typedef struct mr__tar_words {
    char text[84];
} mr__tar_words;
mr__tar_words mr__tar_show(const char *text, size_t nbytes);

#endif
