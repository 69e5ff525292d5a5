// SPDX-License-Identifier: Apache-2.0
/* The file of a board: found or made, joined, left, removed. */
#define _GNU_SOURCE // F_OFD_SETLK
#include "device/cpu/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, SWEPT_MAX = 256 };

static const char SUFFIX[] = ".board";

static bool is_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strspn(name, allowed);
    return length > 0 && length < MR__BOARD_NAME_NBYTES && name[length] == '\0' && name[0] != '.';
}

/*
 * The same folder for all jobs of a user, so that those with and without a login session meet: /dev/shm; a runtime
 * folder, which only sessions have, where there is no such.
 */
static const char *folder_of(const mr__board_options *o)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (o->folder != NULL)
        return o->folder;
    return access("/dev/shm", W_OK) == 0 || runtime == NULL || runtime[0] != '/' ? "/dev/shm" : runtime;
}

static void begin_of_name(char *text, size_t nbytes)
{
    snprintf(text, nbytes, "millrace-%u-", (unsigned)geteuid());
}

static int name_file(mr__board *b, const mr__board_options *o, mr__detail *detail)
{
    char begin[32];
    if (o->name == NULL || !is_name(o->name))
        return mr__fail(detail, MR_EARGUMENT,
                        "the name of a group that shares cores is 1 to %d letters, digits and \"._-\", and begins with "
                        "no dot",
                        MR__BOARD_NAME_NBYTES - 1);
    begin_of_name(begin, sizeof begin);
    int length = snprintf(b->path, sizeof b->path, "%s/%s%s%s", folder_of(o), begin, o->name, SUFFIX);
    if (length < 0 || (size_t)length >= sizeof b->path)
        return mr__fail(detail, MR_EARGUMENT, "the folder for boards has a path that is too long");
    return 0;
}

/* Whether the file that is open is a plain one of this user's, which nobody else can write, and still of that name. */
static bool is_ours(int fd, const char *path, bool *moved)
{
    struct stat open_one, named;
    *moved = false;
    if (fstat(fd, &open_one) != 0 || !S_ISREG(open_one.st_mode) || open_one.st_uid != geteuid() ||
        (open_one.st_mode & 077) != 0 || open_one.st_nlink > 1)
        return false;
    *moved = lstat(path, &named) != 0 || named.st_dev != open_one.st_dev || named.st_ino != open_one.st_ino;
    return true;
}

static bool has_members(int fd)
{
    return mr__byte_is_locked(fd, MR__LOCK_ALIVE, MR__BOARD_MEMBERS + 1);
}

