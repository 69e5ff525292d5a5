// SPDX-License-Identifier: Apache-2.0
/*
 * The kernels, built for a device. What a driver made of them is kept: "opencl/KEY.bin" in the user's cache, where KEY
 * is the hash of all that it depends on (text, device, driver, platform, options), 16 hexadecimal digits:
 *
 *     "MRCLBIN1", then three numbers of 8 bytes, little-endian: the key, how many bytes follow, their hash
 *     the driver's own bytes
 *
 * Losing one costs a build: whatever is odd about a file, or wrong with what the driver makes of it, the text is built
 * anew, and the file written anew.
 *
 * Not for PoCL: it keeps what it has built itself, kernel by kernel as they are used. To give a program away it builds
 * all of them, for groups of any size, which takes ten times as long, and is not what it then runs.
 */
#include "device/opencl/cl.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "source/disk.h"
#include "source/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "MRCLBIN1"
enum { MAGIC_NBYTES = 8, HEAD_NBYTES = 32, FILE_NBYTES_MAX = 256 << 20, FILES_MAX = 16 };

/* A program on its way. */
typedef struct job {
    const mr__cl *cl;
    const mr_hooks *hooks;
    cl_context context;
    const mr__cl_found *found;
    const char *options, *guest;
    bool subgroups;
    char *path; /* of its file in the cache; NULL: none */
    uint64_t key;
    cl_program program;
} job;

static void drop_program(job *j)
{
    if (j->program != NULL)
        (void)j->cl->ReleaseProgram(j->program);
    j->program = NULL;
}

/* --- its file --- */

static uint64_t key_of(const job *j)
{
    const mr__cl_facts *f = &j->found->entry.facts;
    const char *const texts[] = {f->name,    f->vendor, f->version, f->driver, j->found->platform_version,
                                 j->options, j->guest};
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    for (size_t i = 0; i < mr__opencl_text_count; i++)
        mr__hasher_add(&hasher, mr__opencl_text[i], strlen(mr__opencl_text[i]));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mr__hasher_add(&hasher, "\n", 1);
        mr__hasher_add(&hasher, texts[i], strlen(texts[i]));
    }
    return mr__hasher_value(&hasher);
}

static bool is_good(const uint8_t *bytes, size_t nbytes, uint64_t key)
{
    return nbytes > HEAD_NBYTES && memcmp(bytes, MAGIC, MAGIC_NBYTES) == 0 && mr__load_le64(bytes + 8) == key &&
           mr__load_le64(bytes + 16) == nbytes - HEAD_NBYTES &&
           mr__load_le64(bytes + 24) == mr__hash(bytes + HEAD_NBYTES, nbytes - HEAD_NBYTES);
}

/* All of a file; NULL: it is not there, or not good. */
static uint8_t *read_kept(const job *j, size_t *nbytes)
{
    mr__file file;
    uint8_t *bytes = NULL;
    int error = mr__file_open(&file, j->path);
    if (error == 0 && file.nbytes > HEAD_NBYTES && file.nbytes <= FILE_NBYTES_MAX) {
        bytes = mr__alloc(j->hooks, (size_t)file.nbytes);
        error = bytes != NULL ? mr__file_read(&file, 0, bytes, (size_t)file.nbytes, nbytes) : ENOMEM;
    }
    mr__file_close(&file);
    if (error == 0 && bytes != NULL && is_good(bytes, *nbytes, j->key))
        return bytes;
    if (error != ENOENT)
        mr__log(j->hooks, MR_LOG_WARNING, "%s: it cannot be used (%s); the kernels are built anew", j->path,
                error != 0 ? mr__errno_text(error).text : "damaged");
    mr__free(j->hooks, bytes);
    return NULL;
}

/* Names that were given here, those of files that were never finished with them. */
static bool is_name(const char *name)
{
    enum { LENGTH = 16 + 4 };
    if (name[0] == '.')
        return strlen(name) == 1 + LENGTH + 4 && strcmp(name + 1 + LENGTH, ".tmp") == 0;
    return strlen(name) == LENGTH && strcmp(name + LENGTH - 4, ".bin") == 0;
}

