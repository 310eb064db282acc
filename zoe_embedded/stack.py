"""All of Zoe on one machine: embedded PostgreSQL, and master and API as separate processes, on loopback."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

import httpx
import tomli_w
from pydantic import SecretStr

from zoe_api.http.serving.listening import CANNOT_LISTEN
from zoe_api.people.sign_in.passwords import hash_password
from zoe_client.http.tls import verification
from zoe_embedded.home import Account, Home, make_directory
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_embedded.processes.children import end_orphans, end_with_parent
from zoe_embedded.processes.docker_engine import ENGINES, settings_of_engine
from zoe_embedded.processes.log_files import log_to
from zoe_embedded.processes.services import stop_all_services
from zoe_embedded.runtimes.interpreters import ANY, SPARK, python_names
from zoe_embedded.runtimes.on_demand import OnDemand
from zoe_embedded.runtimes.runtime import ensure_runtime
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.accounts.system_ids import IdKind
from zoe_lib.tokens.api_tokens import FIRST_TENANT, FIRST_USER, TokenText, add_admin_token
from zoe_master.backends.local.files.directories import ComponentUser
from zoe_master.backends.local.files.workspaces import workspaces
from zoe_master.backends.services.failures import CannotStartError

PREFERRED_PORT = 5100
_PASSWORD_BYTES = 12
_MASTER, _API = "zoe_master.main", "zoe_api.main"
LOGS = {_MASTER: "master.log", _API: "api.log"}
"""Module -> name of the file in the home's directory of logs."""
_MODULES = [[module] for module in LOGS]
_CONFIG = "ZOE_CONFIG"
_READY_WITHIN_S = 60.0
_STOP_WITHIN_S = 20.0
_PORT_ATTEMPTS_MAX = 5
_SOCKET_PATH_MAX = 100
_ADDED_TO = ("local_images", "local_image_hints")
"""Settings whose entries are added to the stack's own."""

_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_WITH_SPARK = frozenset({"zoe/spark", "zoe/jupyter-spark"})
_IMAGE_HINTS = {
    "zoe/spark": "end Zoe, run `make runtime`, and start it again",
    "zoe/jupyter-spark": "end Zoe, run `make notebook`, and start it again",
    "zoe/notebook": "serve Zoe by `make serve`, which installs it at its first launch",
    "zoe/mpi": "end Zoe, run `make mpi`, and start it again",
    "zoe/r": "end Zoe, install R (`apt-get install r-base-core` on Debian), and start it again",
    "zoe/jupyter-r": "end Zoe, install R with its kernel (`apt-get install r-cran-irkernel` on Debian), and start it "
    "again",
    "zoe/torch": "use Docker Swarm, for which `make images` builds it",
}


class StackError(Exception):
    """The stack does not start; the message has the reason and the place of the logs."""


