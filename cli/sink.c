// SPDX-License-Identifier: Apache-2.0
#include "sink.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of NumPy's begins with its magic, a version, and the length of a dictionary that ends at a multiple of 64. */
enum { NPY_HEAD_NBYTES = 192, NPY_MAGIC_NBYTES = 10, NPY_ALIGNMENT = 64, CHUNK_NBYTES = 1 << 20 };

static bool is_piped(const settings *s)
{
    return s->out != NULL && strcmp(s->out, "-") == 0;
}

int sink_check(const settings *s)
{
    bool npy = strcmp(s->sink, "npy") == 0, raw = strcmp(s->sink, "raw") == 0;
    const char *fault = NULL;
    if (!npy && !raw && s->out != NULL)
        fault = "--out is for --sink=npy and --sink=raw: the others write nothing";
    else if (npy && s->out == NULL)
        fault = "--sink=npy needs a folder: --out=DIR";
    else if (raw && s->out == NULL)
        fault = "--sink=raw needs a file: --out=FILE (- is standard output)";
    else if (npy && is_piped(s))
        fault = "--sink=npy writes files into a folder, and not to standard output";
    else if (is_piped(s) && s->json)
        fault = "--json and the images cannot both go to standard output: --out=FILE";
    else if (is_piped(s) && !s->force && isatty(STDOUT_FILENO))
        fault = "standard output is a terminal, which cannot show a batch; redirect it, or --out=FILE (--force writes "
                "all the same)";
    if (fault != NULL)
        complain(NULL, "feed: %s", fault);
    return fault == NULL ? EXIT_GOOD : EXIT_USAGE;
}

static const char *name_of_out(const sink *k)
{
    return strcmp(k->out, "-") == 0 ? "standard output" : k->out;
}

static bool refuse(sink *k, const char *name, int error)
{
    if (error != EPIPE && k->fault[0] == '\0') /* whoever closed the pipe knows it */
        snprintf(k->fault, sizeof k->fault, "%s: %s", name,
                 error == EEXIST ? "is there already; --force replaces it" : strerror(error));
    return false;
}

