#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pixels are those of djpeg, pngtopnm and dwebp, run as programs: what they write as PNM has the hash we give.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/common"
shared=${MILLRACE_SHARED:-$root/../shared}
compared=0
every=${MILLRACE_TEST_QUICK:+10} # one file in so many
: "${every:=1}"

# compare FILE PROGRAM ARGUMENT...: where the program has nothing to say against the file, we decode it to the same.
compare() {
    file=$1
    shift
    "$@" "$file" >theirs 2>said </dev/null || return 0
    [ ! -s said ] || return 0
    compared=$((compared + 1))
    is "$("$MILLRACE" hash --channels=3 --depth=8 "$file" 2>&1 | cut -c 1-16)" "$(hash_of --channels=3 --depth=8 theirs)" \
        "$file beside $1"
}

# Every image in a folder, by the program for its kind; gray ones too, which come out as gray.
compare_folder() {
    find "$1" -type f | sort | sed -n "1~${every}p" >files
    while read -r file; do
        case $file in
        *.jpg | *.jpeg | *.JPEG) command -v djpeg >/dev/null && compare "$file" djpeg -pnm ;;
        *.png) command -v pngtopnm >/dev/null && compare "$file" pngtopnm ;;
        *.webp) command -v dwebp >/dev/null && compare "$file" dwebp -quiet -nodither -ppm -o - -- ;;
        esac
    done <files
}

"$MILLRACE" generate set --count 24 --size 203x149 --forms jpeg,png,webp >/dev/null || fail "generate"
compare_folder set
if [ -d "$shared/data" ]; then
    for folder in data/kodak data/kitti data/large data/imagenet corpus/webp corpus/exif; do
        compare_folder "$shared/$folder"
    done
else
    echo "no $shared: only generated images are compared"
fi
echo "$compared images compared"
if [ "$compared" = 0 ] && [ "$failures" = 0 ]; then
    echo "skipped: none of djpeg, pngtopnm, dwebp is installed"
    exit 77
fi
finish
