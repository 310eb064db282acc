"""The tests that a change can reach: by imports, by names in texts, by data files, by conftest.py."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.affected import (
    LOOK_OVER,
    PARSED,
    TREE,
    ImportGraph,
    NotComparable,
    added_or_removed,
    base_of,
    changed_files,
)
from scripts.changed_parts import changed_parts

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
    "lib/located.py": "from pathlib import Path\nHERE = Path(__file__).parent\n",
    "lib/late/__init__.py": "if TYPE_CHECKING:\n    from lib.late.one import *\n    from lib.late.two import *\n"
    "__getattr__ = lazy_names(__name__, {'one': ('One', 'Uno'), 'two': ('Two',)})\n",
    "lib/late/one.py": "",
    "lib/late/two.py": "",
    "lib/later/__init__.py": "if TYPE_CHECKING:\n    from lib.alone import *\ndef __getattr__(name): ...\n",
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
    "tests/unit/test_one.py": "from lib.late import One\n",
    "tests/unit/test_two.py": "TARGET = 'lib.late.Two'\n",
    "tests/unit/test_inner.py": "from lib.late.one import One\n",
    "tests/unit/test_whole.py": "from lib import late\n",
    "tests/unit/test_all.py": "import lib.late\n",
    "tests/unit/test_star.py": "from lib.late import *\n",
    "tests/unit/test_built.py": "import_module(f'lib.late.{name}')\n",
    "tests/unit/test_later.py": "from lib.later import x\n",
    "tests/unit/test_located.py": "from lib.located import HERE\n",
    "tests/unit/test_checked.py": "if TYPE_CHECKING:\n    import lib.low\nelse:\n    import lib.alone\n",
    "tests/unit/deep/conftest.py": "from lib import alone\n",
    "tests/unit/deep/test_deep.py": "",
    "tests/unit/test_program.py": "'a docstring of lib.low'\n"
    "PROGRAM = 'from sys import path\\nfrom lib.deep import sibling, x\\n'\n",
    "tests/unit/test_command.py": "COMMAND = f'{PYTHON} -m lib.alone --all'\n",
    "tests/unit/test_late_import.py": "CODE = f'{PATH}); import lib.alone'\n",
    "tests/unit/test_script.py": "COMMAND = 'python3 scripts/tool.py -v'\n",
    "tests/unit/test_layout.py": "",
    "tests/unit/lib/test_unseen.py": "",
    "tests/unit/lib/test_late.py": "",
    "lib/_unseen.py": "",
    "scripts/tool.py": "",
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
        ("lib/alone.py", {"deep", "relative", "later", "checked", "command", "late_import"}),
        ("lib/late/one.py", {"one", "inner", "whole", "all", "star", "built"}),
        ("lib/late/two.py", {"two", "whole", "all", "star", "built"}),
        ("lib/late/__init__.py", {"one", "two", "inner", "whole", "all", "star", "built", "late"}),
        ("lib/README.md", {"located"}),
        ("lib/deep/sibling.py", {"relative", "program"}),
        ("lib/_unseen.py", {"unseen"}),
        ("scripts/tool.py", {"script"}),
        (TREE, {"layout"}),
        ("lib/deep/more/values.json", {"relative", "program"}),
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


def test_the_nearest_tests_come_first(tree: Path) -> None:
    graph = ImportGraph(tree)
    *near, last = graph.affected(["lib/low.py"], "tests/unit")
    assert (set(near[:2]), last) == (
        {"tests/unit/test_low.py", "tests/unit/test_process.py"},
        "tests/unit/test_lazy.py",
    )
    assert graph.affected(["lib/late/__init__.py"], "tests/unit")[0] == "tests/unit/lib/test_late.py"
    assert graph.affected(["pyproject.toml", "lib/lazy.py"], "tests/unit")[0] == "tests/unit/test_lazy.py"
    assert graph.affected(["lib/low.py", TREE], "tests/unit")[0] == "tests/unit/test_layout.py"


@pytest.mark.parametrize(
    "changed", ["pyproject.toml", "requirements/zoe.lock", "tests/conftest.py", "pytest.ini", ".pytest.ini"]
)
def test_some_files_reach_all(tree: Path, changed: str) -> None:
    assert len(ImportGraph(tree).affected([changed], "tests/unit")) == len(UNIT)


LATE = "lib/late/__init__.py"
PROJECT = "[project]\nname = 'x'\n[tool.ruff]\nline-length = 1\n"


@pytest.mark.parametrize(
    ("path", "now", "reached"),
    [
        ("pyproject.toml", PROJECT.replace("= 1", "= 2"), {"reader_of_rules"}),
        ("pyproject.toml", PROJECT + "[tool.mypy]\nstrict = true\n", {"reader_of_rules"}),
        ("pyproject.toml", PROJECT.replace("'x'", "'y'"), None),
        ("pyproject.toml", PROJECT + "[tool.pytest.ini_options]\naddopts = '-x'\n", None),
        ("pyproject.toml", PROJECT + "[", None),
        (LATE, FILES[LATE].replace("'Uno'", "'Eins'"), {"whole", "all", "star", "built", "late"}),
        (LATE, FILES[LATE].replace("'One', 'Uno'", "'Uno',"), {"one", "whole", "all", "star", "built", "late"}),
        (LATE, FILES[LATE].replace("'one':", "'uno':"), {"one", "whole", "all", "star", "built", "late"}),
        (LATE, FILES[LATE] + "print()\n", {"one", "two", "inner", "whole", "all", "star", "built", "late"}),
        (LATE, FILES[LATE] + "(", {"one", "two", "inner", "whole", "all", "star", "built", "late"}),
        ("lib/deep/__init__.py", "X = 1\n", {"relative", "program"}),
    ],
)
def test_what_a_changed_part_of_a_file_reaches(tree: Path, path: str, now: str, reached: set[str] | None) -> None:
    """None: everything."""
    added = {"pyproject.toml": PROJECT, "tests/unit/test_reader_of_rules.py": "TEXT = open('pyproject.toml')\n"}
    for name, text in added.items():
        (tree / name).write_text(text)
    commit(tree)
    before = (tree / path).read_text()
    (tree / path).write_text(now)
    try:
        found = ImportGraph(tree).affected(changed_parts(tree, "HEAD", [path]), "tests/unit")
        names = {Path(one).stem.removeprefix("test_") for one in found}
        assert names == reached if reached is not None else len(found) == len(UNIT) + 1
    finally:
        (tree / path).write_text(before)
        for name in added:
            (tree / name).unlink()
        commit(tree)


def test_a_deleted_module_reaches_those_that_still_import_it(tree: Path) -> None:
    (tree / "lib/high.py").unlink()
    try:
        assert "lib/high.py" in changed_files(tree, "HEAD")
        found = ImportGraph(tree).affected(["lib/high.py"], "tests/unit")
        assert {Path(path).stem for path in found} == {"test_high", "test_lazy", "test_factory"}
    finally:
        (tree / "lib/high.py").write_text(FILES["lib/high.py"])


@pytest.mark.parametrize(
    ("folder", "reached"),
    [
        ("data", {"reader"}),
        ("scripts", {"script"}),
        ("lib/deep", {"relative", "program"}),
    ],
)
def test_a_renamed_folder_reaches_those_that_still_name_it(tree: Path, folder: str, reached: set[str]) -> None:
    (tree / folder).rename(tree / "renamed")
    try:
        changed = changed_files(tree, "HEAD")
        assert changed == added_or_removed(tree, "HEAD")
        found = ImportGraph(tree, changed=changed).affected(changed, "tests/unit")
        assert {Path(path).stem.removeprefix("test_") for path in found} == reached
    finally:
        (tree / "renamed").rename(tree / folder)


def test_an_edit_adds_and_removes_nothing(tree: Path) -> None:
    (tree / "lib/low.py").write_text("LOW = 3\n")
    try:
        assert changed_files(tree, "HEAD") == {"lib/low.py"}
        assert added_or_removed(tree, "HEAD") == set()
    finally:
        (tree / "lib/low.py").write_text(FILES["lib/low.py"])


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


def test_names_that_are_not_utf_8_are_seen(tree: Path) -> None:
    name = os.fsdecode(b"tests/unit/test_\xff.py")
    (tree / name).write_text("")
    (tree / os.fsdecode(b"\xfe")).write_text("")
    try:
        changed = changed_files(tree, "HEAD")
        assert name in changed
        assert ImportGraph(tree, tree / "build/known.json", changed).affected(changed, "tests/unit") == [name]
    finally:
        (tree / name).unlink()
        (tree / os.fsdecode(b"\xfe")).unlink()
        shutil.rmtree(tree / "build", ignore_errors=True)


@pytest.mark.parametrize("base", ["deadbeef", "--cached", "", "HEAD..HEAD", "HEAD...HEAD", "HEAD^{tree}", "@{-9}"])
def test_what_is_no_commit_is_refused_as_it_was_typed(tree: Path, base: str) -> None:
    with pytest.raises(NotComparable) as refused:
        changed_files(tree, base)
    said = f"there is no commit {base!r} in this clone: BASE=COMMIT names one commit, as git log shows it"
    assert str(refused.value) == said


def test_a_folder_without_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NotComparable, match="is no git repository"):
        changed_files(tmp_path, base_of(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotComparable, match=r"^git, .* is not installed: install it$"):
        base_of(tmp_path)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A commit, and three each on main and on a branch that began there."""
    root = tmp_path / "origin"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "switch", "-q", "-c", "work")
    (root / "one.py").write_text("")
    for branch in ("work", "main"):
        git(root, "switch", "-q", branch)
        for _ in range(3):
            commit(root)
    return root


