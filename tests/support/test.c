// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

void test_contains(const char *text, const char *part, const char *file, int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    print_error("'%s' is not in '%s'\n", part, text != NULL ? text : "(NULL)");
    _fail(file, line);
}

static bool is_asked(const char *name)
{
    const char *asked = getenv(name);
    return asked != NULL && asked[0] != '\0' && strcmp(asked, "0") != 0;
}

bool test_quick(void)
{
    return is_asked("MILLRACE_TEST_QUICK");
}

bool test_long(void)
{
    return is_asked("MILLRACE_LONG");
}
