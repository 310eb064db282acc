"""An installation of real processes: masters with the local back-end, APIs, over one database."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import tomli_w

from tests.support.forked import Forked
from tests.support.people import ALL_SCOPES, make_token
from tests.support.postgres import make_home
from tests.support.secrets_in_logs import check_logs
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.processes.services import stop_all_services
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.local.machine.hints import hint_name
from zoe_master.backends.local.supervisor import processes

REPOSITORY = Path(__file__).parents[2]
GIB = 2**30
TENANT, USER = "red", "root"
Program = subprocess.Popen[bytes] | Forked


class Installation:
    """Directories, configuration and processes; `close` ends everything and fails if any remain.

    Its programs are forked with everything imported, or, if not `forked`, executed as in a real installation, from the
    sources in `tree`.
    """

    def __init__(self, database_url: str, forked: bool = True, **settings: Any) -> None:
        self.forked = forked
        self.tree = REPOSITORY
        self.database_url = database_url
        self.base = make_home()
        self.workspaces = self.base / "workspaces"
        self.workspace = self.workspaces / TENANT / USER
        self.secrets = self.base / "secrets"
        self.secrets.mkdir(mode=0o700)
        self.keys_dir = self.secrets / "keys"
        ensure_keys(self.keys_dir)
        self.endpoint = f"ipc://{self.secrets}/master"
        self.config_file = self.secrets / "zoe.toml"
        values: dict[str, Any] = {
            "database_url": database_url,
            "keys_dir": str(self.keys_dir),
            "master_endpoint": self.endpoint,
            "master_timeout_s": 1.0,
            "master_timer_s": 1.0,
            "local_state_dir": str(self.base / "state"),
            "local_scratch_dir": str(self.base / "scratch"),
            "local_workspaces_dir": str(self.workspaces),
            "local_volumes_dir": str(self.workspaces / ".volumes"),
            "local_block_volumes_dir": str(self.workspaces / ".blocks"),
            "local_environments_dir": str(self.workspaces / ".environments"),
            "local_nodes": [{"name": "n1", "cores": 64, "memory_bytes": 64 * GIB}],
            "local_images": {"zoe/tiny": {"path": ["/usr/local/bin", "/usr/bin", "/bin"], "environment": {}}},
        }
        self.config_file.write_text(tomli_w.dumps({**values, **settings}))
        self.config_file.chmod(0o600)
        self.store = PostgresStore(database_url)
        self.token = make_token(self.store, USER, TENANT, "admin", ALL_SCOPES)
        self._processes: list[Program] = []
        self.exits = ExitStack()
        """Cleanups before its directories are removed."""

    def start_master(self, **environment: str) -> Program:
        return self._start("zoe_master.main", "master", environment)

    def start_api(self, port: int, **environment: str) -> Program:
        return self._start("zoe_api.main", f"api-{port}", {"ZOE_API_PORT": str(port), **environment})

    def client(self, url: str, patience_s: float = 60.0) -> Client:
        return Client(url, self.token, patience_s=patience_s)

    def until_leading(self, times: int = 1) -> None:
        """Wait until masters have begun to lead this often."""
        until(lambda: self.log("master").count('"event": "leading"') >= times, lambda: self.log("master"))

    def log(self, name: str) -> str:
        path = self.base / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def ran(self, execution_id: str) -> list[str]:
        """Return the lines that components wrote to the file of their execution at their start."""
        path = self.workspace / execution_id
        return sorted(path.read_text().split()) if path.exists() else []

    def stop(self, process: Program) -> int:
        process.terminate()
        return process.wait(30)

    def close(self) -> None:
        """End everything; fail if anything remains."""
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(30)
        stop_all_services(self.config_file)
        self.store.close()
        until(lambda: next(self._traces(), None) is None, self.traces)
        try:
            check_logs(self.secrets, self.base.glob("*.log*"))
        finally:
            self.exits.close()
            shutil.rmtree(self.base)

    def traces(self) -> list[str]:
        """Processes, scratch directories and control groups of services, and processes of our own."""
        return list(self._traces())

    def _traces(self) -> Iterator[str]:
        """Yield the cheap ones first: if there are any, a wait looks no further."""
        yield from (f"scratch {path}" for path in (self.base / "scratch").glob("*"))
        yield from (f"process {pid}" for pid in processes.pids() if self._is_ours(pid))
        name = hint_name(self.base / "state")
        # os.walk passes by groups that others remove meanwhile.
        parents = (Path(place, name) for place, below, _ in os.walk("/sys/fs/cgroup") if name in below)
        yield from (f"control group {path}" for parent in parents for path in parent.iterdir() if path.is_dir())

    def _is_ours(self, pid: int) -> bool:
        """By its environment (HOME is below our directories) or its command line (a supervisor)."""
        for name in ("environ", "cmdline"):
            try:
                if pid != os.getpid() and str(self.base).encode() in Path(f"/proc/{pid}/{name}").read_bytes():
                    return True
            except OSError:
                continue
        return False

    def _start(self, module: str, name: str, environment: dict[str, str]) -> Program:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}
        whole = {**clean, "ZOE_CONFIG": str(self.config_file), **environment}
        log = self.base / f"{name}.log"
        process = Forked(module, whole, log, REPOSITORY) if self.forked else _executed(module, whole, log, self.tree)
        self._processes.append(process)
        return process


def _executed(module: str, environment: dict[str, str], path: Path, tree: Path) -> subprocess.Popen[bytes]:
    with path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", module],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=tree,
            start_new_session=True,
        )


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
