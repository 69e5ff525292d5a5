// SPDX-License-Identifier: Apache-2.0
/* Runs a loader as a trainer would, who takes a batch, works on it for a while, and lets go. */
#define _GNU_SOURCE // ppoll
#include "failure.h"
#include "feeding.h"
#include "file.h"
#include "packing.h"
#include "quantity.h"
#include "recipe.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double tell_s = 0.1, save_s = 10;

static const option options_what[] = {
    OPTION_RECIPE,
    {.name = "batch",
     .letter = 'b',
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, batch),
     .argument = "N",
     .help = "Samples in a batch",
     .initial = "256",
     .min = 1,
     .max = 1 << 20},
    {.name = "epochs",
     .letter = 'e',
     .kind = OPTION_SEED,
     .offset = offsetof(settings, epochs),
     .argument = "N",
     .help = "Feed N epochs; 0 does not end",
     .initial = "1"},
    {.name = "epoch",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, epoch),
     .argument = "N",
     .help = "Begin with epoch N",
     .initial = "0"},
    {.name = "max-batches",
     .letter = 'n',
     .kind = OPTION_SEED,
     .offset = offsetof(settings, max_batches),
     .argument = "N",
     .help = "End after N batches, wherever that is"},
    OPTION_SEED_OF_DRAWS,
    OPTION_STORED_FORM,
    OPTION_NO_FUSE,
    {.name = "targets",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, targets),
     .argument = "WHAT",
     .help =
         "Have what belongs to images follow them, and count it: boxes, keypoints and masks of objects (of the member "
         "json), mask (of a member that is a PNG of classes); several with commas between them"},
    {.name = "mask-member",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, mask_member),
     .argument = "NAME",
     .help = "Of --targets=mask: which member it is, if not the first that ends in png"},
    {.name = "state",
     .letter = 's',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, state),
     .argument = "FILE",
     .help = "Go on from the state in FILE, if it is there; write it at the end, on Ctrl-C and every 10 seconds"},
    {0},
};

static const option options_order[] = {
    {.name = "order",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, order),
     .argument = "ORDER",
     .help = "shuffled anew in each epoch, sequential (as stored), windowed (neighbours stay near, for slow random "
             "access), weighted (with replacement), repeated (each several times in a row)",
     .initial = "shuffled",
     .words = "shuffled sequential windowed weighted repeated"},
    {.name = "block",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, block),
     .argument = "N",
     .help = "Of windowed: so many neighbours stay together",
     .initial = "256"},
    {.name = "window",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, window),
     .argument = "N",
     .help = "Of windowed: so many samples are shuffled among each other",
     .initial = "16 blocks"},
    {.name = "repeats",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, repeats),
     .argument = "N",
     .help = "Of repeated: how often each",
     .initial = "3",
     .min = 1,
     .max = 1 << 16},
    {.name = "weights",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, weights),
     .argument = "FILE",
     .help = "Of weighted: how likely each sample is, a number a line"},
    {.name = "draws",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, draws),
     .argument = "N",
     .help = "Of weighted: samples in an epoch",
     .initial = "as many as the dataset has"},
    {.name = "rank",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, rank),
     .argument = "N",
     .help = "Feed what rank N of --world gets, from 0",
     .initial = "what torchrun, Slurm, MPI or Kubernetes say, else 0 of 1",
     .max = UINT32_MAX},
    {.name = "world",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, world),
     .argument = "N",
     .help = "How many ranks there are",
     .min = 1,
     .max = UINT32_MAX},
    {.name = "drop-last",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, drop_last),
     .help = "Leave out the last batch of an epoch where it is not full; else it is padded"},
    {0},
};

static const option options_bad[] = {
    {.name = "bad",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, bad),
     .argument = "WORD",
     .help = "What to do with a sample that cannot be decoded: fail, skip (another takes its place) or replace (by a "
             "black image)",
     .initial = "fail",
     .words = "fail skip replace"},
    {.name = "bad-max",
     .kind = OPTION_SEED,
     .offset = offsetof(settings, bad_max),
     .argument = "N",
     .help = "Of skip and replace: fail when more than N samples of an epoch are bad",
     .initial = "1 % of them, at least 16"},
    {.name = "quarantine",
     .letter = 'q',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, quarantine),
     .argument = "FILE",
     .help = "List bad samples in FILE, a JSON object a line, behind what is there"},
    {0},
};

