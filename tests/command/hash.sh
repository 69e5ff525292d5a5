#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 4 --forms jpeg --size 97x61 >/dev/null || fail "generate"
jpeg=set/land/00000.jpeg

run 0 hash $jpeg set/table/00001.jpeg
is_empty err
is "$(grep -Ec '^[0-9a-f]{16}  set/(land|table)/0000[01]\.jpeg$' out)" 2 "lines of 'HASH  NAME'"
run 0 hash --json $jpeg
json_is out 'j[0]["name"], len(j[0]["hash"])' "('$jpeg', 16)"
json_is out 'j[0]["hash"]' "$(hash_of $jpeg)"

# It goes on after a bad file.
head -c 900 $jpeg >cut.jpg
run 1 hash cut.jpg $jpeg missing
is "$(wc -l <out)" 1 "hashes beside bad files"
has err '^millrace: cut\.jpg: truncated JPEG: .* byte [0-9]+'
has err '^millrace: missing: No such file or directory$'
run 1 hash --json cut.jpg $jpeg
json_is out '"hash" in j[0], j[0]["error"]["code"], "error" in j[1]' "(False, 'MR_ETRUNCATED', False)"

# The hints: each one changes the hash, or does not, as it should.
whole=$(hash_of $jpeg)
is "$(hash_of --accept-damaged $jpeg)" "$whole" "accept-damaged on a good file"
is "$(hash_of --orient $jpeg)" "$whole" "orient without an orientation"
is "$(hash_of --reduce=1 $jpeg)" "$whole" "reduce 1"
is "$(hash_of --channels=3 --depth=8 $jpeg)" "$whole" "channels and depth as stored"
is "$(hash_of -r 0,0,97x61 $jpeg)" "$whole" "the whole as a region"
is "$(hash_of -r 0,0,97,61 $jpeg)" "$whole" "the whole as a region, the other spelling"
for hint in --reduce=2 --reduce=4 --reduce=8 --channels=1 --channels=4 --depth=16 --region=1,2,30x40; do
    [ "$(hash_of $hint $jpeg)" != "$whole" ] || fail "$hint does not change the hash"
done
[ "$(hash_of -r 0,0,30x40 $jpeg)" != "$(hash_of -r 1,0,30x40 $jpeg)" ] || fail "two regions have one hash"
run 0 hash --accept-damaged cut.jpg
run 1 hash --region=90,50,10x10 $jpeg
has err '^millrace: set/land/00000\.jpeg: '
run 0 hash --no-limits $jpeg
is "$(cut -c 1-16 out)" "$whole" "the hash without limits"

# The same on any instruction set.
MILLRACE_CPU=portable "$MILLRACE" hash set/*/* >portable
"$MILLRACE" hash set/*/* >native
cmp -s portable native || fail "MILLRACE_CPU=portable gives other pixels"
finish
