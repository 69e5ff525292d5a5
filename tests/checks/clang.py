#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang has nothing to say about any file of the build either, with the flags gcc gets. It only parses: seconds.

The flags come from the build's compile_commands.json, found through MILLRACE_BUILD; the self-test writes its own."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex

import harness

CLANG = harness.compiler("", "clang-14", "clang")


def parse(entry):
    """(file, what clang says) of one entry."""
    words = shlex.split(entry["command"])[1:]
    status, said = harness.run(CLANG, "-fsyntax-only", "-Werror", *words, cwd=entry["directory"])
    return entry["file"], "" if status == 0 else said


def check(root):
    folder = pathlib.Path(os.environ["MILLRACE_BUILD"]) if (root / "CMakeLists.txt").exists() else root
    entries = json.loads((folder / "compile_commands.json").read_text())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, said in pool.map(parse, entries):
            for line, text in re.findall(r":(\d+):\d+: (?:fatal )?error: (.*)", said) or ([("1", said)] if said else []):
                yield file, line, text


def entry(flags):
    return json.dumps([{"directory": ".", "file": "a.c", "command": f"cc {flags} -x c -c -o a.o {os.devnull}"}])


GOOD = [{"compile_commands.json": entry("-Wall -DA=1")}]
BAD = [
    ({"compile_commands.json": entry("-Wall -include /no/such/file.h")}, "file not found"),
    ({"compile_commands.json": entry("-pedantic -Wempty-translation-unit")}, "ISO C requires a translation unit"),
]

if __name__ == "__main__":
    if not CLANG:
        harness.skip("clang is not installed")
    harness.main(check, GOOD, BAD)
