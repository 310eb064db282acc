"""Programs of Zoe as processes that begin with everything imported.

They behave like executed programs; only the second of CPU time for imports is saved, which matters where a test is
about the steps of a program and begins a hundred of them.
"""

from __future__ import annotations

import atexit
import importlib
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path

from tests.support import delays
from zoe_embedded.processes.children import end_with_parent

_OTHERS = ("zoe_api.services.key_rotation", "zoe_api.setup", "storage_controller.__main__")
_FORKS = multiprocessing.get_context("forkserver")
# One server forks for all tests of a part. A process imports the modules of its parent, hence pytest.
_FORKS.set_forkserver_preload(["pytest", "zoe_master.main", "zoe_api.main", *_OTHERS])
# Waited for at the end, so that nothing is left behind and the CPU time of all is counted.
_NUMBERS = itertools.count()
atexit.register(forkserver._forkserver._stop)  # type: ignore[attr-defined]


class Forked:
    """A process like that of `subprocess.Popen`, as far as tests use one."""

    def __init__(
        self,
        module: str,
        environment: dict[str, str],
        log: Path,
        directory: Path,
        arguments: tuple[str, ...] = (),
        errors: Path | None = None,
    ) -> None:
        """Output goes to the log; errors, too, unless they have a file of their own."""
        late = f"{delays.seed()}-{module}-{next(_NUMBERS)}" if delays.seed() else ""
        given = (module, arguments, environment, str(log), str(errors or log), str(directory), late)
        self._process = _FORKS.Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        self.args = [module]

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the negative number of the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("forked process", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_forked(
    module: str, *arguments: str, environment: dict[str, str], timeout_s: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, like `subprocess.run` with captured output."""
    with tempfile.TemporaryDirectory(prefix="zoe-forked-") as name:
        output, errors = Path(name, "output"), Path(name, "errors")
        process = Forked(module, environment, output, Path.cwd(), arguments, errors)
        try:
            code = process.wait(timeout_s)
        finally:
            process.kill()
        return subprocess.CompletedProcess([module, *arguments], code, output.read_text(), errors.read_text())


def _run(
    module: str,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    log: str,
    errors: str,
    directory: str,
    late: str,
) -> None:
    """Become the program: session, directory, environment, arguments, input and output of its own. late: the seed of
    injected delays; empty without.

    It ends with the server that forked it, which ends with the tests.
    """
    end_with_parent()
    os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined] # keeps the server alive
    os.setsid()
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    with Path(os.devnull).open("rb") as nothing, Path(log).open("ab") as output, Path(errors).open("ab") as trouble:
        for ours, theirs in ((nothing, 0), (output, 1), (trouble, 2)):
            os.dup2(ours.fileno(), theirs)
    if late:
        delays.install(late)
    sys.exit(importlib.import_module(module).main())
