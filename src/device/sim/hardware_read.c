// SPDX-License-Identifier: Apache-2.0
/*
 * Objects of the file are read by tables: a name, what stands there, its limits, where it goes. What is wrong is said
 * with the line it stands in; a name that is not in the table, with those that are.
 */
#include "device/sim/hardware.h"

#include "base/json.h"
#include "base/text.h"
#include "source/file.h"
#include "step/policy_table.h"
#include "step/step.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    mr__json json;
    const char *path;
    mr__hardware *hardware;
    char trainer_device[MR__HARDWARE_NAME]; /* "": none */
    size_t trainer_at;
    mr__detail *detail;
} reader;

typedef enum slot_kind {
    SLOT_F64,   /* double, times scale */
    SLOT_U64,   /* a whole number, times scale, into uint64_t */
    SLOT_SCALE, /* any number, times scale, rounded, into uint64_t */
    SLOT_U32,
    SLOT_BOOL,
    SLOT_NAME, /* 1 to 31 bytes of char[MR__HARDWARE_NAME] */
    SLOT_READ  /* by a function */
} slot_kind;

typedef struct slot {
    const char *name;
    slot_kind kind;
    size_t offset;
    double low, high, scale;
    int (*read)(reader *r, mr__json_token token, void *into);
} slot;

typedef struct table {
    const char *what; /* "a device" */
    const slot *slots;
    size_t count;
} table;

static int wrong(reader *r, int code, size_t at, const char *what)
{
    unsigned line = 1;
    for (size_t i = 0; i < at && i < r->json.nbytes; i++)
        line += r->json.text[i] == '\n';
    return mr__fail(r->detail, code, "%.60s, line %u: %s", mr__path_text(r->path).text, line, what);
}

/* A token that is not what it should be. */
static int unlike(reader *r, mr__json_token token, const char *what)
{
    bool bad = token.kind == MR__JSON_BAD;
    return wrong(r, MR_EARGUMENT, bad ? r->json.at : token.at, bad ? r->json.problem : what);
}

/* Printable, and not all of it where it is long. */
static void quote(mr__json_token token, char *out, size_t room)
{
    size_t i = 0;
    for (; i < token.nbytes && i + 1 < room && i < 24; i++)
        out[i] = token.text[i] >= ' ' && token.text[i] <= '~' ? token.text[i] : '?';
    out[i] = '\0';
}

