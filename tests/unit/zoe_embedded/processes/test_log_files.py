"""The files that programs of the embedded stack write into are bounded in size and number, whatever is written."""

from __future__ import annotations

import ast
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zoe_embedded
from tests.support.postgres import SETTINGS, make_home
from tests.support.waiting import until
from zoe_embedded import stack
from zoe_embedded.ceph.store import CephStore
from zoe_embedded.home import Home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.processes import rotating
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.rotating import RotatingFile
from zoe_embedded.stack import Stack
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.settings.config import Settings

BYTES_MAX, FILES_MAX = 20_000, 3
LINES = 5_000
NOISE = f"import os\nfor n in range({LINES}): os.write(1 + n % 2, b'%08d some words of a log\\n' % n)"
NOISY = [sys.executable, "-c", NOISE]


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_LOG_FILE_BYTES_MAX", str(BYTES_MAX))
    monkeypatch.setenv("ZOE_LOG_FILES_MAX", str(FILES_MAX))


def check(log: Path) -> bytes:
    """All that is kept, in order; within the bounds."""
    texts = until(lambda: _texts(log))
    assert len(texts) <= FILES_MAX
    assert all(len(text) <= BYTES_MAX for text in texts)
    return b"".join(texts)


def _texts(log: Path) -> list[bytes]:
    """Of its files, oldest first; nothing when one was renamed between two looks."""
    files = sorted(log.parent.glob(f"{log.name}*"), reverse=True)
    try:
        return [file.read_bytes() for file in files]
    except FileNotFoundError:
        return []


def until_written(log: Path) -> None:
    last = b"%08d " % (LINES - 1)

    def written() -> bool:
        with contextlib.suppress(FileNotFoundError):  # not yet there, or just being replaced
            return last in log.read_bytes()
        return False

    until(written)
    kept = check(log).splitlines()
    numbers = [int(line[:8]) for line in kept if len(line) == len(kept[-1])]
    assert numbers == list(range(numbers[0], LINES))
    assert len(numbers) * len(kept[-1]) > BYTES_MAX  # more than the last file alone


# -- each program ------------------------------------------------------------------------------------------------------
def of_stack(module: str) -> Callable[[Path], Path]:
    def start(base: Path) -> Path:
        its: Any = Stack.__new__(Stack)
        its.home, its.config_file = Home(base, by_root=False), base / "zoe.toml"
        its.home.logs.mkdir(parents=True)
        process = its._spawn(module)
        assert process.wait(60) == 0
        return Path(its.home.logs / stack.LOGS[module])

    return start


def of_swift(base: Path) -> Path:
    its: Any = ObjectStore.__new__(ObjectStore)
    its.directory, its._processes, its._uid, its._gid = base, {}, None, None
    its._spawn("proxy", NOISY)
    assert its._processes["proxy"].wait(60) == 0
    return base / "proxy.log"


def of_ceph(base: Path) -> Path:
    its: Any = CephStore.__new__(CephStore)
    its.directory, its._processes = base, {}
    its._spawn("gateway", NOISY)
    assert its._processes["gateway"].wait(60) == 0
    return base / "gateway.out"


# Where a program is started, by file and function, and how a test starts a noisy one there.
STARTS: dict[tuple[str, str], tuple[Callable[[Path], Path], ...]] = {
    ("stack.py", "_spawn"): tuple(of_stack(module) for module in stack.LOGS),
    ("swift/store.py", "_spawn"): (of_swift,),  # memcached and all servers of Swift
    ("ceph/store.py", "_spawn"): (of_ceph,),
    ("seaweedfs/store.py", "_start"): (),
    ("swift/controller.py", "_spawn"): (),  # as the others, see the test of the sources
}
# These wait until it has ended, or, of PostgreSQL's, have a test of their own.
WAITING = {
    ("runtimes/runtime.py", "_run"),
    ("runtimes/class_archive.py", "_make"),
    ("swift/store.py", "_run"),
    ("swift/store.py", "make_policy"),
    ("ceph/store.py", "_run"),
    ("processes/log_files.py", "log_to"),
    ("runtimes/binaries.py", "run"),
    ("runtimes/interpreters.py", "_version"),
    ("runtimes/pip_configuration.py", "configuration_of"),
    ("runtimes/pushdown_jar.py", "_compile"),
}


