// SPDX-License-Identifier: Apache-2.0
/*
 * Making an index of a folder of images.
 *
 *     folder_scan.c       classes, order, what becomes a sample
 *     folder_walk.c       reads folders, several at once
 *     folder_list.c       a list of paths and labels instead of classes
 *     folder_list_read.c  its lines
 *     folder_current.c    whether an index still tells what is there
 *     folder_name.c       the order of names, and which are images
 *
 * Without a list: each folder in the root is a class, numbered in the order of their names, and the samples of a class
 * are the images in it and in folders below, in the order of torchvision's ImageFolder. An image is known by its ending
 * (mr__name_is_image); nothing is opened. Names that begin with a dot are names like others. Images that lie in the
 * root beside class folders are no samples, and classes without images keep their number: one problem tells of each. A
 * root without folders is flat: its images have no label. Links are followed, but not to a folder they lie in.
 *
 * A key is the path in the root, with its ending. record.offset is the file's time, record.nbytes its size,
 * record.form a guess.
 *
 * With a list: a line is a path in the root, and behind a tab its label, or nothing. Paths are taken as they are, up to
 * the tab; "./" and doubled slashes are dropped. Absolute paths and ".." are refused, whatever the policy. Empty lines
 * are passed over; a line may end with CR LF. A label is a number; several, separated by commas, spaces or tabs; or
 * text. A list whose labels all are text is a list of classes: sorted, numbered, and labels are their numbers. In a
 * mixed one (a problem says so) text is text.
 *
 * A list whose first character is { has a JSON object in each line, with "file_name", "path" or "image", and "label",
 * "cls", "class" or "target" or none: a number, several in an array, true or false, a text. The whole line is the
 * member "json" of the sample: members of a folder lie in the list file.
 *
 * How changes are seen: an index has the time of every folder, of the list also size and time, so that a file that came
 * or went makes it stale (mr__folder_is_current). A file that was written anew under the same name is seen when it is
 * opened: its size or time is not that of the record. The index itself may lie in the root (.millrace.mrx), which
 * changes the root's time: then the names in the root decide. Entries that are no folders begin with a slash:
 *
 *     /names       a hash of the names in the root
 *     /list/PATH   the list's time; PATH is absolute, with its first slash
 *     /size/PATH   its size
 *
 * With a list only folders are noted where a file was missing, so that it is seen when it comes.
 */
#ifndef MR_DATASET_FOLDER_SCAN_H
#define MR_DATASET_FOLDER_SCAN_H

#include "dataset/index.h"
#include <stdatomic.h>

typedef struct mr__folder_scan_options {
    const mr_hooks *hooks;
    const char *root;
    const char *list; /* NULL: classes by folders */
    unsigned threads; /* 0, 1: none but the caller's */
    mr_broken_policy broken;
    atomic_uint_least64_t *seen; /* files, for progress, counted as it goes; NULL */
    const atomic_bool *stop;     /* set: ends with MR_ECLOSED soon; NULL */
} mr__folder_scan_options;

/*
 * Adds samples, classes, folders and problems to an index that has none. The same tree gives the same drafts, whatever
 * the number of threads. MR_EFORMAT when there is no image at all.
 */
int mr__folder_scan(const mr__folder_scan_options *options, mr__index_build *to, mr__detail *detail);

/* Whether no name was added or taken away since the scan. Reads times of folders, and no more than those. */
bool mr__folder_is_current(const mr__index *index, const char *root, unsigned threads);

#endif
