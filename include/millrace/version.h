// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_VERSION_H
#define MILLRACE_VERSION_H

#include <millrace/export.h>

/* The version of these headers. The build reads it from here; it stands nowhere else. */
#define MR_VERSION_MAJOR 0
#define MR_VERSION_MINOR 1
#define MR_VERSION_PATCH 0
#define MR_VERSION       ((MR_VERSION_MAJOR << 16) | (MR_VERSION_MINOR << 8) | MR_VERSION_PATCH)

MR_BEGIN_DECLS

/* The version of the library that is linked, in the form of MR_VERSION. */
MR_API int mr_version(void);

/* The same as text, "0.1.0". */
MR_API const char *mr_version_text(void);

MR_END_DECLS

#endif
