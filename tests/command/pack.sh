#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packing: forms, sizes, shares, bad images, going on after a kill, the same bytes each time.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 40 --classes 4 --forms jpeg=3,png=1 --size 120x90 >/dev/null || fail "generate"
same() { # FOLDER FOLDER WHAT
    diff -r "$1" "$2" >differ 2>&1 || {
        fail "$3"
        sed 's/^/  /' differ
    }
}

# A folder with a shard, its index and dataset.json, which tar and millrace read.
run 0 pack set -o packed
is_empty err
has out '^Packed 40 samples into packed: 1 shard, [0-9.]+ kB in, [0-9.]+ [kM]B out, [0-9.]+ s'
has out '^  original +40 '
is "$(find packed -type f | LC_ALL=C sort | paste -sd' ')" "packed/dataset.json packed/original/000000.mrx packed/original/000000.tar" "files"
is_json packed/dataset.json
tar tf packed/original/000000.tar >listed || fail "tar does not read the shard"
has listed '^land/00000\.jpg$'
has listed '^land/00000\.cls$'
is "$(wc -l <listed)" 80 "members of the shard"
mkdir tarred && tar xf packed/original/000000.tar -C tarred || fail "tar does not unpack the shard"
cmp -s tarred/land/00000.jpg set/land/00000.jpeg || fail "the shard has another image"
is "$(cat tarred/table/00001.cls)" 3 "the label in the shard"
run 0 verify packed

# The same bytes for any number of threads; once more there is nothing to do.
run 0 pack set -o one --threads 1 --forms jpeg,l3,raw:short-side=32 --shard-size 100kB
run 0 pack set -o four --threads 4 --forms jpeg,l3,raw:short-side=32 --shard-size 100kB
same one four "the threads change the dataset"
run 0 pack set -o four --threads 4 --forms jpeg,l3,raw:short-side=32 --shard-size 100kB
has out '^four is complete already: 40 samples in [0-9]+ shards, '
run 0 pack set -o four --forms jpeg,l3,raw:short-side=32 --shard-size 100kB --json
is_json out
json_is out 'j["was_complete"], j["samples"], [f["name"] for f in j["forms"]]' "(True, 40, ['jpeg', 'l3', 'raw-short32'])"
nbytes_only out in_nbytes out_nbytes nbytes
run 1 pack set -o four --forms jpeg
has err '^millrace: .*four'

# Forms and sizes.
run 0 info one
has out '^  jpeg +30 '
has out '^  l3 +40 '
has out '^  raw-short32 +40 '
run 0 cat one '#0' --form raw-short32
cp out small.raw
run 0 info --json small.raw
json_is out '(j[0]["width"], j[0]["height"])' "(42, 32)"
run 0 pack set -o reduced --max-side 60 --forms jpeg,png --shard-samples 7
run 0 cat reduced '#0' --json
json_is out '(j["forms"]["jpeg-max60"]["width"], j["forms"]["png-max60"]["height"])' "(60, 45)"
is "$(find reduced/jpeg-max60 -name '*.tar' | wc -l)" 6 "shards of 7 samples"

# A share, and a budget.
run 0 pack set -o shared --forms original,l3:share=30%
run 0 info --json shared
json_is out 'j["forms"][0]["samples"], 6 <= j["forms"][1]["samples"] <= 18' '(40, True)'
run 0 pack set -o fits --forms original,l3 --budget 1MB
is "$(du -b --apparent-size fits/*/*.tar | awk '{ n += $1 } END { print (n <= 1000000) }')" 1 "shards within the budget"

# Progress as JSON, on standard error: a line each, and one at the end.
run 0 pack set -o told --progress=json
if command -v python3 >/dev/null 2>&1; then
    python3 - <<'END' || fail "--progress=json"
import json
lines = [json.loads(line) for line in open("err")]
assert lines, "no lines"
names = ["verb", "done", "total", "unit", "in_nbytes", "out_nbytes", "refused", "elapsed_s", "rate", "eta_s"]
assert all(list(line) == names for line in lines), lines[0]
assert lines[-1]["verb"] == "packing" and lines[-1]["done"] == lines[-1]["total"], lines[-1]
END
fi

# Bad images are kept out and listed, within a budget; beyond it packing stops, and goes on with a higher one.
cp -r set bad
head -c 900 set/land/00000.jpeg >bad/land/00000.jpeg
run 1 pack bad -o partly
has err 'bad'
has err '^millrace: partly: note: the same command with a higher --max-bad goes on from here$'
has partly/quarantine.jsonl '"key": "land/00000\.jpeg"'
run 0 pack bad -o partly --max-bad 5%
has out '^  1 bad image kept out, listed in partly/quarantine\.jsonl$'
is "$(wc -l <partly/quarantine.jsonl)" 1 "lines of the quarantine"
has partly/quarantine.jsonl '"key": "land/00000\.jpeg"'
run 0 pack bad -o partly2 --max-bad 0.05
same partly partly2 "a run that stopped and went on makes another dataset"
if command -v python3 >/dev/null 2>&1; then
    cp -r bad worse
    for name in 00004 00008 00012 00016; do
        rm worse/land/$name.*
        head -c 900 set/land/00000.jpeg >"worse/land/a \"name\" with \\ of some length that is not cut off by anybody $name.jpeg"
    done
    run 1 pack worse -o refused
    is "$(wc -l <err)" 5 "lines on too many bad images"
    python3 - <<'END' || fail "the first bad images are not told of"
