"""A component tries to read Zoe's own files: token, keys, configuration, database. Run by root, it cannot."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.documents import job
from tests.support.needs import need_root
from tests.support.stack import running_stack
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

ATTACK = """
import json, os, socket, sys
def read(path):
    try:
        return "read" if open(path, "rb").read(1) is not None else ""
    except OSError as error:
        return type(error).__name__
def enter(path):
    try:
        return "listed " + " ".join(os.listdir(path))
    except OSError as error:
        return type(error).__name__
def connect(path):
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)
        return "connected"
    except OSError as error:
        return type(error).__name__
wanted = json.loads(sys.argv[1])
tries = {"read": read, "enter": enter, "connect": connect}
told = {path: tries[how](path) for how, paths in wanted.items() for path in paths}
told["user"] = os.getuid()
told["arguments"] = [open(f"/proc/{p}/cmdline", "rb").read().decode("latin-1")
                     for p in os.listdir("/proc") if p.isdigit() and read(f"/proc/{p}/cmdline") == "read"]
json.dump(told, open(sys.argv[2], "w"))
"""


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    need_root()
    with running_stack() as running:
        yield running


def test_a_component_reaches_nothing_of_zoes_own(stack: Stack) -> None:
    home = stack.home
    sockets = [str(path) for path in home.postgres.rglob(".s.PGSQL.*") if not path.name.endswith(".lock")]
    sockets += [str(path) for path in home.state.rglob("*.sock")]
    assert len(sockets) == 2
    environments = [f"/proc/{pid}/environ" for pid in stack.processes.values()]
    secrets = [path for path in home.secrets.rglob("*") if path.is_file()]
    data = home.postgres / "data"
    wanted = {
        "read": [*map(str, secrets), *environments, str(data / "pg_hba.conf"), str(home.logs / "master.log")],
        "enter": [str(home.secrets), str(home.secrets / "keys"), str(data), str(home.state), str(home.logs)],
        "connect": sockets,
    }
    assert {path.name for path in secrets} >= {"admin-token", "zoe.toml", "master.key_secret", "postgres-password"}
    told = attacked(stack, wanted)
    assert told.pop("user") not in (0, os.geteuid())
    shown = "\n".join(told.pop("arguments"))
    for secret in (stack.token, *(path.read_text().strip() for path in secrets if "password" in path.name)):
        assert secret not in shown
    assert set(told.values()) == {"PermissionError"}, told


def attacked(stack: Stack, wanted: dict[str, list[str]]) -> dict[str, object]:
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("missing program: python3 in /usr/bin for components")
    document = job(python, "-I", "-c", escaped(ATTACK), escaped(json.dumps(wanted)), "{workspace}/told")
    with Client(stack.url, stack.token) as client:
        execution = client.submit(document)
        output = b"".join(client.follow_logs(execution.id, execution.services[0].id))
        assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED, output
    answer: dict[str, object] = json.loads(Path(stack.workspace / "told").read_text())
    return answer


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
