#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common"

run 0 generate one --count 8 --forms png
has out '^Made 8 images with seed 1 in 4 classes under one: 8 png; [0-9.]+ MB$'
is_empty err
is "$(ls one | tr '\n' ' ')" 'land leaves street table ' "the classes"
is "$(ls one/land one/table | tr '\n' ' ')" 'one/land: 00000.png 00004.png  one/table: 00001.png 00005.png ' "the files"
run 0 generate single --count 1 --forms png --size 8x8
has out '^Made 1 image with seed 1 in 1 class under single: 1 png; '

# The pixels of seed 1 are these, on every machine, with any compiler and on any number of threads.
(cd one && "$MILLRACE" hash land/00000.png table/00001.png leaves/00002.png street/00003.png) >golden
cat >expected <<END
7ea44184cc1453cd  land/00000.png
37daf35419d24055  table/00001.png
25240c105c3820c7  leaves/00002.png
500742fc9a89ed88  street/00003.png
END
cmp -s golden expected || {
    fail "seed 1 gives other pixels"
    cat golden
}

# The same seed, other threads, other instruction set, other forms: the same pixels. Another seed: others.
(cd one && "$MILLRACE" hash */*) | sed 's/\.png$//' >first
MILLRACE_CPU=portable "$MILLRACE" generate two --count 8 --forms raw --threads 1 >/dev/null || fail "generate on one thread"
(cd two && "$MILLRACE" hash */*) | sed 's/\.raw$//' >second
cmp -s first second || fail "one thread on the portable kernels gives other pixels"
run 0 generate three --count 8 --forms pnm --seed 2 --threads 3
(cd three && "$MILLRACE" hash */*) | sed 's/\.pnm$//' >third
is "$(cut -c 1-16 first third | sort | uniq -d)" '' "pixels that seeds 1 and 2 have in common"

# Sizes, shares, classes.
run 0 generate sized --count 6 --size 64x48 --classes 6 --forms jpeg=2,pnm
has out '4 jpeg, 2 pnm'
is "$(ls sized | tr '\n' ' ')" 'land land2 leaves street table table2 ' "six classes"
run 0 info sized/*/*
is "$(grep -Ec '^(jpeg|pnm) +64x48 ' out)" 6 "images of the size asked for"
run 0 generate mixed --count 16 --size 16x16
has out '10 jpeg, 3 png, 3 webp'
run 0 generate tiny --count 4 --size 8x8 --forms raw

# Nothing is overwritten unasked.
run 1 generate one --count 1
has err '^millrace: one: there is something in it already'
run 0 generate one --count 1 --force --size 16x16 --forms png
mkdir empty
run 0 generate empty --count 1 --size 16x16 --forms png
run 1 generate missing/deep --count 1
has err '^millrace: missing/deep: No such file or directory$'
: >file
run 1 generate file --count 1
has err '^millrace: file: Not a directory$'

# What was made is what photographs are: PNG takes 8 to 16 bits a pixel, JPEG 1 to 4.
run 0 generate stored --count 8 --forms png,jpeg
bits() {
    "$MILLRACE" decode --json stored | tr -d ' \n' |
        sed "s/.*\"$1\":{\"images\":[0-9]*,\"stored_bytes\":\([0-9]*\),\"pixels\":\([0-9]*\).*/\1 \2/" |
        awk '{ print int($1 * 80 / $2) }'
}
png=$(bits png) jpeg=$(bits jpeg)
[ "$png" -ge 80 ] && [ "$png" -le 160 ] || fail "PNG has $png tenths of a bit a pixel"
[ "$jpeg" -ge 10 ] && [ "$jpeg" -le 40 ] || fail "JPEG has $jpeg tenths of a bit a pixel"
finish