static int publish(const job *j, uint8_t *bytes, size_t nbytes)
{
    memcpy(bytes, MAGIC, MAGIC_NBYTES);
    mr__store_le64(bytes + 8, j->key);
    mr__store_le64(bytes + 16, nbytes);
    mr__store_le64(bytes + 24, mr__hash(bytes + HEAD_NBYTES, nbytes));
    int error;
    char *folder = mr__cache_folder(j->hooks, "opencl", &error);
    if (folder != NULL)
        error = mr__disk_real.make_folder(&mr__disk_real, folder);
    if (folder != NULL && error == 0)
        error = mr__disk_publish(&mr__disk_real, j->hooks, j->path, bytes, HEAD_NBYTES + nbytes);
    if (folder != NULL && error == 0)
        mr__cache_trim(j->hooks, folder, is_name, FILES_MAX);
    mr__free(j->hooks, folder);
    return error == EBUSY ? 0 : error; /* another process writes the same: one of the two is as good */
}

static void keep(const job *j)
{
    size_t nbytes = 0;
    if (j->path == NULL ||
        j->cl->GetProgramInfo(j->program, CL_PROGRAM_BINARY_SIZES, sizeof nbytes, &nbytes, NULL) != CL_SUCCESS ||
        nbytes == 0 || nbytes > FILE_NBYTES_MAX - HEAD_NBYTES)
        return;
    uint8_t *bytes = mr__alloc(j->hooks, HEAD_NBYTES + nbytes), *at = bytes + HEAD_NBYTES;
    if (bytes == NULL)
        return;
    int error = 0;
    if (j->cl->GetProgramInfo(j->program, CL_PROGRAM_BINARIES, sizeof at, &at, NULL) == CL_SUCCESS)
        error = publish(j, bytes, nbytes);
    if (error != 0)
        mr__log(j->hooks, MR_LOG_WARNING, "%s: %s; the next run builds the kernels anew", j->path,
                mr__errno_text(error).text);
    mr__free(j->hooks, bytes);
}

/* --- building --- */

/* Every kernel is there, and can have its lanes. */
static int check(const job *j, mr__detail *detail)
{
    for (uint32_t k = 0; k < MR__KERNEL_COUNT + (j->guest[0] != 0); k++) {
        char name[64];
        cl_int error;
        size_t lanes = 0, team = MR__TEAM_LANES, together = MR__TEAM_LANES;
        snprintf(name, sizeof name, "mr_%s", mr__kernel_name((mr__kernel)k));
        cl_kernel kernel = j->cl->CreateKernel(j->program, name, &error);
        if (kernel == NULL)
            return mr__fail(detail, MR_EDEVICE, "OpenCL: clCreateKernel (%s) failed: %s", name,
                            mr__cl_error_text(error).text);
        error = j->cl->GetKernelWorkGroupInfo(kernel, j->found->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof lanes, &lanes,
                                              NULL);
        if (j->subgroups && mr__kernel_lanes((mr__kernel)k) == MR__TEAM_LANES &&
            j->cl->GetKernelSubGroupInfo(kernel, j->found->device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                         sizeof team, &team, sizeof together, &together, NULL) != CL_SUCCESS)
            together = 0;
        (void)j->cl->ReleaseKernel(kernel);
        if (error == CL_SUCCESS && lanes < mr__kernel_lanes((mr__kernel)k))
            return mr__fail(detail, MR_EUNSUPPORTED, "the device starts only %zu lanes of the kernel %s together",
                            lanes, name);
        if (together != MR__TEAM_LANES)
            return mr__fail(detail, MR_EUNSUPPORTED, "the device's sub-groups have %zu lanes", together);
    }
    return 0;
}

/* The line of the compiler's words that says what is wrong. */
static void first_error(const char *log, char *line, size_t most)
{
    const char *at = strstr(log, "error");
    while (at != NULL && at != log && at[-1] != '\n')
        at--;
    at = at != NULL ? at : log + strspn(log, " \t\r\n");
    snprintf(line, most, "%.*s", (int)strcspn(at, "\r\n"), at);
}

