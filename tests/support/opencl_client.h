// SPDX-License-Identifier: Apache-2.0
/* A kernel of one's own on an OpenCL device, in the plainest way: for tests of what kernels are written in. */
#ifndef TESTS_SUPPORT_OPENCL_CLIENT_H
#define TESTS_SUPPORT_OPENCL_CLIENT_H

#include "device/opencl/cl.h"

typedef struct opencl_client {
    mr_hooks hooks;
    mr__cl cl;
    mr__cl_found found; /* the first device there is */
    cl_context context;
    cl_command_queue queue;
    cl_program program;
} opencl_client;

/*
 * A program of the library's own text and `more`. `library`: NULL is the one that the library takes. MR_EUNSUPPORTED,
 * MR_EDEVICE with detail; nothing is open then.
 */
int opencl_client_open(opencl_client *client, const char *library, const char *more, mr__detail *detail);
void opencl_client_close(opencl_client *client); /* all zero is accepted */

/* Runs a kernel ("mr_..."): the arena is sent, and read back. `out` is as long, and empty. */
int opencl_client_run(opencl_client *client, const char *kernel, uint32_t lanes, uint32_t list, uint32_t groups,
                      uint8_t *arena, size_t nbytes, mr__detail *detail);

/* A header of kernels as a device's compiler takes it: without its includes. malloc'ed; the test fails without it. */
char *opencl_client_text(const char *path);

#endif
