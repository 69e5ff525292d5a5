#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What feed tells of boxes, keypoints and masks, and that mixing does not depend on the world.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset RANK WORLD_SIZE LOCAL_RANK SLURM_PROCID SLURM_NTASKS OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE \
    JOB_COMPLETION_INDEX

"$MILLRACE" generate flat --count 12 --forms jpeg --size 50x40 >/dev/null || fail "generate"
mkdir scenes
number=0
find flat -name '*.jpeg' | LC_ALL=C sort >names
while read -r name; do
    key=scenes/$(printf %03d $number)
    cp "$name" "$key.jpg"
    printf '{"annotations": [{"bbox": [5, 6, 20, 10], "category_id": 2, "keypoints": [7, 8, 2]}]}' >"$key.json"
    run 0 convert "$name" -o "$key.seg.png" --channels 1
    number=$((number + 1))
done <names
rm scenes/003.json scenes/004.seg.png
(cd scenes && find . -type f | LC_ALL=C sort | sed 's|^\./||' | tar cf ../scenes.tar -T -)

run 0 feed scenes.tar --recipe 'rrc(32) flip' --batch 5 --targets boxes,keypoints,mask
has out '^ +targets +11 objects with 11 keypoints, 11 masks$'
run 0 feed scenes.tar --recipe 'rrc(32) flip' --batch 5 --epochs 2 --targets boxes --json
has out '"targets": \{"asked": "boxes", "objects": 22, "keypoints": 0, "masks": 0\}'
run 0 feed scenes.tar --recipe 'rrc(32) flip' --batch 5 --json
has out '"targets": null'
run 0 feed scenes.tar --recipe 'rrc(32) flip' --batch 5 --targets mask --mask-member no.png
has out '^ +targets +0 objects with 0 keypoints, 0 masks$'

run 2 feed scenes.tar --recipe 'rrc(32)' --targets boxes,
has err "^millrace: feed: --targets cannot be 'boxes,'"
run 2 feed scenes.tar --recipe 'rrc(32)' --targets box
run 2 feed scenes.tar --recipe 'rrc(32)' --targets boxes --mask-member seg.png
has err '^millrace: feed: --mask-member is for --targets=mask'
run 1 feed scenes.tar --recipe 'rrc(32) mixup' --targets boxes
has err 'mixup mixes images and their labels'
printf '{"annotations": [' >scenes/002.json
(cd scenes && find . -type f | LC_ALL=C sort | sed 's|^\./||' | tar cf ../broken.tar -T -)
run 1 feed broken.tar --recipe 'rrc(32)' --targets boxes
has err '002: its json'
run 0 feed broken.tar --recipe 'rrc(32)' --targets boxes --bad replace
has out '^ +targets +10 objects'

hash_fed() { # ARGUMENT...: the hash of the last epoch
    "$MILLRACE" feed scenes.tar "$@" --sink hash --json >fed 2>err </dev/null || fail "millrace feed $*: $(cat err)"
    sed -n 's/.*"epoch_hash": "\([0-9a-f]*\)".*/\1/p' fed
}
wanted=$(hash_fed --recipe 'rrc(32) flip' --targets boxes,mask --batch 5)
[ "$(hash_fed --recipe 'rrc(32) flip' --batch 5)" != "$wanted" ] || fail "targets are not in the hash"
is "$(hash_fed --recipe 'rrc(32) flip' --targets boxes,mask --batch 3 --threads 3)" "$wanted" "targets on 3 threads"

command -v python3 >/dev/null 2>&1 || finish
mixed='rrc(32) mixup(0.2) cutmix normalize(imagenet)'
wanted=$(hash_fed --recipe "$mixed" --batch 9)
parts=
for rank in 0 1 2; do
    parts="$parts $(hash_fed --recipe "$mixed" --batch 3 --rank $rank --world 3)"
done
# shellcheck disable=SC2086
is "$(python3 -c 'import sys; print("%016x" % (sum(int(h, 16) for h in sys.argv[1:]) % 2**64))' $parts)" "$wanted" \
    "mixed batches of three ranks"
finish
