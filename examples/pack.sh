#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A dataset from its making to its files again:  MILLRACE=build/millrace sh examples/pack.sh [FOLDER]
set -eu
millrace=${MILLRACE:-millrace}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export XDG_CACHE_HOME="$folder/cache" # of indexes; a real run keeps them in ~/.cache

# Images in a folder for each class, as ImageFolder has them.
"$millrace" generate "$folder/set" --count 40 --forms jpeg
"$millrace" info "$folder/set"

# Packed: the JPEGs as they came, and each as L3, in two parts that might be two machines'. Then one dataset.
"$millrace" pack "$folder/set" -o "$folder/part0" --forms jpeg,l3 --shard-samples 10 --part 0/2
"$millrace" pack "$folder/set" -o "$folder/part1" --forms jpeg,l3 --shard-samples 10 --part 1/2
"$millrace" merge "$folder/part0" "$folder/part1" -o "$folder/train"

# What is in it; tar reads it, too.
"$millrace" ls "$folder/train" --forms --limit 3
tar tf "$folder/train/jpeg/000000.tar" | head -n 4
"$millrace" cat "$folder/train" '#7' --form l3 | "$millrace" info -

# Whole? And back to files: the same bytes.
"$millrace" verify "$folder/train"
"$millrace" unpack "$folder/train" -o "$folder/back"
cmp "$folder/set/land/00000.jpeg" "$folder/back/land/00000.jpg" && echo "the same bytes"
