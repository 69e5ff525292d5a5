// SPDX-License-Identifier: Apache-2.0
/* A list of paths and labels. For folder_scan.c. */
#ifndef MR_DATASET_FOLDER_LIST_H
#define MR_DATASET_FOLDER_LIST_H

#include "base/text.h"
#include "dataset/folder_note.h"

/* The whole list is in memory while it is read. */
#define MR__LIST_NBYTES_MAX ((uint64_t)1 << 31)

/* A line. Paths, texts and values stand in the list's `words`. */
typedef struct mr__list_line {
    uint64_t nbytes; /* of the file */
    int64_t mtime_ns;
    size_t at; /* of the line in the list */
    size_t path, values;
    uint32_t line_nbytes;
    uint32_t number; /* from 1 */
    uint32_t count;  /* of values */
    uint16_t error;  /* errno */
    uint8_t kind;    /* mr_label_kind */
    bool twice;      /* a line before it has the same path */
} mr__list_line;

typedef struct mr__list {
    mr__folder_notes notes;
    mr__buffer bytes; /* of the file */
    size_t nbytes;
    int64_t mtime_ns;
    bool json;       /* a JSON object a line */
    mr__buffer line; /* a text of it, unescaped */
    mr__text words;  /* what lines say; texts with a zero behind them */
    mr__buffer lines;
    size_t count;
    size_t numbers, texts; /* how many lines have such labels */
} mr__list;

int mr__list_read(mr__list *list); /* all lines, into `lines` */
void mr__list_fini(mr__list *list);

/* All of a scan by a list. */
int mr__folder_scan_list(const mr__folder_notes *notes);

static inline mr__list_line *mr__list_lines(const mr__list *list)
{
    return (mr__list_line *)list->lines.bytes;
}

static inline const char *mr__list_word(const mr__list *list, size_t at)
{
    return (const char *)list->words.buffer.bytes + at;
}

#endif
