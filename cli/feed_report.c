// SPDX-License-Identifier: Apache-2.0
/* What feed tells at its end, for people and as JSON. */
#include "feeding.h"
#include "json.h"
#include "quantity.h"
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { BAR_CELLS = 16, LABEL_CELLS = 13, EPOCHS_TOLD = 8, TEXT_WIDTH = 100 };

static double per(double value, double by)
{
    return by > 0 ? value / by : 0;
}

static double stage_seconds(const mr_loader_stats *stats)
{
    double sum = 0;
    for (uint32_t i = 0; i < stats->stage_count && i < MR_STAGES_MAX; i++)
        sum += stats->stages[i].seconds;
    return sum;
}

static const mr_stage_stats *largest_stage(const mr_loader_stats *stats)
{
    const mr_stage_stats *most = NULL;
    for (uint32_t i = 0; i < stats->stage_count && i < MR_STAGES_MAX; i++)
        if (most == NULL || stats->stages[i].seconds > most->seconds)
            most = &stats->stages[i];
    return most;
}

/* The form that was fed: its name, and what it is where all of it is one. */
static mr_dataset_form form_of(const feeding *f)
{
    mr_dataset_form form = {.struct_size = sizeof form};
    uint32_t number = 0;
    if (f->s->form != NULL && strchr(f->s->form, '+') != NULL) {
        form.name = f->s->form;
        return form;
    }
    if (f->s->form != NULL && mr_dataset_find_form(f->src.dataset, f->s->form, &number) != 0)
        number = 0;
    if (mr_dataset_get_form(f->src.dataset, number, &form) != 0)
        form.name = "";
    return form;
}

enum { CHANGES_MAX = 4 };

/* Why something binds, and what could be changed, the most useful first. */
typedef struct advice {
    char why[160];
    char changes[CHANGES_MAX][512];
    size_t count;
} advice;

__attribute__((format(printf, 2, 3))) static void add(advice *a, const char *format, ...)
{
    va_list args;
    if (a->count == CHANGES_MAX)
        return;
    va_start(args, format);
    vsnprintf(a->changes[a->count++], sizeof a->changes[0], format, args);
    va_end(args);
}

static void advise_cores(const feeding *f, advice *a)
{
    mr_dataset_form form = form_of(f);
    const mr_stage_stats *most = largest_stage(&f->stats);
    unsigned threads = mr_threads_default();
    uint32_t number;
    snprintf(a->why, sizeof a->why, "%s takes most of their time", most != NULL ? most->name : "the work");
    if (f->stats.threads < threads)
        add(a, "use more threads: --threads=%u, as many as this process may use", threads);
    bool fewest = form.form == MR_FORM_L3 || form.form == MR_FORM_RAW;
    if (!fewest && mr_dataset_find_form(f->src.dataset, "l3", &number) == 0)
        add(a, "decode fewer pixels: --form=l3, of which only the part that a crop needs is decoded");
    else if (!fewest)
        add(a,
            "decode fewer pixels: millrace pack %.200s -o l3 --forms l3, and feed that; of l3 only the part that "
            "a crop needs is decoded",
            f->src.name);
    if (f->output.dtype == MR_F32)
        add(a, "write fewer bytes: dtype(u8), and normalize on the accelerator");
    if (a->count == 0)
        add(a, "give it more cores: all that costs them less is done already");
}

static void advise_storage(const feeding *f, advice *a)
{
    snprintf(a->why, sizeof a->why, "threads waited %s for reads of %s",
             duration_text(f->stats.thread_wait_seconds).text, bytes_text(f->stats.stored_nbytes).text);
    if (f->src.info.layout != MR_LAYOUT_PACKED)
        add(a, "read from shards: millrace pack %.200s -o packed, and feed that", f->src.name);
    if (strcmp(f->s->order, "shuffled") == 0 && f->s->weights == NULL)
        add(a, "read neighbours together: --order=windowed");
    if (f->stats.read_depth_mean > 0.8 * f->s->read_depth)
        add(a, "read further ahead: --read-depth=%" PRIu32, f->s->read_depth * 4);
    if (a->count == 0)
        add(a, "store fewer bytes an image, or on a faster disk");
}

