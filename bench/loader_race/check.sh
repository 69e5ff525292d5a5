#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The race and the soak run over a few painted images, and their tables hold what they should. No time is asserted.
# From the environment: MILLRACE, LOADER, SOAK (the programs), SCRATCH.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tests/command/common"
: "${LOADER:?the path of loader}" "${SOAK:?the path of soak}"
export XDG_CACHE_HOME="$SCRATCH/cache"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1:thread_local_quarantine_size_kb=64 # freed memory comes back soon
export ASAN_OPTIONS

run 0 generate images --count 12 --size 300x260 --forms jpeg
data=$(bash "$here/prepare" "$MILLRACE" images 24 kept 2>err) || fail "prepare: $(cat err)"
has err '^bench/loader: preparing '
is "$(wc -l <"$data/files.txt")" 24 "files"
for name in folder jpeg jpeg-plain l3 raw webp; do
    is "$("$MILLRACE" ls "$data/$name" | wc -l)" 24 "samples of $name"
done
is "$(bash "$here/prepare" "$MILLRACE" images 24 kept 2>err)" "$data" "where a second preparation is"
is_empty err

small="--rounds 2 --threads 2 --batch 8 --cifar-records 600 --cifar-epochs 2"
"$LOADER" $small "$data" >tables 2>err || fail "loader: exit code $?"
is_empty err
has tables '^2 rounds\.'
for title in 'training, f32: `rrc' 'training, u8: `rrc' 'validation, f32: `short'; do
    has tables "^### $title.*batch 8, 2 threads"
done
is "$(grep -c '^| plain loop, folder JPEG | .* | 1\.00 | 1\.00 | 1\.00 | 1\.00 | - |' tables)" 3 "lines of the loop"
for name in 'folder JPEG' 'packed JPEG, row index' 'packed JPEG, no row index' 'packed L3' 'packed raw' 'packed WebP, quality 90'; do
    is "$(grep -c "^| $name | [0-9]" tables)" 3 "lines of $name"
done
has tables '^\| packed L3 \|.*\| 5\.00 \|'
is "$(grep -Ec '^\| (packed JPEG, row index|packed L3|CIFAR), `.*\| 0\.95 \|.*\| 1\.90 \|' tables)" 3 "lines of overhead"
lacks tables 'nan|inf '

"$LOADER" $small --json "$data" >json 2>err || fail "loader --json: exit code $?"
python3 - json <<'END' || fail "the JSON is not as it should be"
import json, sys
made = json.load(open(sys.argv[1]))
assert [len(c["racers"]) for c in made["contests"]] == [7, 7, 7, 4, 4, 4], made
for contest in made["contests"]:
    for racer in contest["racers"]:
        # 24 in batches of 8, the first apart; 600 in 75 batches, twice
        assert racer["samples"] == (1192 if contest["table"] == "cifar" else 16), racer
        assert len(racer["core_us"]) == 2 and min(racer["images_per_second"]) > 0
        assert racer["lowest"] <= racer["times_first"] <= racer["highest"]
    assert contest["racers"][0]["times_first"] == 1
END

# What is not there takes no part; too few samples are told.
"$LOADER" $small --tables cifar "$SCRATCH/nowhere" >out 2>err && fail "loader writes where there is no folder"
mv "$data/webp" "$data/away"
"$LOADER" $small --tables train-u8 "$data" >tables 2>err || fail "loader without WebP: exit code $?"
has err 'webp is not there: packed WebP, quality 90 takes no part$'
lacks tables 'WebP'
"$LOADER" --batch 20 --tables train "$data" >out 2>err && fail "loader of one batch succeeds"
has err '^loader: 24 samples are less than two batches of 20$'
"$LOADER" --tables none "$data" >out 2>err && fail "a table that there is not"

"$SOAK" --epochs 40 --every 10 --recipe 'short(80) center(64) normalize(imagenet)' images >table 2>err || fail "soak: exit code $?, $(cat err)"
is "$(grep -Ec '^\| (one loader|dataset and loader anew) \| [234]0 \| [0-9.]+ \| [0-9]+ \| [0-9]+ \| yes \|$' table)" 6 "lines of soak"
finish
