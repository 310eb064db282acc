"""Measure the structure of packages: `python -m scripts.rooms` prints their rooms, and fails if a carved one grew.

The rooms of a folder are its files and folders; an arrow leads from one room to another that it imports. Composition
roots and base modules, which half of the rooms use, do not count among the arrows: a reader knows them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    *("storage_bridge", "storage_controller", "storage_filters", "storage_gateway"),
    *("zoe_api", "zoe_cli", "zoe_client", "zoe_embedded", "zoe_files", "zoe_job", "zoe_lib", "zoe_master"),
    *("zoe_simulator", "lab"),
)
CARVED = (
    *("storage_bridge", "storage_controller", "storage_filters", "storage_gateway"),
    *("zoe_api", "zoe_cli", "zoe_client", "zoe_embedded", "zoe_files", "zoe_job", "zoe_lib", "zoe_master"),
    *("zoe_simulator", "lab"),
)
"""Packages that have to stay within the bounds, with all below them; never remove one."""
ROOMS_MAX, ARROWS_MAX, LINES_MAX = 17, 25, 50
ROOTS = {"__main__", "app", "composition", "main", "setup"}
"""Rooms that compose others, beside rooms that no room uses."""
_ROUTE_METHODS = {"get", "put", "post", "delete", "patch", "head", "websocket"}
Edges = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder: its rooms, all arrows among them, the counted ones, and the rooms in a circle."""

    name: str
    rooms: frozenset[str]
    arrows: int
    counted: int
    circle: frozenset[str]

    def wrong(self) -> Iterator[str]:
        """Yield violations of the bounds."""
        if len(self.rooms) > ROOMS_MAX:
            yield f"{self.name}: {len(self.rooms)} rooms, at most {ROOMS_MAX}: put those of one subject into a folder"
        if self.counted > ARROWS_MAX:
            yield f"{self.name}: {self.counted} arrows, at most {ARROWS_MAX}: carve out what several rooms share"
        if self.circle:
            yield f"{self.name}: {', '.join(sorted(self.circle))} import each other in a circle"


def main() -> int:
    """Print all folders of more than one room, and the violations of carved packages; return 1 if there are any."""
    quiet, wrong = "--quiet" in sys.argv, list[str]()
    for package in PACKAGES:
        for folder in folders(package):
            if not quiet:
                circle = f", {len(folder.circle)} in a circle" if folder.circle else ""
                print(f"{folder.name}: {len(folder.rooms)} rooms, {folder.arrows} arrows ({folder.counted}){circle}")
            if is_carved(folder.name):
                wrong += folder.wrong()
    for path in (path for name in CARVED for path in sorted((ROOT / name.replace(".", "/")).rglob("*.py"))):
        wrong += wrong_functions(path)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


def is_carved(folder: str) -> bool:
    """Return whether a folder has to stay within the bounds."""
    return any(f"{folder}.".startswith(f"{name}.") for name in CARVED)


def folders(package: str) -> Iterator[Folder]:
    """Yield each folder of a package that has rooms, the package first."""
    graph = grimp.build_graph(package, cache_dir=str(ROOT / "build" / "rooms"))
    modules = graph.modules
    imports = [(module, other) for module in modules for other in graph.find_modules_directly_imported_by(module)]
    for name in sorted(modules):
        rooms = frozenset(child.rpartition(".")[2] for child in graph.find_children(name))
        if len(rooms) > 1:
            yield folder_of(name, rooms, imports)


def folder_of(name: str, rooms: frozenset[str], imports: list[tuple[str, str]]) -> Folder:
    """Return a folder, by all imports of modules."""
    start = f"{name}."
    edges: Edges = set()
    for text, other in imports:
        if text.startswith(start) and other.startswith(start):
            edge = text.removeprefix(start).partition(".")[0], other.removeprefix(start).partition(".")[0]
            if edge[0] != edge[1]:
                edges.add(edge)
    inner = {room for room in rooms - ROOTS if any(b == room for _, b in edges) or not any(a == room for a, _ in edges)}
    users = {room: {a for a, b in edges if b == room and a in inner} for room in inner}
    ground = {room for room, by in users.items() if 2 * len(by) >= len(inner) - 1}
    counted = sum(a in inner and b not in ground for a, b in edges)
    return Folder(name, rooms, len(edges), counted, circle_of(rooms, edges))


def circle_of(rooms: frozenset[str], edges: Edges) -> frozenset[str]:
    """Return the rooms that remain after repeatedly removing rooms without imports or importers."""
    left = set(rooms)
    while True:
        within = {(a, b) for a, b in edges if a in left and b in left}
        held = left & {a for a, _ in within} & {b for _, b in within}
        if held == left:
            return frozenset(held)
        left = held


def wrong_functions(path: Path) -> Iterator[str]:
    """Yield functions that are too long, and routes within functions."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            place = f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
            if (lines := _lines(node)) > LINES_MAX:
                yield f"{place} has {lines} lines, at most {LINES_MAX}"
            yield from (f"{place} has the route {route}: make it a function of the module" for route in _routes(node))


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its head, which for a command is the list of its options."""
    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or first.lineno) - first.lineno + 1


def _routes(outer: ast.AST) -> Iterator[str]:
    for node in ast.walk(outer):
        if node is not outer and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for entry in node.decorator_list:
                if (
                    isinstance(entry, ast.Call)
                    and isinstance(entry.func, ast.Attribute)
                    and entry.func.attr in _ROUTE_METHODS
                ):
                    yield node.name


if __name__ == "__main__":
    sys.exit(main())
