"""The tests that a change can reach: by imports, by names in texts, by data files, by conftest.py."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.affected import ImportGraph, NotComparable, base_of, changed_files

FILES = {
    "lib/__init__.py": "",
    "lib/low.py": "LOW = 1\n",
    "lib/high.py": "from lib.low import LOW\n",
    "lib/lazy.py": "def load():\n    from lib import high\n    return high\n",
    "lib/reader.py": "from pathlib import Path\nDATA = Path('data') / 'one.json'\n",
    "lib/__main__.py": "from lib import low\n",
    "lib/alone.py": "",
    "lib/deep/__init__.py": "",
    "lib/deep/relative.py": "from . import sibling\nfrom ..alone import x\n",
    "lib/deep/sibling.py": "",
    "data/one.json": "{}",
    "tests/conftest.py": "",
    "tests/unit/test_low.py": "from lib.low import LOW\n",
    "tests/unit/test_high.py": "import lib.high\n",
    "tests/unit/test_lazy.py": "from lib.lazy import load\n",
    "tests/unit/test_reader.py": "from lib import reader\n",
    "tests/unit/test_process.py": "COMMAND = ['python', '-m', 'lib']\n",
    "tests/unit/test_factory.py": "FACTORY = 'lib.high:make'\n",
    "tests/unit/test_relative.py": "from lib.deep import relative\n",
    "tests/unit/near/test_recorded.py": "",
    "tests/unit/near/recorded/all.csv": "1",
    "tests/unit/test_größe.py": "from lib import grün\n",
    "lib/grün.py": "",
    "tests/unit/test_broken.py": "def (",
    "tests/unit/deep/conftest.py": "from lib import alone\n",
    "tests/unit/deep/test_deep.py": "",
    "tests/api/test_api.py": "from lib.low import LOW\n",
}

UNIT = [name for name in FILES if name.startswith("tests/unit") and "/test_" in name]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    return root


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("lib/low.py", {"low", "high", "lazy", "process", "factory"}),
        ("lib/high.py", {"high", "lazy", "factory"}),
        ("lib/lazy.py", {"lazy"}),
        ("lib/alone.py", {"deep", "relative"}),
        ("lib/deep/sibling.py", {"relative"}),
        ("lib/deep/more/values.json", {"relative"}),
        ("tests/unit/near/recorded/all.csv", {"recorded"}),
        ("lib/grün.py", {"größe"}),
        ("tests/unit/test_broken.py", {"broken"}),
        ("lib/gone.py", set()),
        ("lib/__main__.py", {"process"}),
        ("data/one.json", {"reader"}),
        ("data/new.json", {"reader"}),
        ("tests/unit/test_low.py", {"low"}),
        ("tests/unit/deep/conftest.py", {"deep"}),
        ("tests/api/test_api.py", set()),
        ("README.md", set()),
    ],
)
def test_what_a_changed_file_reaches(tree: Path, changed: str, reached: set[str]) -> None:
    found = ImportGraph(tree).affected([changed], "tests/unit")
    assert {Path(path).stem.removeprefix("test_") for path in found} == reached


@pytest.mark.parametrize("changed", ["pyproject.toml", "requirements/zoe.lock", "tests/conftest.py", "pytest.ini"])
def test_some_files_reach_all(tree: Path, changed: str) -> None:
    assert len(ImportGraph(tree).affected([changed], "tests/unit")) == len(UNIT)


def test_a_deleted_module_reaches_those_that_still_import_it(tree: Path) -> None:
    (tree / "lib/high.py").unlink()
    try:
        assert "lib/high.py" in changed_files(tree, "HEAD")
        found = ImportGraph(tree).affected(["lib/high.py"], "tests/unit")
        assert {Path(path).stem for path in found} == {"test_high", "test_lazy", "test_factory"}
    finally:
        (tree / "lib/high.py").write_text(FILES["lib/high.py"])


def test_there_is_always_a_change_to_check(tree: Path) -> None:
    commit(tree)
    assert base_of(tree) == "HEAD~1"
    (tree / "untracked.py").write_text("")
    try:
        assert changed_files(tree, base_of(tree)) == {"untracked.py"}
    finally:
        (tree / "untracked.py").unlink()
    git(tree, "switch", "-q", "-c", "work")
    (tree / "lib/low.py").write_text("LOW = 2\n")
    commit(tree)
    assert changed_files(tree, base_of(tree)) == {"lib/low.py"}


def test_names_beyond_ascii_are_seen(tree: Path) -> None:
    (tree / "tests/unit/test_größe 2.py").write_text("")
    try:
        assert changed_files(tree, "HEAD") == {"tests/unit/test_größe 2.py"}
    finally:
        (tree / "tests/unit/test_größe 2.py").unlink()


@pytest.mark.parametrize("base", ["deadbeef", "--cached", ""])
def test_what_is_no_commit_is_refused_in_gits_words(tree: Path, base: str) -> None:
    with pytest.raises(NotComparable, match=r"fatal|error"):
        changed_files(tree, base)


def test_this_repository_is_read_whole() -> None:
    root = Path(__file__).resolve().parents[3]
    needed = ImportGraph(root).needs("tests/unit/zoe_master/scheduler/test_cycle.py")
    assert "zoe_master/scheduler/cycle.py" in needed
    assert "zoe_lib/domain/execution.py" in needed
    assert "zoe_api/main.py" not in needed
