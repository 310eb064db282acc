"""Docstrings begin as sentences do, so that none has lost its first letters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

NAMED_BY_COMMANDS = "zoe_cli/commands/"
PACKAGES = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name.startswith(("zoe_", "storage_"))]
FOLDERS = [*sorted(PACKAGES), ROOT / "benchmarks", ROOT / "scripts"]


def docstrings(folder: Path) -> Iterator[tuple[str, str]]:
    """Docstrings by place, without those of modules that begin with the name of a command."""
    for path in sorted(folder.rglob("*.py")):
        place = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{place}:{node.lineno}", ast.get_docstring(node) or ""
            elif isinstance(node, ast.Module) and not place.startswith(NAMED_BY_COMMANDS):
                yield place, ast.get_docstring(node) or ""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_docstrings_begin_with_a_capital_letter(folder: Path) -> None:
    found = dict(docstrings(folder))
    assert found
    assert [place for place, text in found.items() if text[:1].islower()] == []
