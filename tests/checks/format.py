#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C files are as clang-format 14 leaves them. (Other versions differ, so without that one the check is skipped.)"""
import re

import harness

FOLDERS = ["include", "src", "cli", "python", "tests", "fuzz", "bench", "examples"]
TOOL = harness.compiler("", "clang-format-14")


def check(root):
    paths = harness.files(root, FOLDERS, {".c", ".h"})
    status, said = harness.run(TOOL, "--dry-run", "--Werror", *paths, cwd=root) if paths else (0, "")
    problems = dict.fromkeys(re.findall(r"^(.+?):(\d+):\d+: error:", said, flags=re.M))
    for path, line in problems:
        yield path, line, "is not formatted; run clang-format-14 -i on the file"
    if status != 0 and not problems:
        yield "clang-format-14", 1, said


STYLE = {".clang-format": "BasedOnStyle: LLVM\nIndentWidth: 4\n"}
GOOD = [{**STYLE, "src/base/a.c": "int f(void) { return 1; }\n"}]
BAD = [({**STYLE, "src/base/a.c": "int a;\nint  f( void );\n"}, "src/base/a.c:2: is not formatted")]

if __name__ == "__main__":
    if not TOOL:
        harness.skip("clang-format-14 is not installed")
    harness.main(check, GOOD, BAD)
