// SPDX-License-Identifier: Apache-2.0
/*
 * How far long work is, on stderr: a line that is drawn over itself, on a terminal only; or with --progress=json an
 * object a line about once a second; and Ctrl-C in between.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "command.h"
#include "interrupt.h"
#include "text.h"

#include <pthread.h>

typedef struct progress {
    enum { PROGRESS_LINE, PROGRESS_JSON, PROGRESS_NONE } kind;
    terminal to;
    bool holds; /* Ctrl-C waits */
    interrupts held;
    pthread_mutex_t lock; /* of all below: what was found is told by other threads than progress is */
    bool drawn;           /* the line stands there */
    bool begun;
    mr_progress last;
    char note[96];      /* what else the line says; "" says nothing */
    double start, told; /* when the verb began; when it was last told of */
    uint64_t first;     /* done when the verb began: by an earlier run */
    double mark_at[2];  /* the rate is that since the older mark, 10 to 20 seconds ago */
    uint64_t mark_done[2];
} progress;

/* `word`: what --progress says; NULL: auto. */
void progress_init(progress *p, const char *word);

/* From here on Ctrl-C waits, and makes the hook say stop. */
void progress_hold(progress *p);

/* An mr_progress_hook, whose user is the progress. */
bool progress_hook(void *user, const mr_progress *now);

/* What stands in the line behind the rate, from the next call of the hook on. */
__attribute__((format(printf, 2, 3))) void progress_note(progress *p, const char *format, ...);

/* Whether Ctrl-C waits. */
bool progress_is_stopped(const progress *p);

/* Takes the line away, so that something can be printed; it comes back by itself. Between the two nothing is drawn. */
void progress_pause(progress *p);
void progress_resume(progress *p);

/* The last object of JSON, or the end of the line. May be called twice. */
void progress_finish(progress *p);

/* Finishes, and ends the process here if an interrupt waits: what there is to tell of that is told before. */
void progress_fini(progress *p);

/* --progress, as everything that takes long has it. */
#define OPTION_PROGRESS                                                                                                \
    {                                                                                                                  \
        .name = "progress", .kind = OPTION_WORD, .offset = offsetof(settings, progress), .argument = "HOW",            \
        .help = "Tell on standard error how far it is: auto (a line, on a terminal), json (an object a line, about "   \
                "once a second, and one at the end) or none",                                                          \
        .initial = "auto", .words = "auto json none"                                                                   \
    }

#endif