/* What binds. Of a simulated machine it is known who waited, and not which stage its devices were at. */
static const char *binding(const mr_loader_stats *s)
{
    const char *what = s->bottleneck != NULL ? s->bottleneck : "none";
    if (!s->simulated || strcmp(what, "none") == 0)
        return what;
    return s->consumer_stall_seconds < 0.05 * s->seconds ? "consumer" : "devices";
}

static void advise(const feeding *f, advice *a)
{
    const char *what = binding(&f->stats);
    *a = (advice){.count = 0};
    if (strcmp(what, "devices") == 0) {
        snprintf(a->why, sizeof a->why, "the simulated trainer waits for them %.0f%% of the time",
                 per(f->stats.consumer_stall_seconds, f->stats.seconds) * 100);
        add(a,
            "compare policies (--policy), ways beside the trainer (--beside), or other machines (--device=sim:FILE)");
    } else if (strcmp(what, "cores") == 0)
        advise_cores(f, a);
    else if (strcmp(what, "storage") == 0)
        advise_storage(f, a);
    else if (strcmp(what, "consumer") == 0) {
        snprintf(a->why, sizeof a->why, "batches lie ready when the trainer comes%s",
                 f->sink.kind == SINK_NPY || f->sink.kind == SINK_RAW ? ", who also writes them out" : "");
        add(a, "nothing: the loader keeps up");
    } else {
        snprintf(a->why, sizeof a->why, "too little was fed to say");
        add(a, "feed more batches, or more epochs");
    }
}

static void put_label(FILE *to, const terminal *t, const char *label)
{
    fprintf(to, "  %s%-*s%s", style_of(t, STYLE_BOLD), LABEL_CELLS - 2, label, style_of(t, STYLE_NONE));
}

static short_text rate_text(double rate)
{
    short_text t;
    if (rate >= 100)
        return count_text((uint64_t)(rate + 0.5));
    snprintf(t.text, sizeof t.text, "%.1f", rate);
    return t;
}

/* Who prepared, in the first line. */
static void put_who(FILE *to, const mr_loader_stats *s)
{
    if (s->device_count > 1)
        fprintf(to, "%" PRIu32 " devices", s->device_count);
    else if (s->device_count == 1 && !s->simulated && strcmp(s->devices[0].name, "cpu") != 0)
        fputs(s->devices[0].name, to);
    else
        fprintf(to, "%" PRIu32 " thread%s", s->threads, plural(s->threads));
}

static void put_speed(FILE *to, const terminal *t, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    if (s->simulated) {
        fprintf(to, "%sSimulated: the times are those of the machine in ", style_of(t, STYLE_YELLOW));
        put_escaped(to, strchr(f->s->device, ':') != NULL ? strchr(f->s->device, ':') + 1 : f->s->device);
        fprintf(to, ", not of this one%s\n", style_of(t, STYLE_NONE));
    }
    fprintf(to, "%sFed %s image%s in %.2f s on ", style_of(t, STYLE_BOLD), count_text(s->samples).text,
            plural(s->samples), s->seconds);
    put_who(to, s);
    fprintf(to, "%s: %s images/s", style_of(t, STYLE_NONE), rate_text(per((double)s->samples, s->seconds)).text);
    if (s->simulated)
        fputs(" (simulated)\n\n", to);
    else
        fprintf(to, ", %.3f core-ms an image\n\n", per(s->core_seconds * 1e3, (double)s->samples));
}

static void put_policy(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    if (s->device_count == 0)
        return;
    put_label(to, t, "policy");
    fputs(s->policy, to);
    if (s->beside != NULL)
        fprintf(to, ", beside the trainer: %s", s->beside);
    fputc('\n', to);
}

static void put_head(FILE *to, const terminal *t, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    const mr_output *o = &f->output;
    mr_dataset_form form = form_of(f);
    bool planes = o->layout == MR_NCHW;
    put_speed(to, t, f);
    put_label(to, t, "dataset");
    put_escaped(to, f->src.name);
    fprintf(to, " (%s), form %s\n", mr_layout_name(f->src.info.layout), form.name);
    put_label(to, t, "recipe");
    put_escaped(to, f->s->recipe);
    fputc('\n', to);
    put_label(to, t, "batches");
    fprintf(to, "%s of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32 " %s %s, in %s epoch%s",
            count_text(f->batches).text, f->s->batch, planes ? o->channels : o->height, planes ? o->height : o->width,
            planes ? o->width : o->channels, mr_dtype_name(o->dtype), mr_batch_layout_name(o->layout),
            count_text(f->epochs).text, plural(f->epochs));
    if (s->world > 1)
        fprintf(to, ", rank %" PRIu32 " of %" PRIu32, s->rank, s->world);
    fputc('\n', to);
    put_policy(to, t, s);
}

