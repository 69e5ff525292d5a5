#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A JPEG to L3 and the very JPEG back.
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 1 --forms png --size 300x200 >/dev/null || fail "generate"
photo=set/land/00000.png
for kind in '-s 444' '-s 422' '-s 420' '-s 440' '-s 411' '-p' '-q 5' '-q 100' '-c 1'; do
    # shellcheck disable=SC2086
    run 0 convert $kind $photo a.jpg
    run 0 convert a.jpg a.l3
    has err '^millrace: a\.l3: note: exact, the same coefficients, and the very JPEG comes back from it; [0-9]+ bytes for '
    is "$(hash_of a.l3)" "$(hash_of a.jpg)" "the pixels of a JPEG in l3 ($kind)"
    is "$(hash_of --region 33,21,150x90 a.l3)" "$(hash_of --region 33,21,150x90 a.jpg)" "a part of it ($kind)"
    for n in 2 4 8; do
        is "$(hash_of --reduce $n a.l3)" "$(hash_of --reduce $n a.jpg)" "reduced by $n ($kind)"
    done
    run 0 verify a.l3
    run 0 convert a.l3 b.jpg
    has err '^millrace: b\.jpg: note: exact, the very file that the l3 was made from; '
    cmp -s a.jpg b.jpg || fail "another JPEG comes back ($kind)"
    run 0 convert --no-origin a.jpg bare.l3
    has err '^millrace: bare\.l3: note: exact, the same coefficients; [0-9]+ bytes for [0-9]+ of jpeg, without an origin$'
    [ "$(wc -c <bare.l3)" -lt "$(wc -c <a.l3)" ] || fail "--no-origin is not smaller"
    run 0 convert bare.l3 c.jpg
    has err '^millrace: c\.jpg: note: exact, the same coefficients, but not the very file'
    is "$(hash_of c.jpg)" "$(hash_of a.jpg)" "the pixels of a JPEG with the same coefficients ($kind)"
    run 0 convert --no-origin a.l3 d.l3
    cmp -s bare.l3 d.l3 || fail "an origin taken away later leaves another file ($kind)"
done

# Pixels where they are asked for.
run 0 convert a.l3 a.png
is "$(hash_of a.png)" "$(hash_of a.jpg)" "the pixels as PNG"
run 0 convert -q 40 a.l3 low.jpg
has err '^millrace: low\.jpg: note: made from pixels, and jpeg loses: --quality asks for pixels; [0-9]+ bytes for '
[ "$(wc -c <low.jpg)" -lt "$(wc -c <a.jpg)" ] || fail "--quality is not obeyed"
run 0 convert --region 0,0,64x64 a.jpg part.l3
has err 'note: made from pixels, because --region asks for pixels; '
is "$(hash_of part.l3)" "$(hash_of --region 0,0,64x64 a.jpg)" "a part of a JPEG in l3"
run 0 info part.l3 a.l3
has out '^l3 .* pixel +1 +- .* part\.l3$'
has out '^l3 .* dct +[0-9]+ +yes .* a\.l3$'

# What asks for the image as it is stays exact, both ways; what does not is told of, and refused when it is to be strict.
run 0 convert $photo plain.jpg
run 0 convert plain.jpg plain.l3
for nothing in -a '-c 3' '-d 8' -o '--reduce 1' '--region 0,0,300x200' '-a -c 3 -d 8 -o --region 0,0,300x200'; do
    # shellcheck disable=SC2086
    run 0 convert --strict $nothing plain.jpg same.l3
    cmp -s plain.l3 same.l3 || fail "$nothing makes another l3"
    # shellcheck disable=SC2086
    run 0 convert --strict $nothing plain.l3 same.jpg
    cmp -s plain.jpg same.jpg || fail "$nothing makes another JPEG"
done
for asked in '--channels 1' '--depth 16' '--reduce 2' '--region 0,0,300x199' '--region 1,0,299x200' '--quality 90' \
    '--subsampling 420' --progressive; do
    rm -f strict.jpg
    # shellcheck disable=SC2086
    run 0 convert $asked plain.l3 other.jpg
    has err "note: made from pixels, and jpeg loses: ${asked%% *} asks for pixels; "
    # shellcheck disable=SC2086
    run 1 convert --strict $asked plain.l3 strict.jpg
    has err "^millrace: plain\\.l3: made from pixels, and jpeg loses: ${asked%% *} asks for pixels; --strict does not allow it$"
    [ ! -e strict.jpg ] || fail "--strict wrote a file ($asked)"
done
run 0 convert --preset small plain.jpg small.l3
has err '^millrace: small\.l3: note: --preset changes nothing: '

# The same for a script.
run 0 convert --json plain.jpg told.l3
json_is out 'j["name"], j["form"], j["exact"], j["has_origin"], j["origin_nbytes"] > 0, j["why"]' \
    "('told.l3', 'l3', True, True, True, '')"
json_is out 'j["bytes"]' "$(wc -c <told.l3)"
run 0 convert --json -q 90 told.l3 told.jpg
json_is out 'j["form"], j["exact"], j["has_origin"], j["origin_nbytes"], j["why"]' \
    "('jpeg', False, False, 0, '--quality asks for pixels')"
run 2 convert --json --form l3 plain.jpg -

# Through pipes.
"$MILLRACE" convert --form l3 - - <plain.jpg >piped.l3 2>err || fail "convert in a pipe"
"$MILLRACE" convert --form jpeg - - <piped.l3 >piped.jpg 2>err || fail "convert back in a pipe"
cmp -s plain.jpg piped.jpg || fail "another JPEG comes back through pipes"

# Damage.
nbytes=$(wc -c <bare.l3)
{ head -c $((nbytes - 1)) bare.l3 && printf '\377'; } >last.l3
cmp -s last.l3 bare.l3 && { head -c $((nbytes - 1)) bare.l3 && printf '\376'; } >last.l3
run 1 convert last.l3 no.jpg
has err '^millrace: last\.l3: damaged L3 image: tile [0-9]+ \(column '
[ ! -e no.jpg ] || fail "a damaged image was converted"
run 0 convert --accept-damaged last.l3 rest.jpg
has err '^millrace: last\.l3: note: damaged L3 image: tile '
has err '^millrace: rest\.jpg: note: made from pixels, and jpeg loses: it is damaged; '
run 1 convert --accept-damaged --strict last.l3 no.jpg
[ ! -e no.jpg ] || fail "--strict wrote a damaged image"
head -c 6000 plain.jpg >cut.jpg
run 1 convert cut.jpg no.l3
run 0 convert --accept-damaged cut.jpg rest.l3
has err '^millrace: rest\.l3: note: made from pixels, because it is damaged; '
is "$(hash_of rest.l3)" "$(hash_of --accept-damaged cut.jpg)" "what is left of a damaged JPEG"
run 1 info --tiles last.l3
has err '^millrace: last\.l3: damaged: 1 of [0-9]+ tiles are not whole$'
run 1 verify last.l3
head -c $(($(wc -c <plain.l3) - 1)) plain.l3 >short.l3
run 1 info --tiles plain.l3 short.l3
is "$(cut -d ' ' -f 2- err)" 'short.l3: truncated: 0 of 6 tiles are not whole' "an origin that is cut"
finish
