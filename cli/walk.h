// SPDX-License-Identifier: Apache-2.0
/* The files under some paths. */
#ifndef CLI_WALK_H
#define CLI_WALK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct found_file {
    char *path;
    bool named; /* by the user, not met in a folder */
    int error;  /* errno: it cannot be reached, or is a folder that cannot be read; 0: a file */
} found_file;

/* All zero is the empty one. */
typedef struct file_list {
    found_file *files;
    size_t count;
    size_t capacity;
} file_list;

/*
 * Adds a file, or all files in a folder and its folders, sorted by the bytes of their names. Hidden entries and what is
 * neither file nor folder are passed over; links are followed, but never into a folder that is being walked. "-" is
 * standard input. What cannot be reached is in the list too, with its error. False when there is no memory.
 */
bool file_list_add(file_list *list, const char *path);

void file_list_fini(file_list *list);

#endif