static double busy_share(const mr_loader_stats *s, const mr_device_stats *d)
{
    return per(d->busy_seconds, s->seconds * d->lanes);
}

static void put_devices(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    if (s->device_count == 0)
        return;
    fprintf(to, "\n  %s%-*s%10s %10s %10s %10s  %s%s\n", style_of(t, STYLE_BOLD), LABEL_CELLS - 2, "device", "lanes",
            "images", "submitted", "set aside", "busy", style_of(t, STYLE_NONE));
    for (uint32_t i = 0; i < s->device_count && i < MR_DEVICES_MAX; i++) {
        const mr_device_stats *d = &s->devices[i];
        double share = busy_share(s, d);
        short_text name;
        snprintf(name.text, sizeof name.text, "%.*s", LABEL_CELLS - 3, d->name);
        fprintf(to, "  %-*s%10" PRIu32 " %10s %10s %10s  %s", LABEL_CELLS - 2, name.text, d->lanes,
                count_text(d->samples).text, count_text(d->submissions).text, count_text(d->failures).text,
                style_of(t, STYLE_GREEN));
        put_bar(to, t->utf8, share < 1 ? share : 1, BAR_CELLS);
        fprintf(to, "%s %3.0f%%\n", style_of(t, STYLE_NONE), share * 100);
    }
}

/* "did not answer in time, set aside twice": appended to what is there already. */
static void add_mishap(char *text, size_t nbytes, const char *what, uint64_t times)
{
    size_t length = strlen(text);
    if (times != 0 && length < nbytes)
        snprintf(text + length, nbytes - length, "%s%s, set aside %s%s", text[length - 1] == ':' ? " " : "; ", what,
                 times == 1   ? "once"
                 : times == 2 ? "twice"
                              : count_text(times).text,
                 times <= 2 ? "" : " times");
}

/* What went wrong with devices, and that nothing was lost by it. */
static void put_mishaps(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    unsigned width = t->width < TEXT_WIDTH ? t->width : TEXT_WIDTH;
    for (uint32_t i = 0; i < s->device_count && i < MR_DEVICES_MAX; i++) {
        const mr_device_stats *d = &s->devices[i];
        char text[800];
        if (d->failures == 0)
            continue;
        snprintf(text, sizeof text, "%.64s:", d->name);
        add_mishap(text, sizeof text, "gave its work back", d->gave_back);
        add_mishap(text, sizeof text, "did not answer in time", d->late);
        add_mishap(text, sizeof text, "gave images that were damaged", d->damaged);
        add_mishap(text, sizeof text, "had no memory for an image", d->no_memory);
        size_t length = strlen(text);
        if (d->returned != 0)
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "; its %s image%s %s not lost, but prepared again", count_text(d->returned).text,
                                       plural(d->returned), d->returned == 1 ? "was" : "were");
        snprintf(text + length, sizeof text - length, "; %s%s%s",
                 d->aside ? "not used at the end" : "in use again at the end",
                 d->cause[0] != 0 ? "; what was said last: " : "", d->cause);
        put_label(to, t, "mishap");
        put_wrapped(to, text, LABEL_CELLS, LABEL_CELLS, width);
    }
}

/* Which accelerators were not used, or not for all. */
static void put_lacks(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    unsigned width = t->width < TEXT_WIDTH ? t->width : TEXT_WIDTH;
    if (s->left_out[0] != 0) {
        put_label(to, t, "left out");
        put_wrapped(to, s->left_out, LABEL_CELLS, LABEL_CELLS, width);
    }
    for (uint32_t i = 0; i < s->device_count && i < MR_DEVICES_MAX; i++) {
        char text[256];
        if (s->devices[i].lacks[0] == 0)
            continue;
        snprintf(text, sizeof text, "%.64s: it cannot do %s; images that need it were prepared by others",
                 s->devices[i].name, s->devices[i].lacks);
        put_label(to, t, "lacks");
        put_wrapped(to, text, LABEL_CELLS, LABEL_CELLS, width);
    }
}

