"""An upgrade from the last release and back: running executions, a notebook, a schedule and a store stay."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.after_event import AdminsDay
from tests.support.documents import document, job, part, sized
from tests.support.installation import REPOSITORY, Installation, Program, free_port
from tests.support.notebook import Notebook, through_the_proxy
from tests.support.postgres import PostgresServer
from tests.support.runtimes import home_with_runtimes
from tests.support.storage_controller import TOKEN, served_controller
from tests.support.waiting import until
from zoe_client import Client
from zoe_client.wire import ScheduleRequest
from zoe_embedded.runtimes.runtime import ensure_notebook
from zoe_lib.domain.executions.execution import ExecutionState, Mark

E = ExecutionState
WAITS = job("sh", "-c", "echo begun; until test -e {workspace}/go; do sleep 0.1; done")
SERVES_JUPYTER = """
cp "$JUPYTER_TOKEN_FILE" {workspace}/token; echo {port:lab} > {workspace}/lab
exec jupyter lab --no-browser --ip=127.0.0.1 --port={port:lab} --ServerApp.port_retries=0 \\
  --ServerApp.root_dir={workspace} --allow-root
"""
SERVES = "echo {port:web} > {workspace}/port; exec python3 -m http.server {port:web}"


def git(*words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


@pytest.fixture
def old_tree(tmp_path: Path) -> Path:
    """The sources of the last release, from the history."""
    released = re.search(r"^## \[(\d+\.\d+\.\d+)\]", (REPOSITORY / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert released is not None
    commit = git("log", "-1", "--format=%H", "--fixed-strings", f"--grep=release: {released[1]}").decode().strip()
    archive = git("archive", commit) if commit else b""
    if not archive:
        pytest.skip(f"missing: the history with the release {released[1]}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tmp_path / "old", filter="data")
    return tmp_path / "old"


def set_up(tree: Path, installation_url: str, config: Path | None, keys: Path) -> None:
    environment = {"ZOE_DATABASE_URL": installation_url, "ZOE_KEYS_DIR": str(keys), "PATH": "/usr/bin:/bin"}
    if config is not None:
        environment = {"ZOE_CONFIG": str(config), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-m", "zoe_api.setup"], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class Versions:
    """The same installation by programs of one version or another."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.port = installation, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment: dict[str, str] = {}
        """Further settings of masters."""
        self._programs: list[Program] = []

    def switch(self, tree: Path, set_up_first: bool = False, meanwhile: Callable[[], None] = lambda: None) -> float:
        """Run these programs; return for how many seconds no API answered."""
        for program in self._programs:
            self.installation.stop(program)
        down_s, self.installation.tree = time.monotonic(), tree
        meanwhile()
        if set_up_first:
            set_up(tree, "", self.installation.config_file, self.installation.keys_dir)
        self._programs = [self.installation.start_master(**self.environment), self.installation.start_api(self.port)]
        until(self.answers, lambda: self.installation.log(f"api-{self.port}"))
        return time.monotonic() - down_s

    def switch_master(self, tree: Path) -> None:
        """Run this master beside the present API."""
        self.installation.stop(self._programs[0])
        self.installation.tree = tree
        self._programs[0] = self.installation.start_master(**self.environment)

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def old_installation(
    server: PostgresServer, old_tree: Path, tmp_path: Path, **settings: object
) -> Iterator[Installation]:
    url = server.create_empty_database()
    try:
        set_up(old_tree, url, None, tmp_path / "first-keys")
        with closing(Installation(url, forked=False, **settings)) as installation:
            yield installation
    finally:
        server.drop_database(url)


class Work:
    """What runs before the upgrade: a program, an interactive application, one with required bandwidth, one that
    waits, and a schedule.
    """

    def __init__(self, client: Client, workspace: Path) -> None:
        self.running = client.submit(WAITS).id
        port = {"name": "web", "number": 80, "protocol": "http"}
        serves = part("web", "sh", "-c", SERVES, ports=[port], readiness={"tcp": "web"})
        self.interactive = client.submit(document(serves, kind="interactive")).id
        bandwidth = {"read": "10MB/s", "guarantee": "required"}
        self.reading = client.submit({**WAITS, "storage": {"bandwidth": bandwidth}}).id
        for one in (self.running, self.interactive, self.reading):
            until(lambda one=one: client.execution(one).state is E.RUNNING, lambda one=one: client.execution(one))  # type: ignore[misc]
        self.number = (workspace / "port").read_text().strip()
        self.waiting = client.submit(sized(64, "true")).id
        client.applications.put("report", job("true"))
        client.schedules.put("nightly", ScheduleRequest(expression="30 2 * * *", application="report"))
        self.next_s = client.schedules.one("nightly").next_times_s

    def check(self, client: Client) -> None:
        """Nothing of it was lost or started anew."""
        for one in (self.running, self.interactive, self.reading):
            until(lambda one=one: client.execution(one).state is E.RUNNING)  # type: ignore[misc]
            found = client.execution(one)
            assert (found.attempt, len(found.services)) == (1, 1)
        marks = client.execution(self.reading).marks
        assert (Mark.STORAGE_GRANTED in marks, Mark.STORAGE_WITHDRAWN in marks) == (True, False)
        assert client.execution(self.waiting).state is E.QUEUED
        assert httpx.get(f"http://127.0.0.1:{self.number}/", trust_env=False).status_code == 200
        assert client.schedules.one("nightly").next_times_s == self.next_s
        run = client.schedules.run("nightly")
        assert client.wait(run.id, 60).state is E.SUCCEEDED