static const option options_trainer[] = {
    {.name = "sink",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, sink),
     .argument = "SINK",
     .help = "What becomes of a batch: null (nothing), hash (a sum over the epoch, the same for every way to the same "
             "bytes), npy (files for NumPy in the folder --out: images, labels, ordinals, mask) or raw (the images "
             "alone, in the file --out)",
     .initial = "null",
     .words = "null hash npy raw"},
    {.name = "out",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, out),
     .argument = "PATH",
     .help = "Of npy: the folder; of raw: the file, - for standard output"},
    {.name = "force",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, force),
     .help = "Replace what is there already; write to standard output even if it is a terminal"},
    {.name = "step-time",
     .kind = OPTION_DURATION,
     .offset = offsetof(settings, step_ns),
     .argument = "TIME",
     .help = "How long the trainer works on a batch before the next (50ms)",
     .initial = "0"},
    {.name = "json",
     .letter = 'j',
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, json),
     .help = "Print the report as a JSON object"},
    {0},
};

static const option options_means[] = {
    {.name = "slots",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, slots),
     .argument = "N",
     .help = "Batches in memory, the trainer's with them",
     .initial = "3",
     .min = 2,
     .max = 1 << 16},
    {.name = "memory",
     .kind = OPTION_BYTES,
     .offset = offsetof(settings, memory_nbytes),
     .argument = "SIZE",
     .help = "What the loader may hold in all (2GB)",
     .initial = "what the other limits allow"},
    {.name = "reading",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, reading),
     .argument = "HOW",
     .help = "How files are read: auto (what is in memory at once, the rest ahead), ahead (all of it, by io_uring "
             "where that is allowed), threads, or direct (past the page cache)",
     .initial = "auto",
     .words = "auto ahead threads direct"},
    {.name = "read-depth",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, read_depth),
     .argument = "N",
     .help = "Reads ahead, at most",
     .initial = "64",
     .min = 1,
     .max = 1 << 16},
    {.name = "check-all",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, check_all),
     .help = "Read whole images, so that their checksums are compared, where a part would do; damage to raw pixels is "
             "found only so"},
    {.name = "timeout",
     .kind = OPTION_DURATION,
     .offset = offsetof(settings, timeout_ns),
     .argument = "TIME",
     .help = "So long without any progress is an error",
     .initial = "60s"},
    {.name = "pin",
     .kind = OPTION_FLAG,
     .offset = offsetof(settings, pin),
     .help = "Keep each thread on a processor of its own"},
    {.name = "numa",
     .kind = OPTION_NUMBER,
     .offset = offsetof(settings, numa_node),
     .argument = "N",
     .help = "Keep threads and batches on this NUMA node",
     .max = 1 << 16},
    {.name = "device",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, device),
     .argument = "LIST",
     .help =
         "Who does the work: cpu, the host's threads; opencl:1, that accelerator (millrace devices lists them); "
         "opencl, "
         "the first that can be used; several, as in cpu,opencl:0; auto, the host and every accelerator that can be "
         "used, but for those that are the host's own cores. sim: the same work under a virtual clock, for tests; "
         "sim:FILE: a simulated machine of several devices and a trainer (doc/hardware.md), whose times are simulated",
     .initial = "cpu"},
    {.name = "device-memory",
     .kind = OPTION_BYTES,
     .offset = offsetof(settings, device_memory_nbytes),
     .argument = "SIZE",
     .help = "Memory of its own that each accelerator may take, as in 512MB; images that do not fit are the host's",
     .initial = "what it has"},
    {.name = "keep",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, keep),
     .argument = "WHERE",
     .help = "Where batches are for the trainer: host, or device: they stay with the one accelerator of --device, and "
             "what the host prepares of them is sent there",
     .initial = "host",
     .words = "host device"},
    {.name = "policy",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, policy),
     .argument = "POLICY",
     .help =
         "Which device prepares which sample: auto, by predicted cost; or a baseline to compare it with: interbatch "
         "(a thread owns a batch), intrabatch (threads share it), naive-device, fusion",
     .words = "auto interbatch intrabatch naive-device fusion"},
    {.name = "beside",
     .kind = OPTION_WORD,
     .offset = offsetof(settings, beside),
     .argument = "MODE",
     .help =
         "When an accelerator that also trains may prepare: auto, by measured iteration time; off; exclusive, while "
         "the trainer waits; duty, a share of the time; overlapped, always",
     .words = "auto off exclusive duty overlapped"},
    {.name = "share",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, share),
     .argument = "NAME",
     .help = "Lend cores to, and borrow them from, other loaders of this machine that share under this name; --threads "
             "are its own"},
    {.name = "trace",
     .kind = OPTION_TEXT,
     .offset = offsetof(settings, trace),
     .argument = "FILE",
     .help = "Write to FILE, at the end and on Ctrl-C, which lane prepared which sample when, what it was believed to "
             "take and why it was put there: a trace that ui.perfetto.dev draws. Of a long run, the last 262,144 "
             "samples"},
    {0},
};

