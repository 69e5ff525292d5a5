// SPDX-License-Identifier: Apache-2.0
#include "dataset/scan.h"

#include "dataset/index_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A file that is broken in so many places is none of its kind; and each takes memory. */
enum { PROBLEM_MAX = 10000 };

/* However long the name and the text are, the end of the sentence is in the detail. */
static int refuse(const mr__scan *scan, int code, const char *text)
{
    static const char advice[] = "; --broken=skip leaves it out";
    const char *name = mr__name_end(scan->path);
    size_t taken = strlen(name) + strlen(": ") + sizeof advice;
    return mr__fail(scan->detail, code, "%s: %.*s%s", name, (int)(sizeof scan->detail->text - taken), text, advice);
}

int mr__scan_broken(mr__scan *scan, int code, const char *format, ...)
{
    char text[sizeof scan->detail->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (scan->broken != MR_BROKEN_SKIP)
        return refuse(scan, code, text);
    if (scan->to->problems == PROBLEM_MAX)
        return mr__fail(scan->detail, MR_ELIMIT, "%s: more than %d things are wrong with it, the last: %.100s",
                        scan->path, PROBLEM_MAX, text);
    int result = mr__index_add_problem(scan->to, MR__INDEX_NO_POSITION, code, "%s", text);
    return result == 0 ? 0 : mr__fail(scan->detail, result, "%s: no room to note: %s", scan->path, text);
}

int mr__scan_io(mr__scan *scan, const mr__window *window)
{
    if (window->error == MR__WINDOW_NOMEM)
        return mr__fail(scan->detail, MR_ENOMEM, "%s: out of memory while it was read", scan->path);
    return mr__fail(scan->detail, MR_EIO, "%s: %s", scan->path, mr__errno_text(window->error).text);
}
