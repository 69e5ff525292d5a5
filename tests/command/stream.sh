#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Standard input and output: `-`, full disks, closed pipes, no escapes where nobody looks.
. "$(dirname "$0")/common"

picture a.ppm
"$MILLRACE" hash - <a.ppm >out || fail "hash -"
is "$(cut -c 1-16 out)" "$(hash_of a.ppm)" "the hash of standard input"
has out '  -$'
cat a.ppm | "$MILLRACE" info - >out || fail "info -"
has out "^pnm +8x6 .* $(wc -c <a.ppm)  -\$"
cat a.ppm | "$MILLRACE" decode - a.ppm >out 2>err || fail "decode -"
has out '^Decoded 2 images'
"$MILLRACE" decode --json - </dev/null >out 2>err
is $? 1 "the exit code of decode on an empty standard input"
has err '^millrace: standard input: no data: 0 bytes$'
json_is out 'j["files"], j["bad"][0]["name"]' "(1, '-')"
for twice in '- -' '--repeat=2 -'; do
    # shellcheck disable=SC2086 # words
    run 2 decode $twice
    has err "^millrace: decode: '-' can be read only once"
done
"$MILLRACE" info - a.ppm </dev/null >out 2>err
is $? 1 "the exit code of an empty standard input"
has err '^millrace: standard input: no data: 0 bytes$'
"$MILLRACE" hash - <&- >out 2>err
is $? 1 "the exit code of a closed standard input"

# A full disk is an error of every command that prints.
if [ -w /dev/full ]; then
    for line in 'info a.ppm' 'info --json a.ppm' 'hash a.ppm' 'decode a.ppm' help 'help info' '--version' 'help --man'; do
        # shellcheck disable=SC2086 # words
        "$MILLRACE" $line >/dev/full 2>err
        is $? 1 "the exit code of $line to a full disk"
        has err '^millrace: standard output: No space left on device$'
    done
fi

# Whoever closes the pipe is not told about it, but it is no success.
i=0
while [ $i -lt 4000 ]; do
    printf 'a.ppm '
    i=$((i + 1))
done >many
{
    # shellcheck disable=SC2046 # words
    "$MILLRACE" info $(cat many) 2>err
    echo $? >code
} | head -n 1 >first
is "$(cat code)" 1 "the exit code after a closed pipe"
is_empty err

# No escapes in a pipe or a file, whatever TERM says.
escape=$(printf '\033')
"$MILLRACE" generate set --count 3 --forms pnm --size 40x30 >out 2>err || fail "generate"
lacks out "$escape"
lacks err "$escape"
for line in help 'help decode' 'info a.ppm' 'decode set'; do
    # shellcheck disable=SC2086 # words
    run 0 $line
    lacks out "$escape"
    lacks err "$escape"
done
finish
