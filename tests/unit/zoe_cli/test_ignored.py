"""What `zoe cp -r` leaves out of a directory, and what it warns of."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from zoe_cli.commands.files.ignored import looks_secret
from zoe_cli.commands.files.local_tree import LocalTree

FILES = (
    "a.py", "a.pyc", "keep.pyc", "build/x", "src/build/y", "src/deep/z.log", "src/deep/kept.log", "src/.env",
    "données é.txt", "src/logs/l.log", "data/big.bin", "data/small.bin",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".gitignore").write_text("*.pyc\n!keep.pyc\n/build/\n*.log\ndata/*\n!data/small.bin\n")
    (tmp_path / "src/.gitignore").write_text("!kept.log\nlogs/\n")
    return tmp_path


def copied(directory: Path, *, everything: bool = False) -> set[str]:
    return {item.path for item in LocalTree(directory, everything=everything).items() if not item.is_directory}


def test_the_files_are_those_that_git_would_add(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    listed = subprocess.run(
        ["git", "-c", "core.quotePath=off", "ls-files", "-co", "--exclude-standard"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert copied(project) == set(listed.stdout.splitlines())
    assert ".git/HEAD" in copied(project, everything=True)
    assert copied(project / "src") == {".gitignore", "build/y", "deep/kept.log", ".env"}
    assert copied(project / "build") == {"x"}, "a folder that the user names is copied"


def test_zoeignore_wins_and_all_copies_everything(project: Path) -> None:
    (project / ".zoeignore").write_text("!a.pyc\n*.py\n")
    assert "a.pyc" in copied(project)
    assert "a.py" not in copied(project)
    assert copied(project, everything=True) == {*FILES, ".gitignore", ".zoeignore", "src/.gitignore"}


def test_what_was_left_out_and_secrets_are_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = LocalTree(project, everything=False)
    list(tree.items())
    tree.tell()
    told = capsys.readouterr().err
    assert "5 names (a.pyc, build, data/big.bin, src/deep/z.log, src/logs); --all copies them, too" in told
    assert "src/.env" in told.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "text", "secret"),
    [
        (".env", "", True),
        (".env.local", "", True),
        (".env.example", "", False),
        ("id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----", True),
        ("server.pem", "-----BEGIN RSA PRIVATE KEY-----", True),
        ("server.pem", "-----BEGIN CERTIFICATE-----", False),
        ("notes.key", "a song", False),
        ("main.py", "-----BEGIN RSA PRIVATE KEY-----", False),
    ],
)
def test_what_looks_secret(tmp_path: Path, name: str, text: str, secret: bool) -> None:
    (tmp_path / name).write_text(text)
    assert looks_secret(tmp_path / name, len(text)) is secret
