#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With --json every command on datasets that fails prints one object with "error", its exit code is what it is without,
# and standard error says the same; a wrong command line prints no object.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME

"$MILLRACE" generate set --count 6 --classes 2 --forms jpeg --size 40x30 >/dev/null || fail "generate"
run 0 pack set -o packed
run 0 pack set -o part0 --part 0/2
mkdir empty
echo file >plain

fails() { # CODE TEXT ARGUMENT...
    wanted=$1
    text=$2
    shift 2
    run 1 "$@"
    is_empty out
    cp err words
    run 1 "$@" --json
    is_json out
    is "$(wc -l <out)" 1 "lines of millrace $* --json"
    json_is out 'list(j), list(j["error"]), j["error"]["code"]' "(['error'], ['code', 'text'], '$wanted')"
    has out "$text"
    cmp -s err words || fail "with --json millrace $* says something else on standard error"
    json_is out '"millrace: " + j["error"]["text"] in open("err").read().splitlines()' True
}
fails MR_EIO 'missing' ls missing
fails MR_EIO 'missing' cat missing '#0'
fails MR_EIO 'missing' info --layout tar missing
fails MR_EIO 'missing' index --layout tar missing
fails MR_EIO 'missing' pack missing -o x
fails MR_EIO 'missing' unpack missing -o x
fails MR_EIO 'missing' merge missing -o x
fails MR_EIO 'missing' feed missing --recipe 'rrc(8)'
fails MR_EIO 'missing' show missing '#0' --recipe 'rrc(8)'
fails MR_EARGUMENT "packed: has no form 'raw' \(one of: original\)" feed packed --form raw --recipe 'rrc(8)'
fails MR_EARGUMENT 'set: has 6 samples, so there is no #6' show set '#6' --recipe 'rrc(8)'
fails MR_EARGUMENT "set: has no sample with the key 'nothing'" cat set nothing
fails MR_EARGUMENT 'set: has 6 samples, so there is no #6' cat set '#6'
fails MR_EARGUMENT "packed: has no form 'raw' \(one of: original\)" info packed --form raw
fails MR_EARGUMENT "packed: has no form 'raw' \(one of: original\)" unpack packed -o x --form raw
fails MR_EIO 'plain: ' unpack packed -o plain
fails MR_EARGUMENT 'packed' pack set -o packed --forms l3
fails MR_EUNSUPPORTED 'part0: is a part of a packed dataset' verify part0
run 1 verify --json empty
is_json out
json_is out 'j["error"]["code"]' MR_EARGUMENT
[ ! -e x ] || fail "a command that failed made a folder"

# Too many bad images.
head -c 600 set/land/00000.jpeg >bad.jpeg && mv bad.jpeg set/land/00000.jpeg
run 1 pack set -o refused --json
is_json out
json_is out 'j["error"]["code"]' MR_ELIMIT

for line in "ls --limit x" "pack" "pack -o x --forms jpeg,jpeg" "unpack" "merge"; do
    # shellcheck disable=SC2086
    run 2 $line set --json
    is_empty out
done
finish
