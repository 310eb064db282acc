"""zoe exec all the way: command line, API, master, and a container of a real swarm."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api import Api
from tests.support.documents import document, part
from tests.support.people import make_token
from tests.support.postgres import PostgresServer
from tests.support.stack import ZOE
from tests.support.swarm_backend import SwarmHarness
from tests.support.waiting import until
from tests.swarm.cluster import Cluster
from zoe_client.vocabulary import TERMINAL_STATES, ShareLevel
from zoe_client.wire import AuditEntryView
from zoe_lib.domain.executions.execution import ExecutionState

NOT_FOUND, NOT_ALLOWED = 3, 4


class Installation:
    """An API and a master over the swarm, and an execution of ada's that runs there."""

    def __init__(self, swarm: Cluster, database_url: str) -> None:
        self.harness = SwarmHarness(swarm)
        # A busy machine takes a moment to begin a command in a container.
        self.api = Api(database_url, master_timeout_s=5.0, backend="swarm")
        self.api.start_master(real=(self.harness.backend, self.harness.waker))
        self.ada = self.api.client()
        until(lambda: self.ada.nodes().nodes)
        resources = {"memory": "32MiB", "cores": 0.05}
        held = part("main", "sh", "-c", "exec sleep 600", image="shell", resources=resources, environment={"WORD": "x"})
        self.id = self.ada.submit(document(held)).id
        until(lambda: self.ada.execution(self.id).state is ExecutionState.RUNNING)
        self.tokens = {
            "ada": self.api.token,
            "bob": make_token(self.api.store, "bob"),
            "reader": make_token(self.api.store, "ada", scopes=("read",)),
            "root": self.api.admin,
        }

    def executed(self, user: str, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """`zoe exec` of a user's, as a process of its own."""
        return subprocess.run(
            [str(ZOE), "exec", self.id, "--", *words],
            input=data, capture_output=True, timeout=60, check=False, env=self.environment(user),
        )  # fmt: skip

    def environment(self, user: str) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}
        return {**clean, "ZOE_URL": self.api.url, "ZOE_TOKEN": self.tokens[user], "ZOE_HELPER": "0"}

    def inside(self) -> list[str]:
        """The commands in the container, but for its init and the service itself."""
        for host in self.harness.cluster.hosts:
            api: Any = host.api
            for container in api.containers(filters={"label": f"zoe.execution={self.id}"}):
                found = [" ".join(entry) for entry in api.top(container["Id"], ps_args="-eo pid,args")["Processes"]]
                return [text for text in found if "docker-init" not in text and "sleep 600" not in text]
        return []

    def entries(self) -> list[AuditEntryView]:
        """Terminals in the audit log, newest first."""
        with self.api.client(self.api.admin) as admin:
            return [entry for entry in admin.admin.audit(limit=50).entries if entry.action == "open_terminal"]

    def close(self) -> None:
        try:
            self.ada.cancel(self.id)
            until(lambda: self.ada.execution(self.id).state in TERMINAL_STATES)
            self.api.close()
        finally:
            self.harness.finish()


@pytest.fixture(scope="module")
def whole(swarm: Cluster, postgres_server: PostgresServer) -> Iterator[Installation]:
    url = postgres_server.create_database()
    made = Installation(swarm, url)
    yield made
    made.close()
    postgres_server.drop_database(url)


def test_a_command_runs_in_the_container_and_its_streams_come_back(whole: Installation) -> None:
    data = os.urandom(300_000)
    done = whole.executed("ada", "sh", "-c", "echo $WORD >&2; id -u >&2; hostname >&2; cat; exit 7", data=data)
    assert (done.returncode, done.stderr.split()) == (7, [b"x", b"65534", b"main-0"])
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()
    missing = whole.executed("ada", "no-such-program")
    assert (missing.returncode, b"cannot run 'no-such-program'" in missing.stderr) == (127, True)


def test_others_are_refused_until_it_is_shared_for_control(whole: Installation) -> None:
    before = len(whole.entries())
    for user, code in (("bob", NOT_FOUND), ("root", NOT_ALLOWED), ("reader", NOT_ALLOWED)):
        done = whole.executed(user, "echo", "ran")
        assert (done.returncode, done.stdout) == (code, b""), (user, done)
    for level in (ShareLevel.LOOK, ShareLevel.OPEN):
        whole.ada.share(whole.id, level, "bob")
        done = whole.executed("bob", "echo", "ran")
        assert (done.returncode, done.stdout) == (NOT_ALLOWED, b""), (level, done)
    assert len(whole.entries()) == before  # none of them was opened
    whole.ada.share(whole.id, ShareLevel.CONTROL, "bob")
    assert whole.executed("bob", "id", "-u").stdout == b"65534\n"
    newest = until(lambda: (e := whole.entries()[0]).user == "bob" and "seconds" in e.changes and e)
    assert newest.target.endswith(f"/executions/{whole.id}/services/{whole.id}.main.0.1/terminal")
    whole.ada.end_share(whole.id, "bob")
    assert whole.executed("bob", "id", "-u").returncode == NOT_FOUND


def test_each_is_in_the_audit_log_without_what_was_typed_or_said(whole: Installation) -> None:
    before = len(whole.entries())
    assert whole.executed("ada", "echo", "unheard-of").stdout == b"unheard-of\n"
    newest = until(lambda: (e := whole.entries()[0]).user == "ada" and "seconds" in e.changes and e)
    assert (newest.tenant, newest.status, len(whole.entries())) == ("red", 101, before + 1)
    assert "unheard-of" not in str(newest)


def test_killed_client_leaves_no_process_in_the_container(whole: Installation) -> None:
    command = [str(ZOE), "exec", whole.id, "--", "sh", "-c", "trap '' HUP TERM; echo here; sleep 613"]
    with subprocess.Popen(command, env=whole.environment("ada"), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            until(lambda: any("sleep 613" in line for line in whole.inside()), whole.inside)
        finally:
            process.kill()  # or a failure would wait for the sleep
    until(lambda: not whole.inside(), whole.inside)
