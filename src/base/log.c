// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdio.h>

void mr__log(const mr_hooks *hooks, mr_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mr__log_args(hooks, level, format, args);
    va_end(args);
}

void mr__log_args(const mr_hooks *hooks, mr_log_level level, const char *format, va_list args)
{
    if (level > hooks->log_level)
        return;
    char text[320];
    vsnprintf(text, sizeof text, format, args);
    hooks->log(hooks->user, level, text);
}
