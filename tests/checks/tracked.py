#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What git keeps is meant to be kept: the root holds the known files and folders only, and no file is binary but those of
tests/crashers. (Pictures are drawn as SVG; what a test needs, it makes.)"""
import os
import pathlib
import sys

import harness

ROOT = """.ci .clang-format .gitignore CHANGELOG.md CMakeLists.txt CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md
THIRD_PARTY.md bench cli cmake doc examples fuzz include pyproject.toml python src tests tools""".split()
BINARY = "tests/crashers/"


def git(root, *words):
    """What git prints; None where it fails. Whoever owns the folder, and whichever repository a hook that calls us is for."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    status, said = harness.run("git", "-c", "safe.directory=*", "-C", root, *words, env=environment)
    return said if status == 0 else None


def is_repository(root):
    """Whether root is the top of a repository, not merely somewhere in another."""
    top = git(root, "rev-parse", "--show-toplevel") if harness.compiler("", "git") else None
    return top is not None and pathlib.Path(top.rstrip("\n")).resolve() == root.resolve()


def is_text(path):
    try:
        return "\0" not in path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False


def check(root):
    if not is_repository(root):  # a tree of the self-test
        git(root, "init", "-q")
        git(root, "add", "-f", ".")
    names = [name for name in (git(root, "ls-files", "-z") or "").split("\0") if name]
    if not names:
        yield "git", 1, "no tracked files were found; the check is broken"
    for name in names:
        if name.split("/")[0] not in ROOT:
            yield name, 1, "is not one of the known files and folders of the root (the list is in tests/checks/tracked.py)"
        if (root / name).is_file() and not name.startswith(BINARY) and not is_text(root / name):
            yield name, 1, f"is binary; only {BINARY} holds such files"


GOOD = [{"README.md": "a\n", "tests/crashers/a-001": "a\0b", "doc/a.svg": "<svg/>\n"}]
BAD = [
    ({"README.md": "a\n", "libpng.deb": "text\n"}, "libpng.deb:1: is not one of the known"),
    ({"scratch/a.c": "int a;\n"}, "scratch/a.c:1: is not one of the known"),
    ({"doc/a.png": "a\0b"}, "doc/a.png:1: is binary"),
    ({"tests/a": "a\0b"}, "tests/a:1: is binary"),
    ({}, "no tracked files"),
]

if __name__ == "__main__":
    if not harness.compiler("", "git"):
        harness.skip("git is not installed")
    if sys.argv[1:] and sys.argv[1] != "--self-test" and not is_repository(pathlib.Path(sys.argv[1])):
        harness.skip("this is no git repository")
    harness.main(check, GOOD, BAD)
