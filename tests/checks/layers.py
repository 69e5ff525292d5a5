#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder of src/ includes only folders to its left; folders of one column never include each other; a form's folder
under src/codec never includes another form's; cli, python, bench and examples see only include/. (doc/design.md)
Brackets change nothing: <cpu/cpu.h> is found by -Isrc as well."""
import re

import harness

COLUMNS = [
    ["base"],
    ["cpu"],
    ["kernel", "wire", "measure"],
    ["source", "codec", "step"],
    ["dataset"],
    ["device"],
    ["near", "route"],
    ["loader"],
    ["report"],
    ["study"],
]
COLUMN = {folder: number for number, column in enumerate(COLUMNS) for folder in column}
OUTSIDE = ["cli", "python", "bench", "examples"]
SEES_INSIDE = ("bench/kernels/", "bench/index/", "bench/cost_race/", "bench/external_run/",
               "bench/sched_run/", "bench/l3_device/", "bench/device_conformance/",
               "bench/device_stand/", "bench/device_kernels/")  # time what is not public

INCLUDE = re.compile(r'^\s*#\s*(?:include_next|include|import)\b\s*(?:(["<])([^">]+)[">])?')


# What one form may know of another: L3's DCT mode is made from a JPEG's coefficients, and gives them back.
ACROSS_FORMS = {("l3", "codec/jpeg/coefficients.h")}


def includes(root, path):
    """(line, quote, name) of each include; the quote is None where a macro stands for the name."""
    for number, line in enumerate(harness.lines(root, path), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2) or ""


def of_the_house(name):
    """Whether -Isrc could find it in a folder of the house, be it by a path with . or .. in it."""
    parts = name.split("/")
    return parts[0] in COLUMN or not {"", ".", ".."}.isdisjoint(parts[:-1])


def public_problem(root, quote, name):
    if quote is None:
        return "an include names its file, not a macro"
    if quote == "<" and name.startswith("millrace/") and not (root / "include" / name).exists():
        return f"<{name}> is not a public header"
    return None


def inside_problem(path, quote, name):
    """For a file of src/: what is wrong with including this, or None."""
    if quote == "<":
        return f'<{name}> is a file of the house: include it as "{name}"' if of_the_house(name) else None
    if ".." in name or "/" not in name:
        return f'include "{name}" by its path from src/, as "folder/file.h"'
    here, there = path.parts[1:], name.split("/")
    if len(here) < 2:
        return "a source file lies directly in src/; it belongs in a folder"
    if there[0] not in COLUMN:
        return f'"{name}" is in no folder of the house'
    if there[0] != here[0] and COLUMN[there[0]] >= COLUMN[here[0]]:
        where = "in the same column" if COLUMN[there[0]] == COLUMN[here[0]] else "to the right"
        return f"src/{here[0]} includes src/{there[0]}, which is {where}"
    if here[0] == there[0] == "codec" and len(here) > 2 and len(there) > 2 and here[1] != there[1] and (here[1], name) not in ACROSS_FORMS:
        return f"the form {here[1]} includes the form {there[1]}; what they share belongs in src/codec"
    if here[0] == there[0] == "codec" and len(here) == 2 and len(there) > 2:
        return f"src/codec knows its forms by the table only, not by {name}"
    return None


def check(root):
    for path in harness.files(root, ["src"], {".c", ".h"}):
        if path.parts[1] not in COLUMN:
            yield path, 1, f"src/{path.parts[1]} is no folder of the house"
            continue
        for number, quote, name in includes(root, path):
            problem = public_problem(root, quote, name) or inside_problem(path, quote, name)
            if problem:
                yield path, number, problem
    for path in harness.files(root, ["include"], {".h"}):
        for number, quote, name in includes(root, path):
            if quote == '"':
                yield path, number, f'a public header includes "{name}"; only <...> is for users'
            elif of_the_house(name):
                yield path, number, f"a public header includes <{name}>, which no user has"
            elif public_problem(root, quote, name):
                yield path, number, public_problem(root, quote, name)
    for path in harness.files(root, OUTSIDE, {".c", ".h"}):
        if str(path).startswith(SEES_INSIDE):
            continue
        for number, quote, name in includes(root, path):
            top = path.parts[0]
            if of_the_house(name) and (quote == "<" or ".." in name or not (root / top / name).exists()):
                yield path, number, f"{top} includes {name}; it may see public headers and its own files only"
            elif public_problem(root, quote, name):
                yield path, number, public_problem(root, quote, name)


GOOD = [
    {"src/base/a.c": '#include "base/a.h"\n#include <stdio.h>\n', "src/codec/png/p.c": '#include "codec/codec.h"\n#include "base/a.h"\n'},
    {"cli/info.c": '#include "command.h"\n#include <millrace/image.h>\n', "include/millrace/image.h": "#include <stddef.h>\n"},
    {"src/codec/l3/d.c": '#include "codec/jpeg/coefficients.h"\n'},
    {"bench/kernels/k.c": '#include "codec/png/unfilter.h"\n'},
]
BAD = [
    ({"src/base/a.c": '#include "cpu/cpu.h"\n'}, "src/base/a.c:1: src/base includes src/cpu, which is to the right"),
    ({"src/step/a.c": '\n#include "codec/codec.h"\n'}, "src/step/a.c:2: src/step includes src/codec, which is in the same column"),
    ({"src/codec/png/a.c": '#include "codec/jpeg/b.h"\n'}, "the form png includes the form jpeg"),
    ({"src/codec/l3/a.c": '#include "codec/jpeg/turbo.h"\n'}, "the form l3 includes the form jpeg"),
    ({"src/codec/table.c": '#include "codec/jpeg/b.h"\n'}, "knows its forms by the table only"),
    ({"src/base/a.c": '#include "../cpu/cpu.h"\n'}, "by its path from src/"),
    ({"src/base/a.c": '#include "a.h"\n'}, "by its path from src/"),
    ({"src/base/a.c": "#include <cpu/cpu.h>\n"}, "<cpu/cpu.h> is a file of the house"),
    ({"src/codec/png/a.c": "#include <codec/jpeg/header.h>\n"}, "<codec/jpeg/header.h> is a file of the house"),
    ({"src/codec/png/a.c": "#include <../src/cpu/cpu.h>\n"}, "is a file of the house"),
    ({"src/base/a.c": "#include <./cpu/cpu.h>\n"}, "is a file of the house"),
    ({"src/base/a.c": "#include_next <cpu/cpu.h>\n"}, "is a file of the house"),
    ({"src/base/a.c": "#define H <cpu/cpu.h>\n#include H\n"}, "a.c:2: an include names its file"),
    ({"src/misc/a.c": ""}, "is no folder of the house"),
    ({"src/base/a.c": "#include <millrace/secret.h>\n"}, "is not a public header"),
    ({"cli/info.c": '#include "base/memory.h"\n'}, "public headers and its own files only"),
    ({"bench/b.c": '#include "../src/base/memory.h"\n'}, "public headers and its own files only"),
    ({"cli/info.c": "#include <base/memory.h>\n"}, "public headers and its own files only"),
    ({"include/millrace/a.h": "#include <base/a.h>\n"}, "which no user has"),
    ({"include/millrace/a.h": '#include "base/a.h"\n'}, "only <...> is for users"),
]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
