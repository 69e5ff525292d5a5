// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // the strerror_r that returns a text
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mr_error_name(int code)
{
    switch (code) {
    case MR_OK:
        return "MR_OK";
#define NAME(code, number, text)                                                                                       \
    case code:                                                                                                         \
        return #code;
        MR_ERROR_LIST(NAME)
#undef NAME
    default:
        return "MR_E?";
    }
}

const char *mr_error_text(int code)
{
    switch (code) {
    case MR_OK:
        return "no error";
#define TEXT(code, number, text)                                                                                       \
    case code:                                                                                                         \
        return text;
        MR_ERROR_LIST(TEXT)
#undef TEXT
    default:
        return "an unknown error code";
    }
}

int mr__fail(mr__detail *detail, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(detail->text, sizeof detail->text, format, args);
    va_end(args);
    return code;
}

void mr__detail_clear(mr__detail *detail)
{
    detail->text[0] = '\0';
}

mr__errno_words mr__errno_text(int error)
{
    mr__errno_words words;
    char buffer[sizeof words.text];
    snprintf(words.text, sizeof words.text, "%s", strerror_r(error, buffer, sizeof buffer));
    return words;
}
