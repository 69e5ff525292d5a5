// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_HOOKS_H
#define MILLRACE_HOOKS_H

#include <millrace/export.h>
#include <stddef.h>
#include <stdint.h>

typedef enum mr_log_level {
    MR_LOG_NONE = 0,
    MR_LOG_ERROR = 1,
    MR_LOG_WARNING = 2,
    MR_LOG_INFO = 3,
    MR_LOG_DEBUG = 4
} mr_log_level;

/*
 * What a handle asks of the program it lives in: memory, a log, the time. A NULL hook is the default: the C library's
 * heap, silence, CLOCK_MONOTONIC. `alloc` and `free` come together or not at all.
 *
 * The struct is copied when a handle is made; there are no process-wide hooks, so two handles never meet.
 * Hooks may be called from any thread that works for the handle, several at once.
 */
typedef struct mr_hooks {
    size_t struct_size;
    void *user; /* passed to every hook */
    /* At least nbytes (never 0), aligned to `align`, a power of two; NULL when there is none. */
    void *(*alloc)(void *user, size_t nbytes, size_t align);
    void (*free)(void *user, void *block);
    /* One line of text without its newline, for levels up to log_level. */
    void (*log)(void *user, mr_log_level level, const char *text);
    mr_log_level log_level; /* MR_LOG_NONE means MR_LOG_WARNING when `log` is given */
    /* Monotonic nanoseconds. */
    uint64_t (*now_ns)(void *user);
} mr_hooks;

#endif
