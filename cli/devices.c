// SPDX-License-Identifier: Apache-2.0
/* What there is on this machine to prepare samples with. */
#include "command.h"
#include "json.h"
#include "quantity.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 128, LABEL_CELLS = 11, WIDEST = 100 };

static const option options_devices[] = {
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print one JSON array, an object a line for each device"},
    {0},
};

/* --- for people --- */

/* Beside the label, or below the line before; names come from drivers, and are made harmless. */
__attribute__((format(printf, 1, 2))) static void put_line(const char *format, ...)
{
    char text[1024], *line = NULL;
    size_t nbytes = 0;
    terminal t = terminal_of(stdout);
    unsigned width = t.width < WIDEST ? t.width : WIDEST;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    FILE *stream = open_memstream(&line, &nbytes);
    if (stream == NULL)
        return;
    put_escaped(stream, text);
    if (fclose(stream) == 0)
        put_wrapped(stdout, line, LABEL_CELLS, LABEL_CELLS, width);
    free(line);
}

static void put_next(void)
{
    printf("%*s", LABEL_CELLS, "");
}

/* "jpeg, raw, l3": those that it decodes, or those that it does not. */
static void list_forms(const mr_device_info *d, bool decoded, char *text, size_t nbytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (mr_form form = MR_FORM_JPEG; form <= MR_FORM_L3; form++)
        if (mr_device_decodes(d, form) == decoded && used < nbytes)
            used += (size_t)snprintf(text + used, nbytes - used, "%s%s", used != 0 ? ", " : "", mr_form_name(form));
}

static void put_abilities(const mr_device_info *d)
{
    char forms[96], others[96], lacks[512];
    list_forms(d, true, forms, sizeof forms);
    list_forms(d, false, others, sizeof others);
    mr_device_lacks(d, lacks, sizeof lacks);
    put_next();
    if (others[0] == '\0')
        put_line("decodes every form");
    else if (forms[0] == '\0')
        put_line("decodes no form: the host does, for it");
    else
        put_line("decodes %s; the host decodes %s for it", forms, others);
    put_next();
    if (lacks[0] == '\0')
        put_line("does every step");
    else if (strcmp(lacks, "user") == 0)
        put_line("does every step but those that are code of the program's own (user)");
    else
        put_line("does every step but: %s", lacks);
}

static void put_name(const mr_device_info *d)
{
    char units[64] = "", memory[64] = "";
    bool is_processor = strcmp(d->device, "cpu") == 0;
    if (is_processor)
        snprintf(units, sizeof units, ", %u thread%s", (unsigned)d->units, plural(d->units));
    else if (strncmp(d->device, "opencl", 6) == 0)
        snprintf(units, sizeof units, ", %u compute unit%s", (unsigned)d->units, plural(d->units));
    if (d->memory_nbytes != 0)
        snprintf(memory, sizeof memory, ", %s of %s memory", bytes_text(d->memory_nbytes).text,
                 d->shares_memory ? "the host's" : "its own");
    put_line("%s%s%s", d->name, units, memory);
}

static void put_device(const mr_device_info *d)
{
    terminal t = terminal_of(stdout);
    printf("%s%-*s%s", style_of(&t, d->usable ? STYLE_GREEN : STYLE_YELLOW), LABEL_CELLS, d->device,
           style_of(&t, STYLE_NONE));
    if (d->name[0] != '\0') {
        put_name(d);
        if (d->version[0] != '\0') {
            put_next();
            put_line("%s", d->version);
        }
    }
    if (!d->usable) {
        if (d->name[0] != '\0')
            put_next();
        put_line("cannot be used: %s", d->why);
        return;
    }
    if (d->is_host && strcmp(d->device, "cpu") != 0) {
        put_next();
        put_line("these are the host's own cores: --device=auto leaves it out");
    }
    put_abilities(d);
}

/* --- for programs --- */

static void put_object(json *j, const mr_device_info *d)
{
    char text[512], *rest = text;
    json_line(j);
    json_open(j, NULL, '{');
    json_text(j, "device", d->device);
    json_bool(j, "usable", d->usable);
    if (!d->usable)
        json_text(j, "why", d->why);
    if (d->name[0] != '\0') {
        json_text(j, "name", d->name);
        json_text(j, "version", d->version);
        json_number(j, "units", d->units);
        json_number(j, "memory_nbytes", d->memory_nbytes);
        json_bool(j, "is_host", d->is_host);
        json_bool(j, "shares_memory", d->shares_memory);
        json_bool(j, "has_doubles", d->has_doubles);
    }
    if (d->usable) {
        json_open(j, "decodes", '[');
        for (mr_form form = MR_FORM_JPEG; form <= MR_FORM_L3; form++)
            if (mr_device_decodes(d, form))
                json_text(j, NULL, mr_form_name(form));
        json_close(j, ']');
        mr_device_lacks(d, text, sizeof text);
        json_open(j, "lacks", '[');
        for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
            json_text(j, NULL, word);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static int run(const settings *s, char **operands, size_t operand_count)
{
    mr_device_info *devices = calloc(DEVICES_MAX, sizeof *devices);
    size_t count = 0;
    json j = {.stream = stdout};
    (void)operands;
    (void)operand_count;
    if (devices != NULL)
        devices->struct_size = sizeof *devices;
    int code = devices != NULL ? mr_devices_list(NULL, devices, DEVICES_MAX, &count) : MR_ENOMEM;
    if (code != 0) {
        complain(NULL, "devices: %s", mr_error_text(code));
        free(devices);
        return EXIT_BAD_INPUT;
    }
    if (s->json)
        json_open(&j, NULL, '[');
    for (size_t i = 0; i < count && i < DEVICES_MAX; i++)
        if (s->json)
            put_object(&j, &devices[i]);
        else
            put_device(&devices[i]);
    if (s->json)
        fputs("\n]\n", stdout);
    free(devices);
    return EXIT_GOOD;
}

const command command_devices = {
    .name = "devices",
    .operands = "",
    .summary = "List who can prepare samples here: this processor, and accelerators",
    .text =
        (const char *const[]){
            "Prints each device by the name that --device takes: cpu, the threads of this host; opencl:0, opencl:1 and "
            "so on, accelerators with a driver for OpenCL 1.2; sim, a simulated one. It tells what each can do, and "
            "of one that cannot be used why, and what to install.",
            "Every device gives the same bytes. What an accelerator does not decode the host decodes for it; a recipe "
            "with a step that it lacks is left to the host, or to other devices.",
            "OpenCL is loaded only when it is asked for (libOpenCL.so.1, or the file that MILLRACE_OPENCL names). On "
            "Debian and Ubuntu: apt-get install ocl-icd-libopencl1, and the driver of the GPU's vendor; or "
            "pocl-opencl-icd, which makes a device of the processor: to try it out, since these are the same cores. "
            "Kernels are built by the driver at first use, and kept in the folder millrace/opencl of the user's cache, "
            "or by "
            "PoCL in its own.",
            NULL},
    .groups = (const option_group[]){{"Options", options_devices}, {"Help", options_common}, {NULL, NULL}},
    .examples = (const example[]){{"millrace devices", "What is there?"},
                                  {"millrace devices --json | jq -r '.[] | select(.usable).device'",
                                   "The names of those that can be used"},
                                  {"millrace feed train --recipe 'rrc(224) flip' --device cpu,opencl:0",
                                   "The host and the first accelerator prepare each batch"},
                                  {NULL, NULL}},
    .operand_min = 0,
    .operand_max = 0,
    .operand = OPERAND_FILE,
    .may_be_cut = true,
    .run = run,
};
