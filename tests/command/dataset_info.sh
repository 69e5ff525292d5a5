#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What info tells of datasets; of images it tells what it always did.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 14 --classes 4 --forms jpeg --size 80x60 >/dev/null || fail "generate"
run 0 info set
is_empty err
has out '^set: 14 samples, [0-9.]+ kB, in 14 files \(folder\)$'
has out '^  classes      4; fewest leaves \(3\); most land \(4\)$'
has out '^  sizes        not known before the images are read'
has out '^  fingerprint  [0-9a-f]{16}$'
has out "^  index        $XDG_CACHE_HOME/millrace/index \(made just now\)\$"
has out '^  stored +14 +[0-9.]+ kB +[0-9.]+ kB$'
has out '^ +[0-9]+ [A-Za-z]+ to +[0-9]+ [A-Za-z]+  █+ +[0-9]+$'
run 0 info set
lacks out 'made just now'
LC_ALL=C "$MILLRACE" info set >out
has out ' to +[0-9]+ [A-Za-z]+  #+ +[0-9]+$'
lacks out '█'
run 0 info set --index-place none
has out 'nowhere'
run 0 info set --json
is_json out
json_is out 'j["layout"], j["samples"], [(c["name"], c["samples"]) for c in j["classes"]][0], sum(h["records"] for h in j["histogram"])' \
    "('folder', 14, ('land', 4), 14)"
json_is out 'j["forms"][0]["nbytes"]' "$(cat set/*/* | wc -c)"
nbytes_only out nbytes from_nbytes

# Shards; packed, where sizes are known.
(cd set && tar cf ../a.tar land && tar cf ../b.tar table)
run 0 info a.tar b.tar
has out '^a\.tar: 8 samples, .* in 2 files \(tar\)$'
has out '^  classes      none: there are no labels$'
run 0 pack set -o packed --forms jpeg,l3
run 0 info packed
has out '^packed: 14 samples, .* in 2 files \(packed\)$'
has out '^  sizes        width: least 80, 5% 80, median 80, 95% 80, most 80$'
has out '^  bytes of a sample as jpeg$'
run 0 info packed --form l3
has out '^  bytes of a sample as l3$'
run 0 info packed --json
json_is out 'j["width"]["p50"], j["height"]["max"], [f["name"] for f in j["forms"]]' "(80, 60, ['jpeg', 'l3'])"

# What is broken: an error, or told and left out.
head -c 3000 a.tar >cut.tar
run 1 info cut.tar
has err '^millrace: cut\.tar: '
has err '^millrace: cut\.tar: .*; --broken=skip leaves it out$'
run 0 info cut.tar --broken skip
has out '^  problems     1, left out: --json lists them$'
has err '^millrace: cut\.tar: note: '
run 0 info cut.tar --broken skip --json
is_json out
json_is out 'len(j["problems"])' 1

# Compressed shards: why they are none, alone, among images and under any name.
if command -v gzip >/dev/null 2>&1; then
    gzip -c a.tar >z.tar.gz
    cp z.tar.gz nameless
    cp z.tar.gz z.tfrecord.gz
    for name in info index hash; do
        run 1 $name z.tar.gz
        has err '^millrace: z\.tar\.gz: compressed by gzip, .*: unpack it \(gunzip\)$'
        lacks err 'begins with'
        run 1 $name nameless
        has err '^millrace: nameless: compressed by gzip, '
    done
    run 1 info z.tfrecord.gz
    has err '^millrace: z\.tfrecord\.gz: a TFRecord file compressed with gzip'
    run 1 info set/land/00000.jpeg z.tar.gz a.tar
    has out '^jpeg '
    has err '^millrace: z\.tar\.gz: compressed by gzip, '
    has err '^millrace: a\.tar: not an image, but called like a shard of a dataset'
    run 1 info --json set/land/00000.jpeg z.tar.gz
    json_is out 'j[1]["error"]["code"], j[1]["error"]["text"][:18]' "('MR_EUNSUPPORTED', 'compressed by gzip')"
fi
printf '\3757zXZ\000 and so on' >z.tar.xz
run 1 info z.tar.xz
has err '^millrace: z\.tar\.xz: compressed by xz, '
printf '\3757zXZ\000 and so on' >nameless
run 1 info nameless
has err '^millrace: nameless: compressed by xz, '
cp a.tar a.tgz # a tar by its content, whatever it is called
run 0 info a.tgz
has out '^a\.tgz: 4 samples, .*\(tar\)$'
echo neither >plain.txt
run 1 info plain.txt
has err '^millrace: plain\.txt: not an image in a known format: it begins with'

# Images as ever; what is not for datasets.
run 0 info set/land/00000.jpeg
has out '^jpeg '
run 2 info --tiles set
has err 'info: --tiles is for images'
run 2 info --form l3 set/land/00000.jpeg
run 1 info packed --form raw
has err "has no form 'raw' \(one of: jpeg l3\)"
mkdir empty
run 1 info empty
has err 'empty'
finish