class Stack:
    """Starts everything on `__enter__`; stops all of it on `__exit__`, services included.

    Without `spark` the application runtime is left out, for plain commands only; with `on_demand` missing runtimes are
    installed at their first use instead. Without `master` submissions are stored and nothing runs.
    `settings` override those of the stack, as in `zoe.toml`. Without `stops_database` PostgreSQL keeps running for
    other programs.
    """

    def __init__(
        self,
        home: Home,
        spark: bool = True,
        master: bool = True,
        settings: Mapping[str, object] | None = None,
        on_demand: bool = False,
        stops_database: bool = True,
    ) -> None:
        self._spark = spark
        self._on_demand = on_demand
        self._stops_database = stops_database
        self.runtimes = OnDemand(home)
        self._settings = dict(settings or {})
        self.preferred_port = int(str(self._settings.pop("api_port", PREFERRED_PORT)))
        self._master = master
        self.home = home.create()
        self.config_file = home.secrets / "zoe.toml"
        self.token_file = home.secrets / "admin-token"
        self.password_file = home.secrets / "admin-password"
        self.url = ""
        self._postgres = EmbeddedPostgres(home)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock: IO[str] | None = None

    def __enter__(self) -> Stack:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.stop()

    @property
    def token(self) -> str:
        """Return the admin's token."""
        return self.token_file.read_text().strip()

    @property
    def password(self) -> str:
        """Return the admin's password, for browsers."""
        return self.password_file.read_text().strip()

    @property
    def backend(self) -> str:
        """Return the name of the back-end."""
        return str(self._settings.get("backend", "local"))

    @property
    def database_url(self) -> str:
        """Return the database's URL, with its password."""
        return self._postgres.url

    @property
    def processes(self) -> dict[str, int]:
        """Return the process ids of master and API, by module."""
        return {_name(process): process.pid for process in self._processes}

    @property
    def workspace(self) -> Path:
        """Return the workspace of the admin, the first user of the only tenant."""
        return self.home.workspaces / FIRST_TENANT / FIRST_USER

    @property
    def component_account(self) -> Account | None:
        """Return the account that runs the admin's components; None: the present user."""
        if not self.home.by_root:
            return None
        settings = Settings(database_url=SecretStr(self.database_url))
        with closing(PostgresStore(self.database_url)) as store:
            numbers = [
                store.accounts.system_id(kind, name, settings.user_ids_first, settings.user_ids_last)
                for kind, name in ((IdKind.USER, FIRST_USER), (IdKind.TENANT, FIRST_TENANT))
            ]
        return Account(FIRST_USER, *numbers)

    def stop(self) -> None:
        """Stop API, master, services and database, in this order."""
        if self._processes:
            self._end_programs()
            stop_all_services(self.config_file)
        if self._lock is not None:
            if self._stops_database:
                self._postgres.stop()
            self._lock.close()
            self._lock = None

    def _end_programs(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            _wait_or_kill(process)
        self._processes = []

    def dead_process(self) -> str | None:
        """Return the process that has ended by itself, with its log file; None while all run."""
        for process in self._processes:
            if process.poll() is not None:
                return f"{_name(process)} ended with {process.returncode}; see {self.home.logs}"
        return None

    def revive(self) -> list[str]:
        """Restart ended processes: database, master, API; return a sentence for each."""
        stories = []
        if not self._postgres.running():
            self._postgres.start()
            stories.append("PostgreSQL had ended and was restarted")
        for place, process in enumerate(self._processes):
            if process.poll() is not None:
                self._processes[place] = self._spawn(_name(process))
                stories.append(f"{_name(process)} had ended with {process.returncode} and was restarted")
        return stories

    def restart(self, names: Collection[str]) -> None:
        """Kill these processes, and start them and all ended ones; return when all are ready. Raises StackError."""
        for process in self._processes:
            if _name(process) in names:
                process.kill()
                process.wait()
        self.revive()
        self._ready_on_our_port(last=True)

    def _start(self) -> None:
        self._lock = self._take_lock()
        end_orphans(lambda words, variables: words[-1:] in _MODULES and variables.get(_CONFIG) == str(self.config_file))
        if self._spark and not self._on_demand:
            ensure_runtime(self.home)
        database_url = self._postgres.start()
        upgrade(database_url)
        _prepare_people(database_url, self._ensure_token(), self._new_password())
        ensure_keys(self.home.secrets / "keys")
        self._make_workspace()
        self._choose_port(self.preferred_port, database_url)
        self._start_programs()
        attempts = 1
        while not self._ready_on_our_port(last=attempts == _PORT_ATTEMPTS_MAX):
            attempts += 1
            self._end_programs()
            self._choose_port(0, database_url)
            self._start_programs()

    def _start_programs(self) -> None:
        """Start master and API; both know the port, since the master tells the API's address to services."""
        modules = (_MASTER, _API) if self._master else (_API,)
        self._processes.extend(self._spawn(module) for module in modules)

    def _make_workspace(self) -> None:
        """Create the admin's workspace before anything runs, so that files can be put there."""
        account = self.component_account
        owner = ComponentUser(account.uid, account.gid) if account is not None else None
        try:
            workspaces(self.home.workspaces, FIRST_TENANT, FIRST_USER, owner)
        except CannotStartError as error:
            raise StackError(str(error)) from None

    def _choose_port(self, preferred: int, database_url: str) -> None:
        port = _free_port(preferred)
        self.url = f"http://127.0.0.1:{port}"
        _write_config(self.config_file, self._config(database_url, port))

    def _take_lock(self) -> IO[str]:
        return _lock(self.home, "stack.lock")

    def _ensure_token(self) -> str:
        if not self.token_file.exists():
            _write_private(self.token_file, str(TokenText.new()))
        return self.token

    def _new_password(self) -> str | None:
        """Return a password to set; None if one was created before, since the admin may have changed it."""
        if self.password_file.exists():
            return None
        _write_private(self.password_file, secrets.token_urlsafe(_PASSWORD_BYTES))
        return self.password

    def _config(self, database_url: str, port: int) -> dict[str, object]:
        home, images = self.home, self._images()
        config: dict[str, object] = {
            "database_url": database_url,
            "keys_dir": str(home.secrets / "keys"),
            "api_host": "127.0.0.1",
            "api_port": port,
            "services_api_url": f"http://127.0.0.1:{port}",
            "master_endpoint": f"ipc://{_socket_path(home)}",
            "local_state_dir": str(home.state / "local"),
            "local_scratch_dir": str(home.scratch),
            "local_workspaces_dir": str(home.workspaces),
            "local_volumes_dir": str(home.workspaces / ".volumes"),
            "local_block_volumes_dir": str(home.workspaces / ".blocks"),
            "local_environments_dir": str(home.workspaces / ".environments"),
            "local_images": images,
            "local_image_hints": {name: hint for name, hint in self._image_hints().items() if name not in images},
        }
        if self.backend in ENGINES:
            config |= settings_of_engine(self.backend, home)
            del config["services_api_url"]  # containers do not reach the loopback interface
        for name in _ADDED_TO:
            config[name] = {**_table(config[name]), **_table(self._settings.get(name, {}))}
        return {**config, **{name: value for name, value in self._settings.items() if name not in _ADDED_TO}}

    def _images(self) -> dict[str, object]:
        """Return the images that can run, those of the system included."""
        system = {"path": list(_SYSTEM_PATH), "environment": {}}
        images: dict[str, object] = {"zoe/tiny": system, "zoe/python": system}
        if shutil.which("Rscript", path=os.pathsep.join(_SYSTEM_PATH)):
            images["zoe/r"] = system
        for image, entry in self.runtimes.images().items():
            if self._on_demand or ("path" in entry and (self._spark or image not in _WITH_SPARK)):
                images[image] = entry
        return images

    def _image_hints(self) -> dict[str, str]:
        """Return the remedy for each image of the catalogue that cannot run."""
        spark, others = f"{python_names(SPARK)} for Spark", python_names(ANY)
        lacking = {image: spark if image in _WITH_SPARK else others for image in self.runtimes.lacking}
        return _IMAGE_HINTS | {name: f"end Zoe, install {what}, and start it again" for name, what in lacking.items()}

    def _spawn(self, module: str) -> subprocess.Popen[bytes]:
        with log_to(self.home.logs / LOGS[module]) as log:
            return subprocess.Popen(
                [sys.executable, "-m", module],
                env={**clean_environment(), _CONFIG: str(self.config_file)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home.path,
                start_new_session=True,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - it takes no lock
            )

    def _ready_on_our_port(self, *, last: bool) -> bool:
        """Wait until all is ready; False if the API could not listen because another program took the port first."""
        api = self._processes[-1]
        parts = {"database", "master"} if self._master else {"database"}
        give_up_s = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < give_up_s:
            if api.poll() == CANNOT_LISTEN and not last:
                return False
            if died := self.dead_process():
                raise StackError(died)
            if _ready(self.url, self.token, parts):
                return True
            time.sleep(0.05)
        raise StackError(f"master and API are not ready after {_READY_WITHIN_S:g} s; see {self.home.logs}")


def _table(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {}


def _prepare_people(database_url: str, token: str, password: str | None) -> None:
    """Create one tenant, one admin, a token with all scopes and a password, in files that only their owner can read."""
    text = TokenText.read(token)
    if text is None:
        raise StackError("the file of the admin's token is empty: remove it to create a new token")
    store = PostgresStore(database_url)
    try:
        if all(kept.id != text.id for kept in store.accounts.tokens(FIRST_USER)):
            add_admin_token(store.accounts, text, "embedded default")
        if password is not None:
            store.accounts.set_password(FIRST_USER, hash_password(password))
    finally:
        store.close()


def _write_config(path: Path, config: dict[str, object]) -> None:
    _write_private(path, tomli_w.dumps(config))


def _write_private(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)


def _socket_path(home: Home) -> Path:
    inside = home.state / "master.sock"
    if len(os.fsencode(inside)) < _SOCKET_PATH_MAX:
        return inside
    name = hashlib.sha256(os.fsencode(home.path)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"zoe-master-{name}"
    make_directory(short, 0o700)
    return short / "master.sock"


def _free_port(preferred: int) -> int:
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise StackError("no free port on 127.0.0.1")


def _ready(url: str, token: str, parts: set[str]) -> bool:
    """Return whether the API is ready and belongs to this stack: another installation on this port would not know the
    token.
    """
    try:
        with httpx.Client(base_url=url, timeout=10, trust_env=False, verify=verification(url)) as http:
            answer = http.get("/readyz").json()
            known = http.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).is_success
        return known and all(answer.get(part) == "ok" for part in parts)
    except (httpx.HTTPError, ValueError):
        return False


def clean_environment() -> dict[str, str]:
    """Return the environment of this process, without settings of Zoe."""
    return {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _name(process: subprocess.Popen[bytes]) -> str:
    return str(process.args[-1]) if isinstance(process.args, list) else str(process.args)


@contextmanager
def lock_home(home: Home) -> Iterator[None]:
    """Hold the lock of a stack with a store, from before its start until its stop. Raises StackError if another one
    runs.
    """
    with _lock(home.create(), "site.lock"):
        yield


def _lock(home: Home, name: str) -> IO[str]:
    lock = (home.state / name).open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise StackError(f"Zoe already runs in {home.path}: stop it, or set ZOE_HOME to another one") from None
    return lock
