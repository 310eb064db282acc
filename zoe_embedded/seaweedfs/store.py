"""A SeaweedFS of one process on loopback, from its wheel; its objects are in one directory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

from zoe_embedded.home import Home
from zoe_embedded.processes.children import end_with_parent
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.locked_programs import ensure_program

_START_S_MAX = 90.0
_STOP_S_MAX = 15.0
_RETRY_S = 0.2
_STORY_BYTES = 2000
_PORTS = (
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
    "s3.port", "s3.port.grpc",
)  # fmt: skip
_SOCKETS = Path("/tmp")  # noqa: S108 - it has no option for those of gRPC
_ACTIONS = ("Admin", "Read", "Write", "List", "Tagging")


class SeaweedError(Exception):
    """SeaweedFS does not start; the message says why."""


def ensure_seaweedfs(home: Home) -> Path:
    """Return its program, installed if it is missing or its lock has changed."""
    return ensure_program(home, "seaweedfs", "weed")


class SeaweedStore:
    """Runs SeaweedFS; use as a context manager. users: secrets by access key ids; each user may do everything."""

    def __init__(self, program: Path, directory: Path, users: dict[str, str]) -> None:
        self._program, self.directory, self.users = program, directory, users
        self._process: subprocess.Popen[bytes] | None = None
        self._held = HeldPorts(len(_PORTS))

    @property
    def url(self) -> str:
        """Return the URL of S3's protocol."""
        return f"http://127.0.0.1:{self._held.numbers[_PORTS.index('s3.port')]}"

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def signal(self, number: int) -> None:
        """Send the process a signal, unless it has ended."""
        if self._process is not None:
            self._process.send_signal(number)

    def ended_program(self) -> str | None:
        """Return its name if it ended by itself; None if it runs."""
        return "server" if self._process is not None and self._process.poll() is not None else None

    def close(self) -> None:
        """Stop it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_STOP_S_MAX)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        for number in self._held.numbers:  # SeaweedFS leaves them there, under its port numbers
            for path in _SOCKETS.glob(f"seaweedfs-*-{number}.sock"):
                path.unlink(missing_ok=True)
        self._held.close()

    def _start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        configuration, log_file = self.directory / "s3.json", self.directory / "weed.log"
        known = [
            {"name": name, "credentials": [{"accessKey": name, "secretKey": secret}], "actions": _ACTIONS}
            for name, secret in self.users.items()
        ]
        configuration.touch(mode=0o600)
        configuration.write_text(json.dumps({"identities": known}))
        ports = [f"-{name}={number}" for name, number in zip(_PORTS, self._held.numbers, strict=True)]
        command = [
            str(self._program), "-logtostderr=true", "server", f"-dir={self.directory}", "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1", "-filer=true", "-s3=true", f"-s3.config={configuration}", "-s3.port.iceberg=0",
            "-s3.port.lance=0", f"-s3.localSocket={self.directory}/s3.sock",
            f"-filer.localSocket={self.directory}/filer.sock", "-master.volumeSizeLimitMB=64", "-volume.max=1000",
            "-volume.preStopSeconds=0", "-master.telemetry=false", *ports,
        ]  # fmt: skip
        with log_to(log_file) as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(),
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
            )
        give_up_s = time.monotonic() + _START_S_MAX
        while not _answers(self.url):
            if self._process.poll() is not None:
                raise SeaweedError(f"SeaweedFS ended with {self._process.returncode}:\n{_end_of(log_file)}")
            if time.monotonic() > give_up_s:
                raise SeaweedError(f"SeaweedFS did not come up within {_START_S_MAX:g} s:\n{_end_of(log_file)}")
            time.sleep(_RETRY_S)


def _end_of(log_file: Path) -> str:
    return log_file.read_text(errors="replace")[-_STORY_BYTES:] if log_file.exists() else ""


def _environment() -> dict[str, str]:
    # By default each new bucket immediately gets seven files.
    own = {"WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}
    return {name: text for name, text in os.environ.items() if not name.startswith(("AWS_", "S3_", "WEED_"))} | own


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2) as answer:  # noqa: S310 - it is our own
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
