#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Parts that are packed apart and joined equal what one run makes.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 30 --classes 3 --forms jpeg,png --size 80x60 >/dev/null || fail "generate"
how='--forms original,l3 --shard-samples 4'
# shellcheck disable=SC2086
{
    run 0 pack set -o whole $how
    for i in 0 1 2; do
        run 0 pack set -o part$i $how --part $i/3
        has out "this is part $i of 3"
    done
    run 0 pack set -o part1 $how --part 1/3 --json
    is_json out
    json_is out 'j["part"], j["parts"], j["was_complete"]' '(1, 3, True)'
}
cp -r part0 copy0
cp -r part1 copy1
cp -r part2 copy2

# A part is no dataset yet, and says so.
run 1 ls part1
has err 'part'
run 1 verify part1
has err '^millrace: part1: is a part of a packed dataset: millrace merge joins the parts'
is "$(wc -l <err)" 1 "lines on a part"
for i in 0 1 2 3 4 5 6 7; do # names enough for both orders in a folder
    mkdir both$i
    : >both$i/pack.json
    : >both$i/part-$i-of-8.json
    run 1 verify both$i
    has err "^millrace: both$i: is a part of a packed dataset"
done

# One that is missing, twice, or damaged: an error that says which; nothing is lost.
run 1 merge part0 part2 -o merged
has err 'part'
run 1 merge part0 part1 part1 -o merged
printf X | dd of=part2/original/"$(ls part2/original | grep tar | head -n 1)" bs=1 seek=700 conv=notrunc 2>/dev/null
run 1 merge part0 part1 part2 -o merged
has err 'part2'
rm -rf part2 merged
cp -r copy2 part2

# In any order, to another folder; the same bytes.
[ -e part0/original ] || {
    rm -rf part0 part1
    cp -r copy0 part0
    cp -r copy1 part1
}
run 0 merge part2 part0 part1 -o merged
has out '^Merged 30 samples into merged: '
diff -r whole merged >differ 2>&1 || {
    fail "the merged dataset is another"
    cat differ
}
run 0 verify merged

# Into one of the parts.
run 0 merge copy0 copy1 copy2 -o copy0 --json
is_json out
json_is out 'j["samples"]' 30
nbytes_only out in_nbytes out_nbytes nbytes
diff -r whole copy0 >/dev/null 2>&1 || fail "merged into a part it is another"

run 2 merge whole
has err 'merge: --out is missing'
run 1 merge missing -o x
finish
