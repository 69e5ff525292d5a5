#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One sample as training saw it: the very pixels that feed gives.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 6 --classes 2 --forms jpeg --size 90x70 >/dev/null || fail "generate"
run 0 pack set -o packed --forms jpeg,l3
key=$("$MILLRACE" ls set | sed -n 4p | cut -f 1)

# By key and by number, from every form, normalized or not: the same image.
run 0 show set "$key" --recipe 'rrc(32) flip' --epoch 7 --seed 3 -o a.png
is_empty err
has out "^$key \(#3, [a-z]+\) in epoch 7 with seed 3: 32 x 32, 3 channels, $(hash_of a.png) > a.png\$"
run 0 show set '#3' --recipe 'rrc(32) flip normalize(imagenet) dtype(f16)' --epoch 7 --seed 3 -o b.png
is "$(hash_of b.png)" "$(hash_of a.png)" "the same, normalized"
run 0 show packed '#3' --recipe 'rrc(32) flip' --epoch 7 --seed 3 --form l3 -o c.ppm
is "$(hash_of c.ppm)" "$(hash_of a.png)" "the same, from L3"
run 0 show set '#3' --recipe 'rrc(32) flip' --epoch 8 --seed 3 -o d.png
[ "$(hash_of d.png)" != "$(hash_of a.png)" ] || fail "another epoch shows the same"
run 0 show set '#3' --recipe 'rrc(32) flip' --epoch 7 --seed 4 -o d.png
[ "$(hash_of d.png)" != "$(hash_of a.png)" ] || fail "another seed shows the same"
run 0 show set '#3' --recipe 'rrc(32) flip' --epoch 7 --seed 3 --repeat 1 -o d.png
[ "$(hash_of d.png)" != "$(hash_of a.png)" ] || fail "a repeat shows the same"
"$MILLRACE" show set '#3' --recipe 'rrc(32) flip' --epoch 7 --seed 3 -o - >piped.png
cmp -s piped.png a.png || fail "show through a pipe is another"

# What feed gives in that epoch has it, byte for byte.
run 0 feed set --recipe 'rrc(32) flip layout(nhwc)' --epoch 7 --seed 3 --order sequential --sink raw -o raw
run 0 convert a.png a.ppm
tail -c 3072 a.ppm >one
tail -c +$((3 * 3072 + 1)) raw | head -c 3072 >fed
cmp -s one fed || fail "show and feed differ"

# Without --out nothing is written; --json says all.
: >before && : >after
ls >before
run 0 show set "$key" --recipe 'rrc(32) flip' --epoch 7 --seed 3
ls >after
cmp -s before after || fail "show wrote something"
has out '\(-o FILE.png writes it\)$'
run 0 show set "$key" --recipe 'rrc(32) flip' --epoch 7 --seed 3 --json
is_json out
json_is out 'j["key"] + " %d" % j["ordinal"], j["recipe"], j["epoch"], j["seed"], j["width"], j["height"], j["channels"], j["out"]' \
    "('$key 3', 'rrc(32) flip', 7, 3, 32, 32, 3, None)"
json_is out 'j["hash"]' "$(hash_of a.png)"

# A sheet of many: each row the sample as it is stored, then one epoch after the other.
run 0 show --grid set --recipe 'short(64) center(48)' --rows 2 --columns 3 --epoch 5 -o sheet.png
is_empty err
has out '^set: 2 samples in 3 epochs from 5 on with seed 0: [0-9]+ x [0-9]+, [0-9a-f]{16} > sheet\.png$'
is "$("$MILLRACE" info sheet.png | grep -c '420 *x *254')" 1 "the size of a sheet"
run 0 show --grid set --recipe 'short(64) center(48)' --rows 2 --columns 3 --epoch 5 --json
is_json out
json_is out 'j["width"], j["height"], j["epochs"], [s["ordinal"] for s in j["samples"]], j["out"]' "(420, 254, 3, [0, 3], None)"
json_is out 'j["hash"]' "$(hash_of sheet.png)"
run 0 show --grid set --recipe 'short(64) center(48)' --rows 2 --columns 3 --epoch 5 --no-fuse --json
json_is out 'j["hash"]' "$(hash_of sheet.png)"
run 0 show --grid packed --recipe 'short(64) center(48)' --form l3 --rows 2 --columns 3 --epoch 5 -o packed.png
is "$(hash_of packed.png --region 6,28,408x96)" "$(hash_of sheet.png --region 6,28,408x96)" "a row, from L3"
# What stands in a cell is what show gives: the cell of row 1, epoch 6.
run 0 show --grid set --recipe 'rrc(100) flip' --rows 2 --columns 2 --epoch 5 --seed 3 -o sheet.png
run 0 show set '#3' --recipe 'rrc(100) flip' --epoch 6 --seed 3 -o one.png
is "$(hash_of sheet.png --region 224,145,100x100)" "$(hash_of one.png)" "a cell of a sheet"
run 0 show --grid set --recipe 'convert(gray) resize(500x400)' --rows 99 --columns 1 --json
json_is out 'len(j["samples"]), j["width"], j["height"]' "(6, 664, 1666)"
"$MILLRACE" show --grid set --recipe 'rrc(32)' -o - >piped.png
has piped.png 'PNG'
run 2 show set '#3' --recipe 'rrc(32)' --rows 3
has err 'show: --rows is for --grid'
run 1 show --grid set --recipe 'rrc(320)' --rows 6 --columns 1000
has err 'fewer --rows or --columns'
run 1 show --grid packed --recipe 'rrc(32)' --form raw
has err "^millrace: packed: has no form 'raw'"

# What is wrong.
run 2 show set '#3'
has err '^millrace: show: --recipe is missing'
run 2 show set '#3' --recipe 'rrc(32) flop'
is "$(sed -n 2p err)" '          ^' "the mark below the recipe"
run 2 show set --recipe 'rrc(32)'
has err 'show: KEY is missing'
run 2 show set '#3' --recipe 'rrc(32)' -o x.gif
has err "no form is known by the ending of 'x.gif'"
run 2 show set '#3' --recipe 'rrc(32)' -o - --json
run 1 show set nothing --recipe 'rrc(32)'
has err "^millrace: set: has no sample with the key 'nothing'"
run 1 show packed '#3' --recipe 'rrc(32)' --form raw
has err "^millrace: packed: has no form 'raw' \(one of: jpeg l3\)$"
: >"set/$key"
run 1 show set '#3' --recipe 'rrc(32)' --index-place none -o e.png
has err "$key"
[ ! -e e.png ] || fail "a bad sample was written"
run 1 show --grid set --recipe 'rrc(32)' --index-place none -o e.png
has err "$key"
[ -e e.png ] || fail "a bad sample cost more than its row"
finish
