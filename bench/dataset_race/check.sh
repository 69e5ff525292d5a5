#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The race runs over a few painted images, its tables and its JSON hold what they should, and nothing is left behind.
# No time is asserted. From the environment: MILLRACE, DATASET (the programs), SCRATCH.
. "$(dirname "$0")/../../tests/command/common"
: "${DATASET:?the path of dataset}"
export XDG_CACHE_HOME="$SCRATCH/cache"

# nothing_left WHAT: neither a scratch folder nor an index in the user's cache.
nothing_left() {
    is "$(ls -A room)" "" "what $1 leaves"
    [ ! -e cache ] || fail "$1 leaves an index in the user's cache"
}

small="--rounds 2 --size 1 --l3-size 1 --records 30 --reads 40 --threads 2 --scratch room --millrace $MILLRACE"
mkdir room
run 0 generate images --count 20 --size 170x145 --forms jpeg
"$DATASET" $small images >tables 2>err || fail "dataset: exit code $?"
is_empty err
nothing_left "a run"
has tables '^2 rounds, 2 threads\.'
has tables '^### pack JPEG as it is, source in memory: [0-9]+ images, 1\.0 MB'
has tables '^### pack JPEG as it is, source dropped from memory:'
has tables '^\| cp -r \| [0-9.]+ \| .* \| 1\.00 \| 1\.00 \| 1\.00 \| - \|'
has tables '^\| millrace pack --no-row-index --no-check \|.*\| 0\.80 \|'
has tables '^\| encoders alone \|'
has tables '^\| millrace pack --forms l3 \|.*\| 0\.90 \|'
has tables '^\| verify \|'
has tables '^### random access .*, 40 reads a round'
has tables '^\| packed, by key \|.*\| under 30 \|'
has tables '^\| tar shards \| [0-9]+ \| [0-9.]+ \|'
lacks tables 'nan|inf '

"$DATASET" $small --json images >json 2>err || fail "dataset --json: exit code $?"
is_empty err
python3 - json <<'END' || fail "the JSON is not as it should be"
import json, sys
made = json.load(open(sys.argv[1]))
assert [len(c["runners"]) for c in made["contests"]] == [2, 3, 3, 2, 2], made["contests"]
for contest in made["contests"]:
    assert contest["samples"] > 20 and contest["nbytes"] > 1000000 - 1
    for runner in contest["runners"]:
        assert len(runner["wall_s"]) == len(runner["core_s"]) == 2 and min(runner["wall_s"]) > 0
        assert runner["times_lowest"] <= runner["times"] <= runner["times_highest"]
    assert contest["runners"][0]["times"] == 1
assert len(made["readings"]) == 6
for reading in made["readings"]:
    assert all(0 < a <= b <= c for a, b, c in zip(reading["p50_ns"], reading["p90_ns"], reading["p99_ns"]))
names = [o["name"] for o in made["openings"]]
assert names[:3] == ["packed", "folder", "tar shards"], names
assert len({o["samples"] for o in made["openings"]}) == 1
assert [o["first_s"] > 0 for o in made["openings"]] == [False, True, True, False]
END

# Whatever happens, nothing is left: a command that fails, images that are none, a signal.
"$DATASET" $small --millrace /bin/false images >out 2>err && fail "a command that fails is not seen"
has err '^dataset: /bin/false ended with 1'
nothing_left "a failure"
mkdir empty
"$DATASET" $small empty >out 2>err && fail "dataset of nothing succeeds"
has err '^dataset: no images'
nothing_left "an empty folder"
"$DATASET" $small --size 100000 images >out 2>err &
tries=0
while [ "$(ls -A room)" = "" ] && [ $tries -lt 200 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
sleep 0.2
kill -TERM $!
wait $! && fail "a run that was stopped succeeds"
nothing_left "a run that was stopped"
"$DATASET" --rounds 0 images >out 2>err
is $? 2 "exit code of --rounds 0"
finish