static int fail_name(reader *r, const table *t, mr__json_token name)
{
    char text[200], quoted[32];
    quote(name, quoted, sizeof quoted);
    int used = snprintf(text, sizeof text, "%s has no \"%s\", but:", t->what, quoted);
    for (size_t i = 0; i < t->count && used > 0 && (size_t)used < sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s", t->slots[i].name);
    return wrong(r, MR_EARGUMENT, name.at, text);
}

static int fail_value(reader *r, const slot *s, mr__json_token token)
{
    char text[160];
    const char *whole = s->kind == SLOT_U64 || s->kind == SLOT_U32 ? "whole " : "";
    if (s->kind == SLOT_BOOL)
        snprintf(text, sizeof text, "%s is true or false", s->name);
    else if (s->kind == SLOT_NAME)
        snprintf(text, sizeof text, "%s is a text of 1 to %d bytes without control characters", s->name,
                 MR__HARDWARE_NAME - 1);
    else
        snprintf(text, sizeof text, "%s is a %snumber from %s to %s", s->name, whole, mr__digits_f64(s->low).text,
                 mr__digits_f64(s->high).text);
    return unlike(r, token, text);
}

static bool read_name(mr__json_token token, char *out)
{
    size_t nbytes;
    char text[6 * MR__HARDWARE_NAME];
    if (token.kind != MR__JSON_TEXT || token.nbytes > sizeof text || !mr__json_unescape(token, text, &nbytes) ||
        nbytes == 0 || nbytes >= MR__HARDWARE_NAME)
        return false;
    for (size_t i = 0; i < nbytes; i++)
        if ((unsigned char)text[i] < ' ')
            return false;
    memcpy(out, text, nbytes);
    out[nbytes] = '\0';
    return true;
}

static bool read_number(const slot *s, mr__json_token token, void *into)
{
    double real;
    uint64_t whole = 0;
    if (token.kind != MR__JSON_NUMBER || !mr__json_f64(token, &real) || !(real >= s->low && real <= s->high))
        return false;
    bool is_whole = mr__json_u64(token, &whole);
    if ((s->kind == SLOT_U64 || s->kind == SLOT_U32) && !is_whole)
        return false;
    if (s->kind == SLOT_F64)
        *(double *)into = real * s->scale;
    else if (s->kind == SLOT_U32)
        *(uint32_t *)into = (uint32_t)whole;
    else
        *(uint64_t *)into = s->kind == SLOT_U64 ? whole * (uint64_t)s->scale : (uint64_t)(real * s->scale + 0.5);
    return true;
}

static int read_slot(reader *r, const slot *s, mr__json_token token, void *base)
{
    void *into = (char *)base + s->offset;
    bool is = false;
    if (s->kind == SLOT_READ)
        return s->read(r, token, into);
    if (s->kind == SLOT_NAME)
        is = read_name(token, into);
    else if (s->kind == SLOT_BOOL) {
        is = token.kind == MR__JSON_TRUE || token.kind == MR__JSON_FALSE;
        *(bool *)into = token.kind == MR__JSON_TRUE;
    } else
        is = read_number(s, token, into);
    return is ? 0 : fail_value(r, s, token);
}

/* An object by its table; bit i of *given: slot i was there. */
static int read_object(reader *r, const table *t, mr__json_token token, void *base, uint64_t *given)
{
    *given = 0;
    if (token.kind != MR__JSON_OBJECT)
        return unlike(r, token, "here stands an object: {\"name\": value, ...}");
    for (;;) {
        mr__json_token name = mr__json_next(&r->json);
        size_t i = 0;
        if (name.kind == MR__JSON_OBJECT_END)
            return 0;
        if (name.kind != MR__JSON_NAME)
            return unlike(r, name, "here stands a name");
        while (i < t->count && !mr__json_is(name, t->slots[i].name))
            i++;
        if (i == t->count)
            return fail_name(r, t, name);
        if (*given & UINT64_C(1) << i)
            return wrong(r, MR_EARGUMENT, name.at, "this name was there before");
        *given |= UINT64_C(1) << i;
        int code = read_slot(r, &t->slots[i], mr__json_next(&r->json), base);
        if (code != 0)
            return code;
    }
}

/* Reads a list, at most so many, each by a function. */
static int read_list(reader *r, mr__json_token token, uint32_t most, const char *what,
                     int (*read)(reader *, mr__json_token, void *), void *into)
{
    char text[96];
    if (token.kind != MR__JSON_ARRAY)
        return unlike(r, token, what);
    for (uint32_t count = 0;; count++) {
        mr__json_token next = mr__json_next(&r->json);
        if (next.kind == MR__JSON_ARRAY_END)
            return 0;
        snprintf(text, sizeof text, "%s, at most %u", what, most);
        if (count == most && next.kind != MR__JSON_BAD)
            return wrong(r, MR_ELIMIT, next.at, text);
        int code = read(r, next, into);
        if (code != 0)
            return code;
    }
}

/* 1. Forms and steps by their names. */

#define FORM_NAMES "jpeg, png, webp, pnm, raw, l3"

static mr_form find_form(mr__json_token token)
{
    for (int i = MR_FORM_JPEG; i < MR__HARDWARE_FORMS; i++)
        if (mr__json_is(token, mr_form_name((mr_form)i)))
            return (mr_form)i;
    return MR_FORM_NONE;
}

/* An object of forms, each with a value that a function reads; MR_FORM_NONE is "default", where that may be. */
static int read_forms(reader *r, mr__json_token token, bool others,
                      int (*read)(reader *, mr__json_token, mr_form, void *), void *into)
{
    bool seen[MR__HARDWARE_FORMS] = {0};
    if (token.kind != MR__JSON_OBJECT)
        return unlike(r, token, "here stands an object by forms: {\"jpeg\": ...}");
    for (;;) {
        mr__json_token name = mr__json_next(&r->json);
        if (name.kind == MR__JSON_OBJECT_END)
            return 0;
        if (name.kind != MR__JSON_NAME)
            return unlike(r, name, "here stands the name of a form");
        mr_form form = find_form(name);
        if (form == MR_FORM_NONE && !(others && mr__json_is(name, "default")))
            return wrong(r, MR_EARGUMENT, name.at,
                         others ? "no form has this name, but: default, " FORM_NAMES
                                : "no form has this name, but: " FORM_NAMES);
        if (seen[form])
            return wrong(r, MR_EARGUMENT, name.at, "this name was there before");
        seen[form] = true;
        int code = read(r, mr__json_next(&r->json), form, into);
        if (code != 0)
            return code;
    }
}

static int read_speed(reader *r, mr__json_token token, mr_form form, void *into)
{
    static const slot speed = {"a speed", SLOT_F64, 0, 1e-6, 1e6, 1.0, NULL};
    return read_slot(r, &speed, token, (double *)into + form);
}

static int read_speeds(reader *r, mr__json_token token, void *into)
{
    return read_forms(r, token, false, read_speed, into);
}

/* A form, or a step. */
static int read_lack(reader *r, mr__json_token token, void *into)
{
    mr__hardware_device *d = into;
    mr_form form = token.kind == MR__JSON_TEXT ? find_form(token) : MR_FORM_NONE;
    if (form != MR_FORM_NONE) {
        d->lacks_form[form] = true;
        return 0;
    }
    for (size_t i = 0; token.kind == MR__JSON_TEXT && i < mr__step_type_count; i++)
        if (mr__json_is(token, mr__step_types[i]->name) && i + 1 < MR__HARDWARE_STEPS) {
            d->lacks_step[i + 1] = true;
            return 0;
        }
    return unlike(r, token, "here stands the name of a form (" FORM_NAMES ") or of a step (doc/recipe.md)");
}

static int read_lacks(reader *r, mr__json_token token, void *into)
{
    return read_list(r, token, MR__HARDWARE_FORMS + MR__HARDWARE_STEPS, "here stands a list of forms and steps",
                     read_lack, into);
}

/* 2. Faults. */

/* From here on, `for` is a length until the end of the fault is known. */
typedef struct fault_draft {
    mr__fault fault;
    uint64_t for_ns;
} fault_draft;

static int read_fault_kind(reader *r, mr__json_token token, void *into)
{
    static const char *const names[] = {"slow", "freeze", "lost", "hang", "wrong", "memory"};
    for (size_t i = 0; token.kind == MR__JSON_TEXT && i < sizeof names / sizeof *names; i++)
        if (mr__json_is(token, names[i])) {
            *(mr__fault_kind *)into = (mr__fault_kind)(MR__FAULT_SLOW + i);
            return 0;
        }
    return unlike(r, token, "no fault has this kind, but: slow, freeze, lost, hang, wrong, memory");
}

/* The name says the lane from 0 on. */
static int read_lane(reader *r, mr__json_token token, void *into)
{
    static const slot lane = {"lane", SLOT_U32, 0, 0, MR__HARDWARE_LANES_MAX - 1, 1.0, NULL};
    int code = read_slot(r, &lane, token, into);
    *(uint32_t *)into += code == 0;
    return code;
}

#define MS     1e6 /* nanoseconds */
#define MS_MAX 1e9

static const slot fault_slots[] = {
    {"kind", SLOT_READ, offsetof(fault_draft, fault.kind), 0, 0, 0, read_fault_kind},
    {"lane", SLOT_READ, offsetof(fault_draft, fault.lane), 0, 0, 0, read_lane},
    {"factor", SLOT_F64, offsetof(fault_draft, fault.factor), 1e-3, 1e6, 1.0, NULL},
    {"from_ms", SLOT_SCALE, offsetof(fault_draft, fault.from_ns), 0, MS_MAX, MS, NULL},
    {"until_ms", SLOT_SCALE, offsetof(fault_draft, fault.until_ns), 0, MS_MAX, MS, NULL},
    {"at_ms", SLOT_SCALE, offsetof(fault_draft, fault.from_ns), 0, MS_MAX, MS, NULL},
    {"for_ms", SLOT_SCALE, offsetof(fault_draft, for_ns), 1e-6, MS_MAX, MS, NULL},
    {"after", SLOT_U64, offsetof(fault_draft, fault.after), 0, 1e15, 1.0, NULL},
    {"every", SLOT_U64, offsetof(fault_draft, fault.every), 1, 1e15, 1.0, NULL},
    {"back_ms", SLOT_SCALE, offsetof(fault_draft, fault.back_ns), 1e-6, MS_MAX, MS, NULL},
    {"mb", SLOT_SCALE, offsetof(fault_draft, fault.nbytes), 0, 1e9, 1e6, NULL},
};

enum { KIND = 1, LANE = 2, FACTOR = 4, FROM = 8, UNTIL = 16, AT = 32, FOR = 64, AFTER = 128, EVERY = 256 };
enum { BACK = 512, MB = 1024 };

/* By kind: what may be there, and what must. */
static const struct {
    unsigned may, must;
    const char *words;
} fault_kinds[] = {
    [MR__FAULT_NONE] = {KIND, KIND, "a fault has a kind: slow, freeze, lost, hang, wrong, memory"},
    [MR__FAULT_SLOW] = {KIND | LANE | FACTOR | FROM | UNTIL, KIND | FACTOR, "slow has factor, from_ms, until_ms, lane"},
    [MR__FAULT_FREEZE] = {KIND | LANE | AT | FOR, KIND | AT | FOR, "freeze has at_ms, for_ms, lane"},
    [MR__FAULT_LOST] = {KIND | AFTER | BACK, KIND | AFTER, "lost has after, back_ms"},
    [MR__FAULT_HANG] = {KIND | LANE | AFTER | BACK, KIND | AFTER, "hang has after, back_ms, lane"},
    [MR__FAULT_WRONG] = {KIND | AFTER | EVERY, KIND, "wrong has after, every"},
    [MR__FAULT_MEMORY] = {KIND | AT | FOR | MB, KIND | AT | MB, "memory has at_ms, mb, for_ms"},
};

static int read_fault(reader *r, mr__json_token token, void *into)
{
    static const table faults = {"a fault", fault_slots, sizeof fault_slots / sizeof *fault_slots};
    mr__hardware_device *d = into;
    fault_draft draft = {0};
    mr__fault *f = &draft.fault;
    uint64_t given;
    int code = read_object(r, &faults, token, &draft, &given);
    if (code != 0)
        return code;
    unsigned has = (unsigned)given;
    bool timeless = f->kind == MR__FAULT_WRONG && (has & (AFTER | EVERY)) == 0;
    if ((has & ~fault_kinds[f->kind].may) != 0 || (fault_kinds[f->kind].must & ~has) != 0 || timeless)
        return wrong(r, MR_EARGUMENT, token.at, fault_kinds[f->kind].words);
    if ((has & UNTIL) != 0 && f->until_ns <= f->from_ns)
        return wrong(r, MR_EARGUMENT, token.at, "until_ms is not after from_ms");
    if (draft.for_ns != 0)
        f->until_ns = f->from_ns + draft.for_ns;
    d->faults[d->fault_count++] = *f;
    return 0;
}

static int read_faults(reader *r, mr__json_token token, void *into)
{
    return read_list(r, token, MR__HARDWARE_FAULTS_MAX, "here stands a list of faults", read_fault, into);
}

/* 3. Devices. */

static int read_kind(reader *r, mr__json_token token, void *into)
{
    bool cpu = token.kind == MR__JSON_TEXT && mr__json_is(token, "cpu");
    if (!cpu && !(token.kind == MR__JSON_TEXT && mr__json_is(token, "accelerator")))
        return unlike(r, token, "kind is \"cpu\" or \"accelerator\"");
    *(mr__hardware_kind *)into = cpu ? MR__HARDWARE_CPU : MR__HARDWARE_ACCELERATOR;
    return 0;
}

#define DEVICE(field) offsetof(mr__hardware_device, field)

static const slot device_slots[] = {
    {"name", SLOT_NAME, DEVICE(name), 0, 0, 0, NULL},
    {"kind", SLOT_READ, DEVICE(kind), 0, 0, 0, read_kind},
    {"lanes", SLOT_U32, DEVICE(lanes), 1, MR__HARDWARE_LANES_MAX, 1.0, NULL},
    {"speed", SLOT_F64, DEVICE(speed), 1e-6, 1e6, 1.0, NULL},
    {"speeds", SLOT_READ, DEVICE(speeds), 0, 0, 0, read_speeds},
    {"lacks", SLOT_READ, 0, 0, 0, 0, read_lacks},
    {"launch_us", SLOT_SCALE, DEVICE(launch_ns), 0, 1e9, 1e3, NULL},
    {"link_gbs", SLOT_F64, DEVICE(link_gbs), 0, 1e6, 1.0, NULL},
    {"output_back", SLOT_BOOL, DEVICE(output_back), 0, 0, 0, NULL},
    {"link_overlaps", SLOT_BOOL, DEVICE(link_overlaps), 0, 0, 0, NULL},
    {"memory_mb", SLOT_SCALE, DEVICE(memory_nbytes), 0, 1e9, 1e6, NULL},
    {"jitter", SLOT_F64, DEVICE(jitter), 0, 4, 1.0, NULL},
    {"depth", SLOT_U32, DEVICE(depth), 1, MR__HARDWARE_TASKS_MAX, 1.0, NULL},
    {"group", SLOT_U32, DEVICE(group), 1, MR__HARDWARE_TASKS_MAX, 1.0, NULL},
    {"faults", SLOT_READ, 0, 0, 0, 0, read_faults},
};

/* What its fields say together. */
static int check_device(reader *r, const mr__hardware_device *d, size_t at)
{
    uint64_t lanes = d->lanes != 0 ? d->lanes : 1, depth = d->depth != 0 ? d->depth : lanes;
    char text[120];
    if (d->name[0] == '\0')
        return wrong(r, MR_EARGUMENT, at, "this device has no name");
    if (mr__hardware_find(r->hardware, d->name) != r->hardware->device_count)
        return wrong(r, MR_EARGUMENT, at, "another device has the same name");
    if (depth * (d->group != 0 ? d->group : 1) > MR__HARDWARE_TASKS_MAX) {
        snprintf(text, sizeof text, "depth times group is more than %d", MR__HARDWARE_TASKS_MAX);
        return wrong(r, MR_ELIMIT, at, text);
    }
    for (uint32_t i = 0; i < d->fault_count; i++) {
        const mr__fault *f = &d->faults[i];
        if (f->lane > lanes)
            return wrong(r, MR_EARGUMENT, at, "a fault of this device is of a lane that it does not have");
        if (f->kind == MR__FAULT_MEMORY && d->memory_nbytes == 0)
            return wrong(r, MR_EARGUMENT, at, "a fault takes memory, but this device has none of its own (memory_mb)");
    }
    return 0;
}

static int read_device(reader *r, mr__json_token token, void *into)
{
    static const table devices = {"a device", device_slots, sizeof device_slots / sizeof *device_slots};
    mr__hardware *h = into;
    mr__hardware_device *d = &h->devices[h->device_count];
    uint64_t given;
    int code = read_object(r, &devices, token, d, &given);
    if (code == 0)
        code = check_device(r, d, token.at);
    h->device_count += code == 0;
    return code;
}

static int read_devices(reader *r, mr__json_token token, void *into)
{
    return read_list(r, token, MR__HARDWARE_DEVICES_MAX, "here stands a list of devices", read_device, into);
}

/* 4. Costs, the trainer, and all of it. */

static const slot cost_slots[] = {
    {"us", SLOT_F64, offsetof(mr__hardware_cost, us), 0, 1e9, 1.0, NULL},
    {"ns_per_pixel", SLOT_F64, offsetof(mr__hardware_cost, ns_per_pixel), 0, 1e6, 1.0, NULL},
    {"ns_per_byte", SLOT_F64, offsetof(mr__hardware_cost, ns_per_byte), 0, 1e6, 1.0, NULL},
    {"spread", SLOT_F64, offsetof(mr__hardware_cost, spread), 0, 4, 1.0, NULL},
};

static int read_cost(reader *r, mr__json_token token, mr_form form, void *into)
{
    static const table costs = {"a cost", cost_slots, sizeof cost_slots / sizeof *cost_slots};
    mr__hardware_cost *cost = (mr__hardware_cost *)into + form;
    uint64_t given;
    *cost = (mr__hardware_cost){.given = true};
    return read_object(r, &costs, token, cost, &given);
}

static int read_costs(reader *r, mr__json_token token, void *into)
{
    return read_forms(r, token, true, read_cost, into);
}

static int read_trainer_device(reader *r, mr__json_token token, void *into)
{
    (void)into;
    r->trainer_at = token.at;
    return read_name(token, r->trainer_device) ? 0 : unlike(r, token, "device is the name of a device");
}

static const slot trainer_slots[] = {
    {"device", SLOT_READ, 0, 0, 0, 0, read_trainer_device},
    {"step_ms", SLOT_SCALE, offsetof(mr__hardware_trainer, step_ns), 0, 1e6, MS, NULL},
    {"jitter", SLOT_F64, offsetof(mr__hardware_trainer, jitter), 0, 4, 1.0, NULL},
    {"interference", SLOT_F64, offsetof(mr__hardware_trainer, interference), 0, 100, 1.0, NULL},
};

static int read_trainer(reader *r, mr__json_token token, void *into)
{
    static const table trainers = {"a trainer", trainer_slots, sizeof trainer_slots / sizeof *trainer_slots};
    uint64_t given;
    return read_object(r, &trainers, token, into, &given);
}

/* What is not for the reader. */
static int skip_comment(reader *r, mr__json_token token, void *into)
{
    (void)into;
    if (token.kind == MR__JSON_TEXT)
        return 0;
    return unlike(r, token, "comment is a text");
}

static const slot top_slots[] = {
    {"name", SLOT_NAME, offsetof(mr__hardware, name), 0, 0, 0, NULL},
    {"comment", SLOT_READ, 0, 0, 0, 0, skip_comment},
    {"seed", SLOT_U64, offsetof(mr__hardware, seed), 0, 9007199254740991.0, 1.0, NULL},
    {"devices", SLOT_READ, 0, 0, 0, 0, read_devices},
    {"cost", SLOT_READ, offsetof(mr__hardware, costs), 0, 0, 0, read_costs},
    {"trainer", SLOT_READ, offsetof(mr__hardware, trainer), 0, 0, 0, read_trainer},
};

static int read_all(reader *r)
{
    static const table top = {"a machine", top_slots, sizeof top_slots / sizeof *top_slots};
    mr__hardware *h = r->hardware;
    uint64_t given;
    int code = read_object(r, &top, mr__json_next(&r->json), h, &given);
    if (code != 0)
        return code;
    mr__json_token end = mr__json_next(&r->json);
    if (end.kind != MR__JSON_END)
        return unlike(r, end, "there is more behind its end");
    if (h->device_count == 0)
        return wrong(r, MR_EARGUMENT, 0, "there are no devices");
    if (r->trainer_device[0] != '\0') {
        h->trainer.device = mr__hardware_find(h, r->trainer_device) + 1;
        if (h->trainer.device > h->device_count)
            return wrong(r, MR_EARGUMENT, r->trainer_at, "the trainer runs on a device that there is not");
    }
    if ((given >> 4 & 1) == 0) { // as a plain one
        mr__hardware plain;
        mr__hardware_plain(&plain, 0);
        memcpy(h->costs, plain.costs, sizeof h->costs);
    } else if (!h->costs[MR_FORM_NONE].given)
        return wrong(r, MR_EARGUMENT, 0, "cost has no \"default\", for forms that are not named");
    return 0;
}

int mr__hardware_read(const char *path, const char *text, size_t nbytes, mr__hardware *out, mr__detail *detail)
{
    mr__hardware hardware = {0};
    reader r = {.json = mr__json_init(text, nbytes), .path = path, .hardware = &hardware, .detail = detail};
    if (nbytes > MR__HARDWARE_NBYTES_MAX)
        return mr__fail(detail, MR_ELIMIT, "%.60s, line 1: %zu bytes, more than %d, which is the limit",
                        mr__path_text(path).text, nbytes, MR__HARDWARE_NBYTES_MAX);
    int code = read_all(&r);
    if (code == 0)
        *out = hardware;
    return code;
}

int mr__hardware_load(const char *path, const mr_hooks *hooks, mr__hardware *out, mr__detail *detail)
{
    mr__file file;
    size_t got = 0;
    char *text = NULL;
    int error = mr__file_open(&file, path), code = MR_EIO;
    if (error == 0 && file.nbytes > MR__HARDWARE_NBYTES_MAX)
        code = mr__fail(detail, MR_ELIMIT, "the hardware %s: %llu bytes, more than %d, which is the limit",
                        mr__path_text(path).text, (unsigned long long)file.nbytes, MR__HARDWARE_NBYTES_MAX);
    else if (error == 0 && (text = mr__alloc(hooks, (size_t)file.nbytes)) == NULL)
        code = mr__fail(detail, MR_ENOMEM, "out of memory for the hardware %s", mr__path_text(path).text);
    else if (error == 0)
        error = mr__file_read(&file, 0, text, (size_t)file.nbytes, &got);
    if (error != 0)
        mr__fail(detail, MR_EIO, "the hardware %s cannot be read: %s", mr__path_text(path).text,
                 mr__errno_text(error).text);
    else if (text != NULL)
        code = mr__hardware_read(path, text, got, out, detail);
    mr__free(hooks, text);
    mr__file_close(&file);
    return code;
}
