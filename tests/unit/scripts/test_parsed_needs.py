"""What was parsed is kept, and never stands in for a file, a folder or rules that have changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.affected import ImportGraph
from scripts.parsed_needs import ParsedNeeds

FILES = {
    "lib/__init__.py": "",
    "lib/low.py": "",
    "lib/high.py": "from lib import low\n",
    "tests/unit/test_high.py": "from lib import high\nDATA = 'data/one'\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def reached(tree: Path, known: Path, changed: str) -> list[str]:
    return ImportGraph(tree, known).affected([changed], "tests/unit")


def test_nothing_is_parsed_twice(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = tmp_path / "build" / "known.json"
    first = ImportGraph(tree, known).needs("tests/unit/test_high.py")
    assert "lib/low.py" in first
    monkeypatch.setattr("scripts.direct_needs.ast.parse", lambda _: pytest.fail("parsed"))
    assert ImportGraph(tree, known).needs("tests/unit/test_high.py") == first


def test_a_changed_file_is_parsed_again(tree: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert reached(tree, known, "lib/low.py") == ["tests/unit/test_high.py"]
    (tree / "lib/high.py").write_text("")
    assert reached(tree, known, "lib/low.py") == []
    (tree / "lib/high.py").write_text(FILES["lib/high.py"])
    assert reached(tree, known, "lib/low.py") == ["tests/unit/test_high.py"]


def test_a_text_names_a_folder_that_was_not_there_before(tree: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert reached(tree, known, "data/one") == []
    (tree / "data").mkdir()
    (tree / "data" / "one").write_text("")
    assert reached(tree, known, "data/one") == ["tests/unit/test_high.py"]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"rules": "x", "needs": {}}', "\xff"])
def test_a_file_that_cannot_be_used_is_replaced(tree: Path, tmp_path: Path, content: str) -> None:
    known = tmp_path / "known.json"
    known.write_text(content, "latin-1")
    assert reached(tree, known, "lib/low.py") == ["tests/unit/test_high.py"]
    assert "lib/high.py" in known.read_text()


@pytest.mark.parametrize("needs", ["[]", '{"a": 1}', '{"a": [1]}', '{"a": [null, null]}'])
def test_entries_of_another_form_are_no_trouble(tmp_path: Path, needs: str) -> None:
    known = tmp_path / "known.json"
    made = ParsedNeeds(known, ["rules"])
    made.of("b", b"", lambda _: ["c"])
    made.save()
    known.write_text(known.read_text().replace('{"b": ', "").split('"needs"')[0] + f'"needs": {needs}}}')
    assert ParsedNeeds(known, ["rules"]).of("a", b"x", lambda _: ["c"]) == {"c"}
