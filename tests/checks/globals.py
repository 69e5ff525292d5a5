#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library has no mutable globals: its objects hold no writable data. (.data.rel.ro is constant once loaded.)"""
import re

import harness

WRITABLE = re.compile(r"^(\.data|\.bss|\.tdata|\.tbss|\.sdata|\.sbss|\*COM\*|COMMON)(?!\.rel\.ro)")


def symbols(path):
    """(object, symbol, section) of everything defined in an archive or object."""
    status, said = harness.run("nm", "--format=sysv", path)
    if status != 0:
        raise SystemExit(f"nm failed: {said}")
    where = path
    for line in said.splitlines():
        heading = re.match(r"(?:Symbols|Undefined symbols) from .*?\[?([\w.-]+\.o)\]?:", line)
        fields = [field.strip() for field in line.split("|")]
        if heading:
            where = heading.group(1)
        elif len(fields) == 7:
            yield where, fields[0], fields[3] if fields[3] != "NOTYPE" else "", fields[6]


def check(root):
    archive = harness.archive(root)
    seen = 0
    for where, name, kind, section in symbols(archive):
        seen += 1
        if WRITABLE.match(section) and kind != "SECTION":
            yield where, 1, f"'{name}' is mutable data in {section}; it belongs in a handle, or is const"
    if seen == 0:
        yield archive, 1, "no symbols were found; the check is broken"


GOOD = [{"a.c": 'static const char *const names[] = {"a", "b"};\nconst int n = 3;\nconst char *f(int i)\n{\n    return names[i];\n}\n'}]
BAD = [
    ({"a.c": "int counter;\n"}, "a.o:1: 'counter' is mutable"),
    ({"a.c": "int counter = 3;\n"}, "'counter' is mutable"),
    ({"a.c": "static int counter;\nint f(void)\n{\n    return counter++;\n}\n"}, "'counter' is mutable"),
    ({"a.c": "int f(void)\n{\n    static int calls = 3;\n    return calls++;\n}\n"}, "'calls"),
    ({"a.c": 'const char *names[] = {"a"};\n'}, "'names' is mutable"),
    ({"a.c": "_Thread_local int last;\n"}, "'last' is mutable"),
    ({"b.c": "const int n = 1;\n", "a.c": "int counter;\n"}, "a.o:1: 'counter' is mutable"),
]

if __name__ == "__main__":
    harness.main(check, GOOD, BAD)
