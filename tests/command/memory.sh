#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Limits and content are looked at before memory is taken.
. "$(dirname "$0")/common"

picture a.ppm
"$MILLRACE" convert a.ppm a.jpg || fail "convert"

# What is no image is read no further than it takes to see that: the rest is left in the pipe.
for command in info hash decode; do
    head -c 1000000 /dev/zero | {
        "$MILLRACE" $command - >out 2>err
        cat >rest
    }
    has err '^millrace: standard input: not an image in a known format'
    is "$(wc -c <rest)" $((1000000 - 4096)) "bytes that $command left"
done

# A file above the limit is refused by its size.
cp a.jpg large.jpg
truncate -s 1200M large.jpg
for command in info hash decode; do
    run 1 $command large.jpg
    has err '^millrace: large\.jpg: more than 1073741824 bytes, the limit \(--no-limits lifts it\)$'
done
run 1 hash --json large.jpg
json_is out 'j[0]["error"]["code"]' MR_ELIMIT
run 0 info --no-limits large.jpg
has out ' 1258291200  large\.jpg$'

# peak MB ARGUMENT...: the command takes less memory than that.
peak() {
    most=$1
    shift
    got=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)' "$MILLRACE" "$@")
    [ "$got" -lt "$most" ] || fail "millrace $*: $got MB of memory, not below $most"
}
if command -v python3 >/dev/null 2>&1; then
    truncate -s 900M zeros.jpg
    for command in info hash 'decode --threads=2'; do
        # shellcheck disable=SC2086 # words
        peak 300 $command /dev/zero zeros.jpg large.jpg zeros.jpg
    done
    # Of a form that says all at its beginning, info reads no more.
    printf 'P6\n20000 15000\n255\n' >large.ppm
    truncate -s 900000017 large.ppm
    peak 300 info large.ppm
    run 0 info large.ppm
    has out '^pnm +20000x15000 .* 900000017  large\.ppm$'
fi

# A pipe knows no size: it is read to its end for it, whatever its name.
{
    cat a.jpg
    head -c 300000 /dev/zero
} >long.jpg
mkfifo pipe
cat long.jpg >pipe &
run 0 info pipe
has out ' 300[0-9]*  pipe$'
is "$(awk 'END { print $(NF - 1) }' out)" "$(wc -c <long.jpg)" "the bytes of a pipe"

# Where somebody has read from standard input already, what is left counts.
{
    printf 'a line\n'
    cat a.jpg
} >late
{
    read -r line
    "$MILLRACE" info - >out 2>err
} <late
is "$line" 'a line' "what was read before"
is "$(awk 'END { print $(NF - 1) }' out)" "$(wc -c <a.jpg)" "the bytes of what is left"
finish
