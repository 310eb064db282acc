"""A running stack, and the common parts of both sides of a pair."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any

from zoe_client import Client
from zoe_embedded.demos.data import Dataset
from zoe_embedded.home import Home
from zoe_embedded.runtimes.mpi import ensure_mpi
from zoe_embedded.runtimes.runtime import CLONE, Runtime, ensure_notebook
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

LISTENS_S, ENDED_S, _ENDS_S = 60.0, 1200.0, 10.0
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Place:
    """A running stack, its data, and the runtimes that both sides use."""

    stack: Stack
    runtime: Runtime
    mpi: Runtime
    data: Dataset

    def bare(
        self,
        *command: object,
        variables: Mapping[str, str] = NO_VARIABLES,
        runtime: Runtime | None = None,
        output: IO[bytes] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program as its user would."""
        runtime = runtime or self.runtime
        environment = {**os.environ, **runtime.environment, **variables, "PATH": os.pathsep.join(runtime.path)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [str(value) for value in command], env=environment, stdout=output or quiet, stderr=quiet
        )

    def run_to_end(self, document: dict[str, object]) -> None:
        """Run a description to its end, which must be a success."""
        with Client(self.stack.url, self.stack.token) as client:
            execution = client.wait(client.submit(document).id, ENDED_S)
        if execution.state is not ExecutionState.SUCCEEDED:
            raise SystemExit(f"{execution.id} ended as {execution.state.value}: {execution.reason}")


def description(name: str) -> dict[str, Any]:
    """Return one of the catalogue's descriptions."""
    document: dict[str, Any] = json.loads((CLONE / "app_descriptions" / name).read_text())
    return document


def seconds_of(work: Callable[[Place], float | None], place: Place) -> float:
    """Return the seconds of the work, or the seconds that it measures itself."""
    began_s = time.monotonic()
    counted_s = work(place)
    return time.monotonic() - began_s if counted_s is None else counted_s


def await_success(process: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended. Raises SystemExit if it failed."""
    if process.wait(timeout=600):
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End programs, the last one first, and wait for that: a worker of Dask may hang without its scheduler."""
    for process in reversed(processes):
        process.terminate()
        try:
            process.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def listens(port: int) -> None:
    """Wait until a program listens on a port of loopback. Raises SystemExit after a minute."""
    until_s = time.monotonic() + LISTENS_S
    while time.monotonic() < until_s:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


@contextmanager
def running(home: Home) -> Iterator[Place]:
    """Start a stack with the demo's data."""
    with ExitStack() as all_of_it:
        runtime = ensure_notebook(home)
        ensure_mpi(home)
        stack = all_of_it.enter_context(Stack(home))
        data = Dataset(stack.workspace / "energy-report", stack.component_account)
        data.make(lambda _done, _total: None)
        yield Place(stack, runtime, ensure_mpi(home), data)
