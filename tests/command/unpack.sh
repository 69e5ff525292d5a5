#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A dataset becomes files again: the same bytes, and never outside of the folder.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 12 --classes 3 --forms jpeg,png --size 60x40 >/dev/null || fail "generate"
for name in set/*/*.jpeg; do
    mv "$name" "${name%.jpeg}.jpg"
done
mv set/land/00000.jpg 'set/land/a.b%25c d.jpg'

# Through a packed dataset and back: the same files.
run 0 pack set -o packed
run 0 unpack packed -o back
is_empty err
has out '^Wrote 12 files \([0-9.]+ kB\) of 12 samples into back$'
cp back/labels.tsv labels
rm back/labels.tsv
diff -r set back >differ || {
    fail "what came back is not what was packed"
    cat differ
}
is "$(wc -l <labels)" 12 "lines of labels"
has labels "^land/a\.b%25c d\.jpg$(printf '\t')land\$"

# A folder, shards, one form.
run 0 unpack set -o copy --json
is_json out
json_is out 'j["files"], j["failed"], j["bad"]' '(12, 0, [])'
nbytes_only out nbytes
rm copy/labels.tsv
diff -r set copy >/dev/null || fail "a folder is unpacked to something else"
(cd set && tar cf ../s.tar ./land table/0*)
run 0 unpack s.tar -o tarred
cmp -s tarred/table/00001.png set/table/00001.png || fail "a shard is unpacked to something else"
[ -e 'tarred/land/a.jpg' ] || fail "a name that begins with ./"
run 0 pack set -o two --forms original,l3
run 0 unpack two -o pixels --form l3
is "$(hash_of pixels/land/00003.l3 2>/dev/null || hash_of pixels/table/00001.l3)" \
    "$(hash_of set/land/00003.png 2>/dev/null || hash_of set/table/00001.png)" "pixels of the l3"
run 1 unpack two -o pixels --form raw
has err "has no form 'raw' \(one of: original l3\)"

# Nothing is replaced, unless it has to.
echo mine >back/table/00001.png
run 1 unpack packed -o back
has err '^millrace: table/00001: table/00001\.png is there already; --force replaces it$'
is "$(cat back/table/00001.png)" mine "a file that was there"
run 0 unpack packed -o back --force
cmp -s back/table/00001.png set/table/00001.png || fail "--force did not replace"
is "$(find . -name '.millrace-*' | wc -l)" 0 "temporary files"

run 1 unpack packed -o back
is "$(wc -l <err)" 11 "lines on files that are there"
is "$(grep -c 'is there already; --force replaces it$' err)" 10 "files named that are there"
has err '^millrace: and 2 more files are there already; --force replaces what is there$'
has out '12 could not be written$'
run 1 unpack packed -o back --json
json_is out 'j["failed"], len(j["bad"])' '(12, 12)'
rm back/labels.tsv back/land/*
run 1 unpack packed -o back --threads 1 # eight are there
is "$(wc -l <err)" 8 "lines on fewer files that are there"
# Damage is told of, however many files are there.
if command -v python3 >/dev/null 2>&1; then
    picture small.ppm
    run 0 convert small.ppm small.png
    python3 - <<'END'
import io, tarfile
image = open("small.png", "rb").read()
with tarfile.open("many.tar", "w") as tar:
    for i in range(1100):
        entry = tarfile.TarInfo(f"{i:04}.png")
        entry.size = len(image)
        tar.addfile(entry, io.BytesIO(image))
END
    run 0 pack many.tar -o hurt --no-check
    run 0 unpack hurt -o there
    python3 - <<'END'
image, shard = open("small.png", "rb").read(), bytearray(open("hurt/original/000000.tar", "rb").read())
shard[shard.rindex(image) + len(image) // 2] ^= 1
open("hurt/original/000000.tar", "wb").write(shard)
END
    run 1 unpack hurt -o there --threads 1
    has err '1099'
    has err '^millrace: and 1,089 more files are there already; --force replaces what is there$'
    is "$(wc -l <err)" 12 "lines on damage and files that are there"
fi

# The threads change nothing.
run 0 unpack packed -o one --threads 1
run 0 unpack packed -o eight --threads 8
diff -r one eight >/dev/null || fail "the threads change what is written"

# Names that lead out of the folder, and links in it.
if command -v python3 >/dev/null 2>&1; then
    python3 - set/table/00001.png <<'END'
import io, sys, tarfile
image = open(sys.argv[1], "rb").read()
with tarfile.open("hostile.tar", "w") as tar:
    for name in ["../out.png", "/out.png", "a/../../out.png", "new\nline.png", "escape\x1b[31m.png", "link/in.png",
                 "file/in.png", "dangling.png", "good.png", ".../three.png", "x" * 300 + ".png", "y/" * 1950 + "y.png"]:
        entry = tarfile.TarInfo(name)
        entry.size = len(image)
        tar.addfile(entry, io.BytesIO(image))
END
    mkdir -p deep/hostile outside
    ln -s ../../outside deep/hostile/link
    ln -s ../../outside/made deep/hostile/dangling.png
    echo file >deep/hostile/file
    run 1 unpack hostile.tar -o deep/hostile --broken skip
    has err 'out: not written, its name cannot be used: '
    has err '^millrace: new\\nline: not written, .*control character'
    has err '^millrace: escape\\x1b'
    has err '^millrace: link/in: a folder of link/in\.png is a file or a link, and is not followed$'
    has err '^millrace: file/in: '
    has err '^millrace: x+: not written, .*too long a name'
    has err 'not written, its key is too long for a file'
    has err '^millrace: dangling: dangling\.png is there already'
    is "$(find outside | wc -l)" 1 "what is outside of the folder"
    is "$(find deep -type f | LC_ALL=C sort | paste -sd' ')" "deep/hostile/.../three.png deep/hostile/file deep/hostile/good.png" \
        "what was written"
    is "$(ls deep)" hostile "what is beside the folder"
    run 1 unpack hostile.tar -o deep/hostile --broken skip --force --json
    json_is out 'j["failed"] > 5' True
    is "$(find outside | wc -l)" 1 "what is outside of the folder with --force"
fi

# Usage.
run 2 unpack packed
has err 'unpack: --out is missing'
run 1 unpack missing -o x
[ ! -e x ] || fail "a folder for a dataset that is not there"
echo file >plain
run 1 unpack packed -o plain
finish
