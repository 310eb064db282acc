"""cp and ls of files, over a whole stack."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Zoe
from tests.support.documents import job
from tests.support.stack import zoe
from zoe_cli.commands.files import local_tree
from zoe_client import Client
from zoe_client.calls.files import Files
from zoe_embedded.stack import Stack


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directories with files of every kind of name."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tree = tmp_path / "tree"
    (tree / "sub" / "empty").mkdir(parents=True)
    (tree / "a.txt").write_text("a")
    (tree / "sub" / "100%.csv").write_text("x,y\n")
    (tree / "sub" / "caf\u00e9").write_text("c")
    Path(str(tree / "sub") + "/odd\udce9").write_text("o")
    return tree


def test_a_directory_goes_up_and_comes_back(stack: Stack, tree: Path, tmp_path: Path) -> None:
    unfinished = set(stack.workspace.glob(".zoe-uploads*"))  # of other tests that end a command in the middle
    refused = zoe(stack, "cp", str(tree), ":up")
    assert (refused.returncode, "-r" in refused.stderr) == (2, True)
    done = zoe(stack, "cp", "-r", str(tree), ":up")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    listed = zoe(stack, "ls", ":up/sub", "-o", "name")
    assert listed.stdout.split() == ["100%25.csv", "caf\u00e9", "empty/", "odd%E9"]
    assert "changed" in zoe(stack, "ls", ":up").stdout.lower()
    back = zoe(stack, "cp", "-r", ":up", str(tmp_path / "back"))
    assert (back.returncode, back.stderr) == (0, "")
    found = sorted(path.relative_to(tmp_path / "back") for path in (tmp_path / "back").rglob("*"))
    assert found == sorted(path.relative_to(tree) for path in tree.rglob("*"))
    assert (tmp_path / "back/sub/100%.csv").read_text() == "x,y\n"
    again = zoe(stack, "cp", "-r", f"{tree}/", ":up")
    assert (again.returncode, again.stderr) == (0, "")
    nested = zoe(stack, "cp", "-r", str(tree), ":up")
    assert (nested.returncode, "becomes :up/tree; with a / after it" in nested.stderr) == (0, True), nested.stderr
    assert zoe(stack, "ls", ":up", "-o", "name").stdout.split() == ["a.txt", "sub/", "tree/"]
    assert zoe(stack, "cp", "-r", ":up/", str(tmp_path / "back")).stderr == ""
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["a.txt", "sub", "tree"]
    assert set(stack.workspace.glob(".zoe-uploads*")) <= unfinished


def test_files_are_deleted_and_nothing_else(stack: Stack, tree: Path) -> None:
    assert zoe(stack, "cp", "-r", str(tree), ":gone").returncode == 0
    for words, said in (
        ((str(tree / "a.txt"),), "is a file of this machine"),
        ((":gone/a.txt", ":"), "is a whole workspace"),
        ((":gone/sub",), "not empty"),
        ((":gone/none",), "does not exist"),
    ):
        refused = zoe(stack, "rm", *words)
        text = " ".join(refused.stderr.replace("│", " ").split())
        assert (refused.returncode != 0, said in text) == (True, True), text
    assert (tree / "a.txt").exists()
    done = zoe(stack, "rm", "-r", ":gone/a.txt", ":gone/sub")
    assert (done.returncode, done.stderr) == (0, "deleted :gone/a.txt\ndeleted :gone/sub\n")
    assert zoe(stack, "ls", ":gone", "-o", "name").stdout == ""


@pytest.fixture
def zoe_here(request: pytest.FixtureRequest) -> Zoe:
    """Run the command line in this process; `zoe` is a process of its own here."""
    found: Zoe = request.getfixturevalue("zoe")
    return found


def interrupted_after(monkeypatch: pytest.MonkeyPatch, method: str, count: int) -> list[str]:
    """Interrupt the transfer after this many files; return the list that gets the names of all of them."""
    real, names = getattr(Files, method), list[str]()

    def transfer(self: Files, *given: Any) -> None:
        if len(names) >= count:
            raise KeyboardInterrupt
        sent = [file.path for file in given[0] if not file.directory] if method == "write_tree" else [given[0]]
        names.extend(Path(path).name for path in sent)
        real(self, *given)

    monkeypatch.setattr(Files, method, transfer)
    return names


def test_an_interrupted_directory_copy_goes_on_in_the_same_directory(
    stack: Stack, zoe_here: Zoe, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_tree, "TREE_FILES_MAX", 2)
    for method, words in (("write_tree", (str(tree), ":again")), ("download", (":again", str(tmp_path / "again")))):
        with monkeypatch.context() as patch:
            names = interrupted_after(patch, method, 2)
            assert zoe_here("cp", "-r", *words).code == 130
        with monkeypatch.context() as patch:
            rest = interrupted_after(patch, method, 9)
            assert zoe_here("cp", "-r", *words).code == 0
        assert (len(names), len(rest)) == (2, 2)
        assert not set(names) & set(rest)
    found = sorted(path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*"))
    assert found == sorted(path.relative_to(tree) for path in tree.rglob("*"))
    assert zoe_here("cp", "-r", str(tree), ":again").code == 0
    assert "tree/" in zoe(stack, "ls", ":again", "-o", "name").stdout.split()  # a complete copy leaves no record


def test_where_a_file_goes(stack: Stack, tree: Path, tmp_path: Path) -> None:
    file = str(tree / "a.txt")
    for target in (":", ":into/", ":named", "shared:"):
        assert zoe(stack, "cp", file, target).returncode == 0, target
    names = zoe(stack, "ls", ":", "-o", "name").stdout.split()
    assert {"a.txt", "into/", "named"} <= set(names)
    assert zoe(stack, "ls", ":into", "-o", "name").stdout.split() == ["a.txt"]
    assert zoe(stack, "ls", "shared:", "-o", "name").stdout.split() == ["a.txt"]
    (tmp_path / "link").symlink_to("target")
    assert zoe(stack, "cp", ":named", str(tmp_path / "link")).returncode == 0
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "target").read_text()) == (True, "a")
    os.mkfifo(tmp_path / "pipe")
    refused = zoe(stack, "cp", ":named", str(tmp_path / "pipe"))
    assert ("is not a regular file" in refused.stderr, (tmp_path / "pipe").is_fifo()) == (True, True)
    (tmp_path / "here").mkdir()
    assert zoe(stack, "cp", ":named", ":into/a.txt", str(tmp_path / "here")).returncode == 0
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["a.txt", "named"]


def test_results_come_to_this_machine(stack: Stack, tmp_path: Path) -> None:
    described = {
        "version": 4,
        "name": "leaves results",
        "components": [
            {
                "name": "one",
                "image": "zoe/tiny",
                "command": ["sh", "-c", "mkdir -p {workspace}/res && echo 7 > {workspace}/res/a.csv"],
                "resources": {"memory": "64 MiB", "cores": 0.1},
                "ends_application": True,
            }
        ],
        "results": ["res/*.csv", "res/*.none"],
    }
    (tmp_path / "app.json").write_text(json.dumps(described))
    ran = zoe(stack, "run", str(tmp_path / "app.json"), "--wait", "-o", "name")
    assert ran.returncode == 0, ran.stderr
    execution = ran.stdout.split()[0]
    assert "res/*.csv" in zoe(stack, "show", execution).stdout
    fetched = zoe(stack, "fetch", execution, str(tmp_path / "got"))
    assert (fetched.returncode, fetched.stdout) == (0, f"{tmp_path}/got/res/a.csv\n"), fetched.stderr
    assert "no file matches res/*.none" in fetched.stderr
    assert (tmp_path / "got/res/a.csv").read_text() == "7\n"


def test_unreadable_file_is_left_out_and_the_rest_is_copied(stack: Stack, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / name).write_text(name)
    assert zoe(stack, "cp", "-r", str(tmp_path / "tree"), ":").returncode == 0
    script = "chmod 0 {workspace}/tree/b; mkdir -m 0 {workspace}/tree/shut"
    with Client(stack.url, stack.token) as client:
        assert client.wait(client.submit(job("sh", "-c", script, name="shuts")).id, 60).state == "succeeded"
    done = zoe(stack, "cp", "-r", ":tree", str(tmp_path / "back"))
    assert (done.returncode, done.stderr.count("left out")) == (4, 2), done.stderr
    assert sorted(path.name for path in (tmp_path / "back").rglob("*") if path.is_file()) == ["a", "c"]
    missing = zoe(stack, "cp", ":tree/a", str(tmp_path / "nowhere" / "a"))
    words = " ".join(missing.stderr.replace("│", "").split())  # lines break where the path of the test ends
    assert (missing.returncode, "nowhere is not a directory" in words) == (2, True), missing.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("cp", ":missing", "."), 3, "missing does not exist"),
        (("cp", "missing", ":"), 2, "cannot read missing"),
        (("cp", "a", "b"), 2, "copy between"),
        (("cp", ":a", ":b"), 2, "copy between"),
        (("cp", ":../x", "."), 2, "no part"),
        (("cp", "/dev/zero", ":zeros"), 2, "is not a file"),
        (("ls", "x"), 2, "is not"),
        (("ls", ":5%"), 2, "%25"),
    ],
)
def test_impossible_copy_is_refused(stack: Stack, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = zoe(stack, *arguments)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_a_name_of_the_greatest_length_comes_back(stack: Stack, tmp_path: Path) -> None:
    long = tmp_path / ("n" * 255)
    long.write_text("long")
    assert zoe(stack, "cp", str(long), ":").returncode == 0
    (tmp_path / "got").mkdir()
    done = zoe(stack, "cp", f":{long.name}", str(tmp_path / "got"))
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.name for path in (tmp_path / "got").iterdir()] == [long.name]


def test_a_link_to_a_directory_is_named_as_one(stack: Stack, tmp_path: Path) -> None:
    script = (
        "mkdir -p {workspace}/linked/real && echo 1 >{workspace}/linked/real/x && ln -s real {workspace}/linked/in2"
    )
    with Client(stack.url, stack.token) as client:
        assert client.wait(client.submit(job("sh", "-c", script, name="links")).id, 60).state == "succeeded"
    done = zoe(stack, "cp", "-r", ":linked", str(tmp_path / "back"))
    assert done.returncode == 0
    assert ":linked/in2 is a link to a directory" in done.stderr
    assert zoe(stack, "cp", "-r", ":linked/in2", str(tmp_path / "in2")).returncode == 0
    assert (tmp_path / "in2" / "x").read_text() == "1\n"
