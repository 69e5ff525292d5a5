// SPDX-License-Identifier: Apache-2.0
#include "failure.h"
#include "json.h"
#include "text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

static void put_json(int code, const char *name, const char *text)
{
    json j = {.stream = stdout};
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s%s", name != NULL ? name : "", name != NULL ? ": " : "", text);
    json_open(&j, NULL, '{');
    json_error(&j, code, whole);
    json_close(&j, '}');
    putchar('\n');
}

int failed(const settings *s, int code, const char *name, const char *format, ...)
{
    char text[PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (s->json)
        put_json(code, name, text);
    complain(name, "%s", text);
    return EXIT_BAD_INPUT;
}

int failed_detail(const settings *s, int code, const char *name, const char *detail)
{
    if (detail[0] != '\0')
        return failed(s, code, NULL, "%s", detail);
    return failed(s, code, name, "%s", mr_error_text(code));
}