static void stop_loader(void *user)
{
    mr_loader_stop(user);
}

/* Goes on from the state's file; without one it begins at the beginning. */
static int restore(feeding *f)
{
    input in = {.fd = -1};
    if (f->s->state == NULL)
        return EXIT_GOOD;
    struct stat status;
    if (stat(f->s->state, &status) == 0 && !S_ISREG(status.st_mode)) /* a pipe would be waited for */
        return failed(f->s, MR_EIO, f->s->state, "is no file: a state is kept in one");
    int error = input_open(&in, f->s->state);
    if (error == ENOENT)
        return EXIT_GOOD;
    if (error == 0)
        error = input_fill(&in, STATE_NBYTES_MAX);
    input_close(&in);
    int result = EXIT_GOOD;
    if (error != 0)
        result = failed(f->s, MR_EIO, f->s->state, "%s", strerror(error));
    else if (in.nbytes >= STATE_NBYTES_MAX || memchr(in.bytes, '\0', in.nbytes) != NULL)
        result = failed(f->s, MR_EARGUMENT, f->s->state, "is no state that feed wrote");
    if (result == EXIT_GOOD) {
        in.bytes[in.nbytes] = '\0'; /* for which input keeps a byte */
        int code = mr_loader_restore(f->loader, (const char *)in.bytes);
        if (code != 0)
            result = failed(f->s, code, f->s->state, "%s", mr_loader_detail(f->loader));
        f->resumed = code == 0;
    }
    input_fini(&in);
    return result;
}

/* The first failure is what it ends with. */
static void keep_fault(feeding *f, int code, const char *name, const char *text)
{
    if (f->code == 0)
        snprintf(f->fault, FAULT_NBYTES, "%s%s%s", name != NULL ? name : "", name != NULL ? ": " : "", text);
    f->code = f->code == 0 ? code : f->code;
}

/* Under another name first, so that there is a whole one at any time. */
static bool save(feeding *f)
{
    f->saved = packing_clock();
    if (f->s->state == NULL || f->state[0] == '\0')
        return true;
    size_t length = strlen(f->state);
    f->state[length] = '\n'; /* for which there is room: it is shorter than the most */
    int error = file_write(f->s->state, f->state, length + 1);
    f->state[length] = '\0';
    if (error != 0)
        keep_fault(f, MR_EIO, f->s->state, strerror(error));
    return error == 0;
}

/* The trainer at work. Ctrl-C wakes it. */
static void work(const feeding *f)
{
    struct timespec time = {.tv_sec = (time_t)(f->s->step_ns / 1000000000),
                            .tv_nsec = (long)(f->s->step_ns % 1000000000)};
    struct pollfd signals = {.fd = f->watch.signals, .events = POLLIN};
    if (f->s->step_ns != 0)
        ppoll(&signals, 1, &time, NULL);
}

