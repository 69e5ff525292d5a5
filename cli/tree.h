// SPDX-License-Identifier: Apache-2.0
/*
 * Files under one folder, whose names come from outside: nothing ever leads out of it, whatever the names are and
 * whatever links are there.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Written from one thread; several side by side under one folder are fine. */
typedef struct tree {
    int root;      /* the folder */
    int fd;        /* of the folder inside of it that was last written to; -1: none */
    char *name;    /* its name */
    unsigned mark; /* tells this tree's temporary files from others' */
} tree;

/* Why a relative name cannot be one of a file inside of a folder; NULL: it can. */
const char *tree_fault(const char *name);

/* `root` is an open folder, which stays the caller's. */
void tree_init(tree *t, int root, unsigned mark);
void tree_fini(tree *t);

/*
 * Writes a file under a temporary name and renames it; makes the folders that are missing, and follows no link. 0 or an
 * errno: EEXIST when it is there and not to be replaced.
 */
int tree_write(tree *t, const char *name, const void *bytes, size_t nbytes, bool replace);

/* The same for what is made as it is written. */
typedef void tree_put(FILE *stream, void *user);
int tree_write_stream(tree *t, const char *name, tree_put *put, void *user, bool replace);

#endif
