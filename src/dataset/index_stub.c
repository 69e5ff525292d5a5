// SPDX-License-Identifier: Apache-2.0
/* Until index_build.c is there. */
#include "dataset/index.h"

int mr__index_add(mr__index_build *build, const mr__draft *draft)
{
    (void)build;
    (void)draft;
    return MR_EINTERNAL;
}

int mr__index_add_class(mr__index_build *build, const char *name, size_t nbytes)
{
    (void)build;
    (void)name;
    (void)nbytes;
    return MR_EINTERNAL;
}

int mr__index_add_folder(mr__index_build *build, const char *path, int64_t mtime_ns)
{
    (void)build;
    (void)path;
    (void)mtime_ns;
    return MR_EINTERNAL;
}

int mr__index_add_problem(mr__index_build *build, uint32_t position, int code, const char *format, ...)
{
    (void)build;
    (void)position;
    (void)code;
    (void)format;
    return MR_EINTERNAL;
}
