#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --jpeg: who decodes. Each gives the same pixels, and what ours is not for is told when ours alone may.
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 6 --forms jpeg --size 90x70 >/dev/null || fail "generate"
one=$(ls set/*/*.jpeg | head -n 1)
"$MILLRACE" convert --progressive "$one" set/progressive.jpg || fail "convert to progressive"
"$MILLRACE" convert --subsampling 422 "$one" set/wide.jpg || fail "convert to 4:2:2"
"$MILLRACE" convert --channels 1 "$one" set/gray.jpg || fail "convert to gray"
for options in "" "--region 13,7,40x31" "--reduce 2" "--reduce 8 --region 1,2,3x4" "--channels 1" "--accept-damaged"; do
    for who in either own libjpeg; do
        # shellcheck disable=SC2086 # options are words
        run 0 hash --jpeg $who $options set/*.jpg set/*/*.jpeg
        is_empty err
        cp out hashes.$who
    done
    cmp -s hashes.either hashes.own || fail "other pixels by own: $options"
    cmp -s hashes.libjpeg hashes.own || fail "other pixels by libjpeg: $options"
    is "$(wc -l <hashes.own)" 9 "hashes"
done
for who in either own libjpeg; do
    run 0 verify --jpeg=$who set
    has out '^9 good'
    run 0 decode --jpeg=$who --json set
    json_is out 'j["total"]["images"], j["bad"]' "(9, [])"
    run 0 convert --jpeg=$who "$one" $who.png
done
cmp -s own.png libjpeg.png || fail "other pixels in a converted image"
cmp -s own.png either.png || fail "other pixels in a converted image"

run 2 hash --jpeg turbo "$one"
has err "^millrace: hash: --jpeg cannot be 'turbo' .*\(one of: either own libjpeg\)"
run 2 info --jpeg own "$one"
run 2 generate --jpeg own more

# A kind that only libjpeg-turbo decodes.
command -v jpegtran >/dev/null 2>&1 || finish
jpegtran -arithmetic "$one" >arithmetic.jpg 2>/dev/null || finish
is "$(hash_of arithmetic.jpg)" "$(hash_of --jpeg own "$one")" "the pixels of the same coefficients"
is "$(hash_of --jpeg libjpeg arithmetic.jpg)" "$(hash_of "$one")" "the pixels by libjpeg"
for command in hash verify decode; do
    run 0 $command --jpeg either arithmetic.jpg
    run 0 $command --jpeg libjpeg arithmetic.jpg
    run 1 $command --jpeg own arithmetic.jpg
    has err '^millrace: arithmetic\.jpg: JPEG with arithmetic coding'
done
run 1 convert --jpeg own arithmetic.jpg not.png
[ ! -e not.png ] || fail "an image was written that could not be decoded"
run 1 decode --jpeg own --json arithmetic.jpg
json_is out 'j["bad"][0]["error"]["code"]' MR_EUNSUPPORTED
finish
