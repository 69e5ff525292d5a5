#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a recipe is and does.
. "$(dirname "$0")/common"

run 0 recipe 'rrc( 224x224 , ratio=0.75..4/3)  flip(0.5) normalize(imagenet)' --size 640x480 --seed 3
is_empty err
has out '^recipe   rrc\(224\) flip normalize\(imagenet\)$'
has out '^hash     [0-9a-f]{16}$'
has out '^output   224 x 224, 3 channels, f32, nchw: 602112 bytes$'
has out '^of an image of 640 x 480, sample #0 in epoch 0 with seed 3:$'
has out '^decode   [0-9]+ x [0-9]+ at [0-9]+, [0-9]+, of 640 x 480$'
has out '^pass 1 .*resize to 224 x 224 \(bilinear\).* rrc .*normalize$'
cp out three
run 0 recipe 'rrc(224) flip normalize(imagenet)' --size 640x480 --seed 4
[ "$(grep ^decode out)" != "$(grep ^decode three)" ] || fail "another seed decodes the same part"
run 0 recipe 'rrc(224) flip normalize(imagenet)' --size 640x480 --seed 3 --epoch 1 --sample 7
[ "$(grep ^decode out)" != "$(grep ^decode three)" ] || fail "another epoch decodes the same part"

# Fused, and apart.
run 0 recipe 'short(256) center(224) dtype(u8)' --json
is_json out
json_is out 'j["recipe"], j["fused"], j["width"], j["height"], len(j["passes"])' "('short(256) center(224) dtype(u8)', True, 500, 375, 2)"
json_is out 'j["output"]' "{'width': 224, 'height': 224, 'channels': 3, 'dtype': 'u8', 'layout': 'nchw', 'sample_nbytes': 150528}"
run 0 recipe 'short(256) center(224) dtype(u8)' --json --no-fuse
json_is out 'j["fused"], len(j["passes"])' "(False, 3)"

# What is wrong.
run 2 recipe
run 2 recipe 'rrc(224) flop'
is "$(sed -n 2p err)" '           ^' "the mark below the recipe"
has err '^millrace: recipe: at character 10: no step is called "flop": did you mean "flip"\?$'
run 2 recipe 'flip'
has err '^millrace: recipe: '
run 2 recipe 'rrc(224)' --size 0x0
finish
