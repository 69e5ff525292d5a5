// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_PYTHON_WORK_H
#define MILLRACE_PYTHON_WORK_H

#include "core.h"

/*
 * Long work: `run` runs on a thread of its own, without Python. The thread that called waits without the GIL, shows
 * progress by the callable (NULL: nobody looks), and listens for signals: after Ctrl-C, or an exception of the
 * callable's, the work is asked to stop, and is waited for.
 */
typedef struct mr_py_work {
    int (*run)(struct mr_py_work *work);
    PyObject *progress; /* borrowed; may be NULL or None */
    int code;           /* what run returned */
    /* The rest is work.c's. */
    struct mr_py_work_inside *inside;
} mr_py_work;

/* 0 when `run` returned 0; else -1: with an exception set (a signal's, the callable's), or without one: work->code
 * then says what became of it. */
int mr_py_work_run(mr_py_work *work);

/* What `run` passes to libmillrace: with the work as its user. */
bool mr_py_work_progress(void *user, const mr_progress *progress);

#endif
