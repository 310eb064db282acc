"""A copy of the tree, in which modules are changed and tests run.

Its `.venv` has the same packages by links, and the project as an editable install of the copy. So programs that tests
start import the copy too, in any folder and environment.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.testing.costs import read_records

_EDITABLE = "_editable_impl_*.pth"
_BUILT = ("zoe_api/static", "zoe_api/docs_site", "node_modules", "web/node_modules", "app_descriptions/images/ca")
"""Files that git ignores, and tests use."""
_BEGIN_S, _SLOWER, _END_S = 30.0, 10.0, 20.0
_BATCH, _BATCH_S = 200, 20.0


@dataclass(frozen=True)
class Outcome:
    """Result of a run of tests. `failed`: the first test that failed; "" if none did; `all_failed`: each of them."""

    exit_code: int
    failed: str = ""
    passed: int = 0
    ended: bool = True
    all_failed: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Return whether tests ran, and all passed."""
        return self.exit_code == 0 and self.passed > 0


class Tree:
    """A copy of the files that git tracks or would add."""

    def __init__(self, root: Path, path: Path) -> None:
        self.root, self.path = root, path
        self._records = 0
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, capture_output=True, check=True,
        ).stdout.decode().split("\0")  # fmt: skip
        for name in filter(None, names):
            if (root / name).exists() or (root / name).is_symlink():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, path / name, follow_symlinks=False)
        for name in _BUILT:
            if (root / name).exists() and not (path / name).exists():
                (path / name).symlink_to(root / name)
        _environment(root, path)

    @property
    def python(self) -> Path:
        """Return the interpreter of the copy."""
        return self.path / ".venv" / "bin" / "python"

    @contextlib.contextmanager
    def replaced_source(self, name: str, source: bytes) -> Iterator[None]:
        """Replace the source of a file for a while."""
        file = self.path / name
        before, times = file.read_bytes(), file.stat()
        try:
            self._write(file, source)
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _write(self, file: Path, source: bytes) -> None:
        """Write it with a time that no version of the file had: bytecode is identified by time and size alone."""
        file.write_bytes(source)
        self._records += 1
        os.utime(file, (time.time(), 1_000_000_000 + self._records + os.getpid() % 1000 * 100_000))

    def run(self, tests: Sequence[str], within_s: float, to_the_end: bool = False) -> Outcome:
        """Run tests until the first failure, or all of them; one that takes longer than `within_s` fails."""
        self._records += 1
        records = self.path / "build" / f"mutants-{self._records}"
        records.parent.mkdir(exist_ok=True)
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [] if to_the_end else ["-x"]
        command += ["-p", "scripts.testing.plugin", f"--records={records}", *tests]
        left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV")
        environment = {name: text for name, text in os.environ.items() if name not in left_out}
        with records.with_suffix(".log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.path, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
            try:
                code, ended = process.wait(within_s), True
            except subprocess.TimeoutExpired:
                code, ended = -1, False
            finally:
                _end(process)
        found = list(read_records(records))
        records.unlink(missing_ok=True)
        failed = [entry["test"] for entry in found if entry.get("outcome") == "failed"]
        running = [entry["begin"] for entry in found if "begin" in entry]
        first = failed[0] if failed else (running[-1] if running and code else "")
        passed = sum(entry.get("outcome") == "passed" for entry in found)
        return Outcome(code, first, passed, ended, tuple(dict.fromkeys(failed)))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let tests stop their programs, then end the rest of the session."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _environment(root: Path, path: Path) -> None:
    """Make the copy's `.venv`: links to all packages, and its own pointer to the project."""
    given, made = Path(sys.prefix), path / ".venv"
    shutil.rmtree(made, ignore_errors=True)
    (made / "bin").mkdir(parents=True)
    shutil.copy2(given / "pyvenv.cfg", made / "pyvenv.cfg")
    for file in (given / "bin").iterdir():
        head = b"" if file.is_symlink() else file.read_bytes()
        if head.startswith(f"#!{given}".encode()):
            (made / "bin" / file.name).write_bytes(head.replace(str(given).encode(), str(made).encode(), 1))
            (made / "bin" / file.name).chmod(0o755)
        else:
            (made / "bin" / file.name).symlink_to(file.readlink() if file.is_symlink() else file)
    for name in ("share", "include"):
        if (given / name).exists():
            (made / name).symlink_to(given / name)
    for packages in given.glob("lib/python*/site-packages"):
        own = made / packages.relative_to(given)
        own.mkdir(parents=True)
        for entry in packages.iterdir():
            if entry.match(_EDITABLE):
                (own / entry.name).write_text(entry.read_text().replace(str(root), str(path)))
            elif entry.name != "__pycache__":
                (own / entry.name).symlink_to(entry)


def batches(tests: Sequence[str], seconds: dict[str, float]) -> Iterator[tuple[list[str], float]]:
    """Yield the tests in batches, with the time limit of each."""
    batch, lasts_s = list[str](), 0.0
    for test in tests:
        batch.append(test)
        lasts_s += seconds[test]
        if len(batch) == _BATCH or lasts_s > _BATCH_S:
            yield batch, _BEGIN_S + _SLOWER * lasts_s
            batch, lasts_s = [], 0.0
    if batch:
        yield batch, _BEGIN_S + _SLOWER * lasts_s


def temporary(root: Path) -> Path:
    """Return a new folder for a copy."""
    return Path(tempfile.mkdtemp(prefix=f"{root.name}-copy-"))
