// SPDX-License-Identifier: Apache-2.0
#include "opencl_client.h"

#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_first(void *user, const mr__cl_found *found)
{
    *(mr__cl_found *)user = *found;
    return false;
}

static int build(opencl_client *c, const char *more, mr__detail *detail)
{
    const char **texts = malloc((mr__opencl_text_count + 1) * sizeof *texts);
    cl_int error;
    char log[120] = "";
    if (texts == NULL)
        return mr__fail(detail, MR_ENOMEM, "no memory for a program's text");
    memcpy(texts, mr__opencl_text, mr__opencl_text_count * sizeof *texts);
    texts[mr__opencl_text_count] = more;
    c->program = c->cl.CreateProgramWithSource(c->context, (cl_uint)mr__opencl_text_count + 1, texts, NULL, &error);
    free(texts);
    if (c->program == NULL)
        return mr__cl_fail(detail, "clCreateProgramWithSource", error);
    error = c->cl.BuildProgram(c->program, 1, &c->found.device, "-cl-std=CL1.2", NULL, NULL);
    if (error == CL_SUCCESS)
        return 0;
    size_t nbytes = 0;
    (void)c->cl.GetProgramBuildInfo(c->program, c->found.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &nbytes);
    char *all = calloc(1, nbytes + 1);
    if (all != NULL &&
        c->cl.GetProgramBuildInfo(c->program, c->found.device, CL_PROGRAM_BUILD_LOG, nbytes, all, NULL) == CL_SUCCESS)
        snprintf(log, sizeof log, "%s", all);
    free(all);
    return mr__fail(detail, MR_EDEVICE, "it does not build: %s", log);
}

static int open_client(opencl_client *c, const char *library, const char *more, mr__detail *detail)
{
    cl_int error;
    int result = mr__hooks_init(&c->hooks, NULL);
    mr__cl_options options = {.hooks = &c->hooks, .library = library};
    if (result == 0)
        result = mr__cl_load(&options, &c->cl, detail);
    if (result == 0)
        result = mr__cl_each(&c->cl, is_first, &c->found, detail);
    if (result != 0)
        return result;
    c->context = c->cl.CreateContext(NULL, 1, &c->found.device, NULL, NULL, &error);
    if (c->context == NULL)
        return mr__cl_fail(detail, "clCreateContext", error);
    c->queue = c->cl.CreateCommandQueue(c->context, c->found.device, 0, &error);
    if (c->queue == NULL)
        return mr__cl_fail(detail, "clCreateCommandQueue", error);
    return build(c, more, detail);
}

int opencl_client_open(opencl_client *c, const char *library, const char *more, mr__detail *detail)
{
    *c = (opencl_client){.queue = NULL};
    int result = open_client(c, library, more, detail);
    if (result != 0)
        opencl_client_close(c);
    return result;
}

void opencl_client_close(opencl_client *c)
{
    if (c->program != NULL)
        (void)c->cl.ReleaseProgram(c->program);
    if (c->queue != NULL)
        (void)c->cl.ReleaseCommandQueue(c->queue);
    if (c->context != NULL)
        (void)c->cl.ReleaseContext(c->context);
    mr__cl_unload(&c->cl);
    *c = (opencl_client){.queue = NULL};
}

/* What one run takes. */
typedef struct stage {
    cl_kernel kernel;
    cl_mem arena, out;
} stage;

static cl_int run_stage(opencl_client *c, const stage *s, uint32_t lanes, uint32_t list, uint32_t groups,
                        uint8_t *arena, size_t nbytes)
{
    const mr__cl *cl = &c->cl;
    size_t local = lanes, global = local * groups;
    cl_int error = cl->EnqueueWriteBuffer(c->queue, s->arena, 1, 0, nbytes, arena, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = cl->SetKernelArg(s->kernel, 0, sizeof s->arena, &s->arena);
    if (error == CL_SUCCESS)
        error = cl->SetKernelArg(s->kernel, 1, sizeof s->out, &s->out);
    if (error == CL_SUCCESS)
        error = cl->SetKernelArg(s->kernel, 2, sizeof list, &list);
    if (error == CL_SUCCESS)
        error = cl->SetKernelArg(s->kernel, 3, MR__KERNEL_WORDS_NBYTES, NULL);
    if (error == CL_SUCCESS)
        error = cl->EnqueueNDRangeKernel(c->queue, s->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = cl->EnqueueReadBuffer(c->queue, s->arena, 1, 0, nbytes, arena, 0, NULL, NULL);
    return error;
}

int opencl_client_run(opencl_client *c, const char *name, uint32_t lanes, uint32_t list, uint32_t groups,
                      uint8_t *arena, size_t nbytes, mr__detail *detail)
{
    const mr__cl *cl = &c->cl;
    stage s = {.kernel = NULL};
    cl_int error;
    const char *what = name;
    s.kernel = cl->CreateKernel(c->program, name, &error);
    if (s.kernel != NULL)
        s.arena = cl->CreateBuffer(c->context, CL_MEM_READ_WRITE, nbytes, NULL, &error);
    if (s.arena != NULL)
        s.out = cl->CreateBuffer(c->context, CL_MEM_READ_WRITE, nbytes, NULL, &error);
    if (s.out != NULL)
        error = run_stage(c, &s, lanes, list, groups, arena, nbytes);
    if (s.out != NULL)
        (void)cl->ReleaseMemObject(s.out);
    if (s.arena != NULL)
        (void)cl->ReleaseMemObject(s.arena);
    if (s.kernel != NULL)
        (void)cl->ReleaseKernel(s.kernel);
    return error == CL_SUCCESS ? 0 : mr__cl_fail(detail, what, error);
}

/* Lines that begin with #include are left out. */
char *opencl_client_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char line[512], *text = NULL;
    size_t nbytes = 0;
    if (file == NULL)
        fail_msg("%s is not there", path);
    while (fgets(line, sizeof line, file) != NULL) {
        size_t length = strncmp(line, "#include", 8) != 0 ? strlen(line) : 0;
        text = realloc(text, nbytes + length + 1);
        assert_non_null(text);
        memcpy(text + nbytes, line, length);
        nbytes += length;
        text[nbytes] = '\0';
    }
    (void)fclose(file);
    assert_non_null(text);
    return text;
}
