// SPDX-License-Identifier: Apache-2.0
#include <millrace/version.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

int mr_version(void)
{
    return MR_VERSION;
}

const char *mr_version_text(void)
{
    return TEXT(MR_VERSION_MAJOR) "." TEXT(MR_VERSION_MINOR) "." TEXT(MR_VERSION_PATCH);
}
