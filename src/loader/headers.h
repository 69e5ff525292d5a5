// SPDX-License-Identifier: Apache-2.0
/*
 * What is known of images before they are prepared: from the index; and where that has no sizes (folders, tars) and a
 * device has to know what a sample will take of its memory, from the image's own header, which is read once and then
 * remembered.
 *
 * Threads: any; a look each has a reader of its own.
 * Ownership: mr__headers_free frees it; looks are of those who made them.
 * Limits: 8 bytes a sample and form; the dataset's.
 */
#ifndef MR_LOADER_HEADERS_H
#define MR_LOADER_HEADERS_H

#include "loader/setup.h"
#include "route/cost.h"

typedef struct mr__headers mr__headers;

/* A reader and a decoder, for one thread at a time; all zero: none yet. */
typedef struct mr__look {
    mr_reader *reader;
    mr_decoder *decoder;
} mr__look;

int mr__headers_new(const mr__work *work, const mr__forms *forms, mr__headers **out);
void mr__headers_free(mr__headers *headers); /* NULL is accepted */
void mr__look_fini(mr__look *look);

/*
 * Of a sample in a form; `headers` NULL: from the index alone. What cannot be read or is no image has no size. True: it
 * is known to be of one scan, if it is a JPEG. May wait for the disk.
 */
bool mr__headers_of(mr__headers *headers, mr__look *look, const mr_dataset *dataset, uint64_t ordinal, uint32_t form,
                    mr__header *header);

#endif
