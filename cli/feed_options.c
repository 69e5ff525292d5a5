// SPDX-License-Identifier: Apache-2.0
/* What feed's options are for the library. */
#include "failure.h"
#include "feeding.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WEIGHT_NBYTES = 128 };

/* Weights alone say which order is meant. */
static mr_order_kind order_of(const command *c, const settings *s)
{
    if (s->weights != NULL && !option_is_given(c, s, "order"))
        return MR_ORDER_WEIGHTED;
    for (int order = MR_ORDER_SHUFFLED; order <= MR_ORDER_REPEATED; order++)
        if (strcmp(s->order, mr_order_name((mr_order_kind)order)) == 0)
            return (mr_order_kind)order;
    return MR_ORDER_SHUFFLED;
}

/* Nothing that was asked for is passed over in silence. */
static int check_order(const command *c, const settings *s)
{
    static const struct {
        const char *name;
        mr_order_kind order;
    } own[] = {
        {"block", MR_ORDER_WINDOWED},   {"window", MR_ORDER_WINDOWED}, {"repeats", MR_ORDER_REPEATED},
        {"weights", MR_ORDER_WEIGHTED}, {"draws", MR_ORDER_WEIGHTED},
    };
    mr_order_kind order = order_of(c, s);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].order != order && option_is_given(c, s, own[i].name)) {
            complain(NULL, "feed: --%s is for --order=%s, not for %s", own[i].name, mr_order_name(own[i].order),
                     mr_order_name(order));
            return EXIT_USAGE;
        }
    if (order == MR_ORDER_WEIGHTED && s->weights == NULL) {
        complain(NULL, "feed: --order=weighted needs --weights=FILE, a number for each sample");
        return EXIT_USAGE;
    }
    return EXIT_GOOD;
}

static int check_rank(const command *c, const settings *s)
{
    bool rank = option_is_given(c, s, "rank"), world = option_is_given(c, s, "world");
    if (rank != world)
        complain(NULL, "feed: --rank and --world go together: rank 0 of a world of 4 is --rank=0 --world=4");
    else if (rank && s->rank >= s->world)
        complain(NULL, "feed: --rank cannot be %" PRIu32 " in a world of %" PRIu32 ": ranks count from 0", s->rank,
                 s->world);
    else
        return EXIT_GOOD;
    return EXIT_USAGE;
}

/* 0: there is a word that is none of these. */
static uint32_t targets_of(const char *text)
{
    static const char *const names[] = {"boxes", "keypoints", "mask", "masks"};
    uint32_t flags = 0;
    for (;;) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < 4 && (strlen(names[i]) != length || strncmp(text, names[i], length) != 0))
            i++;
        if (i == 4)
            return 0;
        flags |= 1u << i;
        if (text[length] == '\0')
            return flags;
        text += length + 1;
    }
}

static int check_targets(const settings *s)
{
    uint32_t flags = s->targets != NULL ? targets_of(s->targets) : 0;
    if (s->targets != NULL && flags == 0)
        complain(NULL, "feed: --targets cannot be '%s': boxes, keypoints, mask, masks, or several as in boxes,mask",
                 s->targets);
    else if (s->mask_member != NULL && (flags & MR_TARGET_MASK) == 0)
        complain(NULL, "feed: --mask-member is for --targets=mask");
    else
        return EXIT_GOOD;
    return EXIT_USAGE;
}

/* Whether batches stay on a device, where no file is written from. */
static bool is_kept(const settings *s)
{
    return strcmp(s->keep, "device") == 0;
}

/* A trace is written at the end: that it cannot be is better known before. */
static int check_trace(const settings *s)
{
    char folder[4096] = ".";
    struct stat status;
    if (s->trace == NULL)
        return EXIT_GOOD;
    const char *slash = strrchr(s->trace, '/');
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s/", (int)(slash - s->trace), s->trace);
    if (stat(s->trace, &status) == 0 && !S_ISREG(status.st_mode))
        complain(NULL, "feed: --trace=%s: there is something that is no file", s->trace);
    else if (access(folder, W_OK) != 0)
        complain(NULL, "feed: --trace=%s: nothing can be written there: %s", s->trace, strerror(errno));
    else
        return EXIT_GOOD;
    return EXIT_USAGE;
}

int feed_check(const command *c, const settings *s)
{
    const char *fault = NULL;
    int result = sink_check(s);
    if (result == EXIT_GOOD)
        result = check_targets(s);
    if (result == EXIT_GOOD)
        result = check_trace(s);
    if (result == EXIT_GOOD)
        result = check_order(c, s);
    if (result == EXIT_GOOD)
        result = check_rank(c, s);
    if (result != EXIT_GOOD)
        return result;
    if (option_is_given(c, s, "bad-max") && strcmp(s->bad, "fail") == 0)
        fault = "--bad-max is for --bad=skip and --bad=replace: with fail the first one ends it";
    else if (option_is_given(c, s, "bad-max") && s->bad_max == 0)
        fault = "--bad-max cannot be 0: --bad=fail ends with the first one";
    else if (s->timeout_ns == 0)
        fault = "--timeout cannot be 0: without it nothing would end a wait for a dead disk";
    else if (is_kept(s) && (strcmp(s->sink, "npy") == 0 || strcmp(s->sink, "raw") == 0))
        fault = "--keep=device leaves batches on the device, and --sink=npy and raw write those of the host";
    else if (option_is_given(c, s, "max-batches") && s->max_batches == 0)
        fault = "--max-batches cannot be 0";
    if (fault != NULL)
        complain(NULL, "feed: %s", fault);
    return fault == NULL ? EXIT_GOOD : EXIT_USAGE;
}

