"""Each operation on the user's own files fails once: full disks, unwritable and vanished files get a sentence."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import APP
from tests.support.stack import ZOE, environment
from zoe_cli.exits import MEANINGS
from zoe_cli.main import main
from zoe_embedded.stack import Stack

COMMANDS = (
    ("validate", "app.json"),
    ("run", "app.json", "--show"),
    ("run", "train.py", "--requirements", "wanted.txt", "--show"),
    ("workflow", "validate", "flow.yaml"),
    ("secret", "set", "key", "--from-file", "train.py"),
    ("cp", "train.py", ":failing/"),
    ("cp", "-r", "tree", ":failing/tree"),
    ("cp", ":failing/train.py", "back.py"),
    ("cp", "-r", ":failing", "back"),
    ("context", "list"),
)
FLOW = """
version: 1
name: flow
steps: [{name: one, image: zoe/tiny, command: ["true"]}]
"""


class Disk:
    """Fails the n-th operation on a file below a folder. An audit hook cannot be removed, so it has a switch."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.count = 0
        self.fails_at = -1
        self.error = errno.ENOSPC
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.folder is None or not event.startswith(("open", "os.")) or not arguments:
            return
        path = arguments[0]
        if isinstance(path, str) and os.path.abspath(path).startswith(self.folder):  # noqa: PTH100 - a Path is made of it
            self.count += 1
            if self.count == self.fails_at:
                raise OSError(self.error, os.strerror(self.error), path)

    @contextmanager
    def failing(self, folder: Path, fails_at: int, error: int) -> Iterator[None]:
        self.count, self.fails_at, self.error, self.folder = 0, fails_at, error, str(folder)
        try:
            yield
        finally:
            self.folder = None


DISK = Disk()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: Stack) -> Path:
    for name, value in environment(stack).items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    texts = {"app.json": json.dumps(APP), "train.py": "print(1)\n", "wanted.txt": "numpy\n", "flow.yaml": FLOW}
    for name, text in {**texts, "tree/a": "a", "tree/b/c": "c"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def code_of(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["zoe", *words])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO()))
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words[:3]))
def test_a_failing_file_operation_ends_with_a_sentence(
    words: tuple[str, ...], files: Path, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = stack.workspace / "failing"
    place.mkdir(exist_ok=True)
    (place / "train.py").write_text("print(1)\n")
    assert code_of(words, monkeypatch) in MEANINGS  # modules are imported now
    number, count = 0, 1
    while number < count:
        number += 1
        error = (errno.ENOSPC, errno.EACCES, errno.ENOENT, errno.EROFS)[number % 4]
        with DISK.failing(files, number, error):
            assert code_of(words, monkeypatch) in MEANINGS, (number, os.strerror(error))
            count = max(count, DISK.count)


def test_a_full_disk_below_the_output_ends_with_a_sentence(stack: Stack) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(ZOE), "ls"], stdout=full, stderr=subprocess.PIPE, env=environment(stack), text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "zoe: cannot write the output: No space left on device\n")
