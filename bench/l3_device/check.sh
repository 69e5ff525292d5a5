#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench/l3-device and bench/device-kernels run, decode the right pixels and print their tables; what they measure is not looked at.
set -eu
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
trap 'rm -rf "$SCRATCH"' EXIT
"$MILLRACE" generate "$SCRATCH/images" --count=8 --size=90x70 --forms=jpeg,png --seed=3 >/dev/null
code=0
"$L3_DEVICE" --rounds 1 --images 3 --batch 2 --arena 64 "$SCRATCH/images" >"$SCRATCH/out" || code=$?
if [ $code -ne 0 ]; then
    cat "$SCRATCH/out"
    exit $code
fi
for row in '| host | libpng ' '| host | libjpeg-turbo ' '| device | l3-2022 ' '| device | raw '; do
    grep -qF "$row" "$SCRATCH/out" || { echo "bench/l3-device has no row \"$row\"" && cat "$SCRATCH/out" && exit 1; }
done
"$DEVICE_KERNELS" --rounds 1 --images 3 --batch 2 --arena 64 "$SCRATCH/images" >"$SCRATCH/out"
grep -q '^| `rrc(224) flip normalize(imagenet)` .*resample' "$SCRATCH/out" || { cat "$SCRATCH/out" && exit 1; }
