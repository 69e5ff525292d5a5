#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# convert with another size; beside Pillow 13 where there is one (MILLRACE_PYTHON names the Python that has it).
. "$(dirname "$0")/common"

size_of() { # FILE
    "$MILLRACE" info "$1" | awk 'NR == 2 { print $2 }'
}

"$MILLRACE" generate set --count 1 --forms png --size 160x120 >/dev/null || fail "generate"
photo=set/land/00000.png
run 0 convert $photo photo.jpg

# The three ways to name a size.
run 0 convert --size 50x70 $photo a.png
is_empty err
is "$(size_of a.png)" 50x70 "--size"
run 0 convert --max-side 100 $photo b.png
is "$(size_of b.png)" 100x75 "--max-side"
run 0 convert --short-side 100 $photo c.png
is "$(size_of c.png)" 133x100 "--short-side"
for way in --max-side --short-side; do
    run 0 convert $way 5000 $photo same.png
    is "$(hash_of same.png)" "$(hash_of $photo)" "$way never enlarges"
done
run 0 convert --size 320x240 $photo large.png
is "$(size_of large.png)" 320x240 "--size enlarges"

# It comes after the other options: of the part, of the gray image.
run 0 convert --region 10,20,64x48 $photo part.png
run 0 convert --size 20x20 part.png small.png
run 0 convert --region 10,20,64x48 --size 20x20 $photo direct.png
is "$(hash_of direct.png)" "$(hash_of small.png)" "a part, resized"

# Each filter is another, and the default is bilinear, as Pillow 13 has it; the order shows where it differs.
for filter in bilinear nearest box hamming bicubic lanczos; do
    run 0 convert --size 150x40 --filter $filter $photo $filter.png
    hash_of $filter.png
done >hashes
is "$(sort -u hashes | wc -l)" 6 "filters that differ"
run 0 convert --size 150x40 $photo default.png
is "$(hash_of default.png)" "$(hash_of bilinear.png)" "the default filter"
run 0 convert --size 150x40 --pillow 12 $photo older.png
[ "$(hash_of older.png)" != "$(hash_of default.png)" ] || fail "--pillow=12 changes nothing"
run 0 convert --size 40x110 --pillow 12 $photo older.png
run 0 convert --size 40x110 $photo newer.png
is "$(hash_of older.png)" "$(hash_of newer.png)" "both orders, where they are one"

# L3 from a JPEG goes through pixels then, and only then.
run 0 convert --json --max-side 100 photo.jpg small.l3
json_is out 'j["exact"]' False
has out '"--max-side asks for pixels"'
run 0 convert --json --max-side 160 photo.jpg whole.l3
json_is out 'j["exact"]' True

# What does not go together, and what is too much.
run 2 convert --size 4x4 --max-side 3 $photo no.png
has err '^millrace: convert: --size and --max-side cannot both be: each names a size$'
run 2 convert --filter box $photo no.png
has err '^millrace: convert: --filter is for --size, --max-side or --short-side, and none is there$'
run 2 convert --pillow 12 $photo no.png
has err '^millrace: convert: --pillow is for --size'
run 2 convert --size 4x4 --filter bilnear $photo no.png
has err "did you mean bilinear"
run 2 convert --size 4x4 --pillow 11 $photo no.png
run 2 convert --max-side 0 $photo no.png
run 1 convert --size 100000x100000 $photo no.png
has err 'a resize to 100000 x 100000: more than 268435456 pixels, the limit \(--no-limits lifts it\)$'
[ ! -e no.png ] || fail "a wrong command line wrote a file"

# Beside Pillow.
python=${MILLRACE_PYTHON:-python3}
if "$python" -c 'import PIL, sys; sys.exit(not PIL.__version__.startswith("13."))' 2>/dev/null; then
    "$python" - "$MILLRACE" <<'END' || fail "the pixels are not Pillow's"
import random, subprocess, sys
from PIL import Image

rng, wrong = random.Random(1), 0
for case in range(60):
    mode = rng.choice(["L", "LA", "RGB", "RGBA", "I;16"])
    size, out = [(rng.randint(1, 200), rng.randint(1, 200)) for _ in range(2)]
    name = rng.choice(["bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"])
    image = Image.frombytes(mode, size, rng.randbytes(size[0] * size[1] * (2 if mode == "I;16" else len(mode))))
    image.save("in.png")
    line = [sys.argv[1], "convert", "--size", f"{out[0]}x{out[1]}", "--filter", name, "in.png", "out.png"]
    subprocess.run(line, check=True)
    if Image.open("out.png").tobytes() != image.resize(out, Image.Resampling[name.upper()]).tobytes():
        print("differs:", mode, size, *line[3:6])
        wrong += 1
sys.exit(wrong != 0)
END
else
    echo "not compared with Pillow: $python has no Pillow 13"
fi
finish
