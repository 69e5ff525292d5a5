#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names of files that are not harmless: newlines, escapes, quotes, bytes that are not UTF-8.
. "$(dirname "$0")/common"

picture a.ppm
escape=$(printf '\033')
odd=$(printf 'a\nb\tc\033[31m"d\\e.ppm')
latin=$(printf 'caf\351.ppm')
c1=$(printf 'c1\302\233m.ppm')
greek='αβγ.ppm'
for name in "$odd" "$latin" "$c1" "$greek"; do
    cp a.ppm "$name" || fail "cannot make the file"
done

# Tables and lists have one line a file, nothing that a terminal would obey, and lose nothing.
for command in info hash; do
    run 0 $command "$odd" "$latin" "$c1" "$greek"
    is "$(tail -n 4 out | wc -l)" 4 "lines of $command"
    lacks out "$escape"
    has out '  a\\nb\\tc\\x1b\[31m"d\\\\e\.ppm$'
    has out '  caf\\xe9\.ppm$'
    has out '  c1\\xc2\\x9bm\.ppm$'
    has out '  αβγ\.ppm$'
done

# Errors too.
run 1 hash "x$odd" "x$latin"
is "$(wc -l <err)" 2 "lines of errors"
lacks err "$escape"
has err '^millrace: xa\\nb'

# JSON is valid, names that are UTF-8 come back as they are, the others as bytes beside.
run 0 info --json "$odd" "$latin" "$c1" "$greek"
is_json out
lacks out "$escape"
json_is out 'j[0]["name"] == "a\nb\tc\x1b[31m\"d\\e.ppm" and "name_hex" not in j[0]' True
json_is out 'j[1]["name"] == "caf\ufffd.ppm" and bytes.fromhex(j[1]["name_hex"]) == b"caf\xe9.ppm"' True
json_is out 'j[2]["name"] == "c1\x9bm.ppm"' True
json_is out 'j[3]["name"] == "\u03b1\u03b2\u03b3.ppm"' True
finish
