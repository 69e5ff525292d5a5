// SPDX-License-Identifier: Apache-2.0
/*
 * CPU quotas of cgroups, version 1 and 2, also both at once (hybrid). /proc/self/cgroup says where in the hierarchy
 * this process is, /proc/self/mountinfo where the hierarchy is mounted and which part of it: in a container often a
 * part only, so that the mount's root has to be taken off the front of the path. Nothing here fails: what cannot be
 * read sets no quota.
 */
#define _GNU_SOURCE // strsep, O_CLOEXEC
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines of mountinfo can be long (overlays of many layers), but not those of cgroup mounts: two paths, escaped. */
#define LINE_NBYTES (4 * PATH_MAX)

/* One hierarchy of cgroups, and what is found of it. */
typedef struct hierarchy {
    unsigned (*quota_of)(const char *folder);
    char path[PATH_MAX];   /* where in it the process is; empty when it is not in it */
    bool seen;             /* a mount shows that place */
    unsigned quota;        /* from there up to the mount */
    unsigned nearby_quota; /* of mounts that show other parts */
} hierarchy;

typedef struct mount {
    char *root; /* the part of the hierarchy that is mounted */
    char *point;
    char *type;
    char *options; /* of the superblock: for version 1, the controllers */
} mount;

/* The next line without its end; one that does not fit is passed over. */
static bool read_line(FILE *file, char *line, size_t nbytes)
{
    while (fgets(line, (int)nbytes, file) != NULL) {
        size_t length = strlen(line);
        if (length != 0 && line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return true;
        }
        if (feof(file))
            return true;
        for (int c = 0; c != '\n' && c != EOF;)
            c = getc(file);
    }
    return false;
}

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (;;) {
        size_t item = strcspn(list, ",");
        if (item == length && memcmp(list, word, length) == 0)
            return true;
        if (list[item] == '\0')
            return false;
        list += item + 1;
    }
}

/* "4:cpu,cpuacct:/user.slice" or "0::/user.slice"; the path is the rest of the line, colons and all. */
static void read_position(char *line, hierarchy *v1, hierarchy *v2)
{
    const char *id = strsep(&line, ":");
    const char *controllers = strsep(&line, ":");
    const char *path = line;
    if (controllers == NULL || path == NULL || path[0] != '/')
        return;
    hierarchy *h = NULL;
    if (strcmp(id, "0") == 0 && controllers[0] == '\0')
        h = v2;
    else if (list_has(controllers, "cpu"))
        h = v1;
    size_t nbytes = strlen(path) + 1;
    if (h != NULL && nbytes <= sizeof h->path)
        memcpy(h->path, path, nbytes);
}

/* mountinfo writes a space as \040, and so on. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        bool octal = from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' &&
                     from[3] >= '0' && from[3] <= '7';
        *to++ = octal ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0')) : *from;
        from += octal ? 4 : 1;
    }
    *to = '\0';
}

/* "36 35 98:0 ROOT POINT rw,noatime shared:1 - TYPE source OPTIONS", with any number of fields before the dash. */
static bool parse_mount(char *line, mount *m)
{
    enum { ROOT = 3, POINT = 4, COUNT = 6 };
    char *fields[COUNT], *field = NULL;
    for (int i = 0; i < COUNT; i++)
        fields[i] = field = strsep(&line, " ");
    while (field != NULL && strcmp(field, "-") != 0)
        field = strsep(&line, " ");
    m->root = fields[ROOT];
    m->point = fields[POINT];
    m->type = strsep(&line, " ");
    strsep(&line, " ");
    m->options = strsep(&line, " ");
    if (m->options == NULL || m->root[0] != '/' || m->point[0] != '/')
        return false;
    unescape(m->root);
    unescape(m->point);
    return true;
}

static bool climbs(const char *path)
{
    size_t length = strlen(path);
    return strstr(path, "/../") != NULL || (length >= 3 && strcmp(path + length - 3, "/..") == 0);
}

