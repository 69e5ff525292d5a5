#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: every public name has a docstring; importing it needs the standard library alone; functions fit a
screen, lines 120 columns; the stub of the extension module has what the module has, and the module exports nothing else.

The module is found through MILLRACE_BUILD, where it was built; the self-test has a make-believe one in Python."""
import ast
import importlib.util
import inspect
import os
import pathlib
import sys

import harness

PACKAGE = "python/millrace"
FOLDERS = ["python", "examples"]
COLUMNS = 120
FUNCTION_LINES = 60
FRAMEWORKS = ("torch.py", "_torch")  # files that are imported only by who uses torch
STEPS = ("_step.py", "_step_colours.py", "_step_places.py")  # what steps.py shows is in these, too
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OWN_OF_STUB = {"Progress"}  # a name for a type, of which the module has nothing


def decorators(node):
    return {name for word in node.decorator_list for name in ast.unparse(word).split(".")}


def public(body):
    """The classes and functions of a module or a class that are for users. What is overloaded says it once."""
    for node in body:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)) and not node.name.startswith("_"):
            if decorators(node).isdisjoint({"overload", "setter", "deleter"}):
                yield node


def docstrings(path, tree):
    if not ast.get_docstring(tree):
        yield path, 1, "the module has no docstring"
    hidden = path.name.startswith("_") and path.name not in STEPS
    for node in public(tree.body) if not hidden else []:
        if not ast.get_docstring(node):
            yield path, node.lineno, f"{node.name} has no docstring; help() shows it"
        for inner in public(node.body) if isinstance(node, ast.ClassDef) and not node.bases else []:  # else help() asks those
            if not ast.get_docstring(inner):
                yield path, inner.lineno, f"{node.name}.{inner.name} has no docstring; help() shows it"


def at_import(body):
    """The imports that run when a module is imported: not those in functions, nor those for type checkers."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif not isinstance(node, FUNCTIONS):
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield from at_import(getattr(node, part, []))


def imports(path, tree):
    for node in at_import(tree.body):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
        for name in names if not getattr(node, "level", 0) else []:
            if name.split(".")[0] not in sys.stdlib_module_names | {"millrace"}:
                yield path, node.lineno, f"imports {name} when it is imported; what is not Python's own is imported where it is used"


def lengths(path, text, tree):
    for number, line in enumerate(text, 1):
        if len(line) > COLUMNS:
            yield path, number, f"the line has {len(line)} columns; the limit is {COLUMNS}"
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            count = node.end_lineno - first.lineno + 1
            if count > FUNCTION_LINES:
                yield path, node.lineno, f"{node.name} has {count} lines; the limit is {FUNCTION_LINES}"


def stub_names(body):
    """{name: node} of what a stub, or a class in it, declares."""
    names = {}
    for node in body:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
    return {name: node for name, node in names.items() if not name.startswith("_")}


def compare(stub, module):
    """What only one of the two has, and what of the module says nothing of itself."""
    declared = stub_names(ast.parse(stub.read_text()).body)
    there = {name for name in vars(module) if not name.startswith("_")}
    for name in sorted((set(declared) - OWN_OF_STUB) ^ there):
        yield f"{name} is in the {'stub' if name in declared else 'module'} only"
    for name in sorted(set(declared) & there):
        thing = getattr(module, name)
        if not thing.__doc__:
            yield f"{name} has no docstring"
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        members = stub_names(declared[name].body)
        given = {member for member in vars(thing) if not member.startswith("_")}
        for member in sorted(set(members) ^ given):
            yield f"{name}.{member} is in the {'stub' if member in members else 'module'} only"
        for member in sorted(set(members) & given):
            if isinstance(members[member], FUNCTIONS) and not getattr(thing, member).__doc__:
                yield f"{name}.{member} has no docstring"


def built(root):
    """The file of the extension module, or None."""
    if not (root / "CMakeLists.txt").exists():
        return next((root / PACKAGE).glob("_core.py"), None)
    folder = pathlib.Path(os.environ.get("MILLRACE_BUILD", root / "build"))
    return next((folder / "python" / "millrace").glob("_core*.so"), None)


