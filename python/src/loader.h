// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_LOADER_H
#define MILLRACE_PYTHON_LOADER_H

#include "core.h"
#include <pthread.h>
#include <sys/types.h>

/* A loader is counted as memory is: its batches, and views of them, outlive its object. Its parent is the dataset. */
struct mr_py_loader {
    mr_py_owner owner;
    mr_loader *loader;
    pid_t process;        /* that made it */
    uint32_t targets;     /* that it was asked for: MR_TARGET_... */
    atomic_size_t held;   /* batches that are with consumers */
    pthread_mutex_t turn; /* of who takes the next batch: never held while the GIL is waited for */
};

/* Options as the C library has them, and what has to stay until it has read them. */
typedef struct mr_py_options {
    mr_loader_options options;
    mr_limits limits;
    double *weights;
    PyObject *path; /* of the quarantine file, as bytes */
} mr_py_options;

/* Reads options by name from a dict (NULL: none). 0, or -1 with an exception. Fini in any case. */
int mr_py_options_read(mr_py_state *state, PyObject *dict, uint64_t samples, mr_py_options *options);
void mr_py_options_fini(mr_py_options *options);

#endif
