"""The tasks of one step on one node: processes with their output sent to srun."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import IO, Any

from zoe_job.common.channel import Channel, ChannelError
from zoe_job.common.groups import NODES

RANK = struct.Struct(">I")
_PIECE = 1 << 15
_BAD_WORDS = 22  # EINVAL
_LEFT_BEHIND_S = 5.0
# Variables of the service of a task, not of the service of srun.
_OF_SERVICE = ("TMPDIR", "ZOE_SERVICE_ID", "ZOE_INSTANCE", "ZOE_BACKEND", "HOSTNAME")


@dataclass
class NodeContext:
    """The node of the tasks: its number, the name of its socket, and the calls that do not exist here."""

    index: int
    name: str
    missing: list[str] = field(default_factory=list)


def run_tasks(channel: Channel, asked: dict[str, Any], here: NodeContext) -> None:
    """Run the requested tasks, send their output and exit codes, and end them if srun disconnects."""
    step = _Step(channel, asked, here)
    reader = threading.Thread(target=step.listen, daemon=True)
    step.start()
    reader.start()
    step.wait()


class _Step:
    def __init__(self, channel: Channel, asked: dict[str, Any], here: NodeContext) -> None:
        self._channel = channel
        self._asked = asked
        self._here = here
        self._sending = threading.Lock()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._left = False

    def start(self) -> None:
        """Start all tasks; one that cannot be started ends with the number of the error, as in Slurm."""
        for local, rank in enumerate(self._asked["ranks"]):
            try:
                process = subprocess.Popen(
                    self._argv(rank),
                    cwd=self._asked["directory"],
                    env=self._environment(rank, local),
                    stdin=subprocess.PIPE if self._asked["stdin"] else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                why = (error.strerror if isinstance(error, OSError) else None) or error
                self._send(b"e", RANK.pack(rank) + f"srun: error: execve(): {self._argv(rank)[0]}: {why}\n".encode())
                self._end(rank, getattr(error, "errno", None) or _BAD_WORDS)
                continue
            self._processes[rank] = process
            for kind, stream in ((b"o", process.stdout), (b"e", process.stderr)):
                assert stream is not None
                self._begin(self._pump, rank, kind, stream)

    def listen(self) -> None:
        """Pass on standard input and signals; without srun, kill the tasks."""
        try:
            while (frame := self._channel.receive()) is not None:
                kind, data = frame
                if kind == b"s":
                    self._signal(int(data))
                elif kind == b"i":
                    self._write(data)
                elif kind == b"I":
                    self._write(None)
        except (ChannelError, ValueError):
            pass
        self._left = True
        self._signal(signal.SIGKILL)

    def wait(self) -> None:
        """Return after all have ended. Processes that a task leaves behind end with it, as in Slurm."""
        pumps = list(self._threads)
        reapers = [threading.Thread(target=self._reap, args=item, daemon=True) for item in self._processes.items()]
        for reaper in reapers:
            reaper.start()
        for reaper in reapers:
            reaper.join()
        until_s = time.monotonic() + _LEFT_BEHIND_S
        for pump in pumps:  # a process in a separate session may keep the pipe open
            pump.join(max(until_s - time.monotonic(), 0))

    def _reap(self, rank: int, process: subprocess.Popen[bytes]) -> None:
        code = process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        self._end(rank, code if code >= 0 else 128 - code)

    def _pump(self, rank: int, kind: bytes, stream: IO[bytes]) -> None:
        head = RANK.pack(rank)
        with stream:
            while piece := os.read(stream.fileno(), _PIECE):
                self._send(kind, head + piece)
        self._send(kind, head)

    def _end(self, rank: int, code: int) -> None:
        self._send(b"x", json.dumps({"rank": rank, "code": code, "missing": self._here.missing}).encode())

    def _send(self, kind: bytes, data: bytes) -> None:
        with self._sending:
            try:
                self._channel.send(kind, data)
            except ChannelError:
                self._left = True

    def _write(self, data: bytes | None) -> None:
        for process in self._processes.values():
            if process.stdin is None or process.stdin.closed:
                continue
            try:
                if data is None:
                    process.stdin.close()
                else:
                    process.stdin.write(data)
                    process.stdin.flush()
            except OSError:
                pass  # it does not read any more

    def _signal(self, number: int) -> None:
        for process in list(self._processes.values()):
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def _environment(self, rank: int, local: int) -> dict[str, str]:
        given = {name: text for name, text in self._asked["environment"].items() if name not in _OF_SERVICE}
        own = {name: os.environ[name] for name in _OF_SERVICE if name in os.environ}
        mine: dict[str, object] = {"SLURM_PROCID": rank, "SLURM_LOCALID": local, "SLURM_NODEID": self._asked["node"]}
        mine["SLURM_GTIDS"] = ",".join(map(str, self._asked["ranks"]))
        mine["ZOE_SRUN"] = self._here.name
        names = (given.get(NODES) or given.get("SLURM_JOB_NODELIST", "")).split(",")
        if self._here.index < len(names):
            mine["SLURMD_NODENAME"] = names[self._here.index]
        return {**given, **own, **{name: str(value) for name, value in mine.items()}}

    def _argv(self, rank: int) -> list[str]:
        """Return the words of a task: the program of the step, or its own of `--multi-prog`."""
        programs: dict[str, list[str]] = self._asked["programs"]
        return programs.get(str(rank)) or list(self._asked["argv"])

    def _begin(self, run: Any, *given: Any) -> None:
        thread = threading.Thread(target=run, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()