def test_a_pushed_branch_is_compared_with_main(origin: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    git(clone, "switch", "-q", "work")
    (clone / "two.py").write_text("")
    assert changed_files(clone, base_of(clone)) == {"one.py", "two.py"}
    git(clone, "switch", "-q", "-c", "more", "--track", "origin/work")  # begun from another one's branch
    assert changed_files(clone, base_of(clone)) == {"two.py"}


@pytest.mark.parametrize("branches", [["--depth=1"], ["--depth=2", "--branch", "work", "--no-single-branch"]])
def test_a_clone_without_the_commit_to_compare_with_is_refused(
    origin: Path, tmp_path: Path, branches: list[str]
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", *branches, f"file://{origin}", str(clone))
    with pytest.raises(NotComparable, match=r"in this shallow clone: `git fetch --unshallow` gets all commits$"):
        changed_files(clone, base_of(clone))


def test_this_repository_is_read_whole() -> None:
    root = Path(__file__).resolve().parents[3]
    graph = ImportGraph(root, root / PARSED)  # reading all files takes some 5 CPU s where no check has done so
    needed = graph.needs("tests/unit/zoe_master/scheduler/test_cycle.py")
    assert "zoe_master/scheduler/cycle.py" in needed
    assert "zoe_lib/domain/execution.py" in needed
    assert "zoe_api/main.py" not in needed
    wire = graph.affected(["zoe_client/wire/storage_nodes.py"], "tests/unit")
    assert 0 < len(wire) < 60  # the package of the wire imports its modules late
    assert all((root / test).is_file() for test in LOOK_OVER)
    for changed, test in {
        "zoe_embedded/swift/new.py": "zoe_embedded/test_log_files.py",
        "zoe_lib/telemetry.py": "zoe_lib/test_telemetry.py",
        "zoe_lib/messaging/client.py": "zoe_lib/messaging/test_closing.py",
        "zoe_lib/sdk/errors.py": "zoe_client/test_former_names.py",
        "zoe_lib/wire/use.py": "zoe_client/test_former_names.py",
        "scripts/setup.py": "zoe_embedded/test_pip_configuration.py",
    }.items():
        assert f"tests/unit/{test}" in graph.affected([changed], "tests/unit")
