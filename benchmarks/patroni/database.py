"""Three machines with PostgreSQL, Patroni and etcd, one of them the primary."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2

from benchmarks.patroni.network import Network
from benchmarks.patroni.packages import PYTHON, CannotRunError, Packages

USER = "daemon"  # PostgreSQL refuses to run as root
_WITHIN_S = 120.0
_POSTGRES, _REST, _CLIENTS, _PEERS = 5432, 8008, 2379, 2380


class Machines:
    """Machines of the database, which stop at the end of the `with`. `timing`: Patroni's `ttl`, `loop_wait` and
    `retry_timeout`, in seconds.
    """

    def __init__(self, network: Network, names: tuple[str, ...], packages: Packages, timing: dict[str, int]) -> None:
        self._network = network
        self._names = names
        self._packages = packages
        self._timing = timing
        self._password = secrets.token_hex(16)
        self._base = Path(tempfile.mkdtemp(prefix="zoe-patroni-"))
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Machines:
        self._base.chmod(0o711)
        owner = pwd.getpwnam(USER)
        for name in self._names:
            (self._base / name).mkdir(mode=0o700)
            os.chown(self._base / name, owner.pw_uid, owner.pw_gid)
            self.start(name)
        self._wait_until("a primary with a synchronous standby", lambda: self.ready)
        self._make_database()
        return self

    def __exit__(self, *_: object) -> None:
        for name in self._names:
            self._network.kill_all(name)
        shutil.rmtree(self._base, ignore_errors=True)

    @property
    def url(self) -> str:
        """Return the value of Zoe's `database_url`: every machine, and the requirement of a primary."""
        hosts = "&".join(f"host={self._network.addresses[name]}:{_POSTGRES}" for name in self._names)
        return f"postgresql://zoe:{self._password}@/zoe?{hosts}&target_session_attrs=read-write&connect_timeout=2"

    def start(self, name: str) -> None:
        """Start etcd and Patroni on a machine, which keeps its data from an earlier start."""
        self._spawn(name, "etcd", [str(self._packages.etcd), *self._etcd(name)])
        configuration = self._base / name / "patroni.yml"
        configuration.write_text(json.dumps(self._patroni(name), indent=1))  # JSON is YAML
        self._spawn(name, "patroni", [PYTHON, "-m", "patroni", str(configuration)])

    def kill_postgres(self, name: str) -> None:
        """Kill the server of a machine with SIGKILL, as in a crash; Patroni continues."""
        pid = (self._base / name / "data/postmaster.pid").read_text().split("\n", 1)[0]
        os.kill(int(pid), 9)

    def switch_over(self) -> None:
        """Ask Patroni to make another machine the primary."""
        primary = self.primary
        assert primary is not None
        body = json.dumps({"leader": primary}).encode()
        request = urllib.request.Request(f"http://{self._network.addresses[primary]}:{_REST}/switchover", body)
        with urllib.request.urlopen(request, timeout=30) as response:
            response.read()

    @property
    def primary(self) -> str | None:
        """Return the machine that reports to be the primary and holds the lock."""
        return next((name for name in self._names if self._answers(name, "primary")), None)

    @property
    def ready(self) -> bool:
        """Return whether there are a primary and two standbys, one of which is synchronous."""
        roles = [self._role(name) for name in self._names]
        synchronous = any(self._answers(name, "synchronous") for name in self._names)
        return sorted(map(str, roles)) == ["master", "replica", "replica"] and synchronous

    def until_ready(self) -> None:
        """Wait until `ready`."""
        self._wait_until("a primary with a synchronous standby", lambda: self.ready)

    def _make_database(self) -> None:
        primary = self.primary
        assert primary is not None
        with closing(self._connect(primary)) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE ROLE zoe LOGIN PASSWORD %s", (self._password,))
            cursor.execute("CREATE DATABASE zoe OWNER zoe")
        # A server without the database ends a connection for good: the driver tries no other one.
        self._wait_until("the database on every machine", lambda: all(map(self._has_database, self._names)))

    def _connect(self, name: str) -> psycopg2.extensions.connection:
        connection = psycopg2.connect(
            host=self._network.addresses[name],
            port=_POSTGRES,
            user="postgres",
            password=self._password,
            dbname="postgres",
        )
        connection.autocommit = True
        return connection

    def _has_database(self, name: str) -> bool:
        with closing(self._connect(name)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT FROM pg_database WHERE datname = 'zoe'")
            return cursor.rowcount == 1

    def _role(self, name: str) -> str | None:
        status = self._ask(name, "patroni")
        return None if status is None or status.get("state") != "running" else status["role"]

    def _answers(self, name: str, question: str) -> bool:
        return self._ask(name, question) is not None

    def _ask(self, name: str, question: str) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(
                f"http://{self._network.addresses[name]}:{_REST}/{question}", timeout=1
            ) as response:
                answer: dict[str, Any] = json.loads(response.read())
                return answer
        except (OSError, ValueError):
            return None

    def _wait_until(self, what: str, look: Callable[[], bool]) -> None:
        give_up_s = time.monotonic() + _WITHIN_S
        while not look():
            if time.monotonic() > give_up_s:
                raise CannotRunError(f"not within {_WITHIN_S:g} s: {what}; {self._logs()}")
            time.sleep(0.2)

    def _spawn(self, name: str, program: str, command: list[str]) -> None:
        with (self._base / name / f"{program}.log").open("ab") as log:
            process = subprocess.Popen(
                [
                    *self._network.command_prefix(name),
                    "setpriv",
                    f"--reuid={USER}",
                    f"--regid={USER}",
                    "--clear-groups",
                    *command,
                ],
                env=self._packages.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._base / name,
                start_new_session=True,
            )
            self._processes.append(process)

    def _etcd(self, name: str) -> list[str]:
        address = self._network.addresses[name]
        members = ",".join(f"{name}=http://{self._network.addresses[name]}:{_PEERS}" for name in self._names)
        return [
            *(f"--name={name}", f"--data-dir={self._base / name / 'etcd'}"),
            *(
                f"--listen-peer-urls=http://{address}:{_PEERS}",
                f"--initial-advertise-peer-urls=http://{address}:{_PEERS}",
            ),
            *(
                f"--listen-client-urls=http://{address}:{_CLIENTS}",
                f"--advertise-client-urls=http://{address}:{_CLIENTS}",
            ),
            *(f"--initial-cluster={members}", "--initial-cluster-state=new"),
        ]

    def _patroni(self, name: str) -> dict[str, Any]:
        """Return the configuration in docs/operate/availability.md."""
        address, base = self._network.addresses[name], self._base / name
        everyone = list(self._network.addresses.values())
        return {
            "scope": "zoe",
            "name": name,
            "restapi": {"listen": f"{address}:{_REST}", "connect_address": f"{address}:{_REST}"},
            "etcd3": {"hosts": [f"{self._network.addresses[name]}:{_CLIENTS}" for name in self._names]},
            "bootstrap": {
                "dcs": {
                    **self._timing,
                    "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True},
                },
                "initdb": [{"encoding": "UTF8"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"{address}:{_POSTGRES}",
                "connect_address": f"{address}:{_POSTGRES}",
                "bin_dir": str(self._packages.postgres_dir),
                "data_dir": str(base / "data"),
                "pgpass": str(base / "pgpass"),
                "parameters": {"unix_socket_directories": str(base), "max_connections": 200},
                "authentication": {
                    "superuser": {"username": "postgres", "password": self._password},
                    "replication": {"username": "replicator", "password": self._password},
                    "rewind": {"username": "rewinder", "password": self._password},
                },
                "pg_hba": [
                    "local all all scram-sha-256",
                    *(f"host replication replicator {entry}/32 scram-sha-256" for entry in everyone),
                    *(f"host all all {entry}/32 scram-sha-256" for entry in everyone),
                ],
            },
        }

    def _logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-800:] for path in sorted(self._base.glob("*/*.log")))
