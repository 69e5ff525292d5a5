// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_EXPORT_H
#define MILLRACE_EXPORT_H

#define MR_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define MR_BEGIN_DECLS extern "C" {
#define MR_END_DECLS   }
#else
#define MR_BEGIN_DECLS
#define MR_END_DECLS
#endif

#endif
