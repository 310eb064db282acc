"""Small changes of a module that its tests should notice, found in its syntax tree. Pure.

A change replaces some bytes and leaves all others. Excluded is code that no test can or should check: docstrings,
annotations, decorators, imports, asserts, `__all__`, log lines, code for type checkers, and parts of f-strings, which
have no exact places until Python 3.12.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

_COMPARED = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
_SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}
_EXTREMES = {"min": "max", "max": "min"}
_NO_CODE = ("annotation", "returns", "decorator_list", "bases", "type_params")
_LOGS = re.compile(r"(self\.)?_*log(ger|ging)?\.(debug|info|warning|error|exception|critical|log)")
_RAISES = b'raise RuntimeError("mutant")'
Function = ast.FunctionDef | ast.AsyncFunctionDef
Span = tuple[int, int]
Change = tuple[str, Span, str]


@dataclass(frozen=True)
class Mutant:
    """A change: the bytes from `start` to `end` become `new`. statement: the first line of the statement around it;
    imported: it runs at import, outside of any test.
    """

    path: str
    line: int
    kind: str
    start: int
    end: int
    new: str
    statement: int = 0
    imported: bool = False

    def apply(self, source: bytes) -> bytes:
        """Return the source after the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]

    def diff(self, source: bytes) -> str:
        """Return its lines before and after the change."""
        first, last = source.rfind(b"\n", 0, self.start) + 1, source.find(b"\n", self.end)
        old, more = source[first:last].decode(), source[first : self.start].decode()
        return " => ".join(" ".join(text.split()) for text in (old, more + self.new + source[self.end : last].decode()))


