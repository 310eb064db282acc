"""The recipes for developers work: those for plugins in the example, the others in a copy of the tree.

`tests/package/test_plugins.py` installs the example and uses it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, ROOT, Block, blocks
from tests.support.long import of_test_all

PLUGINS = blocks(DOCS / "build/extending.md")
CHANGES = blocks(DOCS / "build/changing.md")
EXAMPLE = ROOT / "tests" / "examples" / "zoe_example_plugin"
COPIED = ("zoe_*", "storage_*", "tests", "scripts", "docs", "app_descriptions", "alembic", "pyproject.toml", "*.md")
# Checks after the steps and `make docs`: the pages, the settings, the events, and every rule about these.
CHECKS = (
    "tests/docs/test_reference.py",
    "tests/docs/test_kept_interfaces.py",
    "tests/unit/zoe_lib/settings/test_config.py",
    "tests/unit/zoe_lib/domain/lifecycle/test_lifecycle.py",
)
NEW_TEST = "tests/unit/zoe_master/test_main.py"
# Without the step that has one of these, a test fails.
NEEDED = (
    "class Noted",
    "        Noted,",
    "ev.Noted: frozenset",
    "def _apply_noted(_event: ev.Noted",
    "ev.Noted: ev.Noted(",
    "master_pause_s_min: float",
    "max(pause_s, self._settings",
)


def steps() -> list[Block]:
    return [block for block in CHANGES if block.language == "diff"]


def test_the_recipes_for_plugins_are_those_of_the_example() -> None:
    code = [block for block in PLUGINS if block.language == "python"]
    assert [block.file for block in code] == ["placement.py", "backend.py"]
    for block in code:
        assert block.text in (EXAMPLE / "zoe_example_plugin" / str(block.file)).read_text()
    example = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    shown = [tomllib.loads(block.text) for block in PLUGINS if block.language == "toml"]
    named = {group: entries for entry in shown for group, entries in entry["project"]["entry-points"].items()}
    assert named == example["project"]["entry-points"]
    assert shown[0]["build-system"] == example["build-system"]
    assert shown[0]["project"].keys() - {"entry-points"} <= example["project"].keys()


def test_the_code_of_a_plugin_names_all_that_it_imports() -> None:
    """What a reader copies from the first block is a module that can be imported."""
    code = next(block.text for block in PLUGINS if block.file == "placement.py")
    exec(compile(code, "placement.py", "exec"), {"__name__": "placement"})


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, in which every step was taken."""
    tree = tmp_path_factory.mktemp("tree") / "zoe"
    ignored = shutil.ignore_patterns("__pycache__", "static", "docs_site", "node_modules")
    for pattern in COPIED:
        for path in ROOT.glob(pattern):
            if path.is_dir():
                shutil.copytree(path, tree / path.name, ignore=ignored)
            else:
                shutil.copy(path, tree)
    for step in steps():
        take(tree, step)
    assert run(tree, "-m", "scripts.reference").returncode == 0  # `make docs`
    return tree


def take(tree: Path, step: Block) -> None:
    """Change a file as the step says; the old text must be there exactly once."""
    before, after, path = parts(tree, step)
    if not before:
        assert not path.exists()
        path.write_text(after)
        return
    text = path.read_text()
    assert text.count(before) == 1, f"{path.name} does not have once:\n{before}"
    path.write_text(text.replace(before, after))


def parts(tree: Path, step: Block) -> tuple[str, str, Path]:
    """The lines before and after the step, and its file."""
    head, *lines = step.text.splitlines(keepends=True)
    path = tree / head.removeprefix("--- ").strip()
    before = "".join(line[1:] for line in lines if line[0] in " -")
    return before, "".join(line[1:] or "\n" for line in lines if line[0] in " +"), path


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=tree, capture_output=True, text=True, check=False
    )


def checked(tree: Path, checks: Sequence[str] = (*CHECKS, NEW_TEST)) -> tuple[int, str]:
    done = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *checks)
    return done.returncode, done.stdout + done.stderr


def test_the_recipes_for_a_setting_and_an_event_are_complete(tree: Path) -> None:
    code, output = checked(tree)
    assert code == 0, output
    assert "`master_pause_s_min`" in (tree / "docs/reference/settings.md").read_text()
    assert "| `noted` | An operator left a note." in (tree / "docs/reference/lifecycle.md").read_text()


@of_test_all
@pytest.mark.parametrize("line", NEEDED)
def test_no_step_can_be_left_out(tree: Path, line: str) -> None:
    (step,) = [step for step in steps() if line in step.text]
    before, after, path = parts(tree, step)
    text = path.read_text()
    path.write_text(text.replace(after, before))
    try:
        code, output = checked(tree, ("-x", CHECKS[-1], NEW_TEST))
    finally:
        path.write_text(text)
    assert code != 0, output
