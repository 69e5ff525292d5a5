#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

picture a.ppm
hash=$(hash_of a.ppm)

# Round trips without loss, through files and pipes.
run 0 convert a.ppm b.png
is_empty out
is_empty err
run 0 convert b.png c.pnm
run 0 convert c.pnm d.png
run 0 convert d.png e.raw
run 0 convert --lossless e.raw f.webp
for file in b.png c.pnm d.png e.raw f.webp; do
    is "$(hash_of $file)" "$hash" "the hash of $file"
done
"$MILLRACE" convert --form png - - <f.webp >g.png || fail "convert in a pipe"
is "$(hash_of g.png)" "$hash" "the hash of a piped image"

# A JPEG's pixels stay what they are; its options reach the file.
"$MILLRACE" generate set --count 1 --forms png --size 160x120 >/dev/null || fail "generate"
photo=set/land/00000.png
run 0 convert $photo photo.jpg
run 0 convert photo.jpg photo.png
is "$(hash_of photo.png)" "$(hash_of photo.jpg)" "the hash of a JPEG as PNG"
run 0 convert -q 30 $photo low.jpg
[ "$(wc -c <low.jpg)" -lt "$(wc -c <photo.jpg)" ] || fail "--quality=30 is not smaller"
run 0 convert -s 4:4:4 -p $photo full.jpg
run 0 info photo.jpg full.jpg
has out '4:2:0 +- .*photo\.jpg'
has out '4:4:4 +yes .*full\.jpg'
run 0 convert --effort 1 $photo fast.png
run 0 convert --effort 9 $photo small.png
is "$(hash_of small.png)" "$(hash_of fast.png)" "the pixels at any effort"
run 0 convert photo.jpg lossy.webp
run 0 convert --form=webp photo.jpg named.png
run 0 info named.png
has out '^webp'

# The hints.
run 0 convert --region 10,20,64x48 photo.jpg part.png
is "$(hash_of part.png)" "$(hash_of --region 10,20,64x48 photo.jpg)" "the hash of a part"
run 0 convert --reduce 4 -c 1 photo.jpg quarter.png
is "$(hash_of quarter.png)" "$(hash_of --reduce 4 -c 1 photo.jpg)" "the hash of a gray quarter"
run 0 info quarter.png
has out '^png +40x30 +1 +8'

# What a form cannot hold is converted with a note, refused with --strict.
run 0 convert a.ppm -c 4 -d 16 rich.png
run 0 convert rich.png poor.jpg
has err '^millrace: rich\.png: note: jpeg has no alpha channel'
has err '^millrace: rich\.png: note: jpeg has no 16-bit samples: they become 8-bit$'
run 0 info poor.jpg
has out '^jpeg +8x6 +3 +8'
run 0 convert rich.png poor.webp
lacks err alpha
has err '16-bit'
rm poor.jpg
run 1 convert --strict rich.png poor.jpg
has err 'strict does not allow it'
[ ! -e poor.jpg ] || fail "--strict wrote a file"
run 0 convert --strict a.ppm strict.png

# Nothing that is asked for is passed over in silence: an option that the form does not have is a wrong command line.
refused() { # OPTION FORM FORMS
    rm -f asked.*
    for strict in '' --strict; do
        # shellcheck disable=SC2086 # words
        run 2 convert $1 $strict a.ppm asked.$2
        has err "^millrace: convert: ${1%%=*} is for $3, not for $2\$"
        is "$(wc -l <err)" 1 "lines of the error of $1 to $2"
        [ ! -e asked.$2 ] || fail "$1 to $2 wrote a file"
    done
}
refused --lossless jpeg 'webp, png, pnm, raw and l3'
for form in png pnm raw webp; do
    refused --progressive $form jpeg
    refused --subsampling=420 $form jpeg
    [ $form = webp ] || refused --quality=90 $form 'jpeg and webp'
done
for form in jpeg pnm raw; do
    refused --effort=6 $form 'png and webp'
