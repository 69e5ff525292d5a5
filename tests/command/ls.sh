#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples by name: of a folder, of tar shards, of a packed dataset.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 12 --classes 3 --forms jpeg,png --size 40x30 >/dev/null || fail "generate"
tab=$(printf '\t')

# A folder: a line for each, with a tab, in the order of the names.
run 0 ls set
is_empty err
is "$(wc -l <out)" 12 "lines"
has out "^land/00000\.jpeg${tab}land\$"
cut -f 1 out >keys
LC_ALL=C sort -c keys || fail "keys are not in order"
run 0 ls --from 2 --limit 3 set
is "$(wc -l <out)" 3 "lines of --limit 3"
run 0 ls --from 10 -n 5 set
is "$(wc -l <out)" 2 "lines at the end"
run 0 ls --from 99 set
is_empty out
run 0 ls --limit 0 set
is_empty out
is_empty err
run 0 ls --limit 0 --json set
json_is out 'j' '[]'
run 0 ls --forms set
has out "^land/00000\.jpeg${tab}land${tab}jpeg=$(wc -c <set/land/00000.jpeg)\$"
run 0 ls --long --limit 1 set
has out "^land/00000\.jpeg${tab}land${tab}jpeg=[0-9]+${tab}0${tab}0${tab}"

# JSON: an array, an object a line.
run 0 ls --json set
is_json out
json_is out 'len(j), j[0]["key"], j[0]["label"], j[0]["class"], j[0]["ordinal"]' "(12, 'land/00000.jpeg', 0, 'land', 0)"
json_is out 'j[11]["forms"]["stored"]["state"]' present
nbytes_only out nbytes
run 0 ls --json --from 99 set
json_is out 'j' '[]'

# Who reads only the beginning is not told of it.
"$MILLRACE" ls set 2>err | head -n 1 >out
is "$(wc -l <out)" 1 "lines that head took"
is_empty err
mkfifo closed
for how in --long --json; do
    exec 3<>closed 4>closed 3<&-
    "$MILLRACE" ls $how set >&4 2>err
    is $? 0 "the exit code of ls $how to a closed pipe"
    is_empty err
    "$MILLRACE" ls $how missing >&4 2>err
    is $? 1 "the exit code of ls $how of what is not there to a closed pipe"
    exec 4>&-
done
if [ -w /dev/full ]; then
    "$MILLRACE" ls --json set >/dev/full 2>err
    is $? 1 "the exit code of ls to a full disk"
    has err '^millrace: standard output: No space left on device$'
fi

# Tar shards, in the order given and by braces; labels; names that are no text.
(cd set && tar cf ../a-0.tar land/00000.jpeg && tar cf ../a-1.tar table)
printf 'x%bx.jpeg' '\033[31m' >name
mkdir odd && cp set/land/00000.jpeg "odd/$(cat name)" && printf 7 >odd/b.cls && cp set/land/00000.jpeg odd/b.jpg
(cd odd && tar cf ../odd.tar -- *)
run 0 ls a-0.tar a-1.tar
is "$(wc -l <out)" 5 "samples of two shards"
cp out two
run 0 ls 'a-{0..1}.tar'
cmp -s out two || fail "braces give other samples"
has out "^land/00000${tab}-\$"
run 0 ls odd.tar
has out "^b${tab}7\$"
has out '^x\\x1b\[31mx'
run 0 ls --json odd.tar
is_json out
json_is out '[s["label"] for s in j if s["key"] == "b"]' '[7]'

# A packed dataset has what its source had.
run 0 pack set -o packed --forms jpeg,l3
run 0 ls packed
is "$(cut -f 2 out | sort | uniq -c | tr -s ' ' | paste -sd,)" " 4 land, 4 leaves, 4 table" "labels of the packed dataset"
run 0 ls --forms packed
has out 'jpeg=[0-9]+ l3=[0-9]+$'
run 0 ls --long packed
has out '40x30 3x8bit$'

# What is wrong.
run 1 ls missing
has err '^millrace: .*missing'
run 2 ls
run 2 ls --limit=x set
run 2 ls --index-place=none --index-folder=x set
has err '--index-folder is for --index-place=cache'
finish
