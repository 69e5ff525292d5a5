#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The index of a dataset: where it is kept, when it is made.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 8 --classes 2 --forms jpeg --size 40x30 >/dev/null || fail "generate"
(cd set && tar cf ../a.tar land)
run 0 index set
is_empty err
has out "^set: 8 samples in 8 files \(folder\), 0 problems; index made now: $XDG_CACHE_HOME/millrace/index\$"
[ -n "$(find cache -name '*.mrx')" ] || fail "no index in the cache folder"
run 0 index set
has out 'index found, up to date'
run 0 index set --rebuild
has out 'index made now'

# A change is seen.
cp set/land/00000.jpeg set/land/another.jpeg
run 0 index set
has out '^set: 9 samples .*index made now'

# Beside the data, in another folder, nowhere.
run 0 index --index-place beside a.tar
has out 'index made now: a\.tar\.mrx$'
[ -s a.tar.mrx ] || fail "no index beside the shard"
run 0 index --index-place beside set
has out 'index made now: set/\.millrace\.mrx$'
[ -s set/.millrace.mrx ] || fail "no index in the folder"
run 0 index --index-place beside set
has out '^set: 9 samples .*index found'
run 0 index --index-folder here a.tar
[ -n "$(find here -name '*.mrx')" ] || fail "no index in --index-folder"
run 0 index --index-place none --json a.tar
is_json out
json_is out 'j["samples"], j["layout"], j["indexed_now"], j["problems"]' "(4, 'tar', True, [])"

cp a.tar b.tar
run 0 index --index-place beside a.tar b.tar
has out '^a\.tar: 8 samples in 2 files .*: a\.tar\.mrx, and so on$'

# An index that is damaged is made anew; one that cannot be kept is no error of the dataset.
printf X | dd of=a.tar.mrx bs=1 seek=40 conv=notrunc 2>/dev/null
run 0 index --index-place beside a.tar
has out '^a\.tar: 4 samples .*index made now'

# JPEGs as ever; what is for them alone.
run 0 index set/land/00000.jpeg
run 2 index --out x set
has err 'index: --out is for JPEGs'
run 2 index --force set
run 1 index missing
finish
