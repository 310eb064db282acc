"""Whether a node id names a test that exists, by the text of its file: nothing is imported."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def exists(test: str) -> bool:
    """Return whether a node id names a file or folder, or a function or class in one; parameters are not looked at."""
    file, _, name = test.partition("::")
    path = ROOT / file
    if not name:
        return path.exists()
    return path.is_file() and _names_in(path).issuperset(name.partition("[")[0].split("::"))


@cache
def _names_in(path: Path) -> set[str]:
    """Return functions and classes of a file, and of the files of tests whose suites it takes."""
    own = path.read_text("utf-8")
    modules = (ROOT / f"{module.replace('.', '/')}.py" for module in re.findall(r"from (tests[\w.]+) import", own))
    texts = [own, *(module.read_text("utf-8") for module in modules if module.is_file())]
    return {name for text in texts for name in re.findall(r"^\s*(?:async )?(?:def|class) (\w+)", text, re.MULTILINE)}