static void tell(feeding *f, const mr_batch *batch)
{
    double now = packing_clock();
    uint64_t size = batch->size, all = f->s->epochs * f->epoch_batches;
    if (f->p.kind == PROGRESS_NONE || (!batch->last && now - f->told < tell_s))
        return;
    f->told = now;
    f->stats.struct_size = sizeof f->stats;
    mr_loader_get_stats(f->loader, &f->stats);
    uint64_t before = batch->epoch > f->s->epoch ? batch->epoch - f->s->epoch : 0; /* a state may begin earlier */
    uint64_t done = before * f->epoch_batches + batch->number + 1;
    uint64_t left = f->s->max_batches - f->batches;
    if (f->s->max_batches != 0 && (all == 0 || all - done > left))
        all = done + left;
    progress_note(&f->p, "epoch %" PRIu64 "  batch %" PRIu64 "  %" PRIu64 " stall%s%s%s", batch->epoch, batch->number,
                  f->stats.consumer_stalls, plural(f->stats.consumer_stalls), f->stats.bad != 0 ? "  bad " : "",
                  f->stats.bad != 0 ? count_text(f->stats.bad).text : "");
    progress_hook(&f->p, &(mr_progress){.verb = "feeding", .unit = "images", .done = done * size, .total = all * size});
}

/* The first batch tells where a state goes on. */
static void tell_resumed(feeding *f, const mr_batch *batch)
{
    if (!f->resumed || f->batches != 0)
        return;
    progress_pause(&f->p);
    remark(f->s->state, "goes on at epoch %" PRIu64 ", position %s", batch->epoch, count_text(batch->position).text);
    progress_resume(&f->p);
}

static void count_targets(feeding *f, const mr_batch *batch)
{
    for (uint32_t i = 0; f->s->targets != NULL && i < batch->count; i++) {
        mr_targets targets = {.struct_size = sizeof targets};
        if (mr_batch_get_targets(batch, i, &targets) != 0)
            continue;
        f->objects += targets.count;
        f->keypoints += targets.keypoint_count;
        f->masks += (targets.mask != NULL) + (targets.masks != NULL ? targets.count : 0);
    }
}

static bool take(feeding *f, const mr_batch *batch)
{
    tell_resumed(f, batch);
    count_targets(f, batch);
    if (!sink_take(&f->sink, batch))
        return false;
    work(f);
    f->epochs += f->batches == 0 || f->epoch != batch->epoch;
    f->epoch = batch->epoch;
    f->batches++;
    if (f->s->state != NULL && mr_loader_state(f->loader, f->state, STATE_NBYTES_MAX - 1) >= STATE_NBYTES_MAX - 1)
        f->state[0] = '\0';
    tell(f, batch);
    return packing_clock() - f->saved < save_s || save(f);
}

static void feed_all(feeding *f)
{
    mr_batch *batch = NULL;
    while (f->s->max_batches == 0 || f->batches < f->s->max_batches) {
        int code = mr_loader_next(f->loader, &batch);
        if (code == MR_ECLOSED && progress_is_stopped(&f->p))
            break;
        if (code != 0) {
            const char *detail = mr_loader_detail(f->loader);
            keep_fault(f, code, NULL, detail[0] != '\0' ? detail : mr_error_text(code));
        }
        if (code != 0 || batch == NULL)
            break;
        f->lost = !take(f, batch);
        mr_batch_release(batch);
        if (f->lost || progress_is_stopped(&f->p))
            break;
    }
    if (f->lost && f->sink.fault[0] != '\0')
        keep_fault(f, MR_EIO, NULL, f->sink.fault);
}

static void measure_memory(feeding *f)
{
    struct rusage usage;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    f->rss_nbytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        f->rss_peak_nbytes = (uint64_t)usage.ru_maxrss * 1024;
    if (f->rss_peak_nbytes < f->rss_nbytes) /* which the kernel counts less often */
        f->rss_peak_nbytes = f->rss_nbytes;
}

