#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A signal that ends the command while it writes leaves no half of a file, under no name. The signal comes from within,
# out of a library that stands before the C library, so that it comes at the right moment.
. "$(dirname "$0")/common"

cat >strike.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void strike(const char *here)
{
    const char *at = getenv("STRIKE");
    if (at != NULL && strcmp(at, here) == 0)
        kill(getpid(), SIGTERM);
}

ssize_t write(int fd, const void *bytes, size_t nbytes)
{
    ssize_t done = syscall(SYS_write, fd, bytes, nbytes);
    if (fd > 2)
        strike("write");
    return done;
}

int rename(const char *from, const char *to)
{
    strike("rename");
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
END
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
if ! ${CC:-cc} -shared -fPIC -o strike.so strike.c >/dev/null 2>&1 ||
    ! LD_PRELOAD=$PWD/strike.so "$MILLRACE" --version >/dev/null 2>&1; then
    echo "skipped: no compiler, or no library can be put before the others"
    exit 77
fi
struck() { # WHERE ARGUMENT...: the exit code
    where=$1
    shift
    (LD_PRELOAD=$PWD/strike.so STRIKE=$where exec "$MILLRACE" "$@") >out 2>err
    echo $?
}
no_rest() {
    is "$(find . -name '*.tmp*' | wc -l)" 0 "temporary files left by $*"
}

# In the middle: OUT is as it was.
"$MILLRACE" generate set --count 1 --forms png --size 1000x800 >/dev/null || fail "generate"
photo=set/land/00000.png
echo old >out.raw
is "$(struck write convert $photo out.raw)" 143 "the exit code of a convert that is ended as it writes"
is "$(cat out.raw)" old "OUT after an interrupted conversion"
is "$(struck write convert $photo new.raw)" 143 "the exit code of a convert that is ended as it writes"
[ ! -e new.raw ] || fail "an interrupted conversion left OUT"
no_rest convert

# At the end: OUT is whole.
is "$(struck rename convert $photo out.raw)" 143 "the exit code of a convert that is ended at the end"
is "$(hash_of out.raw)" "$(hash_of $photo)" "OUT after an interrupt too late"
no_rest convert

# Who is told to go on after a signal does.
rm out.raw
is "$(trap '' TERM && struck write convert $photo out.raw)" 0 "the exit code of a convert that is not to be ended"
is "$(hash_of out.raw)" "$(hash_of $photo)" "OUT after a signal that is ignored"

# What generate has begun is whole, and the rest is not made.
is "$(struck write generate many --count 1000 --size 40x30 --forms pnm --threads 2)" 143 "the exit code of generate"
no_rest generate
run 0 decode many
made=$(find many -type f | wc -l)
[ "$made" -ge 1 ] && [ "$made" -lt 100 ] || fail "generate made $made images after its end"
finish
