#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our side of bench/steps takes its orders, and where Python has numpy and Pillow the tables come out. No time is asserted.
# From the environment: MILLRACE, STEPS (the programs), SCRATCH.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tests/command/common"
: "${STEPS:?the path of steps}"
export XDG_CACHE_HOME="$SCRATCH/cache"

run 0 generate images --count 70 --size 90x70 --forms jpeg
run 0 pack images -o packed --forms l3
{
    printf 'kernels\nimages 2 1 2\nabcdefghijkl'
    printf 'time 5 center(2x1) layout(nhwc)\ntime 5 center(2x1) layout(nhwc)\ntime 1 flop\n'
    printf 'load 64 packed\trrc(32) flip\nload 64 nowhere\trrc(32)\n'
} | "$STEPS" >out 2>err || fail "steps: exit code $?"
is_empty err
is "$(sed -n '2p;6p;8p' out | cut -d ' ' -f 1 | paste -sd ' ')" "ok ok" "answers"
is "$(sed 's/[0-9][0-9]*/N/g' out | sed -n '3,4p;6p' | paste -sd ' ')" "ok N ok N ok N N" "times"
has out '^error at character 1: no step is called "flop"'
has out '^error .*nowhere'
echo nonsense | "$STEPS" >out 2>err && fail "steps takes nonsense"
has err '^steps: this is no order: nonsense$'

if python3 -c 'import numpy, PIL' 2>/dev/null; then
    python3 "$here/race.py" "$STEPS" --millrace "$MILLRACE" --rounds 2 --turn 0.1 --tables steps --steps identity,flip --peers nobody >tables 2>err || fail "race.py: exit code $?: $(cat err)"
    is "$(grep -Ec '^\| (identity|flip) \| [0-9.]+ \| - \|  \|$' tables)" 4 "lines of the table"
    has tables '^4 rows, 0 in which a peer is faster\.$'
    python3 "$here/race.py" "$STEPS" --millrace "$MILLRACE" --rounds 2 --turn 0.1 --tables steps --steps flip --peers nobody --json >out 2>err || fail "race.py --json: exit code $?"
    is_json out
    json_is out 'len(j["steps"]), j["pipelines"], min(r["us"]["Millrace"] for r in j["steps"]) > 0' "(2, [], True)"
fi
finish