/* Whether an error says something about one sample, and not about the machine. */
static bool is_of_sample(int code)
{
    return code == MR_ETRUNCATED || code == MR_ECORRUPT || code == MR_EFORMAT || code == MR_EUNSUPPORTED;
}

/* Also of a run that failed or was stopped: that is when one wants to see it. */
static void write_trace(feeding *f)
{
    if (f->s->trace == NULL)
        return;
    int code = mr_loader_write_trace(f->loader, f->s->trace);
    f->traced = code == 0;
    if (code != 0)
        keep_fault(f, code, NULL, mr_loader_detail(f->loader));
}

static int finish(feeding *f)
{
    bool stopped = progress_is_stopped(&f->p);
    f->stats.struct_size = sizeof f->stats;
    mr_loader_get_stats(f->loader, &f->stats);
    measure_memory(f);
    progress_finish(&f->p);
    bool saved = save(f);
    write_trace(f);
    feed_report(f, stopped);
    if (f->code != 0)
        complain(NULL, "%s", f->fault);
    if (is_of_sample(f->code) && strcmp(f->s->bad, "fail") == 0 && !f->lost)
        remark(NULL, "--bad=skip and --bad=replace go on without such a sample, and list it (--quarantine=FILE)");
    if (stopped && f->s->state != NULL && saved)
        complain(NULL, "feed: stopped; the same command goes on where it stopped");
    else if (stopped)
        complain(NULL, "feed: stopped; with --state=FILE it could go on");
    if (f->stats.unlisted != 0)
        complain(NULL, "%s: not all bad samples could be listed in it", f->s->quarantine);
    return f->code == 0 && !f->lost && f->stats.unlisted == 0 ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static int run_sink(feeding *f)
{
    int result;
    interrupts_watch(&f->p.held, &f->watch, stop_loader, f->loader);
    if (sink_open(&f->sink, f->s, &f->stats, f->watch.signals)) {
        f->saved = packing_clock();
        feed_all(f);
        result = finish(f);
    } else
        result = failed(f->s, MR_EIO, NULL, "%s", f->sink.fault);
    interrupts_unwatch(&f->watch);
    f->sink.fault[0] = '\0'; /* which was told */
    if (!sink_close(&f->sink) && result == EXIT_GOOD) {
        complain(NULL, "%s", f->sink.fault);
        result = EXIT_BAD_INPUT;
    }
    return result;
}

/* While the loader is made: which devices were left out, say. Later the report says it. */
static void log_line(void *user, mr_log_level level, const char *text)
{
    const feeding *f = user;
    (void)level;
    if (f->loader == NULL)
        complain(NULL, "%s", text);
}

static int run_loader(feeding *f, mr_loader_options *options)
{
    char detail[1024] = "";
    const mr_hooks hooks = {.struct_size = sizeof hooks, .user = f, .log = log_line};
    options->hooks = &hooks;
    int code = mr_loader_new(f->src.dataset, f->recipe, options, &f->loader, detail, sizeof detail);
    if (code != 0)
        return failed_detail(f->s, code, f->src.name, detail);
    f->epoch_batches = mr_loader_batches(f->loader);
    f->stats.struct_size = sizeof f->stats;
    mr_loader_get_stats(f->loader, &f->stats);
    int result = restore(f);
    if (result != EXIT_GOOD)
        return result;
    (void)mr_loader_state(f->loader, f->state, STATE_NBYTES_MAX - 1);
    if (!save(f)) /* better now than after an epoch */
        return failed(f->s, MR_EIO, NULL, "%s", f->fault);
    return run_sink(f);
}

static int feed(feeding *f, char **operands, size_t count)
{
    mr_loader_options options;
    int result = source_open(&f->src, f->s, &f->p, operands, count);
    if (result != EXIT_GOOD)
        return result;
    result = feed_options(&command_feed, f, &options);
    f->state = calloc(1, STATE_NBYTES_MAX);
    f->fault = calloc(1, FAULT_NBYTES);
    if (result == EXIT_GOOD && (f->state == NULL || f->fault == NULL))
        result = failed(f->s, MR_ENOMEM, NULL, "%s", mr_error_text(MR_ENOMEM));
    if (result == EXIT_GOOD)
        result = run_loader(f, &options);
    mr_loader_free(f->loader);
    source_close(&f->src);
    free(f->weights);
    free(f->state);
    free(f->fault);
    return result;
}

static int run(const settings *s, char **operands, size_t count)
{
    feeding f = {.s = s};
    int result = feed_check(&command_feed, s);
    if (result == EXIT_GOOD)
        result = recipe_read(&command_feed, s, &f.recipe, &f.output);
    if (result != EXIT_GOOD)
        return result;
    progress_init(&f.p, s->progress);
    progress_hold(&f.p);
    result = feed(&f, operands, count);
    mr_recipe_free(f.recipe);
    fflush(stdout); /* Ctrl-C ends us with the next line */
    progress_fini(&f.p);
    return result;
}

const command command_feed = {
    .name = "feed",
    .operands = "DATASET...",
    .summary = "Feed batches to an imagined trainer: how fast, and what binds",
    .text =
        (const char *const[]){
            "Runs the loader as training would: every sample of every epoch is read, decoded and taken through the "
            "recipe, on all cores, into batches, which are taken one after the other, held for --step-time and let "
            "go. The report says how many images a second that makes, what each costs, where the time went, how long "
            "the trainer had to wait, which resource binds and what to do about it.",
            "A recipe is steps with spaces in between: rrc(224) (a random part of random size, resized), short(256) "
            "and center(224), crop(32, pad=4), resize(320x240), pad(to=512), flip, vflip, convert(rgb), "
            "normalize(imagenet), layout(nhwc), dtype(f16); doc/recipe.md and doc/steps.md have all of them. Quote it "
            "for the shell's "
            "sake.",
            "The same seed gives the same bytes, whatever the threads, ranks, restarts, and forms of the same pixels: "
            "--sink=hash shows it. A bad sample ends it, unless --bad says what else to do. Ctrl-C ends it with a "
            "report on what was done.",
            "--device names who prepares: the bytes do not depend on it, the time does. With several devices --policy "
            "says which of them prepares which sample, and the report what each of them did. An accelerator alone "
            "(--device=opencl) has to know every step of the recipe; beside the host (--device=cpu,opencl) it does "
            "what "
            "it can, and the host the rest.",
            "DATASET is a folder (of images, or packed) or the files of one dataset, as for millrace ls.", NULL},
    .groups = (const option_group[]){{"What to feed", options_what},
                                     {"Order and ranks", options_order},
                                     {"Bad samples", options_bad},
                                     {"The trainer", options_trainer},
                                     {"With what", options_means},
                                     {"How to read the dataset", options_source},
                                     {"Help", options_common},
                                     {NULL, NULL}},
    .examples =
        (const example[]){
            {"millrace feed train --recipe 'rrc(224) flip normalize(imagenet)'", "How fast can it be?"},
            {"millrace feed train --recipe 'rrc(224) flip normalize(imagenet)' --step-time 50ms --epochs 2",
             "Does it keep up with a trainer that takes 50 ms a batch?"},
            {"millrace feed val --recipe 'short(256) center(224) dtype(u8)' --order sequential --sink npy -o arrays",
             "Files for NumPy"},
            {"millrace feed train --recipe 'rrc(224) flip' --sink hash --state train.state --json",
             "The hash of an epoch, in one go or several"},
            {"millrace feed train --recipe 'rrc(224) flip' --device auto",
             "With every accelerator that is here, beside the host"},
            {"millrace feed train --recipe 'rrc(224) flip' --device cpu,opencl:0 --policy fusion",
             "With that one, and another policy to compare with"},
            {NULL, NULL}},
    .operand_min = 1,
    .operand_max = SIZE_MAX,
    .operand = OPERAND_FILE,
    .run = run,
};