class _Source:
    """Places of nodes in the bytes of a module."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._lines = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def span(self, first: ast.expr | ast.stmt, last: ast.expr | ast.stmt | None = None) -> Span:
        """Return the span of a node, or of several consecutive ones."""
        end = last or first
        at = self._lines[first.lineno - 1] + first.col_offset
        return at, self._lines[(end.end_lineno or 0) - 1] + (end.end_col_offset or 0)

    def line(self, place: int) -> int:
        """Return the number of the line that contains a place."""
        return bisect_right(self._lines, place)

    def between(self, left: ast.expr, right: ast.expr) -> Span:
        """Return the place of the operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        text = re.sub(rb"#[^\n]*|[()\\]", lambda found: b" " * len(found[0]), self.source[start:end])
        return start + len(text) - len(text.lstrip()), start + len(text.rstrip())

    def text(self, node: ast.expr) -> str:
        """Return the source of a node."""
        return self.source[slice(*self.span(node))].decode()


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Return all changes of a module."""
    of, found = _Source(source), set()
    for node, statement, imported in _parts(ast.parse(source), 1, imported=True):
        for kind, (start, end), new in _changes(node, of):
            found.add(Mutant(path, of.line(start), kind, start, end, new, statement, imported))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.kind, mutant.new))


def _parts(node: ast.AST, statement: int, *, imported: bool) -> Iterator[tuple[ast.AST, int, bool]]:
    """Yield parts that may change, with the line of their statement, and whether they run at import."""
    if _left_out(node):
        return
    statement = node.lineno if isinstance(node, ast.stmt) else statement
    yield node, statement, imported
    for name, field in ast.iter_fields(node):
        at_import = imported and not (isinstance(node, Function) and name == "body")
        for entry in field if isinstance(field, list) else [field]:
            if isinstance(entry, ast.AST) and name not in _NO_CODE:
                yield from _parts(entry, statement, imported=at_import)


def _left_out(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _LOGS.fullmatch(ast.unparse(function)) is not None
    return False


def _changes(node: ast.AST, of: _Source) -> Iterator[Change]:
    return chain(_of_operators(node, of), _of_values(node, of), _of_statements(node, of), _of_conditions(node, of))


def _of_operators(node: ast.AST, of: _Source) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
                yield from (("compare", of.between(left, right), new) for new in _COMPARED[type(operator)])
            yield from _texts([node.left, *node.comparators], of)
        case ast.BoolOp():
            new = "or" if isinstance(node.op, ast.And) else "and"
            yield from (("and-or", of.between(*two), new) for two in pairwise(node.values))
        case ast.UnaryOp(op=ast.Not()):
            yield "not", of.span(node), f"({of.text(node)[3:].strip()})"
        case ast.UnaryOp(op=ast.USub()):
            yield "sign", (of.span(node)[0], of.span(node)[0] + 1), "+"
        case ast.BinOp() if type(node.op) in _SWAPPED and not _joins(node.left, node.right):
            yield "operator", of.between(node.left, node.right), _SWAPPED[type(node.op)]
        case ast.AugAssign() if type(node.op) in _SWAPPED and not _joins(node.value):
            yield "operator", of.between(node.target, node.value), f"{_SWAPPED[type(node.op)]}="


def _of_values(node: ast.AST, of: _Source) -> Iterator[Change]:
    match node:
        case ast.Constant(value=bool(known)):
            yield "constant", of.span(node), str(not known)
        case ast.Constant(value=int(number)):
            yield from (
                ("constant", of.span(node), f"({new})" if new < 0 else f"{new}") for new in (number + 1, number - 1)
            )
        case ast.Name(id="min" | "max" as name):
            yield "extreme", of.span(node), _EXTREMES[name]
        case ast.arguments():
            yield from _texts([default for default in (*node.defaults, *node.kw_defaults) if default is not None], of)


def _of_statements(node: ast.AST, of: _Source) -> Iterator[Change]:
    match node:
        case ast.AugAssign() | ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
            yield "dropped", of.span(node), "pass"
        case ast.Assign() if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            yield "dropped", of.span(node), "pass"
        case ast.Return(value=ast.expr() as given):
            yield from _texts([given], of)
            if not (isinstance(given, ast.Constant) and not given.value):  # as false as None
                yield "return", of.span(given), "None"
        case ast.Break() | ast.Continue():
            yield "loop", of.span(node), "continue" if isinstance(node, ast.Break) else "break"


def _of_conditions(node: ast.AST, of: _Source) -> Iterator[Change]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            if not any(isinstance(t, ast.NamedExpr) for t in ast.walk(test)):
                yield from (("forced", of.span(test), new) for new in ("True", "False"))
            yield from _negations(test, of)
        case ast.While(test=test):
            yield from _negations(test, of)
        case ast.comprehension():
            for test in node.ifs:
                yield from _negations(test, of)


def _negations(test: ast.expr, of: _Source) -> Iterator[Change]:
    if not isinstance(test, ast.UnaryOp | ast.Compare | ast.Constant | ast.NamedExpr):  # these change in other ways
        yield "not", of.span(test), f"(not ({of.text(test)}))"


def _texts(nodes: list[ast.expr], of: _Source) -> Iterator[Change]:
    for node in nodes:
        if isinstance(node, ast.Tuple | ast.Set | ast.List):
            yield from _texts(node.elts, of)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "text", of.span(node), '"mutant"'


def _joins(*nodes: ast.expr) -> bool:
    """Return whether it joins texts, lists or paths, where any other operator fails at once."""
    kinds = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple, ast.Dict)
    return any(isinstance(n, kinds) or (isinstance(n, ast.Constant) and isinstance(n.value, str)) for n in nodes)


def raising(source: bytes, function: str) -> bytes:
    """Return the source with a function, such as `f` or `Class.f`, that only raises; a generator stays one."""
    of, found = _Source(source), list(_definitions(ast.parse(source), function.split(".")))
    if not found:
        raise KeyError(function)
    for node in reversed(found):
        first = next(iter(getattr(node.body[0], "decorator_list", ())), node.body[0])
        start, end = of.span(node.body[0], node.body[-1])
        start = source.rfind(b"@", 0, of.span(first)[0]) if first is not node.body[0] else start
        yields = any(isinstance(t, ast.Yield | ast.YieldFrom) for t in _scope_nodes(node))
        source = source[:start] + _RAISES + (b"; yield" if yields else b"") + source[end:]
    return source


def _definitions(tree: ast.AST, names: list[str]) -> Iterator[Function]:
    for node in _scope_nodes(tree):
        if isinstance(node, Function | ast.ClassDef) and node.name == names[0]:
            if names[1:]:
                yield from _definitions(node, names[1:])
            elif isinstance(node, Function) and "overload" not in map(ast.unparse, node.decorator_list):
                yield node


def _scope_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node, and functions and classes in it without their parts."""
    for t in ast.iter_child_nodes(node):
        yield t
        if not isinstance(t, Function | ast.Lambda | ast.ClassDef):
            yield from _scope_nodes(t)
