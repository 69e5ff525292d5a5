#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# L3 on the command line: there and back from every form, tiles, damage.
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 2 --forms png --size 300x200 >/dev/null || fail "generate"
photo=set/land/00000.png
hash=$(hash_of $photo)

# Through pixels, from and to each lossless form; every preset gives the same pixels.
for form in ppm raw png; do
    run 0 convert $photo a.$form
    run 0 convert a.$form $form.l3
    has err "^millrace: $form\.l3: note: made from pixels; [0-9]+ bytes for $(wc -c <a.$form) of "
    is_empty out
    is "$(hash_of $form.l3)" "$hash" "the hash of $form.l3"
    run 0 convert $form.l3 back.$form
    is_empty err
    cmp -s a.$form back.$form || fail "$form through l3 is another file"
    cmp -s ppm.l3 $form.l3 || fail "$form makes another l3"
done
run 0 convert --lossless $photo a.webp
run 0 convert a.webp webp.l3
is "$(hash_of webp.l3)" "$hash" "the hash of webp.l3"
for preset in fast default small; do
    run 0 convert --preset=$preset $photo $preset.l3
    is "$(hash_of $preset.l3)" "$hash" "the hash with --preset=$preset"
    run 0 convert --preset=$preset --threads=3 $photo threads.l3
    cmp -s $preset.l3 threads.l3 || fail "threads change the bytes of --preset=$preset"
done
[ "$(wc -c <small.l3)" -le "$(wc -c <fast.l3)" ] || fail "small is larger than fast"
cmp -s default.l3 ppm.l3 || fail "the default preset is another"
"$MILLRACE" convert --form l3 - - <$photo 2>err >piped.l3 || fail "convert in a pipe"
cmp -s piped.l3 ppm.l3 || fail "a piped l3 is another"
for shape in '-c 1' '-c 2' '-c 4' '-d 16' '-c 4 -d 16' '-c 2 -d 16'; do
    # shellcheck disable=SC2086
    run 0 convert $shape $photo shape.png
    run 0 convert shape.png shape.l3
    is "$(hash_of shape.l3)" "$(hash_of shape.png)" "the hash with $shape"
done

# The hints; a region and a reduced image are the same as of any other form.
run 0 convert --region 100,50,130x99 ppm.l3 part.png
is "$(hash_of part.png)" "$(hash_of --region 100,50,130x99 $photo)" "the hash of a part"
is "$(hash_of --reduce 4 -c 1 ppm.l3)" "$(hash_of --reduce 4 -c 1 $photo)" "the hash of a gray quarter"
run 0 decode ppm.l3 small.l3
has out 'l3'

# What it says of itself.
run 0 info ppm.l3 $photo
has out '^form .* mode +tiles +origin '
has out '^l3 +300x200 +3 +8 +rgb +- +- +1 +- +pixel +[0-9]+ +- '
has out '^png .* - +- +- '
run 0 info $photo
lacks out 'tiles'
run 0 info --json ppm.l3
json_is out 'j[0]["form"], j[0]["lossless"], j[0]["mode"], j[0]["origin"], j[0]["extra_bytes"]' \
    "('l3', True, 'pixel', False, 0)"
run 0 info --tiles ppm.l3
has out '^ppm\.l3: [0-9]+ tiles, [0-9]+ in a row$'
has out '^ +0 +0 +0 +0,0,[0-9]+x[0-9]+ +[0-9]+ +[0-9]+ +yes +[a-z].*$'
lacks out ' NO '
run 0 info --tiles --json ppm.l3
json_is out 'len(j[0]["tile"]) == j[0]["tiles"]' True
json_is out 'sum(t["bytes"] for t in j[0]["tile"]) + j[0]["tile"][0]["at"] == j[0]["bytes"]' True
json_is out 'sum(t["width"] * t["height"] for t in j[0]["tile"])' 60000
json_is out 'all(t["whole"] for t in j[0]["tile"])' True
run 1 info --tiles $photo
has err "^millrace: $photo: png is not stored in tiles$"

# Damage: the tile is named; what else is there can be had.
nbytes=$(wc -c <ppm.l3)
head -c $((nbytes - 1)) ppm.l3 >cut.l3
{ cat cut.l3 && printf '\377'; } >last.l3
cmp -s last.l3 ppm.l3 && { head -c $((nbytes - 1)) ppm.l3 && printf '\376'; } >last.l3
tiles=$("$MILLRACE" info --tiles ppm.l3 | sed -n 's/.*: \([0-9]*\) tiles.*/\1/p')
columns=$("$MILLRACE" info --tiles ppm.l3 | sed -n 's/.*, \([0-9]*\) in a row/\1/p')
where="tile $((tiles - 1)) \(column $(((tiles - 1) % columns)), row $(((tiles - 1) / columns))\) at byte [0-9]+"
run 1 verify ppm.l3 last.l3 cut.l3
has out '^1 good .*, 2 bad$'
has err "^millrace: last\.l3: damaged L3 image: $where: its hash does not match$"
has err "^millrace: cut\.l3: truncated L3 image: it ends at byte $((nbytes - 1)), and should at byte $nbytes$"
run 1 convert last.l3 no.png
has err "^millrace: last\.l3: damaged L3 image: $where"
[ ! -e no.png ] || fail "a damaged image was converted"
run 0 hash --region 0,0,20x20 last.l3
is "$(cut -c 1-16 out)" "$(hash_of --region 0,0,20x20 $photo)" "a part whose tiles are whole"
run 0 convert --accept-damaged last.l3 rest.png
has err "^millrace: last\.l3: note: damaged L3 image: $where"
is "$(hash_of --region 0,0,20x20 rest.png)" "$(hash_of --region 0,0,20x20 $photo)" "what is left of a damaged image"
run 1 info --tiles last.l3
has err "^millrace: last\\.l3: damaged: 1 of $tiles tiles are not whole$"
is "$(grep -c ' NO ' out)" 1 "damaged tiles"
run 1 info --tiles --json ppm.l3 last.l3
json_is out '[sum(not t["whole"] for t in f["tile"]) for f in j]' '[0, 1]'
run 1 info --tiles cut.l3
has err "^millrace: cut\\.l3: truncated: 1 of $tiles tiles are not whole$"

# A JPEG of it loses, as it does of any pixels: a note.
run 0 convert --strict ppm.l3 pixels.jpg
has err '^millrace: pixels\.jpg: note: made from pixels, and jpeg loses; [0-9]+ bytes for [0-9]+ of l3$'
run 0 convert --no-origin $photo bare.l3
has err '^millrace: bare\.l3: note: --no-origin changes nothing: '

# Options that L3 does not have, and that only it has.
run 2 convert --quality 5 $photo no.l3
run 2 convert --preset fast $photo no.png
has err '^millrace: convert: --preset is for l3, not for png$'
run 2 convert --no-origin $photo no.jpg
run 2 convert --preset slow $photo no.l3
has err 'one of: fast default small'

# A set of them.
run 0 generate l3set --count 4 --forms l3=1 --size 64x48
run 0 verify l3set
has out '^4 good'
is "$(hash_of l3set/land/00000.l3)" "$("$MILLRACE" generate pngset --count 1 --forms png --size 64x48 >/dev/null
    hash_of pngset/land/00000.png)" "the hash of a generated l3"
finish
