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

bool test_quick(void)
{
    const char *asked = getenv("MILLRACE_TEST_QUICK");
    return asked != NULL && asked[0] != '\0' && strcmp(asked, "0") != 0;
}
