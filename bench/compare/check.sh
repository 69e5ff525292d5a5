#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The comparison runs over a few painted images, all pixels are right, and its tables and its JSON hold what they should.
# No time is asserted. From the environment: MILLRACE, COMPARE (the programs), SCRATCH.
. "$(dirname "$0")/../../tests/command/common"
: "${COMPARE:?the path of compare}"

run 0 generate small --count 4 --size 70x45 --forms jpeg,png
printf 'P5 2 2 255 gray' >small/gray.pgm # not RGB: left out, and counted
"$COMPARE" --rounds 1 --copies 2 small >tables 2>err || fail "compare: exit code $?"
is_empty err
has tables '^### small: 2 images, 0.0 MB of pixels, 2 copies'
has tables '^1 left out: not 8-bit RGB'
has tables '^### small: 2 JPEG files'
has tables '^\| libpng \| - \| [0-9.]+ \| 1\.000 \| [0-9]+ \| 1\.00 \|'
has tables '^\| l3-2022 \| portable \|'
has tables '^\| libjpeg-turbo, own crop \|'
has tables '^\| memcpy \| - \| 24\.00 \|'
has tables '^\| small \| default: times libpng \| at least 25\.00 \|'
has tables '^\| L3 default \| portable \|'
has tables '^\| L3 small \| 2 \| [0-9]+ \| [0-9]+ \|'
lacks tables 'other pixels on'
lacks tables 'nan|inf '

"$COMPARE" --rounds 2 --copies 1 --images 1 --json small >json 2>err || fail "compare --json: exit code $?"
is_empty err
python3 - json small/*/*.jpeg <<'END' || fail "the JSON is not as it should be"
import json, sys
made = json.load(open(sys.argv[1]))
first = open(sys.argv[2], "rb").read()  # baseline: one scan, from behind its header to the last marker
scan = first.index(b"\xff\xda") + 2
entropy = len(first) - 2 - (scan + first[scan] * 256 + first[scan + 1])
assert [(s["set"], s["jpeg"], s["images"]) for s in made["sets"]] == [("small", False, 1), ("small", True, 1)], made["sets"]
for contest in made["sets"]:
    assert contest["different"] == 0 and contest["left_out"] <= 1
    codings = {c["name"]: c for c in contest["codings"]}
    assert codings["pixels"]["nbytes"] == contest["pixel_nbytes"] == 70 * 45 * 3
    for racer in contest["racers"]:
        assert racer["coding"] in codings
        for series in "distinct", "hot", "regions":
            assert series not in racer or (len(racer[series]["rounds_ns"]) == 2 and racer[series]["mb_per_s"] > 0)
assert made["sets"][1]["entropy_nbytes"] == entropy and codings["JPEG"]["nbytes"] == len(first)
assert made["sets"][1]["sizes"][0]["total"] == 1
assert len(made["targets"]) > 8
END

mkdir empty
"$COMPARE" empty >out 2>err && fail "compare of nothing succeeds"
has err '^compare: no images'
"$COMPARE" --rounds 0 small >out 2>err
is $? 2 "exit code of --rounds 0"
finish