import json
bad = [json.loads(line) for line in open("refused/quarantine.jsonl")]
told = open("err").read().splitlines()
assert len(bad) > 3, bad
for sample, line in zip(bad[:3], told[1:4]):
    wanted = "millrace: " + (sample["key"] + ": " + sample["error"]).replace("\\", "\\\\")
    assert line == wanted, (line, wanted)
assert "higher --max-bad" in told[4], told
END
fi
run 0 ls --forms partly
has out '^land/00000	land	original=refused$'
run 0 verify partly
run 1 cat partly land/00000

# Killed at any time, the same command goes on, and the result is the same.
for seconds in 0.05 0.15 0.3; do
    "$MILLRACE" pack set -o killed --forms original,l3 --shard-samples 4 --threads 1 >/dev/null 2>&1 &
    sleep $seconds
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
run 0 pack set -o killed --forms original,l3 --shard-samples 4
run 0 pack set -o whole --forms original,l3 --shard-samples 4
same killed whole "a killed run that went on makes another dataset"

# A signal: a word on how to go on.
"$MILLRACE" generate many --count 400 --size 200x150 --forms png >/dev/null || fail "generate"
("$MILLRACE" pack many -o signalled --forms l3:effort=9 --shard-samples 10 --threads 1 >out 2>err) &
pack=$!
tries=0
while [ ! -e signalled/pack.json ] && [ $tries -lt 200 ]; do
    sleep 0.02
    tries=$((tries + 1))
done
kill -TERM $pack 2>/dev/null
wait $pack
code=$?
if [ $code != 0 ]; then # else it was faster than the signal
    is $code 143 "the exit code after a signal"
    has err '^millrace: pack: stopped; the same command goes on where it stopped$'
fi
run 0 pack many -o signalled --forms l3:effort=9 --shard-samples 10
run 0 verify signalled

# From shards and from packed datasets; not into itself.
run 0 pack packed -o again
cmp -s packed/original/000000.tar again/original/000000.tar || fail "a packed dataset packed again has other shards"
run 2 pack set -o set/inside
has err '^millrace: set/inside: is inside of set, which it is to be packed from'
run 2 pack set/ -o ./set
has err 'is the same folder as'
run 2 pack set -o set/deep/er
[ ! -e set/inside ] && [ ! -e set/deep ] || fail "a refused folder was made"
run 0 pack set -o set-beside

# Usage.
wrong() { # PATTERN ARGUMENT...
    pattern=$1
    shift
    run 2 "$@"
    has err "^millrace: pack: $pattern"
    is "$(wc -l <err)" 1 "lines of the error of: $*"
}
wrong '--out is missing' pack set
wrong "--forms: there is no form 'jpge'; did you mean jpeg" pack set -o x --forms jpge
wrong "--forms: 'l3:sahre=3%' has 'sahre'; did you mean share" pack set -o x --forms jpeg,l3:sahre=3%
wrong "--forms: 'l3:share=0%': share cannot be '0%'" pack set -o x --forms jpeg,l3:share=0%
wrong "--forms: 'jpeg:share=3%': the first form is for all" pack set -o x --forms jpeg:share=3%
wrong "--forms: 'l3:quality=3': quality is for jpeg and webp" pack set -o x --forms l3:quality=3
wrong "--forms: 'original': original keeps images as they came" pack set -o x --max-side 20
wrong "--forms: 'jpeg:max-side=1:short-side=1': max-side and short-side" pack set -o x --forms jpeg:max-side=1:short-side=1
wrong "--forms cannot be 'jpeg,'" pack set -o x --forms jpeg,
wrong "--forms cannot be ''" pack set -o x --forms ''
wrong "--max-side and --short-side" pack set -o x --max-side 1 --short-side 1 --forms jpeg
wrong "--budget cannot be '200G' \(a size like" pack set -o x --budget 200G
wrong "--budget cannot be '0' \(a size .*, above 0\)" pack set -o x --budget 0
wrong "--shard-size cannot be '0kB'" pack set -o x --shard-size 0kB
wrong "--forms: 'jpeg' is there twice" pack set -o x --forms jpeg,l3,jpeg
wrong "--forms: 'jpeg' is there twice" pack set -o x --forms jpeg,jpeg:share=3%
wrong "--forms: 'raw' is there twice" pack set -o x --forms raw:max-side=9,raw:max-side=8,raw:max-side=9:share=9%
wrong "--budget cannot be '1.5B'" pack set -o x --budget 1.5B
wrong "--budget cannot be '99999999999TB'" pack set -o x --budget 99999999999TB
wrong "--max-bad cannot be '3' \(a share like" pack set -o x --max-bad 3
wrong "--max-bad cannot be '101%'" pack set -o x --max-bad 101%
for part in 1 8/8 1/0 a/b /2 1/ ''; do
    wrong "--part cannot be '$part' \(a part of so many" pack set -o x --part "$part"
done
[ ! -e x ] || fail "a wrong command line made a folder"
run 1 pack missing -o x
[ ! -e x ] || fail "a dataset of what is not there"
finish
