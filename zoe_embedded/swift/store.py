"""The servers of an object store on loopback: started in order, watched, stopped by pid."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from zoe_embedded.home import Home, make_directory
from zoe_embedded.processes.children import end_with_parent
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.ports import HeldPorts
from zoe_embedded.runtimes.needs import MEMCACHED, PROGRAMS, find_program
from zoe_embedded.swift.configuration import KINDS, LOOPBACK, Ports, StoreConfiguration, StoreUser, write
from zoe_embedded.swift.environment import ensure_swift

_START_S_MAX = 180.0
_STOP_S_MAX = 10.0
_RETRY_S = 0.1
_STORY_BYTES = 2000


class StoreError(Exception):
    """The object store does not start; the message says why and what to do."""


class ObjectStore:
    """Runs OpenStack Swift as processes; use as a context manager. The data stay in `directory`."""

    def __init__(self, home: Home, directory: Path, configuration: StoreConfiguration) -> None:
        self._home = home
        account = home.server_account
        self._uid: int | None = account.uid if account is not None else None
        self._gid: int | None = account.gid if account is not None else None
        self.directory = directory
        self.configuration = configuration
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._ports: Ports | None = None
        self._held: HeldPorts | None = None
        self._restarting: str | None = None
        self._restarts = threading.Lock()

    @property
    def auth_url(self) -> str:
        """Return the URL at which users sign in."""
        return f"http://127.0.0.1:{self._known_ports().proxy}/auth/v1.0"

    @property
    def proxy_urls(self) -> list[str]:
        """Return the URLs of all proxies."""
        ports = self._known_ports()
        return [f"http://127.0.0.1:{port}" for port in (ports.proxy, *ports.further)]

    @property
    def servers(self) -> dict[str, tuple[str, str]]:
        """Return kind and URL of each server of Swift by name: `proxy`, `object-1`, ..."""
        proxies = zip(self.configuration.proxy_names, self.proxy_urls, strict=True)
        nodes = (
            (f"{kind}-{n}", (kind, f"http://{self.configuration.host(n)}:{port}"))
            for kind in KINDS
            for n, port in enumerate(self._known_ports().servers[kind], start=1)
        )
        return {name: ("proxy", url) for name, url in proxies} | dict(nodes)

    @property
    def memcached_port(self) -> int:
        """Return the port of the server with the tokens."""
        return self._known_ports().memcached

    @property
    def processes(self) -> dict[str, int]:
        """Return pids by name: `proxy`, `memcached`, `object-1`, ..."""
        return {name: process.pid for name, process in self._processes.items()}

    def user(self, login: str) -> StoreUser:
        """Return the user of that name, with the key."""
        return next(user for user in self.configuration.users if user.login == login)

    def ended_server(self) -> str | None:
        """Return the name of a server that ended by itself; None if all run."""
        return next(iter(self.all_ended()), None)

    def all_ended(self) -> list[str]:
        """Return the names of the servers that ended by themselves, and were not restarted."""
        return [
            name
            for name, popen in list(self._processes.items())
            if popen.poll() is not None and name != self._restarting
        ]

    def revive(self, only: Collection[str] | None = None) -> list[str]:
        """Restart the servers, or only these, that ended by themselves; return a sentence for each. Raises StoreError
        if the store behind a gateway has ended.
        """
        if (behind := self.configuration.behind) is not None and (name := behind.ended()) is not None:
            raise StoreError(f"the store behind the gateway has ended ({name}), and its objects with it")
        stories = {}
        with self._restarts:
            for name in self.all_ended():
                if only is None or name in only:
                    code = self._processes[name].returncode
                    self._start_again(name)
                    stories[name] = f"{name} had ended with {code} and was restarted; see {self.log_path(name)}"
            if stories:
                self._wait_until_healthy(stories)
        return list(stories.values())

    def log_path(self, name: str) -> Path:
        """Return the file of a server's log."""
        return self.directory / f"{name}.log"

    def log_of(self, name: str) -> str:
        """Return the log of a server."""
        return self.log_path(name).read_text(errors="replace")

    def __enter__(self) -> Self:
        memcached = _memcached_program()
        environment = ensure_swift(self._home)
        try:
            self._prepare()
            ports = self._known_ports()
            self._spawn_memcached(memcached)
            for kind in KINDS:
                for number, _ in enumerate(ports.servers[kind], start=1):
                    self._begin(environment, f"{kind}-{number}", kind)
            for name in self.configuration.proxy_names:
                self._begin(environment, name, "proxy")
            self._wait_until_healthy()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop all servers; the proxy first, so that no request is interrupted in a node."""
        for process in reversed(self._processes.values()):
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(_STOP_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        if self._held is not None:
            self._held.close()
            self._held = None

    def restart(self, name: str) -> None:
        """Restart a server, whether it runs or was killed. Other restarts wait for it."""
        with self._restarts:
            self._restarting = name
            try:
                self._start_again(name)
                self._wait_until_healthy([name])
            finally:
                self._restarting = None

    def _start_again(self, name: str) -> None:
        process = self._processes[name]
        process.terminate()  # with its workers, which a kill would leave behind
        try:
            process.wait(_STOP_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if name == MEMCACHED:
            self._spawn_memcached(_memcached_program())
        else:
            self._begin(self._home.runtime / "swift", name, name.partition("-")[0])

    def make_policy(self, document: str) -> str:
        """Create a storage policy, as `storage_filters/storage_policy.py` describes it, and restart the servers, which
        read policies at start; return a sentence. Raises StoreError on failure.
        """
        if not self.configuration.own_nodes:
            raise StoreError("the store behind a gateway has its own storage policies")
        python = self._home.runtime / "swift" / "bin" / "python"
        command = [str(python), "-m", "storage_filters.storage_policy", "--swift-dir", str(self.directory), document]
        made = subprocess.run(
            command, check=False, user=self._uid, group=self._gid, cwd="/", capture_output=True, text=True
        )
        if made.returncode:
            raise StoreError((made.stdout or made.stderr).strip() or f"exit code {made.returncode}")
        for name in [process for process in self._processes if process != MEMCACHED]:
            self.restart(name)
        return made.stdout.strip()

    def build_rings(self) -> None:
        """Build the rings of `rings.json`, which servers reload by themselves."""
        environment = self._home.runtime / "swift"
        self._run([*_script(environment, "rings.py"), str(self.directory / "rings.json")])

    def replicate(self, node: int) -> None:
        """Run one complete pass of the replicator of a node's objects; none runs by itself."""
        environment = self._home.runtime / "swift"
        program, file = environment / "bin" / "swift-object-replicator", self.directory / f"object-{node}.conf"
        self._run([*_script(environment, "launch.py"), str(program), str(file), "once", "-v"])

    def signal(self, name: str, number: int) -> None:
        """Send a server a signal, unless it has ended."""
        self._processes[name].send_signal(number)

    def _known_ports(self) -> Ports:
        if self._ports is None:
            raise StoreError("the object store is not running")
        return self._ports

    def _prepare(self) -> None:
        account = self._home.server_account
        make_directory(self.directory, 0o700, account)
        nodes = range(1, self.configuration.own_nodes + 1)
        for node in nodes:
            device = self.directory / "devices" / f"node{node}" / f"d{node}"
            device.mkdir(parents=True, exist_ok=True)
            (self.directory / f"recon-{node}").mkdir(exist_ok=True)
            (device / ".ismount").touch()  # recon does not report unmounted disks
        self._held = HeldPorts(1 + self.configuration.proxies + len(KINDS) * len(nodes))
        numbers = iter(self._held.numbers)
        servers = {kind: [next(numbers) for _ in nodes] for kind in KINDS}
        self._ports = Ports(next(numbers), next(numbers), servers, list(numbers))
        write(self.directory, self.configuration, self._ports, self._home.secret("swift-hash-prefix"))
        if account is not None:
            own = "*.*", "recon-*", "devices/**/"
            for path in [self.directory, *(path for pattern in own for path in self.directory.glob(pattern))]:
                os.chown(path, account.uid, account.gid)
        if not nodes:
            return
        self.build_rings()

    def _run(self, command: list[str]) -> None:
        subprocess.run(command, check=True, user=self._uid, group=self._gid)

    def _spawn_memcached(self, program: str) -> None:
        port = str(self._known_ports().memcached)
        self._spawn(MEMCACHED, [program, "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "64"])

    def _begin(self, environment: Path, name: str, kind: str) -> None:
        program = environment / "bin" / f"swift-{kind}-server"
        launch = _script(environment, "launch.py")
        self._spawn(name, [*launch, str(program), str(self.directory / f"{name}.conf"), "-v"])

    def _spawn(self, name: str, command: list[str]) -> None:
        with log_to(self.log_path(name)) as log:
            self._processes[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                user=self._uid,
                group=self._gid,
                extra_groups=None if self._uid is None else [],
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
            )

    def _wait_until_healthy(self, only: Collection[str] | None = None) -> None:
        """Wait until all servers, or only these, answer: others may be away meanwhile. Raises StoreError."""
        ports = self._known_ports()
        host = self.configuration.host
        fronts = zip(self.configuration.proxy_names, (ports.proxy, *ports.further), strict=True)
        checks = {name: (LOOPBACK, port) for name, port in fronts} | {
            f"{kind}-{n}": (host(n), port) for kind in KINDS for n, port in enumerate(ports.servers[kind], 1)
        }
        checks = {name: at for name, at in checks.items() if only is None or name in only}
        give_up_s = time.monotonic() + _START_S_MAX
        while checks:
            for name, process in self._processes.items():
                if (only is None or name in only) and process.poll() is not None:
                    raise StoreError(f"{name} ended with {process.returncode}:\n{self.log_of(name)[-_STORY_BYTES:]}")
            checks = {
                name: at for name, at in checks.items() if not _answers(*at, name in self.configuration.proxy_names)
            }
            if checks and time.monotonic() > give_up_s:
                raise StoreError(
                    f"{', '.join(checks)} does not answer:\n{self.log_of(next(iter(checks)))[-_STORY_BYTES:]}"
                )
            time.sleep(_RETRY_S if checks else 0)


def _memcached_program() -> str:
    program = find_program(MEMCACHED)
    if program is None:
        raise StoreError(f"the object store needs memcached; install it:  {PROGRAMS[MEMCACHED]}")
    return program


def _script(environment: Path, name: str) -> list[str]:
    """Run a script of this package with Swift's interpreter; passed as text, since the servers' account may not read
    its file.
    """
    return [str(environment / "bin" / "python"), "-c", Path(__file__).with_name(name).read_text()]


def _answers(host: str, port: int, proxy: bool) -> bool:
    if not proxy:
        with closing(socket.socket()) as probe:
            return probe.connect_ex((host, port)) == 0
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/healthcheck", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
