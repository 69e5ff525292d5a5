#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

picture a.ppm
"$MILLRACE" convert a.ppm a.png || fail "convert to png"
"$MILLRACE" convert -p -s 422 a.ppm a.jpg || fail "convert to jpeg"
"$MILLRACE" convert a.ppm -c 2 -d 16 alpha.png || fail "convert to png with alpha"

# The table: a head and a line for each, the name last.
run 0 info a.ppm a.png a.jpg alpha.png
is_empty err
is "$(wc -l <out)" 5 "lines of the table"
has out '^form +size +ch +bits +color +chroma +prog +orient +icc +frames +bytes +name$'
has out '^pnm +8x6 +3 +8 +rgb +- +- +1 +- +1 +[0-9]+  a\.ppm$'
has out '^png +8x6 +3 +8 +rgb +- +- +1 +- +1 +[0-9]+  a\.png$'
has out '^jpeg +8x6 +3 +8 +ycbcr +4:2:2 +yes +1 +- +1 +[0-9]+  a\.jpg$'
has out '^png +8x6 +2 +16 +gray .* alpha\.png$'
has out " $(wc -c <a.jpg)  a.jpg\$"

# Columns stand under each other whatever the sizes; each is as wide as it has to be.
printf 'P6\n100000 100000\n255\n' >wide.ppm
printf 'P6\n2147483647 2147483647\n255\n' >widest.ppm
for names in 'a.jpg' 'a.jpg wide.ppm' 'wide.ppm a.jpg widest.ppm alpha.png'; do
    # shellcheck disable=SC2086 # words
    run 0 info $names
    is "$(awk '{ print length($0) - length($NF) }' out | sort -u | wc -l)" 1 "columns where the names of '$names' begin"
done
has out '^pnm +2147483647x2147483647 '
run 0 info a.jpg
is "$(awk 'NR == 1 { print (length($0) <= 80) }' out)" 1 "a table of small numbers fits 80 columns"

# By content, not by name.
cp a.png wrong.JPEG
run 0 info wrong.JPEG
has out '^png .*wrong\.JPEG$'

# It goes on after a bad file and tells each on its own line.
head -c 20 a.png >cut.png
: >empty.jpg
echo 'not an image' >text.jpg
mkdir folder
run 1 info cut.png missing.png folder empty.jpg text.jpg a.png
is "$(wc -l <out)" 2 "lines of the table beside bad files"
is "$(wc -l <err)" 5 "lines of errors"
has err '^millrace: cut\.png: .*PNG'
has err '^millrace: missing\.png: No such file or directory$'
has err '^millrace: folder: Is a directory$'
has err '^millrace: empty\.jpg: no data: 0 bytes$'
has err '^millrace: text\.jpg: not an image in a known format'

# What may not be read. The superuser may read everything, so as somebody else.
cp a.png secret.png && chmod 000 secret.png
as_other=
[ "$(id -u)" != 0 ] || as_other='setpriv --reuid=65534 --clear-groups'
if [ -z "$as_other" ] || $as_other "$MILLRACE" --version >/dev/null 2>&1; then
    $as_other "$MILLRACE" info secret.png >out 2>err
    is $? 1 "the exit code of an unreadable file"
    has err '^millrace: secret\.png: Permission denied$'
else
    echo "skipped: an unreadable file (everything is readable here)"
fi

# JSON: one array, valid also with bad files in it.
run 1 info --json a.jpg missing.png a.ppm
is_json out
has err 'missing\.png: No such file'
json_is out 'len(j)' 3
json_is out 'j[0]["form"], j[0]["width"], j[0]["height"], j[0]["channels"], j[0]["depth"]' "('jpeg', 8, 6, 3, 8)"
json_is out 'j[0]["subsampling"], j[0]["progressive"], j[0]["lossless"], j[0]["icc"], j[0]["frames"]' \
    "('4:2:2', True, False, False, 1)"
json_is out 'j[0]["bytes"]' "$(wc -c <a.jpg)"
json_is out 'j[1]["name"], j[1]["error"]["code"], j[1]["error"]["text"]' \
    "('missing.png', 'MR_EIO', 'No such file or directory')"
json_is out 'j[2]["name"]' a.ppm
run 1 info --json missing.png
json_is out 'len(j)' 1

# A header far into the file: more than the first part has to be read.
if command -v python3 >/dev/null 2>&1; then
    python3 - <<'END'
data = open("a.jpg", "rb").read()
comment = b"\xff\xfe\xff\xff" + b"x" * 65533
open("long.jpg", "wb").write(data[:2] + comment * 5 + data[2:])
END
    run 0 info long.jpg
    has out '^jpeg +8x6 .* long\.jpg$'
    is "$(hash_of long.jpg)" "$(hash_of a.jpg)" "the hash of a JPEG with long comments"
fi
finish
