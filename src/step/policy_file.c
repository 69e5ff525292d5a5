// SPDX-License-Identifier: Apache-2.0
#include "step/policy_table.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* All that there is, and one byte more than a table may have, so that it is seen. */
static int read_bytes(int fd, uint8_t *bytes, size_t *nbytes)
{
    *nbytes = 0;
    while (*nbytes < MR__TABLE_NBYTES_MAX + 1) {
        ssize_t now = read(fd, bytes + *nbytes, MR__TABLE_NBYTES_MAX + 1 - *nbytes);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return errno;
        if (now == 0)
            break;
        *nbytes += (size_t)now;
    }
    return 0;
}

/* A file as it stands in a folder: a pipe is refused, not waited for. */
static int open_file(const char *path, int *out)
{
    struct stat status;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno;
    int error = fstat(fd, &status) != 0   ? errno
                : S_ISDIR(status.st_mode) ? EISDIR
                : S_ISREG(status.st_mode) ? 0
                                          : ESPIPE;
    if (error != 0)
        close(fd);
    else
        *out = fd;
    return error;
}

int mr__policy_table_load(const char *path, const mr_hooks *hooks, mr__policy_table **out, mr__detail *detail)
{
    int fd = -1, error = open_file(path, &fd);
    size_t nbytes = 0;
    if (error == ESPIPE)
        return mr__fail(detail, MR_EIO, "the table %s is no file: a pipe, or a device", mr__path_text(path).text);
    if (error != 0)
        return mr__fail(detail, MR_EIO, "the table %s cannot be opened: %s", mr__path_text(path).text,
                        mr__errno_text(error).text);
    uint8_t *bytes = mr__alloc(hooks, MR__TABLE_NBYTES_MAX + 1);
    int code = 0;
    if (bytes == NULL)
        code = mr__fail(detail, MR_ENOMEM, "out of memory for the table %s", mr__path_text(path).text);
    else if ((error = read_bytes(fd, bytes, &nbytes)) != 0)
        code = mr__fail(detail, MR_EIO, "the table %s cannot be read: %s", mr__path_text(path).text,
                        mr__errno_text(error).text);
    else
        code = mr__policy_table_read(path, (const char *)bytes, nbytes, hooks, out, detail);
    mr__free(hooks, bytes);
    close(fd);
    return code;
}