@pytest.mark.parametrize("start", [entry for many in STARTS.values() for entry in many])
def test_log_of_a_program_is_bounded(
    start: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    popen: Any = subprocess.Popen

    def noisy(command: list[str], **more: Any) -> Any:
        return popen(command if rotating.__file__ in command else NOISY, **more)

    monkeypatch.setattr(subprocess, "Popen", noisy)
    until_written(start(tmp_path))


def test_every_program_that_is_started_here_writes_into_bounded_files() -> None:
    """By the sources: code that starts another program has to be listed above, with a descriptor of `log_to`."""
    found, waiting = set(), set()
    root = Path(zoe_embedded.__file__).parent
    for file in root.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            place = (str(file.relative_to(root)), function.name)
            for call in ast.walk(function):
                name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
                if name.startswith(("subprocess.run", "subprocess.call", "subprocess.check", "os.spawn", "os.exec")):
                    waiting.add(place)
                if name == "subprocess.Popen":
                    found.add(place)
                    assert isinstance(call, ast.Call)
                    outputs = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}
                    assert outputs["stdout"] == outputs["stderr"] == bound_by_log_to(function), place
    assert found == STARTS.keys()
    assert waiting == WAITING


def bound_by_log_to(function: ast.FunctionDef) -> str:
    items = [item for node in ast.walk(function) if isinstance(node, ast.With) for item in node.items]
    [name] = [ast.unparse(i.optional_vars) for i in items if i.optional_vars and "log_to(" in ast.unparse(i)]
    return name


def test_log_of_the_database_is_bounded() -> None:
    directory = make_home()
    home = Home(directory / "home", by_root=os.geteuid() == 0)
    server = EmbeddedPostgres(home, SETTINGS)
    try:
        server.start()
        connection = psycopg2.connect(server.url.replace("postgresql+psycopg2", "postgresql"))
        connection.autocommit = True
        with connection.cursor() as cursor:
            for number in range(30):
                with pytest.raises(psycopg2.errors.RaiseException):
                    cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION '{number:04} {'x' * 5_000}'; END $$")
        connection.close()
        log = home.postgres / "log" / "postgresql.log"
        until(lambda: b"0029 xxx" in check(log))
        assert len(check(log)) > BYTES_MAX
    finally:
        server.stop()
        shutil.rmtree(directory)


# -- the copier --------------------------------------------------------------------------------------------------------
@given(st.lists(st.binary(max_size=70), max_size=40), st.integers(1, 50), st.integers(1, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_newest_is_kept_in_order(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], bytes_max: int, files_max: int
) -> None:
    log = tmp_path_factory.mktemp("logs") / "a.log"
    its = RotatingFile(str(log), bytes_max, files_max)
    for piece in pieces:
        its.write(piece)
    files = [log.with_name(f"a.log.{n}") if n else log for n in reversed(range(files_max))]
    kept = [file.read_bytes() for file in files if file.exists()]
    assert sorted(log.parent.iterdir()) == sorted(file for file in files if file.exists())
    assert all(len(data) <= bytes_max for data in kept)
    written = b"".join(pieces)
    assert written.endswith(b"".join(kept))
    assert len(b"".join(kept)) >= min(len(written), bytes_max * (files_max - 1) // 2)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    other, log = tmp_path / "other", tmp_path / "a.log"
    log.symlink_to(other)
    RotatingFile(str(log), 100, 2).write(b"secret")
    assert not other.exists()


def test_the_copier_ends_with_the_last_who_could_write(tmp_path: Path) -> None:
    settings = Settings(log_file_bytes_max=100, log_files_max=2)
    with log_to(tmp_path / "a.log", settings) as log:
        command = ["sh", "-c", "echo one; read go; echo two"]
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log)
    until(lambda: (tmp_path / "a.log").exists() and (tmp_path / "a.log").read_bytes() == b"one\n")
    assert copiers(tmp_path)
    program.communicate(b"go\n")
    until(lambda: (tmp_path / "a.log").read_bytes() == b"one\ntwo\n")
    until(lambda: not copiers(tmp_path))


def copiers(base: Path) -> list[str]:
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes()
        except OSError:
            continue
        if str(base).encode() in words and str(rotating.__file__).encode() in words:
            found.append(command.parent.name)
    return found
