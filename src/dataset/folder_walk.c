// SPDX-License-Identifier: Apache-2.0
/*
 * Invariants
 * 1. A folder's names are read by one thread, before its images' sizes are asked for: the pool's wait stands between.
 *    A chunk of them is written by one thread until it is done, and only then read.
 * 2. A folder's time is taken before its names are read: what comes later makes another time, for a folder that
 *    changed a moment ago is read only once the clock of its file system has moved on.
 * 3. No folder is read inside of itself.
 */
#define _GNU_SOURCE // statx, getdents64
#include "dataset/folder_walk.h"

#include "base/hash.h"
#include "base/size.h"
#include "dataset/folder_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_NBYTES = 1 << 16,
    SETTLED_NS = 10000000, /* a tick of the kernel, by which file systems tell time, is 10 ms at most */
    JOBS = 256,
    AHEAD = 128 /* chunks of sizes that are asked for before they are needed */
};

static const char own_name[] = ".millrace.mrx"; /* and what it is called while it is written */

static int64_t stamp(struct statx_timestamp time)
{
    return (int64_t)((uint64_t)time.tv_sec * 1000000000u + time.tv_nsec);
}

int mr__walk_stat(int folder_fd, const char *name, uint64_t *nbytes, int64_t *mtime_ns)
{
    struct statx status;
    if (statx(folder_fd, name, 0, STATX_TYPE | STATX_SIZE | STATX_MTIME, &status) != 0)
        return errno;
    if (!S_ISREG(status.stx_mode))
        return S_ISDIR(status.stx_mode) ? EISDIR : ESPIPE;
    *nbytes = status.stx_size;
    *mtime_ns = stamp(status.stx_mtime);
    return 0;
}

bool mr__walk_folder_time(int folder_fd, const char *path, int64_t *mtime_ns)
{
    struct statx status;
    if (statx(folder_fd, path, *path == '\0' ? AT_EMPTY_PATH : 0, STATX_TYPE | STATX_MTIME, &status) != 0)
        return false;
    *mtime_ns = stamp(status.stx_mtime);
    return S_ISDIR(status.stx_mode);
}

mr__walk_folder *mr__walk_folder_at(const mr__walk *walk, size_t number)
{
    mr__walk_folder *folder;
    memcpy(&folder, walk->folders.bytes + number * sizeof folder, sizeof folder);
    return folder;
}

static int add_folder(mr__walk *walk, int64_t parent, const char *name)
{
    const mr_hooks *hooks = walk->options->hooks;
    const char *above = parent > 0 ? mr__walk_folder_at(walk, (size_t)parent)->path : "";
    size_t used = walk->folder_count * sizeof(void *), first = strlen(above), last = strlen(name);
    if (walk->folder_count == MR__WALK_FOLDER_MAX)
        return MR_ELIMIT;
    if (mr__buffer_grow(&walk->folders, hooks, used, used + sizeof(void *)) != 0)
        return MR_ENOMEM;
    mr__walk_folder *folder = mr__alloc_zero(hooks, sizeof *folder + first + last + 2);
    if (folder == NULL)
        return MR_ENOMEM;
    folder->walk = walk;
    folder->parent = parent;
    folder->path = (char *)(folder + 1);
    memcpy(folder->path, above, first);
    if (first != 0)
        folder->path[first++] = '/';
    memcpy(folder->path + first, name, last + 1);
    memcpy(walk->folders.bytes + used, &folder, sizeof folder);
    walk->folder_count++;
    return 0;
}

static int append(mr__buffer *to, const mr_hooks *hooks, size_t used, const void *bytes, size_t nbytes)
{
    size_t wanted;
    if (!mr__size_add(used, nbytes, &wanted) || mr__buffer_grow(to, hooks, used, wanted) != 0)
        return MR_ENOMEM;
    memcpy(to->bytes + used, bytes, nbytes);
    return 0;
}

/* Keeps a name; *at is where it stands. */
static int keep_name(mr__walk_folder *folder, const char *name, uint32_t *at)
{
    size_t nbytes = strlen(name) + 1;
    if (nbytes > UINT32_MAX - folder->names_nbytes)
        return MR_ELIMIT;
    *at = (uint32_t)folder->names_nbytes;
    int code = append(&folder->names, folder->walk->options->hooks, folder->names_nbytes, name, nbytes);
    if (code == 0)
        folder->names_nbytes += nbytes;
    return code;
}