static bool open_folder(sink *k)
{
    if ((mkdir(k->out, 0777) != 0 && errno != EEXIST) || (k->fd = open(k->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return refuse(k, k->out, errno == EEXIST ? ENOTDIR : errno);
    tree_init(&k->files, k->fd, k->rank);
    return true;
}

/* What is there and no regular file, a pipe or a device, is written to as it is. */
static bool open_file(sink *k)
{
    struct stat status;
    bool piped = strcmp(k->out, "-") == 0, special = !piped && stat(k->out, &status) == 0 && !S_ISREG(status.st_mode);
    int flags = special ? 0 : k->replace ? O_CREAT | O_TRUNC : O_CREAT | O_EXCL;
    k->fd = piped ? STDOUT_FILENO : open(k->out, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
    if (k->fd < 0)
        return refuse(k, k->out, errno);
    k->regular = fstat(k->fd, &status) == 0 && S_ISREG(status.st_mode);
    return true;
}

bool sink_open(sink *k, const settings *s, const mr_loader_stats *stats, int signals)
{
    static const char *const names[] = {"null", "hash", "npy", "raw"};
    *k = (sink){.out = s->out,
                .replace = s->force,
                .many = stats->world > 1,
                .rank = stats->rank,
                .signals = signals,
                .fd = -1};
    for (int kind = SINK_NULL; kind <= SINK_RAW; kind++)
        if (strcmp(s->sink, names[kind]) == 0)
            k->kind = kind;
    return k->kind == SINK_NPY ? open_folder(k) : k->kind == SINK_RAW ? open_file(k) : true;
}

static bool take_hash(sink *k, const mr_batch *batch)
{
    if (k->count == 0 || k->epochs[k->count - 1].epoch != batch->epoch) {
        size_t capacity = k->capacity * 2 + 16;
        epoch_sum *epochs = k->count < k->capacity ? k->epochs : realloc(k->epochs, capacity * sizeof *epochs);
        if (epochs == NULL)
            return refuse(k, "feed", ENOMEM);
        k->capacity = k->count < k->capacity ? k->capacity : capacity;
        k->epochs = epochs;
        k->epochs[k->count++] = (epoch_sum){.epoch = batch->epoch};
    }
    k->epochs[k->count - 1].hash += mr_batch_hash(batch);
    k->epochs[k->count - 1].samples += batch->count;
    return true;
}

/* One array: what it is, and where it is. */
typedef struct array {
    char head[NPY_HEAD_NBYTES];
    size_t head_nbytes;
    const void *values;
    size_t nbytes;
} array;

static void make_head(array *a, const char *type, const char *shape)
{
    char words[NPY_HEAD_NBYTES - NPY_MAGIC_NBYTES];
    int length = snprintf(words, sizeof words, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    size_t whole = NPY_MAGIC_NBYTES + (size_t)length + 1;
    whole = (whole + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    size_t rest = whole - NPY_MAGIC_NBYTES;
    memset(a->head, ' ', sizeof a->head);
    memcpy(a->head, "\x93NUMPY\x01\x00", 8);
    a->head[8] = (char)(rest & 0xff);
    a->head[9] = (char)(rest >> 8);
    memcpy(a->head + NPY_MAGIC_NBYTES, words, (size_t)length);
    a->head[whole - 1] = '\n';
    a->head_nbytes = whole;
}

/* NumPy has no bf16: its bits are given as whole numbers. */
static const char *type_of(mr_dtype dtype)
{
    return dtype == MR_U8 ? "|u1" : dtype == MR_F32 ? "<f4" : dtype == MR_F16 ? "<f2" : "<u2";
}

static void make_images(array *a, const mr_batch *batch)
{
    const mr_output *o = &batch->output;
    char shape[64];
    bool planes = o->layout == MR_NCHW;
    snprintf(shape, sizeof shape, "%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32, batch->count,
             planes ? o->channels : o->height, planes ? o->height : o->width, planes ? o->width : o->channels);
    make_head(a, type_of(o->dtype), shape);
    a->values = batch->images;
    a->nbytes = (size_t)batch->count * o->sample_nbytes;
}

/* A number for each sample. */
static void make_list(array *a, const mr_batch *batch, const char *type, const void *values, size_t nbytes)
{
    char shape[16];
    snprintf(shape, sizeof shape, "%" PRIu32 ",", batch->count);
    make_head(a, type, shape);
    a->values = values;
    a->nbytes = (size_t)batch->count * nbytes;
}

static void put_array(FILE *stream, void *user)
{
    const array *a = user;
    fwrite(a->head, 1, a->head_nbytes, stream);
    fwrite(a->values, 1, a->nbytes, stream);
}

static bool write_array(sink *k, const mr_batch *batch, array *a, const char *ending)
{
    char name[96], path[PATH_MAX], rank[24] = "";
    if (k->many)
        snprintf(rank, sizeof rank, "-rank%04" PRIu32, k->rank);
    /* By position, which is the same whatever the size of batches was before a resume. */
    snprintf(name, sizeof name, "epoch%04" PRIu64 "-position%09" PRIu64 "%s%s.npy", batch->epoch, batch->position, rank,
             ending);
    int error = tree_write_stream(&k->files, name, put_array, a, k->replace);
    k->written_files += error == 0;
    k->written_nbytes += error == 0 ? a->head_nbytes + a->nbytes : 0;
    snprintf(path, sizeof path, "%.*s/%s", (int)(sizeof path - sizeof name - 2), k->out, name);
    return error == 0 || refuse(k, path, error);
}

static bool take_arrays(sink *k, const mr_batch *batch)
{
    array a;
    if (k->written_files == 0 && batch->output.dtype == MR_BF16)
        remark(NULL, "NumPy has no bf16: the files hold its bits as <u2");
    make_images(&a, batch);
    if (!write_array(k, batch, &a, ""))
        return false;
    make_list(&a, batch, "<i8", batch->labels, sizeof *batch->labels);
    if (!write_array(k, batch, &a, ".labels"))
        return false;
    make_list(&a, batch, "<u8", batch->ordinals, sizeof *batch->ordinals);
    if (!write_array(k, batch, &a, ".ordinals"))
        return false;
    make_list(&a, batch, "|u1", batch->mask, sizeof *batch->mask);
    return write_array(k, batch, &a, ".mask");
}

/* Whether the next bytes can be written at once; false: Ctrl-C came before whoever reads did. */
static bool wait_for_reader(const sink *k)
{
    struct pollfd fds[] = {{.fd = k->fd, .events = POLLOUT}, {.fd = k->signals, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return fds[0].revents != 0 || (fds[1].revents & POLLIN) == 0;
}

static bool take_bytes(sink *k, const mr_batch *batch)
{
    const char *p = batch->images;
    size_t left = (size_t)batch->count * batch->output.sample_nbytes, most = k->regular ? CHUNK_NBYTES : PIPE_BUF;
    while (left != 0) {
        if (!k->regular && !wait_for_reader(k))
            return false;
        ssize_t done = write(k->fd, p, left < most ? left : most);
        if (done < 0 && errno != EINTR)
            return refuse(k, name_of_out(k), errno);
        if (done > 0) {
            p += done;
            left -= (size_t)done;
            k->written_nbytes += (uint64_t)done;
        }
    }
    return true;
}

bool sink_take(sink *k, const mr_batch *batch)
{
    switch (k->kind) {
    case SINK_HASH:
        return take_hash(k, batch);
    case SINK_NPY:
        return take_arrays(k, batch);
    case SINK_RAW:
        return take_bytes(k, batch);
    case SINK_NULL:
        break;
    }
    return true;
}

bool sink_close(sink *k)
{
    bool good = true;
    if (k->kind == SINK_NPY && k->fd >= 0)
        tree_fini(&k->files);
    if (k->fd > STDERR_FILENO && close(k->fd) != 0)
        good = refuse(k, name_of_out(k), errno);
    k->fd = -1;
    free(k->epochs);
    k->epochs = NULL;
    return good;
}