def extension(root):
    file, stub = built(root), root / PACKAGE / "_core.pyi"
    if file is None or not stub.exists():
        return
    spec = importlib.util.spec_from_file_location("_core", file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:  # a Python that it is not for
        print(f"the module was not looked at: {error}")
        return
    for problem in compare(stub, module):
        yield stub.relative_to(root), 1, problem
    status, said = harness.run("nm", "-D", "--defined-only", "--format=posix", file)
    for line in said.splitlines() if status == 0 else []:
        if line.split()[0] not in ("PyInit__core",) and not line.startswith("__asan"):
            yield file.name, 1, f"exports {line.split()[0]}; Python looks for PyInit__core only"


def check(root):
    for path in harness.files(root, FOLDERS, {".py"}):
        text = harness.lines(root, path)
        tree = ast.parse("\n".join(text))
        yield from lengths(path, text, tree)
        if str(path).startswith(PACKAGE):
            yield from docstrings(path, tree)
            if not path.name.startswith(FRAMEWORKS):
                yield from imports(path, tree)
    yield from extension(root)


DOC = '"""Says."""\n'
CLASS = DOC + 'class A:\n    """Says."""\n'
STUB = 'class A:\n    """Says."""\n\n    n: int\n    def f(self) -> int: ...\n\ndef g() -> int: ...\n'
MODULE = DOC + 'class A:\n    """Says."""\n    n = 1\n    def f(self):\n        """Says."""\ndef g():\n    """Says."""\n'
GOOD = [
    {f"{PACKAGE}/a.py": CLASS + "    def _f(self):\n        import numpy\n    @overload\n    def g(self): ...\n"},
    {f"{PACKAGE}/a.py": DOC + "import os\nfrom . import b\nif TYPE_CHECKING:\n    import torch\n", f"{PACKAGE}/torch.py": DOC + "import torch\n"},
    {f"{PACKAGE}/_a.py": DOC + "def f():\n    pass\n", "python/tests/a.py": "import numpy\ndef f():\n    pass\n"},
    {f"{PACKAGE}/_core.pyi": STUB, f"{PACKAGE}/_core.py": MODULE},
]
BAD = [
    ({f"{PACKAGE}/a.py": "a = 1\n"}, "a.py:1: the module has no docstring"),
    ({f"{PACKAGE}/a.py": DOC + "def f():\n    pass\n"}, "a.py:2: f has no docstring"),
    ({f"{PACKAGE}/a.py": CLASS + "    def f(self):\n        pass\n"}, "a.py:4: A.f has no docstring"),
    ({f"{PACKAGE}/a.py": DOC + "import numpy as np\n"}, "a.py:2: imports numpy when"),
    ({f"{PACKAGE}/a.py": DOC + "try:\n    from torch.utils import data\nexcept ImportError:\n    pass\n"}, "a.py:3: imports torch.utils when"),
    ({f"{PACKAGE}/a.py": DOC + f"a = '{'x' * 130}'\n"}, "a.py:2: the line has 136 columns"),
    ({"examples/a.py": "def f():\n" + "    g()\n" * 61}, "a.py:1: f has 61 lines"),
    ({f"{PACKAGE}/_core.pyi": STUB + "def h() -> int: ...\n", f"{PACKAGE}/_core.py": MODULE}, "h is in the stub only"),
    ({f"{PACKAGE}/_core.pyi": STUB, f"{PACKAGE}/_core.py": MODULE + "def h():\n    pass\n"}, "h is in the module only"),
    ({f"{PACKAGE}/_core.pyi": STUB.replace("n:", "m:"), f"{PACKAGE}/_core.py": MODULE}, "A.m is in the stub only"),
    ({f"{PACKAGE}/_core.pyi": STUB, f"{PACKAGE}/_core.py": MODULE.replace('        """Says."""', "        pass")}, "A.f has no docstring"),
    ({f"{PACKAGE}/_core.pyi": STUB, f"{PACKAGE}/_core.py": MODULE.replace('def g():\n    """Says."""', "def g():\n    pass")}, "g has no docstring"),
]

if __name__ == "__main__":
    if sys.version_info < (3, 11):
        harness.skip("the package is for Python 3.11 and later")
    harness.main(check, GOOD, BAD)
