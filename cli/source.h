// SPDX-License-Identifier: Apache-2.0
/* A dataset from operands and options: what everything that reads one begins with. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "command.h"
#include "json.h"
#include "progress.h"

typedef struct source {
    mr_dataset *dataset;
    mr_dataset_info info;
    const char *name; /* the first operand, for messages */
} source;

/*
 * Opens the dataset that the operands are, with the options of options_source; scanning shows by `p`. EXIT_GOOD, or the
 * exit code after a word on what went wrong. Problems that were skipped are told of: how many, and the first ones.
 */
int source_open(source *src, const settings *s, progress *p, char **paths, size_t count);
void source_close(source *src);

/*
 * Whether operands are a dataset, for commands that take images, too: all of them folders, shards, or what an option
 * says is one.
 */
bool source_is_dataset(const settings *s, char **paths, size_t count);

/* Whether a file is called like a shard, and is no image. */
bool source_is_shard(const char *path);

/*
 * Why a file that is no image is no dataset either, where that says more: of a compressed one, or of a shard among
 * images. Its code, and the sentence without the name of the file; 0: there is nothing better to say.
 */
int source_explain(const char *path, char *text, size_t nbytes);

/* Whether a folder is a packed dataset: it has a dataset.json. */
bool source_is_packed(const char *folder);

/* The number of the form that --form names; complains with the names there are. */
bool source_form(const source *src, const settings *s, uint32_t *number);

/* The sample that a word means: a key, or #12. Complains when there is none. */
bool source_find(const source *src, const settings *s, const char *key, mr_sample *sample);

/* The label as text: the class's name where it has one, else its values; "" when there is none. Free it. */
char *source_label(const source *src, const mr_label *label);

/* "label": its value, or null; and "class", its name, where it has one. */
void source_put_label(json *j, const source *src, const mr_label *label);

/* All problems of the dataset as "problems": [{...}]. */
void source_put_problems(json *j, const source *src);

/* Where its index is kept, for a person: a file, a folder, "nowhere". */
void source_index_place(const source *src, const settings *s, char *text, size_t nbytes);

#endif
