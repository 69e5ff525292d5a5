#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 12 --forms jpeg=2,png,pnm --size 60x40 >/dev/null || fail "generate"
run 0 decode set
is_empty err
has out '^Decoded 12 images in [0-9.]+ s on [0-9]+ threads?: [0-9]+ images/s'
has out '^  jpeg +6 '
has out '^  png +3 '
has out '^  pnm +3 '
has out '^  total +12 .*100%$'
has out '^  reading '
has out '^  decoding '
lacks out bad
has out '█'
LC_ALL=C "$MILLRACE" decode set >out || fail "decode in the C locale"
lacks out '█'
has out '#'
is "$(LC_ALL=C tr -d '\000-\177' <out | wc -c)" 0 "bytes beyond ASCII in the C locale"

run 0 decode --threads 3 --repeat 4 --json set
is_json out
json_is out 'j["threads"], j["repeat"], j["files"], j["total"]["images"], j["bad"]' "(3, 4, 12, 48, [])"
json_is out 'j["total"]["pixels"], j["total"]["pixel_bytes"]' "(115200, 345600)"
json_is out 'sorted(j["forms"]), sum(f["images"] for f in j["forms"].values())' "(['jpeg', 'png', 'pnm'], 48)"
json_is out 'j["total"]["stored_bytes"]' "$(($(cat set/*/* | wc -c) * 4))"
json_is out 'j["total"]["core_s"] > 0 and j["wall_s"] > 0 and j["total"]["decode_s"] > 0' True
run 0 decode --json --reduce 2 --channels 1 set
json_is out 'j["total"]["pixel_bytes"]' $((12 * 30 * 20))
run 0 decode set/land/00000.* set/land
has out '^Decoded 4 images'

# In folders: hidden files and what is no image are passed over; what is called like one and is none is bad.
mkdir -p set/.git set/deep/er
echo hello >set/README
echo hello >set/.hidden.jpg
echo hello >set/.git/x.jpg
cp set/table/00001.* set/deep/er/
ln -s ../.. set/deep/er/circle
run 0 decode set
has out '^Decoded 13 images'
has out '^  1 other file passed over'
jpeg=$(ls set/land/*.jpeg | head -n 1)
head -c $(($(wc -c <"$jpeg") - 50)) "$jpeg" >set/cut.jpg
echo hello >set/text.png
run 1 decode set
has out '^Decoded 13 images'
has out '^  2 bad files of 16$'
has err '^millrace: set/cut\.jpg: truncated JPEG'
has err '^millrace: set/text\.png: not an image'
run 1 decode --json set
json_is out '[b["name"] for b in j["bad"]], j["other_files"]' "(['set/cut.jpg', 'set/text.png'], 1)"
run 1 decode --repeat 3 --json set
json_is out 'len(j["bad"]), j["other_files"], j["total"]["images"]' "(2, 1, 39)"
run 1 decode set/README missing
has err '^millrace: missing: No such file or directory$'
has err '^millrace: set/README: not an image'
run 0 decode --accept-damaged set/cut.jpg

# The first ten are listed, all are counted.
mkdir many
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13; do
    echo no >many/$i.png
done
run 1 decode many
is "$(grep -c 'not an image' err)" 10 "bad files listed"
has err '^millrace: many/01\.png'
has err '^millrace: and 3 more bad files'
has out '^  13 bad files of 13$'
mkdir nothing
run 1 decode nothing
has err 'no files there'
finish
