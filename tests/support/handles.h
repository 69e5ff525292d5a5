// SPDX-License-Identifier: Apache-2.0
/* A decoder and an encoder that all tests of a program use in turn, so that nothing may linger in them. */
#ifndef TESTS_SUPPORT_HANDLES_H
#define TESTS_SUPPORT_HANDLES_H

#include "picture.h"

/* With the defaults, from handles_setup to handles_teardown: cmocka_run_group_tests(tests, these two). */
extern mr_decoder *decoder;
extern mr_encoder *encoder;

int handles_setup(void **state);
int handles_teardown(void **state);

/* One of a test's own; hooks and limits may be NULL, and the limits' struct_size 0. */
mr_decoder *handles_decoder(const mr_hooks *hooks, const mr_limits *limits);
mr_encoder *handles_encoder(const mr_hooks *hooks, const mr_limits *limits);

/* What `decoder` says of a file; it must have something to say. */
mr_info info_of(const picture_file *file);

#endif
