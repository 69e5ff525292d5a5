// SPDX-License-Identifier: Apache-2.0
#ifndef MR_BASE_LOG_H
#define MR_BASE_LOG_H

#include <millrace/hooks.h>
#include <stdarg.h>

/* One line to the log hook, if its level lets it through. Hooks are those of mr__hooks_init. */
__attribute__((format(printf, 3, 4))) void mr__log(const mr_hooks *hooks, mr_log_level level, const char *format, ...);

void mr__log_args(const mr_hooks *hooks, mr_log_level level, const char *format, va_list args);

#endif
