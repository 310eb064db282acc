"""What one Python file needs directly: what it imports, and what its texts name.

Names are paths below the root. A package that imports its names when they are first read (`lazy_names`) consists of
nodes of its own: `PACKAGE/NAME.py` needs the module that holds the name, and `PACKAGE/*.py` all of them. So a file that
imports one such name needs one module, as at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

ARROW = " -> "
"""Between a node that is not a file, and what it needs."""
LOCATES = "__file__"
"""Needed by each file that can find files from the place of a module."""
_LOCATING = frozenset({"__file__", "__path__", "__spec__", "__loader__", "files", "get_data", "find_spec"})
_LOCATING_MODULES = frozenset({"importlib.resources", "importlib.util", "inspect", "pkgutil"})
# What a program in a text imports or runs, and which files a longer text names.
_FROM = re.compile(r"\bfrom\s+([\w.]+)\s+import\s*(\([^)]*\)|[\w ,]+)")
_IMPORT = re.compile(r"(?:\bimport|-m)\s+([\w.]+)")
_DOTTED = re.compile(r"(?<![\w./-])[^\W\d]\w*\.[\w.]*")
_PYTHON_FILE = re.compile(r"(?<![\w./-])[\w.-]+/[\w./-]+\.py\b")


class DirectNeeds:
    """Finds what files need, given the names at the top of the tree, and which of these hold code."""

    def __init__(self, tops: set[str], code: set[str]) -> None:
        self._tops, self._code = tops, code

    def of(self, path: str, content: bytes) -> Iterator[str]:
        """Yield what the file needs, or `NODE -> PATH`; a file that cannot be parsed needs nothing.

        Imports inside functions count too; those that only type checkers read do not.
        """
        try:
            tree = ast.parse(content)
        except (SyntaxError, ValueError):
            return  # the checks that follow report the file
        table = lazy_table(path, tree)
        for node in _read_at_run_time(tree, bool(table)):
            yield from self._of(path, node)
        for name, module in table.items():
            folder = str(PurePosixPath(path).parent)
            yield f"{folder}/{name}.py{ARROW}{folder}/{module}.py"
            yield f"{folder}/*.py{ARROW}{folder}/{module}.py"
        if path.startswith("tests/"):
            yield from (str(folder / "conftest.py") for folder in PurePosixPath(path).parents)

    def _of(self, path: str, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import():
                for alias in node.names:
                    yield from self._imported(alias)
            case ast.ImportFrom():
                module = _absolute(path, node)
                yield from self._module(module)
                if module in _LOCATING_MODULES:
                    yield LOCATES
                for alias in node.names:
                    yield from self._module(f"{module}.{alias.name}", whole=True)
                    if f"{module}.{alias.name}" in _LOCATING_MODULES:
                        yield LOCATES
            case ast.Constant(value=str(text)):
                yield from self._named(text)
                if text in _LOCATING:
                    yield LOCATES
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _LOCATING:
                yield LOCATES

    def _imported(self, alias: ast.alias) -> Iterator[str]:
        """Yield the files of `import a.b.c`, after which all names of a, a.b and a.b.c can be read."""
        yield from self._module(alias.name, whole=True)
        parts = alias.name.split(".")
        if alias.asname is None:
            for end in range(1, len(parts)):
                yield from self._module(".".join(parts[:end]), whole=True)
        if alias.name in _LOCATING_MODULES:
            yield LOCATES

    def _module(self, name: str, *, whole: bool = False) -> Iterator[str]:
        """Yield the files of a dotted name, including a module that the change has deleted; `whole`: and its names."""
        parts = name.rstrip(".").split(".")
        if parts[0] not in self._tops:
            return
        for end in range(1, len(parts) + 1):
            folder = "/".join(parts[:end])
            yield f"{folder}.py"
            yield f"{folder}/__init__.py"
        if whole:
            yield f"{folder}/*.py"

    def _named(self, text: str) -> Iterator[str]:
        """Yield what a string constant may name: `zoe_master.main:main`, `docs/reference/cli.md`,
        `app_descriptions`.
        """
        name = text.partition(":")[0]
        if name.split(".", 1)[0] in self._tops and name.replace(".", "_").isidentifier():
            yield from self._module(name, whole=True)
            yield f"{name.replace('.', '/')}/__main__.py"
        if len(text) < 200 and text.split("/", 1)[0] in self._tops and text not in self._code:  # paths are not longer
            yield text.rstrip("/")
        yield from self._within(text)

    def _within(self, text: str) -> Iterator[str]:
        """Yield what a longer text names, such as a program that a test runs in another process."""
        for module, names in _FROM.findall(text):
            yield from self._code_module(module)
            for name in re.findall(r"\w+", names):
                yield from self._code_module(f"{module}.{name}", whole=True)
        rest = _FROM.sub(" ", text)
        for name in (*_IMPORT.findall(rest), *_DOTTED.findall(rest)):
            yield from self._code_module(name, whole=True)
            yield f"{name.replace('.', '/')}/__main__.py"
        yield from (path for path in _PYTHON_FILE.findall(rest) if path.split("/", 1)[0] in self._code)

    def _code_module(self, name: str, *, whole: bool = False) -> Iterator[str]:
        if name.split(".", 1)[0] in self._code:
            yield from self._module(name, whole=whole)


def lazy_table(path: str, tree: ast.Module) -> dict[str, str]:
    """Return name -> module of a package with `__getattr__ = lazy_names(__name__, {module: (name, ...)})`.

    {} for any other file, and for one whose table is not written as constants: then nothing of it can be said.
    """
    call = next((node.value for node in tree.body if isinstance(node, ast.Assign) and is_lazy(node)), None)
    if not path.endswith("/__init__.py") or not isinstance(call, ast.Call):
        return {}
    try:
        modules = ast.literal_eval(call.args[1])
        return {name: module for module, names in modules.items() for name in names}
    except (ValueError, IndexError, AttributeError, TypeError):
        return {}


def is_lazy(node: ast.stmt) -> bool:
    """Return whether this is the statement that makes a package import its names late."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__getattr__")], value=ast.Call(func=ast.Name(id="lazy_names"))):
            return True
    return False


def for_type_checkers(node: ast.AST) -> bool:
    """Return whether this is `if TYPE_CHECKING:`, whose body does not run."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _read_at_run_time(tree: ast.Module, known: bool) -> Iterator[ast.AST]:
    """Yield what runs; of a package that imports its names late, all, unless it is `known` which it imports."""
    named = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    late = "__getattr__" in named or any(is_lazy(node) for node in tree.body)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        checked = isinstance(node, ast.If) and for_type_checkers(node) and (known or not late)
        unread = node.body if isinstance(node, ast.If) and checked else []
        waiting.extend(child for child in ast.iter_child_nodes(node) if child not in unread and not _is_text(child))


def _is_text(node: ast.AST) -> bool:
    """Return whether this is a docstring: what it names is for people."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _absolute(path: str, node: ast.ImportFrom) -> str:
    """Return the dotted name from which an import in the file `path` imports."""
    if node.level == 0:
        return node.module or ""
    package = PurePosixPath(path).parts[: -node.level]
    return ".".join((*package, *([node.module] if node.module else [])))
