#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Makefile, over a build of one file: what it says, and what it removes.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common"

for tool in make ninja script; do
    command -v $tool >/dev/null 2>&1 || {
        echo "skipped: no $tool"
        exit 77
    }
done
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CC JOBS SETUP
cp "$root/Makefile" .

fake() { # FOLDER: a build in it, of a command that tells what it was asked
    mkdir -p "$1"
    printf 'rule copy\n  command = cp $in $out && chmod +x $out\nbuild millrace: copy source\n' >"$1/build.ninja"
    printf '#!/bin/sh\necho run "$1"\n' >"$1/source"
}

# On a terminal the first build shows that it goes on; where nothing is to do, nothing is said about it.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    fake build
    script -qec 'make SETUP=: demo' /dev/null </dev/null >shown 2>&1
    has shown '\[1/1\]'
    has shown '^run feed'
    script -qec 'make SETUP=: demo' /dev/null </dev/null >shown 2>&1
    lacks shown ninja
    has shown '^built build/millrace'
    has shown '^run generate'
    has shown '^run pack'
    is "$(grep -c '^run feed' shown)" 2 "forms that make demo feeds"
fi

# A build that fails says why, and make fails too.
fake wrong
printf 'build millrace2: copy missing\n' >>wrong/build.ninja
make SETUP=: BUILD=wrong all >shown 2>&1 && fail "make succeeds although the build does not"
has shown 'missing'
lacks shown '^built'

# clean removes what BUILD names, if it was built, and nothing else.
fake build
fake out
fake build-clang
mkdir mine && : >mine/file
make BUILD=mine clean >/dev/null || fail "make clean"
[ -e mine/file ] || fail "make clean removed a folder that is no build"
fake build
make BUILD=out clean >/dev/null || fail "make clean"
for folder in build build-clang out; do
    [ ! -e $folder ] || fail "make BUILD=out clean left $folder"
done
[ -e Makefile ] || fail "make clean removed the Makefile"
finish
