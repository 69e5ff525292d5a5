# SPDX-License-Identifier: Apache-2.0
"""What every check shares: reading the tree, reporting, and proving that the check can fail.

A check is a script with a function check(root) that yields problems as (path, line, sentence).
`NAME.py ROOT` runs it; `NAME.py --self-test` runs it on small trees, good and bad, made in a temporary folder.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77  # what ctest takes for "skipped"


def files(root, folders, endings):
    """The files of these folders that end so, sorted, as paths relative to root."""
    found = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in endings and path.is_file():
                found.append(path.relative_to(root))
    return found


def code_only(text):
    """The text of a C file with comments, strings and character constants blanked out; lines stay where they are."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def lines(root, path):
    return (root / path).read_text(encoding="utf-8").splitlines()


def run(*command, **options):
    """Runs a program; returns (exit status, what it printed)."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    return done.returncode, done.stdout


def compiler(variable, *otherwise):
    """The compiler that an environment variable names, or the first of the others that is there, or None."""
    for name in [os.environ.get(variable, ""), *otherwise]:
        if name and run("sh", "-c", f"command -v {name}")[0] == 0:
            return name
    return None


def archive(root):
    """The static library of the build, found through MILLRACE_ARCHIVE; in the self-tests one made of the tree's own files."""
    if (root / "CMakeLists.txt").exists():
        return os.environ["MILLRACE_ARCHIVE"]
    objects = []
    for source in sorted(root.rglob("*.c")):
        objects.append(source.with_suffix(".o"))
        status, said = run(compiler("CC", "cc", "gcc"), "-fPIC", "-O0", "-c", source, "-o", objects[-1])
        if status != 0:
            raise SystemExit(said)
    run("ar", "rc", root / "a.a", *objects)
    return root / "a.a"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def self_test(check, good, bad):
    """`good` is a list of trees {path: text}; `bad` a list of (tree, words that a problem must contain)."""
    wrong = 0
    for tree, words in [(tree, None) for tree in good] + bad:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            problems = [f"{path}:{line}: {sentence}" for path, line, sentence in check(root)]
        if words is None and problems:
            wrong += 1
            print(f"a good tree was refused: {problems}\n{tree}")
        if words is not None and not any(words in problem for problem in problems):
            wrong += 1
            print(f"a bad tree passed; expected '{words}', got {problems}\n{tree}")
    print(f"self-test: {len(good)} good trees, {len(bad)} bad ones, {wrong} wrong verdicts")
    return wrong == 0


def main(check, good, bad):
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ROOT | --self-test")
    if sys.argv[1] == "--self-test":
        sys.exit(0 if self_test(check, good, bad) else 1)
    problems = list(check(pathlib.Path(sys.argv[1]).resolve()))
    for path, line, sentence in problems:
        print(f"{path}:{line}: {sentence}")
    name = pathlib.Path(sys.argv[0]).stem
    print(f"{name}: {len(problems)} problems" if problems else f"{name}: ok")
    sys.exit(1 if problems else 0)
