// SPDX-License-Identifier: Apache-2.0
#include "device/opencl/cl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less than this in one buffer is not worth the way. */
enum { ALLOC_MIN = 64 << 20, PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

/* --- what a device says of itself --- */

/* OpenCL has an error, not a part, for a text that is longer than its place: it is asked for here, and cut. */
typedef struct answer {
    char text[1024];
    size_t nbytes;
} answer;

static void tidy(answer *a, char *text, size_t most)
{
    a->text[a->nbytes < sizeof a->text ? a->nbytes : sizeof a->text - 1] = 0;
    const char *from = a->text + strspn(a->text, " ");
    size_t length = strnlen(from, most - 1);
    while (length != 0 && from[length - 1] == ' ')
        length--;
    memcpy(text, from, length);
    text[length] = 0;
}

static void text_of(const mr__cl *cl, cl_device_id device, cl_uint what, char *text, size_t most)
{
    answer a = {.nbytes = 0};
    if (cl->GetDeviceInfo(device, what, sizeof a.text, a.text, &a.nbytes) != CL_SUCCESS)
        a.nbytes = 0;
    tidy(&a, text, most);
}

static void platform_text(const mr__cl *cl, cl_platform_id platform, cl_uint what, char *text, size_t most)
{
    answer a = {.nbytes = 0};
    if (cl->GetPlatformInfo(platform, what, sizeof a.text, a.text, &a.nbytes) != CL_SUCCESS)
        a.nbytes = 0;
    tidy(&a, text, most);
}

static uint64_t number_of(const mr__cl *cl, cl_device_id device, cl_uint what, size_t nbytes)
{
    uint64_t value = 0; /* little-endian, as all that Millrace runs on: a shorter number is its first bytes */
    return cl->GetDeviceInfo(device, what, nbytes, &value, NULL) == CL_SUCCESS ? value : 0;
}

static bool has_extension(const mr__cl *cl, cl_device_id device, const char *name)
{
    char all[16384];
    size_t length = strlen(name);
    if (cl->GetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof all - 1, all, NULL) != CL_SUCCESS)
        return false;
    all[sizeof all - 1] = 0;
    for (const char *at = all; (at = strstr(at, name)) != NULL; at += length)
        if ((at == all || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

static void learn(const mr__cl *cl, mr__cl_found *found)
{
    cl_device_id device = found->device;
    mr__cl_facts *f = &found->entry.facts;
    text_of(cl, device, CL_DEVICE_NAME, f->name, sizeof f->name);
    text_of(cl, device, CL_DEVICE_VENDOR, f->vendor, sizeof f->vendor);
    text_of(cl, device, CL_DEVICE_VERSION, f->version, sizeof f->version);
    text_of(cl, device, CL_DRIVER_VERSION, f->driver, sizeof f->driver);
    uint64_t type = number_of(cl, device, CL_DEVICE_TYPE, sizeof(cl_bitfield));
    uint64_t floats = number_of(cl, device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_bitfield));
    uint64_t exact = CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT | CL_FP_DENORM;
    f->is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    f->is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    f->unified = f->is_cpu || number_of(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)) != 0;
    f->doubles = number_of(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_bitfield)) != 0 &&
                 has_extension(cl, device, "cl_khr_fp64");
    f->exact = (floats & exact) == exact;
    f->subgroups = cl->GetKernelSubGroupInfo != NULL && has_extension(cl, device, "cl_khr_subgroups");
    f->units = (uint32_t)number_of(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    f->memory_nbytes = number_of(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    f->alloc_nbytes = number_of(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
}

/* "OpenCL 1.1 and more" */
static bool is_older(const char *version)
{
    static const char head[] = "OpenCL ";
    char *end;
    if (strncmp(version, head, sizeof head - 1) != 0)
        return true;
    unsigned long major = strtoul(version + sizeof head - 1, &end, 10);
    return major < 1 || (major == 1 && (*end != '.' || strtoul(end + 1, NULL, 10) < 2));
}

/* Why it is of no use, beside its floats; NULL: it is. */
static const char *reason(const mr__cl *cl, const mr__cl_found *found)
{
    cl_device_id device = found->device;
    const mr__cl_facts *f = &found->entry.facts;
    char profile[32];
    text_of(cl, device, CL_DEVICE_PROFILE, profile, sizeof profile);
    if (number_of(cl, device, CL_DEVICE_AVAILABLE, sizeof(cl_bool)) == 0)
        return "its driver says that it is not available now";
    if (is_older(f->version))
        return "it has less than OpenCL 1.2; a newer driver may have more";
    if (strcmp(profile, "FULL_PROFILE") != 0)
        return "it has the embedded profile of OpenCL only, without numbers of 64 bits";
    if (number_of(cl, device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)) == 0)
        return "its driver has no compiler, so that no kernels can be built for it";
    if (number_of(cl, device, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)) == 0)
        return "it is big-endian; batches are little-endian";
    if (number_of(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < MR__ALONE_LANES)
        return "it starts fewer than 64 lanes together";
    if (f->alloc_nbytes < ALLOC_MIN)
        return "it has too little memory: one buffer can have less than 64 MiB";
    return NULL;
}

/* --- all of them --- */

/* The devices of one platform, from number *number on. False: that is enough. */
static bool each_of(const mr__cl *cl, cl_platform_id platform, uint32_t *number,
                    bool (*each)(void *user, const mr__cl_found *found), void *user)
{
    cl_device_id devices[DEVICES_MAX];
    cl_uint count = 0;
    if (cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count) != CL_SUCCESS)
        return true; /* CL_DEVICE_NOT_FOUND: a driver without its hardware */
    for (cl_uint i = 0; i < count && i < DEVICES_MAX; i++) {
        mr__cl_found found = {.platform = platform, .device = devices[i], .entry = {.number = (*number)++}};
        platform_text(cl, platform, CL_PLATFORM_NAME, found.entry.platform, sizeof found.entry.platform);
        platform_text(cl, platform, CL_PLATFORM_VERSION, found.platform_version, sizeof found.platform_version);
        learn(cl, &found);
        const char *why = reason(cl, &found);
        found.but_for_floats = why == NULL;
        if (why == NULL && !found.entry.facts.exact)
            why = "its floats are not IEEE's (division rounded correctly, small numbers kept), so bytes would differ";
        found.entry.usable = why == NULL;
        if (why != NULL)
            snprintf(found.entry.why, sizeof found.entry.why, "%s", why);
        if (!each(user, &found))
            return false;
    }
    return true;
}

int mr__cl_each(const mr__cl *cl, bool (*each)(void *user, const mr__cl_found *found), void *user, mr__detail *detail)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    uint32_t number = 0;
    cl_int error = cl->GetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    if (error != CL_SUCCESS && error != CL_PLATFORM_NOT_FOUND_KHR)
        return mr__cl_fail(detail, "clGetPlatformIDs", error);
    if (error != CL_SUCCESS || count == 0)
        return mr__fail(detail, MR_EUNSUPPORTED,
                        "OpenCL is there, but no driver for it (%s has none that loads). For "
                        "processors: apt-get install pocl-opencl-icd; for a GPU: its vendor's",
                        getenv("OCL_ICD_VENDORS") != NULL ? "OCL_ICD_VENDORS" : "/etc/OpenCL/vendors");
    for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++)
        if (!each_of(cl, platforms[i], &number, each, user))
            return 0;
    if (number != 0)
        return 0;
    char name[128];
    platform_text(cl, platforms[0], CL_PLATFORM_NAME, name, sizeof name);
    return mr__fail(detail, MR_EUNSUPPORTED,
                    "OpenCL and a driver are there (%s), but it finds no device: is it plugged in, and may this user "
                    "open it (groups render, video)?",
                    name);
}

typedef struct listing {
    mr__cl_entry *entries;
    size_t most, count;
} listing;

static bool add_entry(void *user, const mr__cl_found *found)
{
    listing *l = user;
    if (l->count == l->most)
        return false;
    l->entries[l->count++] = found->entry;
    return true;
}

int mr__cl_list(const mr__cl_options *options, mr__cl_entry *entries, size_t most, size_t *count, mr__detail *detail)
{
    mr__cl cl;
    listing l = {entries, most, 0};
    int result = mr__cl_load(options, &cl, detail);
    if (result != 0)
        return result;
    result = mr__cl_each(&cl, add_entry, &l, detail);
    mr__cl_unload(&cl);
    if (result == 0)
        *count = l.count;
    return result;
}
