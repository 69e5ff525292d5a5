#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every changed byte of a packed dataset is found, and the sample named.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 12 --classes 3 --forms jpeg --size 80x60 >/dev/null || fail "generate"
run 0 pack set -o good --forms jpeg,l3 --shard-samples 5
run 0 verify good
is_empty err
has out '^good: [0-9]+ files \([0-9.]+ [kM]B\), 24 records: all whole$'
run 0 verify --json good
is_json out
json_is out 'j["datasets"][0]["records"], j["datasets"][0]["findings"], "files" in j' '(24, [], False)'
nbytes_only out nbytes

flip() { # FILE BYTE: changes one byte
    byte=$(dd if="$1" bs=1 skip="$2" count=1 2>/dev/null | od -An -tu1 | tr -d ' ')
    printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
place() { # DATASET ORDINAL FORM: file and offset
    "$MILLRACE" cat "$1" "#$2" --json | python3 -c 'import json, sys
r = json.load(sys.stdin)["forms"][sys.argv[1]]; print(r["file"], r["offset"] + r["nbytes"] // 2)' "$3"
}

if command -v python3 >/dev/null 2>&1; then
    # In an image: which sample, in which form, and where it survives.
    cp -r good bad
    # shellcheck disable=SC2046
    flip $(place bad 7 jpeg)
    key=$("$MILLRACE" ls good --from 7 --limit 1 | cut -f 1)
    run 1 verify bad
    has err "^millrace: bad/jpeg/000001\.tar: sample $key \(#7\), form jpeg: .*; whole as l3\$"
    has out '1 damaged sample'
    has out '1 damaged sample is whole in another form'
    run 1 verify --json bad
    is_json out
    json_is out '[(f["ordinal"], f["form"], f["survivors"]) for f in j["datasets"][0]["findings"] if "ordinal" in f]' \
        "[(7, 'jpeg', 'l3')]"
    json_is out 'j["datasets"][0]["damaged_samples"], j["datasets"][0]["lost_samples"]' '(1, 0)'
    run 1 cat bad "#7"
    run 0 cat bad "#7" --form l3
    # shellcheck disable=SC2046
    flip $(place bad 7 l3)
    run 1 verify bad
    has err 'whole in no other form'
    has out '1 sample is lost in every form'
    run 1 verify -t 1 bad
    cp err one
    run 1 verify -t 4 bad
    cmp -s one err || fail "the threads change what is told"
fi

# Everywhere else: between images, in an index, in dataset.json; a file that is missing or short.
for place in jpeg/000000.tar:5 jpeg/000000.mrx:200 l3/000002.mrx:30 dataset.json:100; do
    rm -rf bad
    cp -r good bad
    flip "bad/${place%:*}" "${place#*:}"
    run 1 verify bad
    has err "^millrace: .*${place%:*}"
done
rm -rf bad && cp -r good bad && rm bad/l3/000001.tar
run 1 verify bad
has err 'l3/000001\.tar'
rm -rf bad && cp -r good bad
head -c 3000 good/l3/000001.tar >bad/l3/000001.tar
run 1 verify bad
has err 'l3/000001\.tar'

# A report: a run that was stopped goes on, one that came to its end is done anew.
run 0 verify --report seen good
[ -s seen ] || fail "no report"
sed '$d' seen >stopped
run 0 verify --report stopped good
has out 'verified before, by the report'
run 0 verify --report seen good
lacks out 'verified before'
cp -r good gone
rm gone/l3/000001.tar
run 1 verify --report seen gone

# Beside images; usage.
run 0 verify set good --json
json_is out 'j["good"], len(j["datasets"])' '(12, 1)'
run 2 verify --report seen set
has err 'verify: --report is for one packed dataset'
run 1 verify good/jpeg/000000.tar
has err '^millrace: good/jpeg/000000\.tar: note: seems to be a shard of a dataset'
mkdir half && echo '{}' >half/pack.json
run 1 verify half
has err '^millrace: half: is not packed to its end: the same millrace pack goes on'
finish
