#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ranks run over a few painted images, without lending and with, and one of each is killed. No time is asserted.
# From the environment: MILLRACE, LEND (the programs), SCRATCH.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tests/command/common"
: "${LEND:?the path of lend}"
export XDG_CACHE_HOME="$SCRATCH/cache"

run 0 generate images --count 24 --size 300x260 --forms jpeg
small="--rounds 2 --steps 4 --warm 1 --batch 8 --kills 1"
"$LEND" $small images >text 2>err
code=$?
[ $code = 77 ] && exit 77 # one processor
[ $code = 0 ] || fail "lend: exit code $code, $(cat err)"
is_empty err
is "$(grep -c ': prediction: ' text)" 3 "predictions"
is "$(grep -c '^  round [12]: step ' text)" 4 "rounds"
is "$(grep -c '^  measured, medians of 2 rounds: ' text)" 2 "results"
is "$(grep -Ec '^  (lender|borrower) killed 1 times: .*left behind: 0 boards$' text)" 2 "kills"
lacks text 'nan|inf '
# What is expected is said before it is measured.
awk '/: prediction: /{said=1} /^  round 1/{ if (!said) bad=1; said=0 } END { exit bad }' text || fail "a round before its prediction"

"$LEND" $small --json --kills 0 images >json 2>err || fail "lend --json: exit code $?"
python3 - json <<'END' || fail "the JSON is not as it should be"
import json, sys
made = json.load(open(sys.argv[1]))
assert [c["name"] for c in made["contests"]] == ["dear and cheap", "equal costs"], made
for c in made["contests"]:
    assert min(c["step_ms"]) > 0 and min(c["core_ms"]) > 0 and c["lowest"] <= c["times"] <= c["highest"], c
assert made["kills"] == [] and made["events"] == []
END
"$LEND" --rounds 0 images >out 2>err && fail "no rounds at all"
finish
