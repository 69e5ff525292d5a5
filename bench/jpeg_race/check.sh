#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The JPEG benchmark runs over a few painted images in every mode, all pixels are equal, and its tables and its JSON hold
# what they should. No time is asserted. From the environment: MILLRACE, JPEG (the programs), STAGES (the script), SCRATCH.
. "$(dirname "$0")/../../tests/command/common"
: "${JPEG:?the path of the benchmark}" "${STAGES:?the path of stages.py}"

run 0 generate small --count 5 --size 150x90 --forms jpeg,png
"$JPEG" --rounds 1 --sets small small >tables 2>err || fail "jpeg: exit code $?"
is_empty err
has tables '^images with other pixels: 0$'
has tables '^no other libjpeg-turbo'
for title in 'whole images' 'regions as RandomResizedCrop draws them' 'the same regions, with the row index' 'reduced to 1/8' \
    'the same coefficients in progressive files' 'gray of colour images'; do
    has tables "^### $title\$"
done
has tables '^\| set \| images \| libjpeg-turbo [0-9.]+, ms \| MB/s \| millrace, ms \| MB/s \| millrace: times \| of the rounds \| target \| met \|$'
has tables '^\| small \| [1-5] \| [0-9.]+ \| [0-9]+ \| [0-9.]+ \| [0-9]+ \| [0-9.]+ \| [0-9.]+-[0-9.]+ \| 1\.85 \| (yes|no) \|$'
has tables 'its own crop, ms'
lacks tables 'nan|inf |left out|no images'

"$JPEG" --rounds 2 --images 2 --modes whole,region,index,reduce4,progressive --masks portable,avx2 \
    --sets 'small,64x64 q90 4:4:4,512x512 q50 4:2:0' --json small >json 2>err ||
    fail "jpeg --json: exit code $?"
is_empty err
python3 - json <<'END_OF_PYTHON' || fail "the JSON is not as it should be"
import json, sys
made = json.load(open(sys.argv[1]))
targets = {"whole": 1.85, "region": 1.85, "index": 2.1, "progressive": 1.5}
sets = {}
for contest in made["contests"]:
    mode, name = contest["mode"], contest["set"]
    sets.setdefault(name, []).append(mode)
    assert contest["different"] == 0 and contest["left_out"] == 0, contest
    if "note" in contest:
        assert mode == "index" and contest["indexed"] == 0, contest
        continue
    assert contest.get("target") == targets.get(mode), contest
    names = [racer["name"] for racer in contest["racers"]]
    ours = " with index" if mode == "index" else ""
    assert names[-2:] == ["millrace under portable" + ours, "millrace under avx2" + ours], names
    assert all(name.startswith("libjpeg-turbo") for name in names[:-2]), names
    assert len(names) == 2 + (2 if mode == "region" else 1), names
    for racer in contest["racers"]:
        assert len(racer["rounds_ns"]) == 2 and min(racer["rounds_ns"]) > 0
        assert racer["lowest"] <= racer["times"] <= racer["highest"] and racer["ms"] > 0
        assert racer["exact"] == (not racer["name"].endswith("own crop"))
        assert sum(part["images"] for part in racer["samplings"].values()) == contest["images"]
assert sets["small"] == ["whole", "region", "index", "reduce4", "progressive"], sets
assert list(sets) == ["small", "64x64 q90 4:4:4", "512x512 q50 4:2:0"], list(sets)
END_OF_PYTHON

# A library that is not there is named; the linked one over again is raced beside itself. AddressSanitizer lets nothing be
# opened in this way.
if ! grep -q __asan_init "$JPEG"; then
    "$JPEG" --rounds 1 --modes whole --sets small --libjpeg ./none.so small >tables 2>err || fail "without the library: exit code $?"
    has err '^jpeg: \./none\.so does not take part: '
    has tables '^\| small \|'
fi
linked=$(ldd "$JPEG" 2>/dev/null | sed -n 's/.*libjpeg[^ ]* => \([^ ]*\) .*/\1/p')
if [ -n "$linked" ] && ! grep -q __asan_init "$JPEG"; then
    cp "$linked" another.so
    "$JPEG" --rounds 1 --modes whole,region --sets small --libjpeg ./another.so small >tables 2>err || fail "another: exit code $?"
    is_empty err
    has tables '^\| set \| images \| libjpeg-turbo [0-9.]+, ms \| MB/s \| libjpeg-turbo [0-9.]+, ms \|'
    lacks tables '^no other libjpeg-turbo'
fi

"$JPEG" --count millrace small >out || fail "--count millrace: exit code $?"
"$JPEG" --images 2 --count pixels small >out || fail "--count pixels: exit code $?"
has out '^2 images, 27000 pixels$'
if command -v valgrind >/dev/null 2>&1 && ! grep -q __asan_init "$JPEG"; then
    python3 "$STAGES" "$JPEG" small counted --images 1 >out || fail "stages: exit code $?"
    has out '^small: 1 images, 13500 pixels, whole; instructions a pixel'
    has out '^\| entropy \| [1-9][0-9.]* \| [0-9.]+% \| [1-9][0-9.]* \| [0-9.]+% \|$'
    has out '^\| transform \| [1-9][0-9.]* \| [0-9.]+% \| [1-9][0-9.]* \| [0-9.]+% \|$'
fi

mkdir empty
"$JPEG" empty >out 2>err && fail "jpeg of nothing succeeds"
has err '^jpeg: no images'
"$JPEG" --modes some small >out 2>err
is $? 2 "exit code of --modes some"
finish