/* A number, alone on its line. */
static bool read_weight(const char *line, double *out)
{
    char *end;
    *out = strtod(line, &end);
    return end != line && end[strspn(end, " \t\r")] == '\n' && isfinite(*out) && *out >= 0;
}

static int read_lines(feeding *f, FILE *file, uint64_t samples)
{
    const char *name = f->s->weights;
    char line[WEIGHT_NBYTES + 2]; /* the last line may lack its end */
    uint64_t count = 0;
    double weight;
    while (fgets(line, WEIGHT_NBYTES, file) != NULL) {
        size_t length = strlen(line);
        if (feof(file) && length > 0 && line[length - 1] != '\n')
            memcpy(line + length, "\n", 2);
        if (!read_weight(line, &weight))
            return failed(f->s, MR_EARGUMENT, name, "line %" PRIu64 " is no number from 0 up", count + 1);
        if (count < samples)
            f->weights[count] = weight;
        count++;
    }
    if (ferror(file))
        return failed(f->s, MR_EIO, name, "%s", strerror(errno));
    if (count != samples)
        return failed(f->s, MR_EARGUMENT, name,
                      "has %" PRIu64 " line%s, but %s has %" PRIu64 " samples: it takes a number for each", count,
                      count == 1 ? "" : "s", f->src.name, samples);
    return EXIT_GOOD;
}

static int read_weights(feeding *f)
{
    uint64_t samples = f->src.info.samples;
    if (f->s->weights == NULL)
        return EXIT_GOOD;
    int fd = open(f->s->weights, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* of a pipe nobody is waited for */
    FILE *file = fd >= 0 && fcntl(fd, F_SETFL, 0) == 0 ? fdopen(fd, "r") : NULL;
    if (file == NULL)
        return failed(f->s, MR_EIO, f->s->weights, "%s", strerror(errno));
    f->weights = calloc(samples + 1, sizeof *f->weights);
    int result = f->weights != NULL ? read_lines(f, file, samples)
                                    : failed(f->s, MR_ENOMEM, f->s->weights, "%s", mr_error_text(MR_ENOMEM));
    fclose(file);
    return result;
}

static mr_bad_policy bad_of(const settings *s)
{
    return strcmp(s->bad, "skip") == 0 ? MR_BAD_SKIP : strcmp(s->bad, "replace") == 0 ? MR_BAD_REPLACE : MR_BAD_FAIL;
}

static mr_reading reading_of(const settings *s)
{
    return strcmp(s->reading, "threads") == 0  ? MR_READ_THREADS
           : strcmp(s->reading, "direct") == 0 ? MR_READ_DIRECT
           : strcmp(s->reading, "ahead") == 0  ? MR_READ_AHEAD
                                               : MR_READ_AUTO;
}

/* Tasks to be remembered: those of the run, if it is not too long to be looked at; some are done more than once. */
static uint64_t trace_of(const feeding *f)
{
    const settings *s = f->s;
    uint64_t most = UINT64_C(1) << 18, batches = f->src.info.samples / s->batch + 1;
    if (s->trace == NULL)
        return 0;
    if (s->epochs != 0 && s->epochs < most && batches < most)
        batches *= s->epochs;
    else
        batches = most;
    if (s->max_batches != 0 && s->max_batches < batches)
        batches = s->max_batches + s->slots; // of which some are begun, and not waited for
    return batches < most / s->batch / 2 ? 2 * (batches + 1) * s->batch : most;
}

int feed_options(const command *c, feeding *f, mr_loader_options *out)
{
    const settings *s = f->s;
    uint32_t form;
    if (s->form != NULL && strchr(s->form, '+') == NULL &&
        !source_form(&f->src, s, &form)) // several: the loader's to check
        return EXIT_BAD_INPUT;
    int result = read_weights(f);
    *out = (mr_loader_options){
        .struct_size = sizeof *out,
        .batch = s->batch,
        .seed = s->seed,
        .epoch = s->epoch,
        .epochs = s->epochs,
        .order = order_of(c, s),
        .block = s->block,
        .window = s->window,
        .weights = f->weights,
        .draws = s->draws,
        .repeats = s->repeats,
        .has_rank = option_is_given(c, s, "rank"),
        .rank = s->rank,
        .world = s->world,
        .drop_last = s->drop_last,
        .form = s->form,
        .threads = s->threads,
        .slots = option_is_given(c, s, "slots") ? s->slots : 0, // as many as the memory allows
        .memory_nbytes = s->memory_nbytes,
        .reading = reading_of(s),
        .read_depth = s->read_depth,
        .check_all = s->check_all,
        .pinning = s->pin ? MR_PIN_CORES : MR_PIN_NONE,
        .has_numa_node = option_is_given(c, s, "numa"),
        .numa_node = s->numa_node,
        .bad = bad_of(s),
        .bad_max = s->bad_max,
        .quarantine = s->quarantine,
        .timeout_ns = s->timeout_ns,
        .device = s->device,
        .device_memory_nbytes = s->device_memory_nbytes,
        .keep = is_kept(s) ? MR_KEEP_DEVICE : MR_KEEP_HOST,
        .policy = s->policy,
        .beside = s->beside,
        .trace = trace_of(f),
        .targets = s->targets != NULL ? targets_of(s->targets) : 0,
        .mask_member = s->mask_member,
        .share = s->share,
    };
    return result;
}
