#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of each stage of JPEG decoding: stages.py PROGRAM FOLDER SCRATCH [OPTION...]

stages.py --row PROGRAM FOLDER SCRATCH prints ours alone, as one row of a table, and stages.py --heads the row's heads.

Ours by the files that the instructions come from, as callgrind gives them. libjpeg-turbo's library is stripped; there it
is what one more stage adds: up to the first scan, all coefficients (jpeg_read_coefficients), all planes
(jpeg_read_raw_data), all pixels. Starting a decode is so counted with the tables of its scan, as entropy.
"""
import os
import re
import subprocess
import sys

# The first that matches a function ("file function") takes it.
STAGES = [
    ("unstuffing", r"unstuff|take_interval|memchr"),
    ("markers and tables", r"jpeg/(header|info|huffman|huffman_make|scan|jpeg)\.c "),
    ("entropy", r"jpeg/(lanes_|block_|bits|bands|huffman\.h|scan_)"),
    ("transform", r"kernel/jpeg_pixels_(idct|strip|passes)"),
    ("upsampling and colour", r"kernel/jpeg_"),
    ("the rest", r""),
]
LIBJPEG = [
    ("markers and tables", "header"),
    ("entropy", "entropy"),
    ("transform", "planes"),
    ("upsampling and colour", "pixels"),
]


def run(program, folder, scratch, options, who):
    """Decodes under callgrind. Gives the path of what it wrote, and the number of pixels."""
    out = os.path.join(scratch, f"callgrind.{who}")
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=decode_all_counted*"]
    command += [f"--callgrind-out-file={out}", program, "--images", "20", *options, "--count", who, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"stages: {' '.join(command)} failed:\n{done.stderr}")
    return out, done.stdout.strip()


def costs(path):
    """The instructions of each ("file function"); what is inlined from outside src/ is its function's."""
    names = {"file": {}, "fn": {}}

    def name(kind, text):
        found = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if found and found[2] is not None:
            names[kind][found[1]] = found[2]
        return names[kind].get(found[1], "") if found else text

    home = where = function = ""
    after_call = False
    sums = {}
    with open(path, encoding="utf-8") as file:
        for line in map(str.rstrip, file):
            key, equals, value = line.partition("=")
            if equals and key in ("fl", "fi", "fe", "cfi", "cfl"):
                found = name("file", value)
                where = found if key in ("fl", "fi", "fe") else where
                home = found if key == "fl" else home
            elif equals and key in ("fn", "cfn"):
                found = name("fn", value)
                function = found if key == "fn" else function
            elif equals and key == "calls":
                after_call = True
            elif re.match(r"[+*\-\d]", line):
                if not after_call:
                    source = where if "/src/" in where else home
                    place = f"{source} {function.split(chr(39))[0]}"
                    sums[place] = sums.get(place, 0) + int(line.split()[-1])
                after_call = False
    return sums


def total(path):
    with open(path, encoding="utf-8") as file:
        return int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)[1])


def ours(path):
    """Instructions a stage, and the functions of the rest, the largest first."""
    stages, rest = {}, {}
    for place, count in costs(path).items():
        stage = next(stage for stage, pattern in STAGES if re.search(pattern, place))
        stages[stage] = stages.get(stage, 0) + count
        if stage == STAGES[-1][0]:
            rest[place] = count
    return stages, sorted(rest.items(), key=lambda pair: -pair[1])


def count_ours(program, folder, scratch, options):
    os.makedirs(scratch, exist_ok=True)
    path, what = run(program, folder, scratch, options, "millrace")
    pixels = int(re.search(r"(\d+) pixels", what)[1])
    stages, rest = ours(path)
    if sum(stages.values()) != total(path):
        sys.exit(f"stages: {sum(stages.values())} instructions are in functions, {total(path)} were counted")
    return stages, rest, pixels, what


def print_row(program, folder, scratch):
    stages, _, pixels, _ = count_ours(program, folder, scratch, [])
    counts = [stages.get(stage, 0) for stage, _ in STAGES]
    print(" | ".join(f"{count / pixels:.2f}" for count in [*counts, sum(counts)]))


def print_table(program, folder, scratch, *options):
    stages, rest, pixels, what = count_ours(program, folder, scratch, options)
    peer, before = {}, 0
    for stage, who in LIBJPEG:
        upto = total(run(program, folder, scratch, options, who)[0])
        peer[stage], before = upto - before, upto
    print(f"{os.path.basename(folder.rstrip('/'))}: {what}, whole; instructions a pixel\n")
    print("| stage | millrace | share | libjpeg-turbo | share |\n| --- | ---: | ---: | ---: | ---: |")
    for stage, _ in STAGES:
        line = f"| {stage} |"
        for counts in stages, peer:
            count = counts.get(stage)
            share = f"{(count or 0) / sum(counts.values()):.1%}"
            line += " - | - |" if count is None else f" {count / pixels:.2f} | {share} |"
        print(line)
    print(f"| all | {sum(stages.values()) / pixels:.2f} | | {before / pixels:.2f} | |")
    large = [(place, count) for place, count in rest if count > 0.005 * sum(stages.values())]
    if large:
        print("\nMost of the rest:")
    for place, count in large:
        source, function = place.rsplit(" ", 1)
        print(f"- {function} ({source.rsplit('/src/', 1)[-1].rsplit('/', 1)[-1]}): {count / pixels:.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--heads"]:
        print(" | ".join([stage for stage, _ in STAGES] + ["all"]))
    elif sys.argv[1] == "--row":
        print_row(*sys.argv[2:])
    else:
        print_table(*sys.argv[1:])
