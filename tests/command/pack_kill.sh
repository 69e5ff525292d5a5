#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packing that is killed at any time, runs out of space, or is done by several at once makes the same dataset in the end.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 48 --classes 4 --forms jpeg=2,png=1 --size 96x72 >/dev/null || fail "generate"
head -c 700 set/land/00000.jpeg >cut && mv cut set/land/00000.jpeg
how='--forms original,l3,jpeg:max-side=40 --shard-samples 5 --max-bad 10% --threads 2'
pack() { # ARGUMENT...: packs as all are packed here
    # shellcheck disable=SC2086
    "$MILLRACE" pack set $how "$@" >out 2>err </dev/null
}
same() { # FOLDER WHAT: all files, hidden ones too
    diff -r whole "$1" >differ 2>&1 || {
        fail "$2"
        sed 's/^/  /' differ
    }
}
pack -o whole || fail "pack"
run 0 verify whole

# A number from 0 to N - 1, the same ones each time.
seed=12345
draw() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# Killed again and again, at places that move on with what was done; the command itself says when it is complete.
kill_loop() { # FOLDER ARGUMENT...
    folder=$1
    shift
    kills=0
    while [ $kills -lt "$most" ]; do
        # shellcheck disable=SC2086
        "$MILLRACE" pack set $how -o "$folder" "$@" >/dev/null 2>&1 </dev/null &
        pid=$!
        draw 60
        sleep "0.$(printf %03d $((drawn + 2)))"
        kill -9 $pid 2>/dev/null || break # it was done
        wait $pid 2>/dev/null
        kills=$((kills + 1))
    done
    wait $pid 2>/dev/null
    pack -o "$folder" "$@" || {
        fail "going on after $kills kills: $*"
        sed 's/^/  /' err
    }
}
most=15 rounds=4
[ -z "${MILLRACE_TEST_QUICK:-}" ] || rounds=1
[ -z "${MILLRACE_LONG:-}" ] || rounds=40 most=100
round=0
while [ $round -lt $rounds ]; do
    rm -rf killed
    kill_loop killed
    same killed "killed $kills times, it is another dataset"
    rm -rf together
    for i in 0 1 2; do
        kill_loop together --part $i/3
    done
    run 0 merge together -o together
    same together "parts that were killed are another dataset"
    round=$((round + 1))
done

# Merging that is killed.
round=0
while [ $round -lt $((rounds * 3)) ]; do
    rm -rf merged part0 part1
    pack -o part0 --part 0/2 && pack -o part1 --part 1/2 || fail "pack --part"
    for _ in 1 2 3; do
        "$MILLRACE" merge part0 part1 -o merged >/dev/null 2>&1 </dev/null &
        pid=$!
        draw 12
        sleep "0.$(printf %03d $((drawn + 1)))"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
    done
    run 0 merge part0 part1 -o merged
    same merged "merging that was killed makes another dataset"
    round=$((round + 1))
done

# Several at once: each its part, into one folder and into folders of their own.
for where in one several; do
    rm -rf at[0-9] all
    for i in 0 1 2 3 4; do
        [ $where = one ] && to=all || to=at$i
        # shellcheck disable=SC2086
        ("$MILLRACE" pack set $how -o $to --part $i/5 >out$i 2>err$i </dev/null || touch failed) &
    done
    wait
    [ ! -e failed ] || {
        fail "parts that are packed at once, into $where"
        cat err[0-9]
    }
    rm -f failed
    if [ $where = one ]; then run 0 merge all -o all; else run 0 merge at0 at1 at2 at3 at4 -o all; fi
    same all "parts that were packed at once, into $where, are another dataset"
done

# Two on one folder: the second is refused while the first is at it. A lock that is held stands for the first.
if command -v flock >/dev/null 2>&1; then
    mkdir busy
    flock -n busy/.lock sh -c "\"$MILLRACE\" pack set $how -o busy >out 2>err </dev/null" && fail "two on one folder"
    has err 'busy is being packed by another process'
    pack -o busy || fail "the lock is gone, but it is refused"
    same busy "after a lock it is another dataset"
fi

# No space left, for real.
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=150k tmpfs small 2>/dev/null; then
    pack -o small/it && fail "packed into what has no space"
    has err 'No space left on device'
    [ ! -e small/it/dataset.json ] || fail "there is a dataset.json without space for the shards"
    mount -o remount,size=50m small
    pack -o small/it || fail "there is space again, but it does not go on"
    same small/it "after it ran out of space it is another dataset"
    umount small
else
    echo "skipped: no space left (only root can mount a small tmpfs)"
fi
finish