/* What an accelerator's lanes did on the host, which is slower than it looks. */
static void put_on_host(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    unsigned width = t->width < TEXT_WIDTH ? t->width : TEXT_WIDTH;
    for (uint32_t i = 0; i < s->device_count && i < MR_DEVICES_MAX; i++) {
        const mr_device_stats *d = &s->devices[i];
        char text[256];
        if (d->on_host == 0)
            continue;
        int length = snprintf(text, sizeof text, "%.64s: %s image%s prepared by its threads on the host", d->name,
                              count_text(d->on_host).text, plural(d->on_host));
        if (d->refused != 0)
            snprintf(text + length, sizeof text - (size_t)length, ", %s of them because it refused them",
                     count_text(d->refused).text);
        put_label(to, t, "on host");
        put_wrapped(to, text, LABEL_CELLS, LABEL_CELLS, width);
    }
}

static void put_trace(FILE *to, const terminal *t, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    if (!f->traced)
        return;
    put_label(to, t, "trace");
    put_escaped(to, f->s->trace);
    fprintf(to, ", %s task%s", count_text(s->traced).text, plural(s->traced));
    if (s->forgotten != 0)
        fprintf(to, " (%s older one%s forgotten)", count_text(s->forgotten).text, plural(s->forgotten));
    fputs("; open it at ui.perfetto.dev\n", to);
}

static void put_stages(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    double all = stage_seconds(s);
    fprintf(to, "\n  %s%-*s%10s %10s %10s %10s  %s%s\n", style_of(t, STYLE_BOLD), LABEL_CELLS - 2, "stage", "images",
            "p50", "p99", "bytes", s->simulated ? "share of real thread time" : "share of thread time",
            style_of(t, STYLE_NONE));
    for (uint32_t i = 0; i < s->stage_count && i < MR_STAGES_MAX; i++) {
        const mr_stage_stats *stage = &s->stages[i];
        double share = per(stage->seconds, all);
        if (stage->count == 0)
            continue;
        fprintf(to, "  %-*s%10s %10s %10s %10s  %s", LABEL_CELLS - 2, stage->name, count_text(stage->count).text,
                duration_text(stage->p50_ns * 1e-9).text, duration_text(stage->p99_ns * 1e-9).text,
                bytes_text(stage->nbytes).text, style_of(t, STYLE_GREEN));
        put_bar(to, t->utf8, share, BAR_CELLS);
        fprintf(to, "%s %3.0f%%\n", style_of(t, STYLE_NONE), share * 100);
    }
    fputc('\n', to);
}

static void put_waits(FILE *to, const terminal *t, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    put_label(to, t, "trainer");
    if (s->consumer_stalls == 0)
        fputs("never waited for a batch\n", to);
    else
        fprintf(to, "waited %s time%s for a batch, %s in all (%.0f%% of the time)\n",
                count_text(s->consumer_stalls).text, plural(s->consumer_stalls),
                duration_text(s->consumer_stall_seconds).text, per(s->consumer_stall_seconds, s->seconds) * 100);
    put_label(to, t, "start");
    fprintf(to, "%s to the first batch\n", duration_text(s->first_batch_seconds).text);
    put_label(to, t, "memory");
    fprintf(to, "%s held by the loader, %s by the process\n", bytes_text(s->memory_nbytes).text,
            bytes_text(f->rss_nbytes).text);
}

static void put_shared(FILE *to, const terminal *t, const mr_loader_stats *s)
{
    if (s->cores_lent_seconds <= 0 && s->cores_borrowed_seconds <= 0)
        return;
    put_label(to, t, "shared");
    fprintf(to, "lent cores for %s", duration_text(s->cores_lent_seconds).text);
    fprintf(to, ", borrowed them for %s\n", duration_text(s->cores_borrowed_seconds).text);
}

static void put_hashes(FILE *to, const terminal *t, const sink *k)
{
    if (k->kind != SINK_HASH)
        return;
    size_t first = k->count > EPOCHS_TOLD ? k->count - EPOCHS_TOLD : 0;
    for (size_t i = first; i < k->count; i++) {
        put_label(to, t, i == first ? "hash" : "");
        fprintf(to, "%016" PRIx64 " of %s image%s of epoch %" PRIu64 "\n", k->epochs[i].hash,
                count_text(k->epochs[i].samples).text, plural(k->epochs[i].samples), k->epochs[i].epoch);
    }
}

