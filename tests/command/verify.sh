#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

picture a.ppm
for form in png jpg webp raw; do
    run 0 convert a.ppm a.$form
done
run 0 verify a.ppm a.png a.jpg a.webp a.raw
is_empty err
has out '^5 good \([0-9.]+ MB\), 0 bad$'

# A folder, with what is no image in it.
mkdir set set/deeper
cp a.png set
cp a.raw set/deeper
echo text >set/README
run 0 verify set
has out '^2 good .*, 0 bad; 1 other file passed over$'
run 0 verify --threads=2 --json set
is_json out
json_is out 'j["files"], j["good"], j["other"], j["bad"]' '(3, 2, 1, [])'

# Damage, truncation, what is missing: each is told of, the rest is still checked.
head -c 60 a.png >set/cut.png
awk 'BEGIN { for (i = 0; i < 30; i++) print "not an image" }' >set/text.png
run 1 verify set missing.png
has out '^2 good .*, 3 bad; 1 other file passed over$'
has err '^millrace: set/cut\.png: truncated PNG'
has err '^millrace: set/text\.png: not an image'
has err '^millrace: missing\.png: No such file'
is "$(wc -l <err)" 3 "lines about bad files"
run 1 verify --json set missing.png
json_is out 'sorted(b["name"] for b in j["bad"])' "['missing.png', 'set/cut.png', 'set/text.png']"
json_is out '[b["error"]["code"] for b in j["bad"]]' "['MR_ETRUNCATED', 'MR_EFORMAT', 'MR_EIO']"

# Every file by its number, however many threads there are.
run 1 verify -t 1 set
cp err one
run 1 verify -t 8 set
cmp -s one err || fail "the threads change what is told"

# Standard input; an empty folder; the limits.
"$MILLRACE" verify - <a.png >out 2>err || fail "verify in a pipe"
has out '^1 good'
mkdir empty
run 1 verify empty
has err '^millrace: empty: there are no files in it$'
run 2 verify
finish
