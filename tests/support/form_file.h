// SPDX-License-Identifier: Apache-2.0
/* One small file of every form, and the same with a header that says it is enormous. */
#ifndef TESTS_SUPPORT_FORM_FILE_H
#define TESTS_SUPPORT_FORM_FILE_H

#include "picture.h"

/* How many files there are to try: forms that can be encoded, each with some shapes. */
size_t form_file_count(void);

/* The i-th, 21 x 13, turned by its orientation where the form has one. */
picture_file form_file_make(size_t i, mr_form *form);

/* A file of this form whose header claims more than 2^31 pixels; bytes NULL when the form cannot be encoded. */
picture_file form_file_huge(mr_form form);

#endif