static int build_failed(const job *j, cl_int error, mr__detail *detail)
{
    size_t nbytes = 0;
    char line[160] = "";
    cl_device_id device = j->found->device;
    if (j->cl->GetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &nbytes) == CL_SUCCESS) {
        char *log = mr__alloc_zero(j->hooks, nbytes + 1);
        if (log != NULL &&
            j->cl->GetProgramBuildInfo(j->program, device, CL_PROGRAM_BUILD_LOG, nbytes, log, NULL) == CL_SUCCESS)
            first_error(log, line, sizeof line);
        mr__free(j->hooks, log);
    }
    return mr__fail(detail, MR_EDEVICE, "OpenCL: the kernels could not be built (%s): %s",
                    mr__cl_error_text(error).text, line[0] != 0 ? line : "the driver does not say why");
}

static int build(job *j, mr__detail *detail)
{
    cl_int error = j->cl->BuildProgram(j->program, 1, &j->found->device, j->options, NULL, NULL);
    int result = error == CL_SUCCESS ? check(j, detail) : build_failed(j, error, detail);
    if (result != 0)
        drop_program(j);
    return result;
}

static bool build_from_file(job *j)
{
    size_t nbytes = 0;
    cl_int status = CL_SUCCESS, error;
    mr__detail detail;
    uint8_t *bytes = read_kept(j, &nbytes);
    if (bytes == NULL)
        return false;
    const unsigned char *at = bytes + HEAD_NBYTES;
    nbytes -= HEAD_NBYTES;
    j->program = j->cl->CreateProgramWithBinary(j->context, 1, &j->found->device, &nbytes, &at, &status, &error);
    if (j->program != NULL && status != CL_SUCCESS)
        drop_program(j);
    bool built = j->program != NULL && build(j, &detail) == 0;
    if (!built)
        mr__log(j->hooks, MR_LOG_INFO, "%s: the driver does not take it any more; the kernels are built anew", j->path);
    mr__free(j->hooks, bytes);
    return built;
}

static int build_from_text(job *j, mr__detail *detail)
{
    cl_int error;
    const char **texts = mr__alloc_array(j->hooks, mr__opencl_text_count + 1, sizeof *texts);
    if (texts == NULL)
        return mr__fail(detail, MR_ENOMEM, "no memory for the kernels' text");
    memcpy(texts, mr__opencl_text, mr__opencl_text_count * sizeof *texts);
    texts[mr__opencl_text_count] = j->guest;
    j->program = j->cl->CreateProgramWithSource(j->context, (cl_uint)mr__opencl_text_count + 1, texts, NULL, &error);
    mr__free(j->hooks, texts);
    if (j->program == NULL)
        return mr__cl_fail(detail, "clCreateProgramWithSource", error);
    int result = build(j, detail);
    if (result == 0)
        keep(j);
    return result;
}

static int build_with(job *j, bool keeps, mr__detail *detail)
{
    int error;
    char *folder = keeps ? mr__cache_folder(j->hooks, "opencl", &error) : NULL;
    j->key = key_of(j);
    if (folder != NULL)
        j->path = mr__text_format(j->hooks, "%s/%016llx.bin", folder, (unsigned long long)j->key);
    mr__free(j->hooks, folder);
    int result = j->path != NULL && build_from_file(j) ? 0 : build_from_text(j, detail);
    mr__free(j->hooks, j->path);
    j->path = NULL;
    return result;
}

static bool keeps_its_own(const mr__cl_found *found)
{
    return strcmp(found->entry.platform, "Portable Computing Language") == 0;
}

int mr__cl_program_build(const mr__cl *cl, const mr__cl_options *options, cl_context context, const mr__cl_found *found,
                         cl_program *program, bool *subgroups, mr__detail *detail)
{
    job j = {.cl = cl, .hooks = options->hooks, .context = context, .found = found};
    char text[128];
    const char *exact = found->entry.facts.exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "";
    bool keeps = !options->no_cache && !keeps_its_own(found);
    int result = MR_EUNSUPPORTED;
    j.options = text;
    j.guest = options->guest != NULL ? options->guest : "";
    if (found->entry.facts.subgroups) {
        j.subgroups = true;
        snprintf(text, sizeof text, "-cl-std=CL2.0 -DMR_SUBGROUPS%s", exact);
        result = build_with(&j, keeps, detail);
    }
    if (result != 0) {
        j.subgroups = false;
        snprintf(text, sizeof text, "-cl-std=CL1.2%s", exact);
        result = build_with(&j, keeps, detail);
    }
    if (result != 0)
        return result;
    *program = j.program;
    *subgroups = j.subgroups;
    return 0;
}
