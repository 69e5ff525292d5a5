#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench/coop runs: everyone takes a turn, and the table is there. What it measures is not looked at.
set -eu
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
trap 'rm -rf "$SCRATCH"' EXIT
if [ "$(getconf _NPROCESSORS_ONLN)" -lt 2 ]; then
    echo "skipped: it takes two cores"
    exit 77
fi
"$MILLRACE" generate "$SCRATCH/images" --count=24 --size=90x70 --forms=jpeg --seed=3 >/dev/null
"$MILLRACE" pack "$SCRATCH/images" -o "$SCRATCH/packed" --forms l3,raw --progress none >/dev/null
code=0
"$COOP" --quick --batch 8 --form raw --recipe 'rrc(32) flip normalize(imagenet)' "$SCRATCH/packed" >"$SCRATCH/out" || code=$?
if [ $code -ne 0 ]; then
    cat "$SCRATCH/out"
    exit $code
fi
for row in 'host alone' 'device alone' 'both, apart' auto naive-device intrabatch interbatch fusion; do
    grep -q "^| $row | [0-9]" "$SCRATCH/out" || { echo "bench/coop has no row \"$row\"" && cat "$SCRATCH/out" && exit 1; }
done
grep -q 'predicted for both together' "$SCRATCH/out"