static void put_bad(FILE *to, const terminal *t, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    if (s->bad == 0)
        return;
    put_label(to, t, "bad");
    fprintf(to, "%s%s bad sample%s%s", style_of(t, STYLE_YELLOW), count_text(s->bad).text, plural(s->bad),
            style_of(t, STYLE_NONE));
    if (strcmp(f->s->bad, "skip") == 0)
        fprintf(to, ", whose places %s other%s took", count_text(s->substitutes).text, plural(s->substitutes));
    else if (strcmp(f->s->bad, "replace") == 0)
        fputs(", each a black image now", to);
    if (f->s->quarantine != NULL && f->stats.unlisted == 0) {
        fputs(", listed in ", to);
        put_escaped(to, f->s->quarantine);
    } else if (f->s->quarantine == NULL)
        fputs(" (--quarantine=FILE lists them)", to);
    fputc('\n', to);
}

static void put_targets(FILE *to, const terminal *t, const feeding *f)
{
    if (f->s->targets == NULL)
        return;
    put_label(to, t, "targets");
    fprintf(to, "%s object%s with %s keypoint%s, %s mask%s\n", count_text(f->objects).text, plural(f->objects),
            count_text(f->keypoints).text, plural(f->keypoints), count_text(f->masks).text, plural(f->masks));
    if (f->objects == 0 && f->masks == 0)
        fprintf(to,
                "%11sno sample has a member \"json\" or a mask beside its image: tar shards have them "
                "(doc/steps.md)\n",
                "");
}

static void put_written(FILE *to, const terminal *t, const sink *k)
{
    if (k->kind != SINK_NPY && k->kind != SINK_RAW)
        return;
    put_label(to, t, "written");
    if (k->kind == SINK_NPY)
        fprintf(to, "%s file%s, ", count_text(k->written_files).text, plural(k->written_files));
    fprintf(to, "%s to ", bytes_text(k->written_nbytes).text);
    put_escaped(to, strcmp(k->out, "-") == 0 ? "standard output" : k->out);
    fputc('\n', to);
}

static void put_advice(FILE *to, const terminal *t, const feeding *f)
{
    advice a;
    unsigned width = t->width < TEXT_WIDTH ? t->width : TEXT_WIDTH;
    advise(f, &a);
    put_label(to, t, "binds");
    fprintf(to, "%s%s%s: %s\n", style_of(t, STYLE_CYAN), binding(&f->stats), style_of(t, STYLE_NONE), a.why);
    for (size_t i = 0; i < a.count; i++) {
        put_label(to, t, i == 0 ? "to change" : "");
        put_wrapped(to, a.changes[i], LABEL_CELLS, LABEL_CELLS, width);
    }
}

static void put_text(const feeding *f)
{
    FILE *to = f->sink.kind == SINK_RAW && strcmp(f->sink.out, "-") == 0 ? stderr : stdout;
    terminal t = terminal_of(to);
    if (f->batches == 0) {
        fprintf(to, "%s\n",
                f->resumed && f->code == 0 ? "Nothing was left to feed: the state is at the end of the last "
                                             "epoch (more --epochs go on)"
                                           : "No batch was fed");
        return;
    }
    put_head(to, &t, f);
    put_devices(to, &t, &f->stats);
    put_stages(to, &t, &f->stats);
    put_mishaps(to, &t, &f->stats);
    put_lacks(to, &t, &f->stats);
    put_on_host(to, &t, &f->stats);
    put_waits(to, &t, f);
    put_shared(to, &t, &f->stats);
    put_targets(to, &t, f);
    put_hashes(to, &t, &f->sink);
    put_written(to, &t, &f->sink);
    put_bad(to, &t, f);
    put_trace(to, &t, f);
    put_advice(to, &t, f);
}

