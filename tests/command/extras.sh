#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What convert keeps beside the pixels: ICC profiles and orientations, and what it says when it cannot.
. "$(dirname "$0")/common"

if ! command -v python3 >/dev/null 2>&1; then
    echo "skipped: no Python to make profiles with"
    exit 77
fi
picture a.ppm
"$MILLRACE" convert a.ppm plain.png || fail "convert"
"$MILLRACE" convert a.ppm plain.jpg || fail "convert"
python3 - <<'END'
import struct, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def profile(space):
    head = struct.pack(">I4sI4s4s4s", 132, b"none", 0x02400000, b"mntr", space, b"XYZ ")
    return head + bytes(12) + b"acsp" + bytes(132 - len(head) - 16)

def exif(orientation):
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)

png = open("plain.png", "rb").read()
for name, space in (("rgb.png", b"RGB "), ("cmyk.png", b"CMYK")):
    icc = chunk(b"iCCP", b"test\0\0" + zlib.compress(profile(space)))
    open(name, "wb").write(png[:33] + icc + png[33:])
jpeg = open("plain.jpg", "rb").read()
good = profile(b"RGB ")
bad = {"short": good[:100], "long": good + b"more", "nothing": b"", "garbage": bytes(range(200)),
       "unsigned": good[:36] + b"what" + good[40:]}
for name, icc in bad.items():
    app2 = b"ICC_PROFILE\0\1\1" + icc
    open(name + ".jpg", "wb").write(jpeg[:2] + b"\xff\xe2" + struct.pack(">H", len(app2) + 2) + app2 + jpeg[2:])
for orientation in range(1, 9):
    app1 = b"Exif\0\0" + exif(orientation)
    open("turn%d.jpg" % orientation, "wb").write(jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(app1) + 2) + app1 + jpeg[2:])
END

# A profile goes wherever it fits, byte for byte.
for out in kept.png kept.jpg kept.webp kept.raw; do
    run 0 convert rgb.png $out
    is_empty err
    run 0 info --json $out
    json_is out 'j[0]["icc"]' True
done
run 0 convert kept.raw again.png
cat >icc.py <<'END'
import sys, zlib
data = open(sys.argv[1], "rb").read()
at = data.index(b"iCCP")
print(zlib.decompress(data[data.index(b"\0\0", at) + 2:]).hex() if False else zlib.decompressobj().decompress(data[data.index(b"\0", at) + 2:]).hex())
END
is "$(python3 icc.py again.png)" "$(python3 icc.py rgb.png)" "the profile after PNG, raw and PNG"

# Where it does not fit it is dropped, with a word; --strict refuses.
run 0 convert rgb.png none.ppm
has err '^millrace: rgb\.png: note: pnm does not hold an ICC profile: it is dropped$'
run 0 convert -c 1 rgb.png gray.png
has err "^millrace: rgb\.png: note: the ICC profile is for 'RGB ' and the pixels are gray: it is dropped\$"
run 0 info --json gray.png
json_is out 'j[0]["icc"]' False
run 0 convert cmyk.png kept.png
has err "profile is for 'CMYK' and the pixels are RGB"
run 1 convert --strict rgb.png strict.ppm
[ ! -e strict.ppm ] || fail "--strict wrote a file"

# What calls itself a profile and is none does not keep an image from being converted.
for name in short long nothing garbage unsigned; do
    for form in png jpg webp raw pnm; do
        rm -f broken.$form
        run 0 convert $name.jpg broken.$form
        has err "^millrace: $name\.jpg: note: the ICC profile is dropped: "
        is "$(wc -l <err)" 1 "notes on $name.jpg as $form"
        run 0 info --json broken.$form
        json_is out 'j[0]["icc"]' False
        rm -f broken.$form
        run 1 convert --strict $name.jpg broken.$form
        has err '; --strict does not allow it$'
        [ ! -e broken.$form ] || fail "--strict wrote $name.jpg as $form"
    done
done

# Orientations are kept, or applied.
for n in 1 2 3 4 5 6 7 8; do
    for form in jpg png webp raw; do
        run 0 convert turn$n.jpg out.$form
        is_empty err
        run 0 info --json out.$form
        json_is out 'j[0]["orientation"]' $n
    done
    is "$(hash_of out.png)" "$(hash_of turn$n.jpg)" "the pixels of orientation $n, kept"
    is "$(hash_of -o out.png)" "$(hash_of -o turn$n.jpg)" "the pixels of orientation $n, applied"
    run 0 convert --orient turn$n.jpg upright.png
    run 0 info --json upright.png
    json_is out 'j[0]["orientation"]' 1
    json_is out 'j[0]["width"]' $([ $n -lt 5 ] && echo 8 || echo 6)
    is "$(hash_of upright.png)" "$(hash_of -o turn$n.jpg)" "the pixels of orientation $n, turned"
done
run 0 convert turn6.jpg none.ppm
has err 'note: pnm does not hold an orientation: 6 is dropped \(--orient turns the pixels instead\)$'
run 0 convert -o turn6.jpg none.ppm
is_empty err

# WebP holds its EXIF behind the pixels: info reads on to the end of a long file.
run 0 generate set --count 1 --size 1000x800 --forms jpeg
python3 - <<'END'
jpeg, turned = open("set/land/00000.jpeg", "rb").read(), open("turn6.jpg", "rb").read()
open("large.jpg", "wb").write(jpeg[:2] + turned[2:4 + int.from_bytes(turned[4:6], "big")] + jpeg[2:])
END
run 0 convert --lossless --effort=1 large.jpg large.webp
[ "$(wc -c <large.webp)" -gt 300000 ] || fail "large.webp is not large"
run 0 info --json large.webp large.jpg
json_is out '[i["orientation"] for i in j]' '[6, 6]'
finish