static int keep_folder(mr__walk_folder *folder, const char *name)
{
    uint32_t at;
    int code = keep_name(folder, name, &at);
    if (code == 0)
        code = append(&folder->folders, folder->walk->options->hooks, folder->folder_count * sizeof at, &at, sizeof at);
    folder->folder_count += code == 0;
    return code;
}

static int keep_file(mr__walk_folder *folder, const char *name)
{
    mr_form form;
    mr__walk_file file = {0};
    if (!mr__name_is_image(name, &form))
        return 0;
    file.form = (uint8_t)form;
    int code = keep_name(folder, name, &file.name);
    if (code == 0)
        code =
            append(&folder->files, folder->walk->options->hooks, folder->file_count * sizeof file, &file, sizeof file);
    folder->file_count += code == 0;
    return code;
}

/* A link, and an entry whose kind the file system does not tell, is what it leads to. */
static bool is_folder(int fd, const struct dirent64 *entry)
{
    struct statx status;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return statx(fd, entry->d_name, 0, STATX_TYPE, &status) == 0 && S_ISDIR(status.stx_mode);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static uint64_t hash_name(const char *name, bool folder)
{
    if (strncmp(name, own_name, sizeof own_name - 1) == 0)
        return 0;
    return mr__hash_seeded(name, strlen(name), folder);
}

typedef int visit(void *user, const char *name, bool folder);

/* Calls `each` for all entries; 0, an errno, or (below 0) what `each` returned. */
static int for_entries(int fd, void *buffer, size_t buffer_nbytes, visit *each, void *user)
{
    for (;;) {
        ssize_t got = getdents64(fd, buffer, buffer_nbytes);
        if (got <= 0)
            return got < 0 ? errno : 0;
        for (size_t at = 0; at < (size_t)got;) {
            const struct dirent64 *entry = (const struct dirent64 *)((const char *)buffer + at);
            at += entry->d_reclen;
            int result = is_dots(entry->d_name) ? 0 : each(user, entry->d_name, is_folder(fd, entry));
            if (result != 0)
                return result;
        }
    }
}

static int keep_entry(void *user, const char *name, bool is_a_folder)
{
    mr__walk_folder *folder = user;
    if (folder->parent == MR__WALK_NO_PARENT)
        folder->names_hash += hash_name(name, is_a_folder); /* a sum: in whatever order they come */
    if (mr__folder_stopped(folder->walk->options))
        return MR_ECLOSED;
    return is_a_folder ? keep_folder(folder, name) : keep_file(folder, name);
}

static int add_hash(void *user, const char *name, bool is_a_folder)
{
    *(uint64_t *)user += hash_name(name, is_a_folder);
    return 0;
}

int mr__walk_root_names(int root_fd, void *buffer, size_t buffer_nbytes, uint64_t *names_hash)
{
    *names_hash = 0;
    int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int result = for_entries(fd, buffer, buffer_nbytes, add_hash, names_hash);
    close(fd);
    return result;
}

/* Invariant 2. */
static int look_at_folder(mr__walk_folder *folder, int fd)
{
    for (int tries = 0; tries < 2; tries++) {
        struct statx status;
        struct timespec now, pause = {.tv_nsec = SETTLED_NS};
        if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MTIME, &status) != 0)
            return errno;
        folder->device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
        folder->number = status.stx_ino;
        folder->mtime_ns = stamp(status.stx_mtime);
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - folder->mtime_ns;
        if (age < 0 || age > SETTLED_NS)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static bool is_inside_itself(const mr__walk_folder *folder)
{
    for (int64_t above = folder->parent; above != MR__WALK_NO_PARENT;) {
        const mr__walk_folder *other = mr__walk_folder_at(folder->walk, (size_t)above);
        if (other->device == folder->device && other->number == folder->number)
            return true;
        above = other->parent;
    }
    return false;
}

static int order_files(const void *context, uint32_t a, uint32_t b)
{
    const mr__walk_folder *folder = context;
    const mr__walk_file *files = mr__walk_files(folder);
    return mr__name_compare(mr__walk_name(folder, files[a].name), mr__walk_name(folder, files[b].name));
}

static int sort_files(mr__walk_folder *folder)
{
    const mr_hooks *hooks = folder->walk->options->hooks;
    size_t count = folder->file_count;
    mr__buffer order = {0}, sorted = {0};
    if (count < 2 || count > UINT32_MAX)
        return count < 2 ? 0 : MR_ELIMIT;
    int code = mr__buffer_reserve(&order, hooks, count * 2 * sizeof(uint32_t));
    if (code == 0)
        code = mr__buffer_reserve(&sorted, hooks, count * sizeof(mr__walk_file));
    if (code == 0) {
        uint32_t *numbers = (uint32_t *)order.bytes;
        mr__walk_file *to = (mr__walk_file *)sorted.bytes;
        for (size_t i = 0; i < count; i++)
            numbers[i] = (uint32_t)i;
        mr__name_sort(numbers, numbers + count, count, order_files, folder);
        for (size_t i = 0; i < count; i++)
            to[i] = mr__walk_files(folder)[numbers[i]];
        mr__buffer before = folder->files;
        folder->files = sorted;
        sorted = before;
    }
    mr__buffer_fini(&order, hooks);
    mr__buffer_fini(&sorted, hooks);
    return code;
}

static int read_entries(mr__walk_folder *folder, int fd)
{
    const mr_hooks *hooks = folder->walk->options->hooks;
    void *buffer = mr__alloc(hooks, READ_NBYTES);
    if (buffer == NULL)
        return MR_ENOMEM;
    int result = for_entries(fd, buffer, READ_NBYTES, keep_entry, folder);
    mr__free(hooks, buffer);
    return result;
}

static void read_folder(void *arg, size_t worker)
{
    mr__walk_folder *folder = arg;
    int result = 0;
    (void)worker;
    if (mr__folder_stopped(folder->walk->options)) {
        folder->code = MR_ECLOSED;
        return;
    }
    int fd =
        openat(folder->walk->root_fd, folder->path[0] != '\0' ? folder->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        folder->error = errno;
        return;
    }
    result = look_at_folder(folder, fd);
    folder->circle = result == 0 && is_inside_itself(folder);
    if (result == 0 && !folder->circle)
        result = read_entries(folder, fd);
    close(fd);
    if (result == 0)
        result = sort_files(folder);
    if (result < 0)
        folder->code = result;
    else
        folder->error = result;
}

int mr__walk_init(mr__walk *walk, const mr__folder_scan_options *options, int *error)
{
    *walk = (mr__walk){.options = options, .root_fd = -1};
    walk->root_fd = open(options->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk->root_fd < 0) {
        *error = errno;
        return MR_EIO;
    }
    return mr__pool_new(options->hooks, "scan", options->threads > 1 ? options->threads : 0, JOBS, &walk->pool);
}

static int collect(mr__walk *walk, size_t number)
{
    const mr__walk_folder *folder = mr__walk_folder_at(walk, number);
    int code = folder->code;
    for (size_t i = 0; i < folder->folder_count && code == 0; i++) {
        uint32_t name;
        memcpy(&name, folder->folders.bytes + i * sizeof name, sizeof name);
        code = add_folder(walk, (int64_t)number, mr__walk_name(folder, name));
    }
    return code;
}

int mr__walk_read(mr__walk *walk)
{
    int code = add_folder(walk, MR__WALK_NO_PARENT, "");
    for (size_t done = 0; done < walk->folder_count && code == 0;) {
        size_t end = walk->folder_count;
        for (size_t i = done; i < end && code == 0; i++)
            code = mr__pool_add(walk->pool, read_folder, mr__walk_folder_at(walk, i));
        mr__pool_wait(walk->pool);
        for (; done < end && code == 0; done++)
            code = collect(walk, done);
    }
    return code;
}

typedef struct mr__walk_chunk {
    mr__walk_folder *folder;
    size_t first, count;
    bool done; /* under the mutex of the sizes */
} mr__walk_chunk;

static void stat_files(const mr__walk_chunk *chunk)
{
    const mr__walk_folder *folder = chunk->folder;
    mr__walk_file *files = mr__walk_files(folder) + chunk->first;
    int fd =
        openat(folder->walk->root_fd, folder->path[0] != '\0' ? folder->path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    for (size_t i = 0; i < chunk->count; i++) {
        mr__walk_file *file = &files[i];
        int result = error;
        if (error == 0)
            result = mr__walk_stat(fd, mr__walk_name(folder, file->name), &file->nbytes, &file->mtime_ns);
        file->error = (uint16_t)result;
    }
    if (fd >= 0)
        close(fd);
}

static void stat_chunk(void *arg, size_t worker)
{
    mr__walk_chunk *chunk = arg;
    mr__walk *walk = chunk->folder->walk;
    const mr__folder_scan_options *options = walk->options;
    (void)worker;
    if (!mr__folder_stopped(options))
        stat_files(chunk);
    if (options->seen != NULL)
        atomic_fetch_add_explicit(options->seen, chunk->count, memory_order_relaxed);
    mr__mutex_lock(&walk->sizes.mutex);
    chunk->done = true;
    mr__condition_wake_all(&walk->sizes.news);
    mr__mutex_unlock(&walk->sizes.mutex);
}

/* How many files' sizes are wanted: of what could not be read, none. */
static size_t wanted_files(const mr__walk *walk, uint32_t number)
{
    const mr__walk_folder *folder = mr__walk_folder_at(walk, number);
    return folder->error == 0 && !folder->circle ? folder->file_count : 0;
}

static int make_chunks(mr__walk *walk, const uint32_t *order, size_t count)
{
    mr__walk_sizes *sizes = &walk->sizes;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (wanted_files(walk, order[i]) + MR__WALK_CHUNK - 1) / MR__WALK_CHUNK;
    sizes->chunks = mr__alloc_array(walk->options->hooks, total, sizeof *sizes->chunks);
    if (sizes->chunks == NULL)
        return MR_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t files = wanted_files(walk, order[i]);
        for (size_t first = 0; first < files; first += MR__WALK_CHUNK)
            sizes->chunks[sizes->count++] =
                (mr__walk_chunk){.folder = mr__walk_folder_at(walk, order[i]),
                                 .first = first,
                                 .count = files - first < MR__WALK_CHUNK ? files - first : MR__WALK_CHUNK};
    }
    return 0;
}

int mr__walk_sizes_begin(mr__walk *walk, const uint32_t *order, size_t count)
{
    mr__walk_sizes *sizes = &walk->sizes;
    int code = mr__mutex_init(&sizes->mutex);
    if (code != 0)
        return code;
    code = mr__condition_init(&sizes->news);
    if (code != 0) {
        mr__mutex_fini(&sizes->mutex);
        return code;
    }
    sizes->ready = true;
    return make_chunks(walk, order, count);
}

int mr__walk_sizes_next(mr__walk *walk)
{
    mr__walk_sizes *sizes = &walk->sizes;
    int code = 0;
    for (; sizes->added < sizes->count && sizes->added < sizes->taken + AHEAD && code == 0; sizes->added++)
        code = mr__pool_add(walk->pool, stat_chunk, &sizes->chunks[sizes->added]);
    if (code != 0)
        return code;
    mr__mutex_lock(&sizes->mutex);
    while (!sizes->chunks[sizes->taken].done)
        mr__condition_wait(&sizes->news, &sizes->mutex, MR__FOR_EVER);
    mr__mutex_unlock(&sizes->mutex);
    sizes->taken++;
    return mr__folder_stopped(walk->options) ? MR_ECLOSED : 0;
}

/* After the pool, whose threads use it. */
static void free_sizes(mr__walk *walk)
{
    mr__walk_sizes *sizes = &walk->sizes;
    mr__free(walk->options->hooks, sizes->chunks);
    if (sizes->ready) {
        mr__condition_fini(&sizes->news);
        mr__mutex_fini(&sizes->mutex);
    }
}

void mr__walk_fini(mr__walk *walk)
{
    const mr_hooks *hooks = walk->options->hooks;
    mr__pool_free(walk->pool);
    free_sizes(walk);
    for (size_t i = 0; i < walk->folder_count; i++) {
        mr__walk_folder *folder = mr__walk_folder_at(walk, i);
        mr__buffer_fini(&folder->names, hooks);
        mr__buffer_fini(&folder->files, hooks);
        mr__buffer_fini(&folder->folders, hooks);
        mr__free(hooks, folder);
    }
    mr__buffer_fini(&walk->folders, hooks);
    if (walk->root_fd >= 0)
        close(walk->root_fd);
}