/* Opens the file and gets its decision lock. The file that is locked is the one of that name: not one just removed. */
static int open_file(mr__board *b, mr__detail *detail)
{
    for (int i = 0; i < TRIES; i++) {
        bool moved;
        b->fd = open(b->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (b->fd < 0)
            return mr__fail(detail, MR_EIO, "%.150s cannot be made, where jobs share cores: %s", b->path,
                            mr__errno_text(errno).text);
        if (!mr__board_lock(b, true))
            return mr__fail(detail, MR_ETIMEOUT,
                            "%.150s has been locked for seconds: a job of the group is stopped (SIGSTOP); continue or "
                            "kill it",
                            b->path);
        bool ours = is_ours(b->fd, b->path, &moved);
        if (ours && !moved)
            return 0;
        mr__board_unlock(b);
        close(b->fd);
        b->fd = -1;
        if (!ours && !moved)
            return mr__fail(detail, MR_EARGUMENT,
                            "%.150s is not a file of this user alone: remove it, or share under another name", b->path);
    }
    return mr__fail(detail, MR_EIO, "%.150s is removed as soon as it is made", b->path);
}

/*
 * By a description of its own: a mapping is held for a while by anybody who reads this process in /proc, also when it
 * is dead, and locks would be held as long.
 */
static void *map_named(const mr__board *b)
{
    struct stat locked, mapped;
    int fd = open(b->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool same = fd >= 0 && fstat(fd, &mapped) == 0 && fstat(b->fd, &locked) == 0 && mapped.st_dev == locked.st_dev &&
                mapped.st_ino == locked.st_ino;
    void *at = same ? mmap(NULL, sizeof *b->file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    return at;
}

/* What a killed job left is begun anew, when nobody is there who could mind. */
static int map_file(mr__board *b, mr__detail *detail)
{
    bool fresh = !has_members(b->fd);
    struct stat st;
    if (fresh && (ftruncate(b->fd, 0) != 0 || ftruncate(b->fd, sizeof *b->file) != 0))
        return mr__fail(detail, MR_EIO, "%.150s: %s", b->path, mr__errno_text(errno).text);
    if (fstat(b->fd, &st) != 0 || st.st_size != sizeof *b->file)
        return mr__fail(detail, MR_EUNSUPPORTED,
                        "%.150s has %lld bytes, not %zu: another version of Millrace shares cores under this name",
                        b->path, (long long)st.st_size, sizeof *b->file);
    void *mapped = map_named(b);
    if (mapped == MAP_FAILED)
        return mr__fail(detail, MR_EIO, "%.150s cannot be mapped: %s", b->path, mr__errno_text(errno).text);
    b->file = mapped;
    if (fresh) {
        b->file->magic = MR__BOARD_MAGIC;
        b->file->version = MR__BOARD_VERSION;
        b->file->nbytes = sizeof *b->file;
    }
    if (b->file->magic != MR__BOARD_MAGIC || b->file->version != MR__BOARD_VERSION ||
        b->file->nbytes != sizeof *b->file)
        return mr__fail(detail, MR_EUNSUPPORTED, "%.150s is no board of version %d: share under another name", b->path,
                        MR__BOARD_VERSION);
    return 0;
}

static int take_place(mr__board *b, mr__detail *detail)
{
    for (uint32_t i = 1; i <= MR__BOARD_MEMBERS; i++) {
        mr__board_member *m = &b->file->members[i - 1];
        if (atomic_load(&m->used) != 0 || !mr__byte_lock(b->fd, MR__LOCK_ALIVE + (off_t)i))
            continue;
        mr__board_strike(b->file, i); // what was written for it before
        atomic_store(&m->known, 0);
        atomic_store(&m->reserve, MR__BOARD_IDLE);
        atomic_store(&m->pid, getpid());
        b->number = i;
        return 0;
    }
    return mr__fail(detail, MR_ELIMIT, "the group has %d loaders already: share under another name", MR__BOARD_MEMBERS);
}

/* Whether a core of that processor is on the board. */
static bool is_named(const mr__board_file *file, int processor)
{
    for (uint32_t i = 0; i < MR__BOARD_CORES; i++)
        if (atomic_load(&file->cores[i].home) != 0 && atomic_load(&file->cores[i].processor) == processor)
            return true;
    return false;
}

/* Which processor the nth core is: one that nobody has brought, if there is such. -1: any. */
static int choose_processor(const mr__board *b, const mr__board_options *o, uint32_t n)
{
    for (uint32_t i = 0; i < o->processor_count; i++)
        if (!is_named(b->file, o->processors[i]))
            return o->processors[i];
    return o->processor_count != 0 ? o->processors[n % o->processor_count] : -1;
}

static uint32_t socket_of(int processor)
{
    char path[96];
    unsigned socket = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", processor);
    FILE *file = processor >= 0 ? fopen(path, "re") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%u", &socket) != 1)
            socket = 0;
        fclose(file);
    }
    return socket;
}

static int bring_cores(mr__board *b, const mr__board_options *o, mr__detail *detail)
{
    for (uint32_t i = 0; i < MR__BOARD_CORES && b->own < o->cores; i++) {
        mr__board_core *c = &b->file->cores[i];
        off_t at = MR__LOCK_CORE + (off_t)i;
        if (atomic_load(&c->home) != 0 || !mr__byte_lock(b->fd, at))
            continue; // somebody's; or a late borrower still has what was somebody's
        mr__byte_unlock(b->fd, at);
        int processor = choose_processor(b, o, b->own);
        atomic_store(&c->to, 0);
        atomic_store(&c->until_ns, 0);
        atomic_store(&c->lent_ns, 0);
        atomic_store(&c->processor, processor);
        atomic_store(&c->socket, socket_of(processor));
        atomic_store(&c->home, b->number);
        if (atomic_load(&b->file->top) <= i)
            atomic_store(&b->file->top, i + 1);
        b->own++;
    }
    return b->own == o->cores ? 0
                              : mr__fail(detail, MR_ELIMIT, "the group has %d cores already: share under another name",
                                         MR__BOARD_CORES);
}

/* Removes a board that no living member has. */
static void sweep_one(const char *path)
{
    bool moved;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (is_ours(fd, path, &moved) && !moved && !has_members(fd) && mr__byte_lock(fd, MR__LOCK_DECIDE)) {
        if (is_ours(fd, path, &moved) && !moved && !has_members(fd))
            (void)unlink(path);
        mr__byte_unlock(fd, MR__LOCK_DECIDE);
    }
    close(fd);
}

/* Other groups whose last job was killed have left theirs. */
static void sweep(const mr__board *b, const char *folder)
{
    char begin[32], path[MR__BOARD_PATH_NBYTES];
    begin_of_name(begin, sizeof begin);
    DIR *list = opendir(folder);
    struct dirent *entry;
    for (int seen = 0; list != NULL && seen < SWEPT_MAX && (entry = readdir(list)) != NULL;) {
        size_t length = strlen(entry->d_name), end = sizeof SUFFIX - 1;
        if (strncmp(entry->d_name, begin, strlen(begin)) != 0 || length < end ||
            strcmp(entry->d_name + length - end, SUFFIX) != 0)
            continue;
        seen++;
        int made = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (made > 0 && (size_t)made < sizeof path && strcmp(path, b->path) != 0)
            sweep_one(path);
    }
    if (list != NULL)
        closedir(list);
}

/* Also of one that is half made. */
static void free_board(mr__board *b)
{
    const mr_hooks *hooks = b->hooks;
    if (b->file != NULL)
        munmap(b->file, sizeof *b->file);
    if (b->fd >= 0)
        close(b->fd);
    if (b->event >= 0)
        close(b->event);
    if (b->ready)
        mr__mutex_fini(&b->mutex);
    mr__free(hooks, b);
}

/* The decision lock is held. Nothing of it stays, where nobody else is left. */
static void go(mr__board *b)
{
    if (b->number != 0) {
        mr__board_strike(b->file, b->number);
        mr__byte_unlock(b->fd, MR__LOCK_ALIVE + (off_t)b->number); // so that of two who go, one is the last
    }
    if (!has_members(b->fd))
        (void)unlink(b->path);
    mr__board_unlock(b);
    if (b->number != 0 && atomic_load(&b->file->again) != 0)
        mr__board_ring_all(b->file); // somebody wanted to decide meanwhile: they do
}

int mr__board_join(const mr__board_options *o, mr__board **out, mr__detail *detail)
{
    mr__board *b = mr__alloc_zero(o->hooks, sizeof *b);
    if (b == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for shared cores");
    b->hooks = o->hooks;
    b->judge = o->judge;
    b->judge_user = o->judge_user;
    b->fd = b->event = -1;
    int result = name_file(b, o, detail);
    b->ready = result == 0 && mr__mutex_init(&b->mutex) == 0;
    if (result == 0 && !b->ready)
        result = mr__fail(detail, MR_ESYSTEM, "the system has no mutex to give");
    if (result == 0)
        result = open_file(b, detail);
    if (result != 0) {
        free_board(b);
        return result;
    }
    result = map_file(b, detail);
    if (result == 0) {
        mr__board_bury(b);
        result = take_place(b, detail);
    }
    if (result == 0)
        result = bring_cores(b, o, detail);
    if (result != 0) {
        go(b);
        free_board(b);
        return result;
    }
    atomic_store(&b->file->members[b->number - 1].used, 1);
    atomic_fetch_add(&b->file->joined, 1); // after it is there to be seen
    mr__board_ring_all(b->file);
    mr__board_unlock(b);
    if (atomic_load(&b->file->again) != 0)
        mr__board_ring_all(b->file);
    sweep(b, folder_of(o));
    *out = b;
    return 0;
}

void mr__board_leave(mr__board *b)
{
    if (b == NULL)
        return;
    mr__board_deafen(b);
    if (mr__board_lock(b, true)) // else whoever decides next finds that it is gone
        go(b);
    free_board(b);
}

void mr__board_abandon(mr__board *b)
{
    mr__board_deafen(b);
    free_board(b);
}