/* What of `path` lies below a mount of `root`; NULL when it is elsewhere, or out of our namespace ("/../x"). */
static const char *path_below(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool inside = strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
    return inside && !climbs(path) ? path + length : NULL;
}

static bool read_text(const char *folder, const char *name, char *text, size_t nbytes)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t got = read(file, text, nbytes - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* A positive whole number at *text, which moves past it; 0 when there is none. */
static long long parse_number(const char **text)
{
    char *end;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    bool good = end != *text && errno == 0 && number > 0;
    *text = end;
    return good ? number : 0;
}

static unsigned processors_of(long long quota_us, long long period_us)
{
    if (quota_us <= 0 || period_us <= 0)
        return 0;
    long long count = quota_us / period_us + (quota_us % period_us != 0);
    return count < UINT_MAX ? (unsigned)count : UINT_MAX;
}

/* "max 100000" or "150000 100000" */
static unsigned quota_v2(const char *folder)
{
    char text[64];
    if (!read_text(folder, "cpu.max", text, sizeof text))
        return 0;
    const char *at = text;
    long long quota = parse_number(&at);
    return processors_of(quota, *at == ' ' ? parse_number(&at) : 0);
}

static unsigned quota_v1(const char *folder)
{
    char quota[32], period[32];
    if (!read_text(folder, "cpu.cfs_quota_us", quota, sizeof quota) ||
        !read_text(folder, "cpu.cfs_period_us", period, sizeof period))
        return 0;
    const char *q = quota, *p = period;
    return processors_of(parse_number(&q), parse_number(&p));
}

static unsigned least(unsigned a, unsigned b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* From the process's own group up to the mount: each may have a quota, and all hold. */
static unsigned least_quota(const hierarchy *h, const char *point, const char *path)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s%s", point, path);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    char *below = folder + strlen(point);
    unsigned found = h->quota_of(folder);
    for (char *slash; (slash = strrchr(below, '/')) != NULL;) {
        *slash = '\0';
        found = least(found, h->quota_of(folder));
    }
    return found;
}

static void look_at_mount(hierarchy *h, const mount *m)
{
    if (h->path[0] == '\0')
        return;
    const char *path = path_below(h->path, m->root);
    if (path != NULL) {
        h->seen = true;
        h->quota = least(h->quota, least_quota(h, m->point, path));
    } else {
        h->nearby_quota = least(h->nearby_quota, least_quota(h, m->point, ""));
    }
}

/* Some containers are shown a path that their mounts do not have: then the mount is the nearest that can be seen. */
static unsigned quota_of_hierarchy(const hierarchy *h)
{
    return h->seen ? h->quota : h->nearby_quota;
}

static void read_positions(const char *cgroup_path, hierarchy *v1, hierarchy *v2)
{
    FILE *file = fopen(cgroup_path, "re");
    if (file == NULL)
        return;
    char line[LINE_NBYTES];
    while (read_line(file, line, sizeof line))
        read_position(line, v1, v2);
    fclose(file);
}

static void read_mounts(const char *mountinfo_path, hierarchy *v1, hierarchy *v2)
{
    FILE *file = fopen(mountinfo_path, "re");
    if (file == NULL)
        return;
    char line[LINE_NBYTES];
    while (read_line(file, line, sizeof line)) {
        mount m;
        if (!parse_mount(line, &m))
            continue;
        if (strcmp(m.type, "cgroup2") == 0)
            look_at_mount(v2, &m);
        else if (strcmp(m.type, "cgroup") == 0 && list_has(m.options, "cpu"))
            look_at_mount(v1, &m);
    }
    fclose(file);
}

unsigned mr__cgroup_quota(const char *cgroup_path, const char *mountinfo_path)
{
    hierarchy v1 = {.quota_of = quota_v1}, v2 = {.quota_of = quota_v2};
    read_positions(cgroup_path, &v1, &v2);
    read_mounts(mountinfo_path, &v1, &v2);
    return least(quota_of_hierarchy(&v1), quota_of_hierarchy(&v2));
}
