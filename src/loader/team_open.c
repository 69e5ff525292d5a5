// SPDX-License-Identifier: Apache-2.0
/* From what a user names to devices that work, and their end. */
#include "loader/team.h"

#include "base/log.h"
#include "dataset/dataset.h"
#include "loader/loader.h"
#include "step/step.h"
#include <stdio.h>
#include <string.h>

/* Samples that are so small are dealt by this many, or dealing would take longer than preparing. */
enum { TINY_NBYTES = 4096, TINY = 32 };

static void on_step_over(void *user, uint64_t step)
{
    (void)user, (void)step; // whoever waits for it looks
}

static int load_hardware(mr_loader *l, const char *path, mr__detail *detail)
{
    mr__team *t = &l->team;
    t->hardware = mr__alloc_zero(&l->hooks, sizeof *t->hardware);
    if (t->hardware == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for a simulated machine");
    int result = mr__hardware_load(path, &l->hooks, t->hardware, detail);
    if (result == 0 && t->hardware->device_count > MR__SCHED_DEVICES_MAX)
        return mr__fail(detail, MR_ELIMIT, "%s: %u devices: a loader has %d at most", path, t->hardware->device_count,
                        MR__SCHED_DEVICES_MAX);
    if (result == 0 && ((result = mr__world_new(&l->hooks, &t->world)) != 0 ||
                        (result = mr__world_reserve(t->world, 1)) != 0)) // the crew's timer
        return mr__fail(detail, result, "a simulated machine: %s", mr_error_text(result));
    if (result == 0 && t->hardware->trainer.step_ns != 0) {
        result = mr__trainer_new(&l->hooks, t->world, t->hardware, on_step_over, l, &t->trainer);
        if (result != 0)
            return mr__fail(detail, result, "a simulated trainer: %s", mr_error_text(result));
    }
    return result;
}

static int open_device(mr_loader *l, const mr__device_type *type, const mr__device_options *options, const char *name,
                       mr__detail *detail)
{
    mr__team *t = &l->team;
    int result = mr__device_open(type, options, &t->devices[t->count], detail);
    if (result != 0)
        return result;
    t->launch_ns[t->count] = type->info(t->devices[t->count]).launch_ns;
    t->names[t->count++] = name;
    return 0;
}

/* Those of a simulated machine, all in its world. */
static int open_simulated(mr_loader *l, mr__device_options *options, mr__detail *detail)
{
    mr__team *t = &l->team;
    int result = 0;
    for (uint32_t d = 0; d < t->hardware->device_count && result == 0; d++) {
        mr__hardware_device *h = &t->hardware->devices[d];
        if (h->group < t->grain)
            h->group = t->grain; // a lane does a whole job
        mr__sim_options sim = {.world = t->world, .hardware = t->hardware, .number = d};
        sim.trainer = t->hardware->trainer.device == d + 1 ? t->trainer : NULL;
        options->sim = &sim;
        result = open_device(l, &mr__device_sim, options, h->name, detail);
    }
    return result;
}

/* One of those that were named. What is wrong is said with its name; the host's words need none. */
static int open_one(mr_loader *l, const mr__device_name *name, mr__device_options options, mr__detail *detail)
{
    bool host = name->type == &mr__device_cpu;
    mr__detail inner = {0};
    options.number = name->number;
    options.hostless = l->team.hostless;
    options.alone = l->team.alone;
    options.refuge = mr__ring_refuge;
    if (!host)
        options.board = NULL;
    int result = open_device(l, name->type, &options, name->text, &inner);
    if (result == 0)
        return 0;
    return mr__fail(detail, result, "%s%s%s%.180s", host ? "" : "the device ", host ? "" : name->text, host ? "" : ": ",
                    *inner.text != '\0' ? inner.text : mr_error_text(result));
}

/*
 * Those that were named. Beside the host an accelerator that cannot be had is left out, and the report says so; a
 * number that none has is a mistake.
 */
static int open_named(mr_loader *l, const mr__device_options *options, mr__detail *detail)
{
    mr__team *t = &l->team;
    int result = mr__names_find(&t->named, l->types, &l->outer, detail);
    t->hostless = result == 0 && !mr__names_have_host(&t->named);
    t->alone = t->hostless && t->named.count == 1 && !t->asked;
    for (uint32_t i = 0; i < t->named.count && result == 0; i++) {
        result = open_one(l, &t->named.at[i], *options, detail);
        if (result != 0 && result != MR_EARGUMENT && !t->hostless && i != 0) {
            mr__names_leave_out(&t->named, &l->outer, detail->text);
            result = 0;
        }
    }
    return result;
}

/* What a device cannot do with a form: */
enum { LACKS_NOTHING, LACKS_FORM, LACKS_STEP /* the first of the recipe; further ones follow */ };

static size_t find_lack(const mr_loader *l, const mr__device *device, mr_form form)
{
    if (!mr__device_takes(device, form, MR_STEP_NONE))
        return LACKS_FORM;
    for (size_t i = 0; i < l->recipe->count; i++)
        if (!mr__device_takes(device, form, l->recipe->steps[i].kind))
            return LACKS_STEP + i;
    return LACKS_NOTHING;
}

static int fail_lack(const mr_loader *l, size_t lack, mr_form form, mr__detail *detail)
{
    const mr__team *t = &l->team;
    const char *device = t->names[t->count - 1], *kind = form != MR_FORM_NONE ? mr_form_name(form) : "any image";
    char hint[80] = "";
    if (t->hostless)
        snprintf(hint, sizeof hint, ": name the host too, as in cpu,%s", device);
    if (lack == LACKS_FORM)
        return mr__fail(detail, MR_EUNSUPPORTED, "the device %s cannot decode %s%s", device, kind, hint);
    const mr__step_type *step = mr__step_type_of(l->recipe->steps[lack - LACKS_STEP].kind);
    return mr__fail(detail, MR_EUNSUPPORTED, "the device %s cannot do %s, step %zu of the recipe, on %s%s", device,
                    step != NULL ? step->name : "what it is", lack - LACKS_STEP + 1, kind, hint);
}

/* For the report: the first step that a device cannot do on some kind of image. */
static void note_lack(mr_loader *l, uint32_t device, size_t lack)
{
    char *text = l->team.lacks[device];
    if (lack < LACKS_STEP || text[0] != 0)
        return;
    const mr__step_type *step = mr__step_type_of(l->recipe->steps[lack - LACKS_STEP].kind);
    snprintf(text, sizeof l->team.lacks[device], "%s, step %zu of the recipe",
             step != NULL ? step->name : "an own step", lack - LACKS_STEP + 1);
}

static uint32_t all_devices(const mr__team *t)
{
    return (UINT32_C(1) << t->count) - 1;
}

/* Whether a form that is loaded has images of this kind. Where they differ, all are looked at: rarely asked for. */
static bool occurs(const mr_loader *l, uint32_t kind)
{
    for (uint32_t f = 0; f < l->forms.count; f++) {
        mr_dataset_form form = {.struct_size = sizeof form};
        (void)mr_dataset_get_form(l->dataset, l->forms.numbers[f], &form);
        if (form.form != MR_FORM_NONE && (uint32_t)form.form == kind)
            return true;
        for (uint64_t i = 0; form.form == MR_FORM_NONE && i < mr_dataset_count(l->dataset); i++) {
            mr_record record = {.struct_size = sizeof record};
            if (mr_dataset_record(l->dataset, i, l->forms.numbers[f], &record) == 0 &&
                record.state == MR_RECORD_PRESENT && (uint32_t)record.form == kind)
                return true;
        }
    }
    return false;
}

/*
 * Which kinds of images a device cannot take, with this recipe. Somebody has to. What is of no known kind goes to who
 * can take all; to any, where nobody can.
 */
static int find_lacks(mr_loader *l, mr__detail *detail)
{
    mr__team *t = &l->team;
    uint32_t any = 0;
    for (uint32_t k = MR__TEAM_KINDS; k-- != 0;) {
        size_t lack = LACKS_NOTHING;
        for (uint32_t d = 0; d < t->count; d++) {
            size_t its = find_lack(l, t->devices[d], (mr_form)k);
            t->lacked[k] |= (uint32_t)(its != LACKS_NOTHING) << d;
            note_lack(l, d, its);
            lack = its != LACKS_NOTHING ? its : lack;
        }
        any |= t->lacked[k];
        if (t->lacked[k] == all_devices(t) && occurs(l, k))
            return fail_lack(l, lack, (mr_form)k, detail);
    }
    if (any != all_devices(t))
        t->lacked[MR_FORM_NONE] = any;
    t->lacking = any != 0;
    return 0;
}

/* Whether nobody but this device can do something. */
static bool is_needed(const mr_loader *l, uint32_t device)
{
    const mr__team *t = &l->team;
    for (uint32_t k = 0; k < MR__TEAM_KINDS; k++)
        if ((t->lacked[k] | UINT32_C(1) << device) == all_devices(t) && occurs(l, k))
            return true;
    return false;
}

static int gather_meters(mr_loader *l, mr__detail *detail)
{
    mr__team *t = &l->team;
    size_t count, at = 0;
    for (uint32_t d = 0; d < t->count; d++) {
        (void)t->devices[d]->type->meters(t->devices[d], &count);
        t->meter_count += count;
    }
    t->meters = mr__alloc_array(&l->hooks, t->meter_count + 1, sizeof *t->meters);
    if (t->meters == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for the loader's meters");
    for (uint32_t d = 0; d < t->count; d++) {
        const mr__thread_meter *const *meters = t->devices[d]->type->meters(t->devices[d], &count);
        for (size_t i = 0; i < count; i++)
            t->meters[at++] = meters[i];
    }
    return 0;
}

static int make_slots(mr_loader *l)
{
    mr__team *t = &l->team;
    size_t jobs = (size_t)l->batch + l->guests;
    t->slots = mr__alloc_array(&l->hooks, l->slot_count, sizeof *t->slots);
    t->slot_count = t->slots != NULL ? l->slot_count : 0;
    bool all = t->slots != NULL;
    for (uint32_t i = 0; i < t->slot_count && all; i++) {
        mr__slot_jobs *s = &t->slots[i];
        s->features = mr__alloc_array(&l->hooks, jobs, sizeof *s->features);
        s->forms = mr__alloc_array(&l->hooks, jobs, 1);
        s->chain = mr__alloc_zero(&l->hooks, sizeof *s->chain);
        all = s->features != NULL && s->forms != NULL && s->chain != NULL;
    }
    return all ? 0 : MR_ENOMEM;
}

static int make_crew(mr_loader *l, const mr_loader_options *o, mr__detail *detail)
{
    mr__team *t = &l->team;
    mr__beside_mode beside = t->policy == &mr__policy_fusion ? MR__BESIDE_EXCLUSIVE : MR__BESIDE_AUTO; // [proto]
    if (o->beside != NULL)
        for (beside = 0; strcmp(o->beside, mr__beside_mode_name(beside)) != 0;)
            if (++beside == MR__BESIDE_MODES)
                return mr__fail(detail, MR_EARGUMENT,
                                "\"%.64s\" is no way to be beside a trainer: auto, off, exclusive, duty or overlapped",
                                o->beside);
    mr__crew_options options = {.hooks = &l->hooks,
                                .policy = t->policy,
                                .devices = t->devices,
                                .names = t->names,
                                .launch_ns = t->launch_ns,
                                .device_count = t->count,
                                .hostless = t->hostless,
                                .memory_nbytes = o->device_memory_nbytes,
                                .batches = l->slot_count,
                                .jobs = l->batch + l->guests,
                                .forms = l->forms.count,
                                .grain = t->grain,
                                .has_trainer = t->trainer != NULL && t->hardware->trainer.device != 0,
                                .beside = {.mode = beside},
                                .seen = t->trace != NULL ? mr__team_watch : NULL,
                                .user = l};
    options.trained = options.has_trainer ? t->hardware->trainer.device - 1 : 0;
    options.needed = options.has_trainer && is_needed(l, options.trained);
    if (options.needed && beside == MR__BESIDE_OFF)
        return mr__fail(detail, MR_EARGUMENT,
                        "the device %s is not to prepare (beside: off), but nobody else can do this recipe: give "
                        "another way to be beside the trainer",
                        t->names[options.trained]);
    int result = make_slots(l);
    if (result == 0)
        result = mr__crew_new(&options, &t->crew);
    return result == 0 ? 0 : mr__fail(detail, result, "the loader's devices: %s", mr_error_text(result));
}

/* Which policy, and whether anybody asked for one. */
static int choose_policy(mr_loader *l, const mr_loader_options *o, mr__detail *detail)
{
    mr__team *t = &l->team;
    t->policy = mr__policy_of(o->policy != NULL ? o->policy : "auto");
    if (t->policy == NULL)
        return mr__fail(detail, MR_EARGUMENT,
                        "there is no policy \"%.64s\": auto, interbatch, intrabatch, naive-device or fusion",
                        o->policy);
    t->tiny = l->work.record_nbytes != 0 && l->work.record_nbytes <= TINY_NBYTES;
    t->grain = mr__policy_grain(t->policy, l->batch, t->tiny ? TINY : 1);
    t->asked = o->policy != NULL || o->trace != 0;
    t->armed_ns = UINT64_MAX;
    return 0;
}

static int open_all(mr_loader *l, const mr_loader_options *o, uint32_t threads, mr__detail *detail)
{
    mr__team *t = &l->team;
    const char *machine = t->named.machine;
    mr__device_options options = {.work = &l->work,
                                  .done = mr__loader_on_done,
                                  .user = l,
                                  .memory_nbytes = o->device_memory_nbytes,
                                  .timeout_ns = l->timeout_ns,
                                  .lanes = threads,
                                  .pinning = o->pinning,
                                  .has_numa_node = o->has_numa_node,
                                  .numa_node = o->numa_node,
                                  .board = l->share != NULL ? l->share->board : NULL};
    int result = choose_policy(l, o, detail);
    if (result == 0 && machine != NULL)
        result = load_hardware(l, machine, detail);
    if (result == 0)
        result = machine != NULL ? open_simulated(l, &options, detail) : open_named(l, &options, detail);
    t->named.machine = NULL; // the caller's text
    if (result == 0)
        result = find_lacks(l, detail);
    if (result == 0)
        result = mr__keep_init(l, o, detail);
    if (result == 0)
        result = gather_meters(l, detail);
    if (result == 0 && o->trace != 0 && (result = mr__trace_new(&l->hooks, o->trace, &t->trace)) != 0)
        return mr__fail(detail, result, "a trace of %llu tasks: %s", (unsigned long long)o->trace,
                        result == MR_ENOMEM ? "out of memory" : "at most 2^22");
    if (result == 0 && (machine != NULL || t->count > 1 || t->asked))
        result = make_crew(l, o, detail);
    for (uint32_t d = 0; d < t->count; d++)
        t->counts_memory = t->counts_memory || t->devices[d]->type->abandon != NULL;
    if (result == 0 && t->crew != NULL && t->counts_memory && mr__headers_new(&l->work, &l->forms, &t->headers) != 0)
        return mr__fail(detail, MR_ENOMEM, "out of memory for what is known of images");
    return result;
}

static void free_team(mr_loader *l)
{
    mr__team *t = &l->team;
    mr__crew_free(t->crew);
    mr__trainer_free(t->trainer);
    if (t->world != NULL)
        mr__world_leave(t->world, l);
    mr__world_free(t->world);
    for (uint32_t i = 0; i < t->slot_count; i++) {
        mr__free(&l->hooks, t->slots[i].features);
        mr__free(&l->hooks, t->slots[i].forms);
        mr__free(&l->hooks, t->slots[i].chain);
        mr__look_fini(&t->slots[i].look);
    }
    mr__free(&l->hooks, t->slots);
    mr__headers_free(t->headers);
    mr__trace_free(t->trace);
    mr__free(&l->hooks, t->meters);
    mr__free(&l->hooks, t->hardware);
    *t = (mr__team){0};
}

/*
 * Nothing more is claimed (the loader was stopped), but lanes of one device may be about to give tasks to another: no
 * device is closed before they have.
 */
static bool wait_dispatched(mr_loader *l, uint64_t deadline_ns)
{
    int result = 0;
    mr__mutex_lock(&l->mutex);
    while (l->dispatching != 0 && result == 0)
        result = mr__condition_wait(&l->news, &l->mutex, deadline_ns);
    bool all = l->dispatching == 0;
    mr__mutex_unlock(&l->mutex);
    return all;
}

/* The one that batches stay with is the last: others send to it. */
bool mr__team_close(mr_loader *l, uint64_t deadline_ns)
{
    mr__team *t = &l->team;
    if (!wait_dispatched(l, deadline_ns))
        return false;
    bool all = true;
    for (uint32_t d = 0; d < t->count; d++)
        if (t->devices[d] != t->keeper)
            all = t->devices[d]->type->close(t->devices[d], deadline_ns) && all;
    if (t->keeper != NULL && all)
        all = t->keeper->type->close(t->keeper, deadline_ns);
    if (all)
        free_team(l);
    return all;
}

int mr__team_open(mr_loader *l, const mr_loader_options *o, uint32_t threads, mr__detail *detail)
{
    int result = open_all(l, o, threads, detail);
    if (result != 0) {
        (void)mr__team_close(l, MR__FOR_EVER);
        return result;
    }
    l->device = l->team.devices[0];
    l->info = l->device->type->info(l->device);
    l->steps = l->device->type->advance != NULL;
    return 0;
}
