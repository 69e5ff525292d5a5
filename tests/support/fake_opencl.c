// SPDX-License-Identifier: Apache-2.0
#include "fake_opencl.h"

#include "test.h"
#include <dlfcn.h>
#include <string.h>

static void find(void *library, const char *name, void *pointer)
{
    void *address = dlsym(library, name);
    if (address == NULL)
        fail_msg("%s is not in the fake OpenCL library", name);
    memcpy(pointer, &address, sizeof address);
}

fake_opencl fake_opencl_open(void)
{
    fake_opencl f;
    void *library = dlopen(MILLRACE_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL)
        fail_msg("the fake OpenCL library: %s", dlerror());
    find(library, "fake_opencl_reset", &f.reset);
    find(library, "fake_opencl_configure", &f.configure);
    find(library, "fake_opencl_go_on", &f.go_on);
    find(library, "fake_opencl_count", &f.count);
    find(library, "fake_opencl_kernel", &f.kernel);
    find(library, "fake_opencl_check", &f.check);
    (void)dlclose(library);
    return f;
}
