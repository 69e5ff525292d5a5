// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_ERROR_H
#define MILLRACE_ERROR_H

#include <millrace/export.h>

/*
 * Every function that can fail returns 0, or one of these negative codes. This is the one list: code, number, text.
 * The numbers are part of the ABI: new ones are added at the end. What went wrong in particular (which byte, which
 * marker, which limit) is the detail text of the handle the call was made on.
 */
#define MR_ERROR_LIST(X)                                                                                               \
    X(MR_EARGUMENT, -1, "an argument is not valid")                                                                    \
    X(MR_ENOMEM, -2, "out of memory")                                                                                  \
    X(MR_EIO, -3, "reading or writing failed")                                                                         \
    X(MR_EFORMAT, -4, "not an image in a known format")                                                                \
    X(MR_ETRUNCATED, -5, "the data ends too early")                                                                    \
    X(MR_ECORRUPT, -6, "the data is damaged")                                                                          \
    X(MR_EUNSUPPORTED, -7, "valid, but not supported")                                                                 \
    X(MR_ELIMIT, -8, "a limit was exceeded")                                                                           \
    X(MR_ECLOSED, -9, "already closed")                                                                                \
    X(MR_ETIMEOUT, -10, "the deadline passed")                                                                         \
    X(MR_ESYSTEM, -11, "the operating system refused")                                                                 \
    X(MR_EINTERNAL, -12, "an internal check failed; please report it")                                                 \
    X(MR_EFORKED, -13, "the handle was made before a fork: it is the parent's")                                        \
    X(MR_EDEVICE, -14, "the device failed")

#define MR_ERROR_ENUM(code, number, text) code = number,
typedef enum mr_error { MR_OK = 0, MR_ERROR_LIST(MR_ERROR_ENUM) } mr_error;
#undef MR_ERROR_ENUM

MR_BEGIN_DECLS

/* "MR_ETRUNCATED"; "MR_OK" for 0; "MR_E?" for a number that is no code. Never NULL. */
MR_API const char *mr_error_name(int code);

/* "the data ends too early"; never NULL. */
MR_API const char *mr_error_text(int code);

MR_END_DECLS

#endif