def story(client: Client, execution: str) -> str:
    found = client.execution(execution)
    return f"{found.state} {found.message} {b''.join(client.follow_logs(execution, found.services[0].id))!r}"


class Jupyter:
    """A notebook with a kernel, opened by the proxy before the upgrade and never again."""

    def __init__(self, client: Client, workspace: Path) -> None:
        port = {"name": "lab", "number": 8888, "protocol": "http", "path": "/lab", "proxied": True}
        port["sign_in"] = {"scheme": "token"}
        main = part("notebook", "sh", "-c", SERVES_JUPYTER, ports=[port], readiness={"http": "lab", "path": "/api"})
        main["resources"] = {"memory": "1GiB", "cores": 0.5}
        main |= {"image": "zoe/jupyter-spark", "environment": {"JUPYTER_TOKEN_FILE": "{secret_file}"}}
        self.id = client.submit(document(main, kind="interactive")).id
        until(lambda: client.execution(self.id).state is E.RUNNING, lambda: story(client, self.id))
        number, token = ((workspace / name).read_text().strip() for name in ("lab", "token"))
        self.direct = Notebook("127.0.0.1", int(number), token)
        self.opened = through_the_proxy(client.open_port(self.id, client.execution(self.id).services[0].id, "lab").url)
        status, kernel = self.opened.ask("POST", "/api/kernels")
        assert status == 201, kernel
        self.kernel = f"/api/kernels/{kernel['id']}"

    def check_meanwhile(self) -> None:
        """The notebook goes on; only the way through the proxy is away."""
        assert self.direct.ask("GET", self.kernel)[0] == 200
        with pytest.raises(ConnectionRefusedError):
            self.opened.ask("GET", self.kernel)

    def check(self, client: Client) -> None:
        """The browser's cookie and the notebook's token open the same kernel, and nothing else does."""
        until(lambda: client.execution(self.id).state is E.RUNNING)
        assert client.execution(self.id).attempt == 1
        assert self.opened.ask("GET", self.kernel)[0] == 200
        assert self.direct.ask("GET", self.kernel)[0] == 200
        self.direct.check_strangers()


def check_no_way_back_after_a_prologue(versions: Versions, client: Client, old_tree: Path, base: Path) -> None:
    """Upgrade with a prologue: the new master warns, an old one cannot lead, and the next new one goes on."""
    installation, prologue = versions.installation, base / "prologue"
    prologue.write_text("#!/bin/sh\n")
    prologue.chmod(0o755)
    versions.environment["ZOE_PROLOGUE"] = str(prologue)
    versions.switch(REPOSITORY, set_up_first=True)
    assert "go back only by a restore" in installation.log("master")
    done = client.submit({**WAITS, "size": {"run_time_s": 1}}).id
    until(lambda: client.execution(done).state is E.RUNNING, lambda: client.explain(done))
    versions.switch_master(old_tree)
    until(lambda: "'opened' is not a valid Mark" in installation.log("master"))
    versions.switch_master(REPOSITORY)
    client.cancel(done)
    assert client.wait(done, 60).attempt == 1


def test_an_upgrade_from_the_last_release_and_back_loses_nothing(
    postgres_server: PostgresServer, postgres_url: str, old_tree: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    with served_controller(postgres_url) as controller:
        token = str(tmp_path / "token")
        asked: dict[str, object] = {
            "storage_url": controller.url,
            "storage_token_file": token,
            "storage_interval_s": 0.5,
        }
        runtime = ensure_notebook(home_with_runtimes(tmp_path))
        asked["local_images"] = {
            "zoe/tiny": {"path": ["/usr/local/bin", "/usr/bin", "/bin"], "environment": {}},
            "zoe/jupyter-spark": {"path": [*runtime.path], "environment": runtime.environment},
        }
        asked["insecure"] = True  # zoe-setup has made another tenant
        with old_installation(postgres_server, old_tree, tmp_path, **asked) as installation:
            versions = Versions(installation)
            versions.switch(old_tree)
            with installation.client(versions.url) as client:
                day = AdminsDay(installation.store, client, versions.url)
                work, jupyter = (make(client, installation.workspace) for make in (Work, Jupyter))
                for tree, set_up_first in ((REPOSITORY, True), (old_tree, False)):
                    away_s = versions.switch(tree, set_up_first, jupyter.check_meanwhile)
                    print(f"no API answered for {away_s:.1f} s")
                    work.check(client)
                    jupyter.check(client)
                check_no_way_back_after_a_prologue(versions, client, old_tree, tmp_path)
                work.check(client)
                jupyter.check(client)
                (installation.workspace / "go").touch()
                client.cancel(work.interactive)
                client.cancel(jupyter.id)
                for one in (work.running, work.reading, work.waiting):
                    assert client.wait(one, 60).state is E.SUCCEEDED
                day.check(installation.store, client, versions.url)
