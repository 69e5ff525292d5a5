// SPDX-License-Identifier: Apache-2.0
/*
 * A library of OpenCL with faults, for mr__cl_options.library or MILLRACE_OPENCL: tests/opencl/faulty_opencl.c says
 * which there are. It stands before the machine's own, without which there is none:
 *
 *     setenv("FAULTY_OPENCL", "gpu,lost=3", 1);     read when devices are counted through: in each open, and each list
 */
#ifndef TESTS_SUPPORT_FAULTY_OPENCL_H
#define TESTS_SUPPORT_FAULTY_OPENCL_H

/* Its path; NULL: it was not built, because this machine has no OpenCL. */
const char *faulty_opencl(void);

#endif
