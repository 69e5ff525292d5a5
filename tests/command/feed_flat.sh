#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fifty epochs take no more memory than five, and no descriptor for each. bench/soak looks closer, and longer.
. "$(dirname "$0")/common"
command -v python3 >/dev/null 2>&1 || exit 77
export XDG_CACHE_HOME="$SCRATCH/cache"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64 # freed memory comes back soon;
ASAN_OPTIONS=$ASAN_OPTIONS:detect_stack_use_after_return=0 # the stacks that this keeps grow for a while
export ASAN_OPTIONS

run 0 generate images --count 16 --size 160x120 --forms jpeg
run 0 pack images -o packed --forms jpeg,l3

# feed DESCRIPTORS EPOCHS ARGUMENT...: in $rss the memory that it held at the end. A leak of one sample of an epoch is 110 kB.
feed() {
    descriptors=$1 epochs=$2
    shift 2
    sh -c 'ulimit -n "$0" && exec "$@"' "$descriptors" "$MILLRACE" feed "$@" --recipe 'short(100) center(96) flip normalize(imagenet)' \
        --batch 8 --threads 2 --epochs "$epochs" --sink hash --json >out 2>err </dev/null ||
        fail "feed $* with $descriptors descriptors, $epochs epochs: $(cat err)"
    json_is out 'j["samples"]' $((16 * epochs))
    json_is out 'j["bad"]' 0
    rss=$(python3 -c 'import json; print(json.load(open("out"))["rss_bytes"])')
}

# flat DESCRIPTORS ARGUMENT...
flat() {
    descriptors=$1
    shift
    feed "$descriptors" 5 "$@"
    before=$rss
    feed "$descriptors" 50 "$@"
    [ "$rss" -gt 1000000 ] || fail "feed $*: $rss bytes in memory are too few to be true"
    [ "$rss" -lt $((before + 3000000)) ] || fail "feed $*: $before bytes in memory after 5 epochs, $rss after 50"
}
flat 300 images # 64 files may be open at once, of 800 in all
flat 48 packed --form jpeg
flat 48 packed --form l3
finish
