#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a temporary prefix, then builds and runs a small program against it in every promised way:
pkg-config (shared, static library, wholly static), CMake's find_package, as C and as C++.

usage: install.py BUILD-DIRECTORY. Its own proof that it can fail: with a piece of the prefix removed, each way fails."""
import os
import pathlib
import re
import sys
import tempfile

import harness

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "consumer" / "consumer.c"
CC = harness.compiler("CC", "cc", "gcc")
CXX = harness.compiler("CXX", "c++", "g++")


class Failure(Exception):
    pass


def must(what, *command, **options):
    status, said = harness.run(*command, **options)
    if status != 0:
        raise Failure(f"{what}: {' '.join(map(str, command))}\n{said}")
    return said.strip()


def library_folder(prefix):
    return next(prefix.rglob("libmillrace.so")).parent


def run_program(what, program, prefix):
    said = must(what, program, env={**os.environ, "LD_LIBRARY_PATH": str(library_folder(prefix))})
    if not re.fullmatch(r"millrace \d+\.\d+\.\d+: MR_EFORMAT", said):
        raise Failure(f"{what}: the program says '{said}'")


def by_pkg_config(prefix, folder):
    """A moved or staged tree works too: the .pc file is relative to itself."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("millrace.pc")).parent)}

    def flags(*options):
        return must("pkg-config", "pkg-config", *options, "millrace", env=environment).split()

    shared = flags("--cflags", "--libs")
    private = flags("--static", "--libs")
    archive = [word.replace("-lmillrace", "-l:libmillrace.a") for word in private]
    if any("jpeg" in word for word in shared):
        raise Failure(f"a program linked with the shared library is asked to link its parts: {shared}")
    must("pkg-config, shared, C", CC, "-std=c11", "-Wall", "-Werror", SOURCE, *shared, "-o", folder / "pc-shared")
    must("pkg-config, shared, C++", CXX, "-x", "c++", "-Wall", "-Werror", SOURCE, "-x", "none", *shared, "-o", folder / "pc-c++")
    must("pkg-config, static library", CC, SOURCE, *flags("--cflags"), *archive, "-o", folder / "pc-archive")
    must("pkg-config, wholly static", CC, "-static", SOURCE, *flags("--cflags"), *private, "-o", folder / "pc-static")
    for name in ["pc-shared", "pc-c++", "pc-archive", "pc-static"]:
        run_program(name, folder / name, prefix)


def by_cmake(prefix, folder):
    version = must("version", "pkg-config", "--modversion", next(prefix.rglob("millrace.pc")))
    common = ["cmake", "-S", HERE / "consumer", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_CXX_COMPILER={CXX}"]
    must("find_package", *common, "-B", folder / "cmake", f"-DWANTED={version}")
    must("find_package, build", "ninja", "-C", folder / "cmake")
    for name in ["shared", "static", "plusplus"]:
        run_program(f"find_package, {name}", folder / "cmake" / name, prefix)
    major, minor, _ = map(int, version.split("."))
    status, _ = harness.run(*common, "-B", folder / "cmake-newer", f"-DWANTED={major}.{minor + 1}")
    if status == 0:
        raise Failure("find_package accepts a newer version than the one installed")


def by_examples(prefix, folder):
    """The examples compile as a user would compile them."""
    environment = {**os.environ, "PKG_CONFIG_PATH": str(next(prefix.rglob("millrace.pc")).parent)}
    flags = must("pkg-config", "pkg-config", "--cflags", "--libs", "millrace", env=environment).split()
    for example in sorted((HERE.parents[1] / "examples").glob("*.c")):
        must(f"examples/{example.name}", CC, "-Wall", "-Wextra", "-Werror", example, *flags, "-o", folder / example.stem)


def by_soname(prefix):
    library = library_folder(prefix) / "libmillrace.so"
    said = must("readelf", "readelf", "-d", library)
    soname = re.search(r"SONAME.*\[(.*)\]", said)
    if not soname or not re.fullmatch(r"libmillrace\.so\.(0\.\d+|[1-9]\d*)", soname.group(1)):
        raise Failure(f"SONAME is {soname.group(1) if soname else 'missing'}")
    if not (library.parent / soname.group(1)).exists():
        raise Failure(f"{soname.group(1)} is not installed")


def by_command(prefix):
    said = must("the command", prefix / "bin" / "millrace", "--version")
    if not said.startswith("millrace "):
        raise Failure(f"millrace --version says '{said}'")


def by_pages(prefix):
    for name in ["man/man1/millrace.1", "bash-completion/completions/millrace", "zsh/site-functions/_millrace",
                 "fish/vendor_completions.d/millrace.fish", "doc/millrace/LICENSE", "doc/millrace/THIRD_PARTY.md"]:
        path = prefix / "share" / name
        if not path.is_file() or path.stat().st_size == 0:
            raise Failure(f"share/{name} is not installed, or empty")


def all_ways(prefix, folder):
    by_soname(prefix)
    by_command(prefix)
    by_pages(prefix)
    by_pkg_config(prefix, folder)
    by_cmake(prefix, folder)
    by_examples(prefix, folder)


def must_fail(prefix, removed, way, *arguments):
    """Takes a file away, sees the way fail, puts it back."""
    path = next(prefix.rglob(removed))
    hidden = path.with_name(path.name + ".hidden")
    path.rename(hidden)
    try:
        way(*arguments)
    except (Failure, StopIteration):
        return
    finally:
        hidden.rename(path)
    raise Failure(f"without {removed} nothing failed: the check is broken")


def main(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        must("install", "cmake", "--install", build, "--prefix", folder / "first")
        prefix = folder / "prefix"
        (folder / "first").rename(prefix)
        all_ways(prefix, folder)
        (folder / "again").mkdir()
        must_fail(prefix, "millrace.fish", by_pages, prefix)
        must_fail(prefix, "image.h", by_pkg_config, prefix, folder / "again")
        must_fail(prefix, "millrace.pc", by_pkg_config, prefix, folder / "again")
        must_fail(prefix, "libmillrace.a", by_pkg_config, prefix, folder / "again")
        must_fail(prefix, "millrace-static.cmake", by_cmake, prefix, folder / "again")
    print("install: ok")


if __name__ == "__main__":
    if not CXX:
        harness.skip("no C++ compiler")
    try:
        main(sys.argv[1])
    except Failure as failure:
        sys.exit(f"install: {failure}")
