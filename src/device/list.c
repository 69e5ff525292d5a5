// SPDX-License-Identifier: Apache-2.0
/* What there is on this machine to prepare samples with. */
#include "base/memory.h"
#include "device/opencl/player.h"
#include "device/tape/sample.h"
#include "step/step.h"

#include <millrace/device.h>
#include <millrace/system.h>
#include <stdio.h>
#include <string.h>

enum { ACCELERATORS_MAX = 64 };

/* The list that is being made. */
typedef struct list {
    mr_device_info *devices;
    size_t stride, most, count;
} list;

static void add(list *l, const mr_device_info *device)
{
    if (l->count < l->most) {
        void *to = (uint8_t *)l->devices + l->count * l->stride;
        memcpy(to, &l->stride, sizeof l->stride); // its struct_size
        (void)mr__struct_give(to, device, sizeof *device);
    }
    l->count++;
}

/* "AMD EPYC", as the system has it; some processors have no name there. */
static void name_processor(char *name, size_t most)
{
    static const char head[] = "model name";
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, most, "this processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '\n') {
        const char *colon = strchr(line, ':');
        if (strncmp(line, head, sizeof head - 1) != 0 || colon == NULL)
            continue;
        colon += 1 + strspn(colon + 1, " ");
        snprintf(name, most, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static void add_processor(list *l)
{
    mr_device_info cpu = {.device = "cpu", .usable = true, .is_host = true, .shares_memory = true, .has_doubles = true};
    name_processor(cpu.name, sizeof cpu.name);
    if (mr_cpu_text(cpu.version, sizeof cpu.version) == 0)
        snprintf(cpu.version, sizeof cpu.version, "portable");
    cpu.units = mr_threads_default();
    add(l, &cpu);
}

static void add_accelerator(list *l, const mr__cl_entry *entry)
{
    const mr__cl_facts *f = &entry->facts;
    mr_device_info cl = {.usable = entry->usable,
                         .is_host = f->is_cpu,
                         .shares_memory = f->unified,
                         .has_doubles = f->doubles,
                         .units = f->units,
                         .memory_nbytes = f->memory_nbytes};
    snprintf(cl.device, sizeof cl.device, "opencl:%u", entry->number);
    snprintf(cl.name, sizeof cl.name, "%s", f->name);
    snprintf(cl.version, sizeof cl.version, "%.90s: %.90s, driver %.90s", entry->platform, f->version, f->driver);
    snprintf(cl.why, sizeof cl.why, "%s", entry->why);
    add(l, &cl);
}

static int add_accelerators(list *l, const mr_hooks *hooks)
{
    mr__cl_entry *entries = mr__alloc_array(hooks, ACCELERATORS_MAX, sizeof *entries);
    mr__detail detail;
    size_t count = 0;
    if (entries == NULL)
        return MR_ENOMEM;
    int result = mr__cl_list(&(mr__cl_options){.hooks = hooks}, entries, ACCELERATORS_MAX, &count, &detail);
    if (result != 0) {
        mr_device_info none = {.device = "opencl"};
        snprintf(none.why, sizeof none.why, "%s", detail.text);
        add(l, &none);
    }
    for (size_t i = 0; result == 0 && i < count; i++)
        add_accelerator(l, &entries[i]);
    mr__free(hooks, entries);
    return 0;
}

int mr_devices_list(const mr_hooks *given, mr_device_info *devices, size_t most, size_t *count)
{
    mr_hooks hooks;
    mr_device_info sim = {.device = "sim",
                          .name = "a simulated machine, whose clock only says how long it would take",
                          .usable = true,
                          .shares_memory = true,
                          .has_doubles = true,
                          .units = 1};
    if (count == NULL || (devices == NULL && most != 0) || mr__hooks_init(&hooks, given) != 0 ||
        (most != 0 && (devices->struct_size < sizeof(size_t) || devices->struct_size > MR__STRUCT_NBYTES_MAX)))
        return MR_EARGUMENT;
    list l = {.devices = devices, .most = most, .stride = most != 0 ? devices->struct_size : 0};
    add_processor(&l);
    int result = add_accelerators(&l, &hooks);
    if (result != 0)
        return result;
    add(&l, &sim);
    *count = l.count;
    return 0;
}

/* --- what one can do --- */

/* A copy of it, as we know it; false: it is none, or not usable. */
static bool read_device(const mr_device_info *given, mr_device_info *device)
{
    return given != NULL && mr__struct_copy(device, sizeof *device, given) && device->usable;
}

/* Whether it goes by tapes, which have no words for some things. */
static bool plays_tapes(const mr_device_info *device)
{
    return strncmp(device->device, "opencl", 6) == 0;
}

bool mr_device_decodes(const mr_device_info *given, mr_form form)
{
    mr_device_info device;
    if (!read_device(given, &device) || form < MR_FORM_JPEG || form > MR_FORM_L3)
        return false;
    return !plays_tapes(&device) || mr__tape_takes_form(form);
}

bool mr_device_takes(const mr_device_info *given, mr_step_kind step)
{
    mr_device_info device;
    return read_device(given, &device) && (!plays_tapes(&device) || mr__tape_takes_step(step, device.has_doubles));
}

size_t mr_device_lacks(const mr_device_info *device, char *text, size_t nbytes)
{
    size_t used = 0;
    if (nbytes != 0)
        text[0] = 0;
    for (size_t i = 0; i < mr__step_type_count; i++)
        if (!mr_device_takes(device, mr__step_types[i]->kind))
            used += (size_t)snprintf(used < nbytes ? text + used : NULL, used < nbytes ? nbytes - used : 0, "%s%s",
                                     used != 0 ? " " : "", mr__step_types[i]->name);
    return used;
}
