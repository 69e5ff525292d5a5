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

# Damage that was accepted is not called harmless; harmless oddities are.
run 0 decode --accept-damaged set/cut.jpg
has out '^  [0-9]+ warnings? in 1 image: damage that --accept-damaged accepts, or oddities that do no harm$'
run 0 decode --json --accept-damaged set/cut.jpg "$jpeg"
json_is out 'j["accept_damaged"], j["total"]["warned_images"], j["total"]["warnings"] > 0' "(True, 1, True)"
{
    cat "$(ls set/land/*.pnm set/*/*.pnm 2>/dev/null | head -n 1)"
    echo more
} >odd.ppm
run 0 decode odd.ppm
has out '^  1 warning in 1 image: oddities that do no harm$'

# Whatever cannot be reached is counted and listed with the other bad files, in the order of their names.
mkdir mixed
cp "$jpeg" mixed/a.jpg
ln -s nowhere mixed/b.jpg
cp set/cut.jpg mixed/c.jpg
ln -s nowhere mixed/d
run 1 decode --json mixed nosuch
is_json out
json_is out '[b["name"] for b in j["bad"]]' "['mixed/b.jpg', 'mixed/c.jpg', 'mixed/d', 'nosuch']"
json_is out '[b["error"]["code"] for b in j["bad"]]' "['MR_EIO', 'MR_ETRUNCATED', 'MR_EIO', 'MR_EIO']"
json_is out 'j["files"], j["total"]["images"]' "(5, 1)"
is "$(wc -l <err)" 4 "errors"
run 1 decode mixed nosuch
has out '^  4 bad files of 5$'
is "$(sed 's/^millrace: \([^:]*\):.*/\1/' err | tr '\n' ' ')" 'mixed/b.jpg mixed/c.jpg mixed/d nosuch ' "the errors, in order"
run 1 decode nosuch
has out '^  1 bad file of 1$'
run 1 decode --json nosuch
json_is out 'j["bad"][0]["name"], j["files"], j["forms"]' "('nosuch', 1, {})"

# The time that a bad file takes is spent, not idle: this one is waited for, for at least a fifth of a second.
mkfifo slow
{
    sleep 0.2
    echo no image
} >slow &
run 1 decode --json slow
json_is out 'j["failed"]["read_s"] >= 0.2, j["total"]["read_s"], j["total"]["images"]' "(True, 0, 0)"
{
    sleep 0.2
    echo no image
} >slow &
run 1 decode "$jpeg" slow
awk '$1 == "reading" && $2 >= 0.2 { good = 1 } END { exit !good }' out || fail "reading what is no image took no time"

# What is there in one round and not in the next is bad, too.
cat "$jpeg" | "$MILLRACE" decode --threads=1 --repeat=2 --json /dev/stdin >out 2>err
is $? 1 "the exit code of a file that is gone in the second round"
json_is out 'j["total"]["images"], [b["error"]["text"] for b in j["bad"]]' "(1, ['no data: 0 bytes'])"

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
has err '^millrace: nothing: there are no files in it$'
is_empty out
run 1 decode --json nothing
is_json out
json_is out 'j["files"], j["total"]["images"], j["bad"]' "(0, 0, [])"
finish
