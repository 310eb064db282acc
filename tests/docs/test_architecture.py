"""What the pages on the architecture name exists: folders of each capability, and symbols in their files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "docs" / "build"
TEXT = "\n".join((BUILD / name).read_text("utf-8") for name in ("architecture.md", "flow.md"))
CHANGES = (BUILD / "changing.md").read_text("utf-8")
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven")
_SYMBOL = re.compile(r"`(\w+(?:\.\w+)?)`(?:,[^`]{1,80},|) (?:in|\()\s*`([\w/]+\.py)`")


def test_capabilities_are_where_the_table_says() -> None:
    table = TEXT.partition("## Where a capability lives")[2].partition("\n## ")[0]
    head, _, *rows = [line.strip("| ").split("|") for line in table.splitlines() if line.startswith("|")]
    bases = [re.findall(r"`([^`]+)`", cell) for cell in head]
    assert len(rows) >= 12
    missing = [
        f"{row[0].strip()}: {base[0]}{path}"
        for row in rows
        for base, cell in zip(bases, row, strict=False)
        for path in re.findall(r"`([^`]+)`", cell)
        if base and not (ROOT / base[0] / path).exists()
    ]
    assert missing == []


def test_symbols_are_in_the_files_that_the_page_names() -> None:
    named = _SYMBOL.findall(TEXT)
    assert len(named) >= 12
    assert [f"{symbol} in {path}" for symbol, path in named if symbol not in _symbols(ROOT / path)] == []


def test_files_that_the_recipes_name_are_there() -> None:
    text = (BUILD / "extending.md").read_text("utf-8") + CHANGES
    named = set(re.findall(r"`((?:zoe|storage|tests|alembic|docs)\w*/[\w./]+)`", text))
    added = {"tests/unit/zoe_master/test_main.py"}
    assert len(named) >= 20
    assert sorted(path for path in named - added if not (ROOT / path).exists()) == []


@pytest.mark.parametrize(("recipe", "most"), [("A field of a component", 6), ("A REST call", 6), ("An event", 4)])
def test_recipes_count_their_files(recipe: str, most: int) -> None:
    section = CHANGES.partition(f"\n## {recipe}\n")[2].partition("\n## ")[0]
    steps = "\n".join(re.findall(r"^\d\. .*(?:\n .*)*|^[-+]{3} .*", section, re.MULTILINE))
    product = set(re.findall(r"(?<![\w/])(?:zoe|storage)_\w+/[\w./]*", steps))
    (said,) = re.findall(r"(\w+) files of the product", section)
    assert _NUMBERS.index(said.lower()) == len(product) <= most, product


def _symbols(path: Path) -> set[str]:
    """Return functions, classes, methods as `Class.method`, and assigned names of a module."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            inner = (t for t in ast.walk(node) if isinstance(t, ast.FunctionDef | ast.AsyncFunctionDef))
            found |= {f"{node.name}.{entry.name}" for entry in inner} if isinstance(node, ast.ClassDef) else set()
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found
