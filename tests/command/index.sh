#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

"$MILLRACE" generate set --count 4 --forms jpeg --size 97x261 >/dev/null || fail "generate"
cp set/land/00000.jpeg a.jpg
cp set/table/00001.jpeg b.jpg
region=--region=20,200,30x40

# Beside each JPEG, a line for each.
run 0 index a.jpg b.jpg
is_empty err
has out '^a\.jpg\.mri: [0-9]+ bytes, [0-9]+ entries, one for every row of blocks but the first$'
has out '^b\.jpg\.mri: '
[ "$(wc -c <a.jpg.mri)" -le 512 ] || fail "an index of more than 512 bytes"
is "$(hash_of $region --index=a.jpg.mri a.jpg)" "$(hash_of $region a.jpg)" "a region with its index"
is "$(hash_of --index=a.jpg.mri a.jpg)" "$(hash_of a.jpg)" "the whole with its index"
is "$(hash_of --reduce=2 --region=10,100,10x20 --index=a.jpg.mri a.jpg)" "$(hash_of --reduce=2 --region=10,100,10x20 a.jpg)" \
    "a reduced region with its index"
run 0 convert $region --index a.jpg.mri a.jpg part.png
is "$(hash_of part.png)" "$(hash_of $region a.jpg)" "a converted region"
run 0 decode $region --index a.jpg.mri a.jpg
has out '^Decoded 1 image'

# To a name, or to standard output: the same bytes. And what --json says.
run 0 index --out c.mri a.jpg
has out '^c\.mri: '
cmp -s c.mri a.jpg.mri || fail "another index under another name"
"$MILLRACE" index -o - a.jpg >d.mri || fail "index to standard output"
cmp -s d.mri a.jpg.mri || fail "another index on standard output"
"$MILLRACE" index -o e.mri - <a.jpg >out || fail "index of standard input"
cmp -s e.mri a.jpg.mri || fail "another index of standard input"
run 0 index --json a.jpg b.jpg
is_json out
json_is out '[f["name"] for f in j], j[0]["bytes"], j[0]["step"]' "(['a.jpg', 'b.jpg'], $(wc -c <a.jpg.mri), 1)"
json_is out 'j[0]["entries"] >= 16' True

# A wrong one: of another JPEG, of one that has changed, damaged, no index at all, not there.
run 1 hash $region --index b.jpg.mri a.jpg
has err '^millrace: a\.jpg: row index of a JPEG: it is of another JPEG, or this one has changed since; make it again'
{
    cat a.jpg
    echo
} >longer.jpg
run 1 hash $region --index a.jpg.mri longer.jpg
has err 'has changed since'
run 0 hash $region --accept-damaged --index a.jpg.mri longer.jpg
has err '^millrace: longer\.jpg: note: row index of a JPEG: it is of another JPEG.* It is not used$'
head -c 100 a.jpg.mri >cut.mri
run 1 hash $region --index cut.mri a.jpg
has err 'row index of a JPEG: it is damaged or cut'
run 1 hash $region --index a.jpg a.jpg
has err 'row index of a JPEG: it cannot have this length'
run 1 hash --index missing.mri a.jpg
has err '^millrace: missing\.mri: No such file or directory$'
: >empty.mri
run 0 hash --index empty.mri a.jpg a.jpg
is_empty err

# Those that have none are no errors, but nothing is written; damage is one.
"$MILLRACE" convert a.jpg a.png && "$MILLRACE" convert --progressive a.png p.jpg || fail "convert"
run 0 index p.jpg a.png
is_empty out
has err '^millrace: p\.jpg: note: no row index can be had of it, and none was written'
has err '^millrace: a\.png: note: '
[ ! -e p.jpg.mri ] && [ ! -e a.png.mri ] || fail "an index of what has none"
run 0 index --json p.jpg
json_is out 'j[0]["bytes"], j[0]["entries"], j[0]["step"]' "(0, 0, 0)"
run 1 hash --index a.jpg.mri a.png
has err 'only JPEGs have one'
head -c $(($(wc -c <a.jpg) / 2)) a.jpg >half.jpg
run 1 index half.jpg a.jpg
has err '^millrace: half\.jpg: (truncated|damaged) JPEG'
has out '^a\.jpg\.mri: '
[ ! -e half.jpg.mri ] || fail "an index of a damaged JPEG"

# Usage.
run 2 decode --index a.jpg.mri a.jpg b.jpg
has err 'decode: --index is for one JPEG, not for several files'
run 2 decode --index a.jpg.mri set
has err 'decode: --index is for one JPEG, not for a folder'
run 2 index
run 2 index --out x.mri a.jpg b.jpg
has err 'index: --out is for one JPEG'
run 2 index -
run 2 index --json --out - a.jpg
run 1 index --out nowhere/x.mri a.jpg
has err '^millrace: a\.jpg: the index cannot be written to nowhere/x\.mri: No such file or directory$'

# Nothing is destroyed: neither the JPEG itself, nor what is no index. An index is replaced, and so is an empty file.
cp a.jpg keep.jpg
ln -s keep.jpg link.jpg
run 1 index -o keep.jpg keep.jpg
has err '^millrace: keep\.jpg: is the JPEG itself, which its index would replace$'
run 1 index --force -o keep.jpg keep.jpg
run 1 index --force -o link.jpg keep.jpg
run 1 index -o link.jpg keep.jpg
cmp -s keep.jpg a.jpg || fail "index destroyed its input"
run 1 index -o b.jpg a.jpg
has err '^millrace: a\.jpg: the index cannot be written to b\.jpg: it is there and is no row index; --force replaces it$'
echo notes >keep.jpg.mri
run 1 index keep.jpg
is "$(cat keep.jpg.mri)" notes "what was beside the JPEG"
run 0 index --force keep.jpg
cmp -s keep.jpg.mri a.jpg.mri || fail "--force did not replace"
run 0 index -o keep.jpg.mri b.jpg
cmp -s keep.jpg.mri b.jpg.mri || fail "an index was not replaced"
: >empty.mri
run 0 index -o empty.mri a.jpg
finish
