#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stored bytes of one sample.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 6 --classes 2 --forms jpeg --size 60x40 >/dev/null || fail "generate"
picture=set/table/00003.jpeg
echo '{"a": 1}' >set/note.json
(cd set/table && cp ../note.json 00003.json && tar cf ../../s.tar 00001.jpeg 00003.jpeg 00003.json && rm 00003.json)
rm set/note.json

# By key and by number, from a folder and from a shard.
run 0 cat set table/00003.jpeg
cmp -s out $picture || fail "cat of a folder by key"
run 0 cat set '#4'
cmp -s out $picture || fail "cat of a folder by number"
run 0 cat s.tar 00003
cmp -s out $picture || fail "cat of a shard"
run 0 cat s.tar 00003 --member json
is "$(cat out)" '{"a": 1}' "the member"
run 0 cat s.tar 00003 -o copy.jpg
is_empty out
cmp -s copy.jpg $picture || fail "cat --out"

# A packed dataset: each form, checked and decoded to the same pixels; members.
run 0 pack s.tar -o packed --forms jpeg,l3
run 0 cat packed 00003
cmp -s out $picture || fail "the first form is not the JPEG"
run 0 cat packed 00003 --form jpeg
cmp -s out $picture || fail "the JPEG is another"
run 0 cat packed '#1' --form l3
cp out a.l3
is "$(hash_of a.l3)" "$(hash_of $picture)" "pixels of the L3"
run 0 cat packed 00003 --member json
is "$(cat out)" '{"a": 1}' "the packed member"

# What is known of it.
run 0 cat packed 00003 --json
is_json out
json_is out 'j["key"], j["ordinal"], j["forms"]["jpeg"]["state"], j["forms"]["jpeg"]["width"], j["members"][0]["name"]' \
    "('00003', 1, 'present', 60, 'json')"
json_is out 'len(j["forms"]["l3"]["hash"])' 16
json_is out 'j["members"][0]["nbytes"]' 9
nbytes_only out nbytes row_index_nbytes
offset=$(python3 -c 'import json; r = json.load(open("out"))["forms"]["jpeg"]; print(r["offset"], r["nbytes"], r["file"])' 2>/dev/null)
if [ -n "$offset" ]; then
    # shellcheck disable=SC2086
    set -- $offset
    tail -c +$(($1 + 1)) "$3" | head -c "$2" >range
    cmp -s range $picture || fail "the range that --json names is not the image"
fi

# What is wrong.
run 1 cat set nothing
has err "^millrace: set: has no sample with the key 'nothing' \(millrace ls lists them\)$"
run 1 cat set '#6'
has err '^millrace: set: has 6 samples, so there is no #6$'
run 1 cat packed 00003 --form raw
has err "^millrace: packed: has no form 'raw' \(one of: jpeg l3\)$"
run 1 cat packed 00003 --member txt
has err "^millrace: 00003: has no member 'txt' \(one of: json\)$"
run 1 cat packed 00001 --member txt
has err 'nor any other'
run 2 cat set
has err 'cat: KEY is missing'
run 2 cat packed 00003 --form l3 --member json
run 2 cat packed 00003 --json --out x
run 1 cat packed 00003 -o nowhere/x
has err '^millrace: nowhere/x: No such file or directory$'

# A terminal gets no image, unless it has to.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    script -qec "$MILLRACE cat set '#0'; echo code \$?" /dev/null </dev/null >shown 2>&1
    has shown 'standard output is a terminal'
    has shown '^code 2'
fi
finish
