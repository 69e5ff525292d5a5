#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a dataset goes through: lost and damaged files, a source that changes, samples with two images, odd keys.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 12 --classes 3 --forms jpeg --size 80x60 >/dev/null || fail "generate"
run 0 pack set -o good --forms jpeg,l3 --shard-samples 5
key=$("$MILLRACE" ls good --limit 1 | cut -f 1)

# An index that is damaged in one form: the others have all keys and labels, and are read.
cp -r good bad
printf 'x' | dd of=bad/jpeg/000000.mrx bs=1 seek=100 conv=notrunc 2>/dev/null
run 1 cat bad "$key" --form jpeg
run 0 cat bad "$key" --form l3
run 0 cat bad "#3" --form l3
run 1 verify bad
has out '5 damaged samples'
lacks out 'lost'
has err 'no sample from 0 to 4 can be read in this form'

# A shard that is gone in every form: its samples are lost, and counted.
cp -r good gone
rm gone/jpeg/000001.tar gone/l3/000001.tar
run 1 verify gone
has out '5 samples are lost in every form'
run 0 pack set -o gone --forms jpeg,l3 --shard-samples 5
diff -r good gone >/dev/null || fail "what was lost is not packed again"

# A report that is no report is left alone.
printf 'precious' >mine
run 1 verify good --report mine
is "$(cat mine)" precious "a file that is no report"

# A source that changes under its index is no bad image.
run 0 index set
victim=$(find set -type f | sort | head -n 1)
cp "$victim" was
printf 'more' >>"$victim"
run 1 pack set -o stale --max-bad 100%
has err 'has changed since its folder was indexed'
[ ! -e stale/quarantine.jsonl ] || fail "a file that changed is in quarantine"
cp was "$victim"

# Two images in one sample, and members whose bytes change.
mkdir two && cp was two/a.left.jpg && cp "$(find set -type f | sort | tail -n 1)" two/a.jpg
printf 7 >two/a.cls
printf '{"boxes": []}' >two/a.json
(cd two && tar --sort=name -cf ../two.tar a.cls a.jpg a.json a.left.jpg)
(cd two && tar -cf ../other.tar a.left.jpg a.cls a.json a.jpg)
for tar in two other; do
    run 0 pack $tar.tar -o $tar.packed --forms jpeg,l3
    run 0 verify $tar.packed
    tar tf $tar.packed/jpeg/000000.tar >names || fail "tar does not read it"
    is "$(sort names | uniq -d)" "" "names that are there twice"
    is "$(wc -l <names | tr -d ' ')" 4 "members"
    run 0 ls $tar.packed/jpeg/000000.tar
    run 0 unpack $tar.packed -o $tar.files
done
at=$(grep -abo '"boxes"' two.packed/jpeg/000000.tar | head -n 1 | cut -d : -f 1)
printf 'X' | dd of=two.packed/jpeg/000000.tar bs=1 seek="$((at + 1))" conv=notrunc 2>/dev/null
run 1 cat two.packed a --member json
run 1 unpack two.packed -o two.damaged
run 1 verify two.packed
has err 'sample a \(#0\).*its member json is damaged'
lacks out 'lost'

# Keys with percent signs and dots come back as they were.
mkdir odd && cp was odd/a%.jpg && cp was 'odd/a%25.jpg' && cp was odd/a.b.c.jpg && cp was odd/a%2Eb.jpg
run 0 pack odd -o odd.packed
run 0 unpack odd.packed -o odd.files
diff odd odd.files >diffs
is "$(grep -v labels.tsv diffs)" "" "names that changed"
(cd odd && tar --sort=name -cf ../odd.tar a%.jpg a%25.jpg a%2Eb.jpg)
run 0 pack odd.tar -o odd.again
run 0 unpack odd.again -o odd.more
is "$(find odd.more -name '*.jpg' | wc -l | tr -d ' ')" 3 "files"

# Files that cannot be opened are no bad images: the run ends, and the same command goes on.
if command -v prlimit >/dev/null 2>&1; then
    prlimit --nofile=24 "$MILLRACE" pack set -o few --forms jpeg,l3 --shard-samples 5 --threads 8 >out 2>err
    run 0 pack set -o few --forms jpeg,l3 --shard-samples 5 --rebuild
    run 0 verify few
    is "$(python3 -c 'import json; print(json.load(open("few/dataset.json"))["refused"])' 2>/dev/null || echo 0)" 0 "refused"
fi
finish