static void put_json_output(json *j, const feeding *f)
{
    const mr_output *o = &f->output;
    bool planes = o->layout == MR_NCHW;
    json_open(j, "output", '{');
    json_open(j, "shape", '[');
    json_number(j, NULL, planes ? o->channels : o->height);
    json_number(j, NULL, planes ? o->height : o->width);
    json_number(j, NULL, planes ? o->width : o->channels);
    json_close(j, ']');
    json_text(j, "dtype", mr_dtype_name(o->dtype));
    json_text(j, "layout", mr_batch_layout_name(o->layout));
    json_number(j, "sample_nbytes", o->sample_nbytes);
    json_close(j, '}');
}

static void put_json_asked(json *j, const feeding *f)
{
    const char *recipe = mr_recipe_text(f->recipe);
    mr_dataset_form form = form_of(f);
    json_text(j, "version", mr_version_text());
    json_named(j, "dataset", f->src.name);
    json_text(j, "layout", mr_layout_name(f->src.info.layout));
    json_number(j, "dataset_samples", f->src.info.samples);
    json_text(j, "form", form.name);
    json_text(j, "recipe", recipe != NULL ? recipe : f->s->recipe);
    json_hash(j, "recipe_hash", mr_recipe_hash(f->recipe));
    put_json_output(j, f);
    json_number(j, "batch", f->s->batch);
    json_number(j, "seed", f->s->seed);
    json_text(j, "order", f->s->weights != NULL ? "weighted" : f->s->order);
    json_number(j, "rank", f->stats.rank);
    json_number(j, "world", f->stats.world);
    json_number(j, "threads", f->stats.threads);
    json_number(j, "slots", f->stats.slots);
    json_text(j, "device", f->s->device);
    json_text(j, "sink", f->s->sink);
    json_real(j, "step_seconds", (double)f->s->step_ns * 1e-9);
}