done
run 2 convert --form webp --lossless --quality 50 a.ppm asked.webp
has err '^millrace: convert: --quality is not for what --lossless asks for'
for form in webp png pnm raw; do
    run 0 convert --lossless a.ppm kept.$form
    is "$(hash_of kept.$form)" "$hash" "the hash of a lossless $form"
done
for ratio in 444 422 440 420 411 441 410; do
    run 0 convert --subsampling $ratio a.ppm ratio.jpg
    run 0 info --json ratio.jpg
    json_is out 'j[0]["subsampling"].replace(":", "")' $ratio
    run 0 help convert
    has out " $ratio([ ,;]|\$)"
done

# A name that promises one kind of PNM, and pixels of another.
run 0 convert -c 4 a.ppm rgba.ppm
has err '^millrace: a\.ppm: note: OUT is called \.ppm, but is written as pam for its 4 channels$'
run 0 convert -c 1 a.ppm gray.PPM
has err 'note: OUT is called \.PPM, but is written as pgm for its 1 channel$'
run 0 convert -c 2 a.ppm alpha.pnm
has err 'note: OUT is called \.pnm, but is written as pam for its 2 channels$'
run 1 convert --strict -c 4 a.ppm strict.ppm
[ ! -e strict.ppm ] || fail "--strict wrote a PAM called ppm"
for pair in '1 pgm' '3 ppm' '4 pam' '1 pnm' '3 pnm'; do
    run 0 convert --strict -c "${pair% *}" a.ppm "kind.${pair#* }"
    is_empty err
done
run 0 convert --form pnm -c 4 a.ppm kind.bin
is_empty err

# OUT is replaced, but only by a whole file: nothing is left behind by a failure.
echo old >out.png
run 0 convert a.ppm out.png
is "$(hash_of out.png)" "$hash" "the hash of a replaced file"
head -c 40 b.png >bad.png
echo old >keep.png
run 1 convert bad.png keep.png
has err '^millrace: bad\.png: .*PNG'
is "$(cat keep.png)" old "OUT after a failure"
run 1 convert a.ppm missing/out.png
has err '^millrace: missing/out\.png: No such file or directory$'
run 1 convert missing.png x.png
has err '^millrace: missing\.png: No such file or directory$'
mkdir folder.png
run 1 convert a.ppm folder.png
has err '^millrace: folder\.png: Is a directory$'
(
    ulimit -f 4 && run 1 convert --form raw $photo keep.png
    has err '^millrace: keep\.png: File too large$'
    exit $failures
) || fail "a file that cannot be written whole"
is "$(cat keep.png)" old "OUT after it could not be written"
[ -z "$(ls | grep '\.tmp$')" ] || fail "a temporary file was left: $(ls ./*.tmp)"

# A link stays a link, a mode stays a mode.
cp b.png target.png && chmod 640 target.png && ln -s target.png link.png
run 0 convert $photo link.png
[ -L link.png ] || fail "a link was replaced by a file"
is "$(hash_of target.png)" "$(hash_of $photo)" "what the link leads to"
is "$(ls -l target.png | cut -c 1-10)" '-rw-r-----' "the mode of the replaced file"

# IN is not OUT, unless it is said.
run 1 convert b.png b.png
has err 'same file'
run 1 convert b.png ./b.png
run 0 convert --force b.png b.png
is "$(hash_of b.png)" "$hash" "the hash after a conversion in place"

# Full disks.
if [ -w /dev/full ]; then
    run 1 convert --form png a.ppm /dev/full
    has err '^millrace: /dev/full: No space left on device$'
    "$MILLRACE" convert --form png a.ppm - >/dev/full 2>err
    is $? 1 "the exit code of convert to a full disk"
    has err '^millrace: standard output: No space left on device$'
    is "$(wc -l <err)" 1 "lines of the error of a full disk"
fi
# A pipe that nobody reads any more.
mkfifo closed
exec 3<>closed 4>closed 3<&-
"$MILLRACE" convert --form png a.ppm - >&4 2>err
is $? 1 "the exit code of convert to a closed pipe"
exec 4>&-
is_empty err
run 0 convert --form png a.ppm /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"
finish