static void put_json_hashes(json *j, const sink *k)
{
    if (k->kind != SINK_HASH || k->count == 0) {
        json_null(j, "epoch_hash");
        json_null(j, "epoch_hashes");
        return;
    }
    json_hash(j, "epoch_hash", k->epochs[k->count - 1].hash);
    json_open(j, "epoch_hashes", '[');
    for (size_t i = 0; i < k->count; i++) {
        json_open(j, NULL, '{');
        json_number(j, "epoch", k->epochs[i].epoch);
        json_hash(j, "hash", k->epochs[i].hash);
        json_number(j, "samples", k->epochs[i].samples);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_json_stages(json *j, const mr_loader_stats *s)
{
    double all = stage_seconds(s);
    json_open(j, "stages", '[');
    for (uint32_t i = 0; i < s->stage_count && i < MR_STAGES_MAX; i++) {
        const mr_stage_stats *stage = &s->stages[i];
        json_line(j);
        json_open(j, NULL, '{');
        json_name(j, stage->name);
        json_number(j, "count", stage->count);
        json_real(j, "seconds", stage->seconds);
        json_real(j, "share", per(stage->seconds, all));
        json_number(j, "nbytes", stage->nbytes);
        json_real(j, "p50_us", stage->p50_ns * 1e-3);
        json_real(j, "p99_us", stage->p99_ns * 1e-3);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_json_device(json *j, const mr_loader_stats *s, const mr_device_stats *d)
{
    json_line(j);
    json_open(j, NULL, '{');
    json_name(j, d->name);
    json_number(j, "lanes", d->lanes);
    json_number(j, "samples", d->samples);
    json_number(j, "jobs", d->jobs);
    json_number(j, "submissions", d->submissions);
    json_real(j, "busy_seconds", d->busy_seconds);
    json_real(j, "busy_share", busy_share(s, d));
    json_number(j, "failures", d->failures);
    json_number(j, "gave_back", d->gave_back);
    json_number(j, "late", d->late);
    json_number(j, "damaged", d->damaged);
    json_number(j, "no_memory", d->no_memory);
    json_number(j, "recovered", d->recovered);
    json_bool(j, "aside", d->aside);
    json_number(j, "returned", d->returned);
    json_number(j, "on_host", d->on_host);
    json_number(j, "refused", d->refused);
    json_text(j, "cause", d->cause);
    json_text(j, "lacks", d->lacks);
    json_close(j, '}');
}

static void put_json_devices(json *j, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    json_bool(j, "simulated", s->simulated);
    json_text(j, "policy", s->policy != NULL ? s->policy : "");
    if (s->beside != NULL)
        json_text(j, "beside", s->beside);
    else
        json_null(j, "beside");
    json_open(j, "devices", '[');
    for (uint32_t i = 0; i < s->device_count && i < MR_DEVICES_MAX; i++)
        put_json_device(j, s, &s->devices[i]);
    json_close(j, ']');
    json_text(j, "left_out", s->left_out);
    if (!f->traced) {
        json_null(j, "trace");
        return;
    }
    json_open(j, "trace", '{');
    json_named(j, "file", f->s->trace);
    json_number(j, "tasks", s->traced);
    json_number(j, "forgotten", s->forgotten);
    json_close(j, '}');
}

static void put_json_stats(json *j, const feeding *f)
{
    const mr_loader_stats *s = &f->stats;
    json_number(j, "stored_nbytes", s->stored_nbytes);
    json_number(j, "reads_cached", s->reads_cached);
    json_number(j, "reads_waited", s->reads_waited);
    json_real(j, "read_depth_mean", s->read_depth_mean);
    json_real(j, "ready_mean", s->ready_mean);
    json_real(j, "consumer_stall_seconds", s->consumer_stall_seconds);
    json_number(j, "consumer_stalls", s->consumer_stalls);
    json_real(j, "consumer_p50_us", s->consumer_p50_ns * 1e-3);
    json_real(j, "consumer_p99_us", s->consumer_p99_ns * 1e-3);
    json_real(j, "thread_idle_seconds", s->thread_idle_seconds);
    json_real(j, "thread_wait_seconds", s->thread_wait_seconds);
    json_real(j, "cores_lent_seconds", s->cores_lent_seconds);
    json_real(j, "cores_borrowed_seconds", s->cores_borrowed_seconds);
    json_number(j, "memory_nbytes", s->memory_nbytes);
    json_number(j, "rss_bytes", f->rss_nbytes);
    json_number(j, "rss_peak_nbytes", f->rss_peak_nbytes);
    json_number(j, "written_files", f->sink.written_files);
    json_number(j, "written_nbytes", f->sink.written_nbytes);
}

static void put_json_advice(json *j, const feeding *f)
{
    advice a;
    advise(f, &a);
    json_text(j, "bottleneck", binding(&f->stats));
    json_text(j, "why", a.why);
    json_open(j, "advice", '[');
    for (size_t i = 0; i < a.count; i++)
        json_text(j, NULL, a.changes[i]);
    json_close(j, ']');
}

static void put_json_targets(json *j, const feeding *f)
{
    if (f->s->targets == NULL) {
        json_null(j, "targets");
        return;
    }
    json_open(j, "targets", '{');
    json_text(j, "asked", f->s->targets);
    json_number(j, "objects", f->objects);
    json_number(j, "keypoints", f->keypoints);
    json_number(j, "masks", f->masks);
    json_close(j, '}');
}

static void put_json(const feeding *f, bool stopped)
{
    const mr_loader_stats *s = &f->stats;
    json j = {.stream = stdout};
    json_open(&j, NULL, '{');
    put_json_asked(&j, f);
    json_number(&j, "samples", s->samples);
    json_number(&j, "batches", s->batches);
    json_number(&j, "epochs", f->epochs);
    json_number(&j, "bad", s->bad);
    json_number(&j, "substitutes", s->substitutes);
    json_number(&j, "unlisted", s->unlisted);
    json_real(&j, "seconds", s->seconds);
    json_real(&j, "images_per_second", per((double)s->samples, s->seconds));
    json_real(&j, "core_seconds", s->core_seconds);
    json_real(&j, "core_ms_per_image", per(s->core_seconds * 1e3, (double)s->samples));
    json_real(&j, "first_batch_seconds", s->first_batch_seconds);
    put_json_targets(&j, f);
    put_json_hashes(&j, &f->sink);
    put_json_advice(&j, f);
    put_json_stats(&j, f);
    put_json_devices(&j, f);
    put_json_stages(&j, s);
    json_bool(&j, "resumed", f->resumed);
    json_bool(&j, "stopped", stopped);
    if (f->code != 0)
        json_error(&j, f->code, f->fault);
    json_close(&j, '}');
    putchar('\n');
}

void feed_report(const feeding *f, bool stopped)
{
    if (f->s->json)
        put_json(f, stopped);
    else
        put_text(f);
}
