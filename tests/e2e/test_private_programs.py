"""A program of another user of the tenant, on a real stack that root runs, tries what is another user's: workspace,
scratch, secrets, processes and ports.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.documents import job
from tests.support.needs import need_root
from tests.support.stack import running_stack
from tests.support.waiting import until
from zoe_client import Client, NotFound
from zoe_embedded.stack import Stack
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.execution import ExecutionState

NODE = {"name": "local", "cores": 4, "memory_bytes": 4 << 30}
PASSWORDS = {"ada": "correct horse battery", "bob": "staple battery correct"}
VALUE, WORD, MINE = "a-secret-of-ada", "a-variable-of-ada", "a-file-of-ada"
OWNER = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1], "mine").write_text(sys.argv[3])
pathlib.Path(sys.argv[2], "ours").write_text("ours")
pathlib.Path(os.environ["TMPDIR"], "mine").write_text(sys.argv[3])
assert pathlib.Path(sys.argv[4]).read_text() == os.environ["TOKEN"]
print("ready", flush=True)
time.sleep(600)
"""
OTHER = """
import json, os, pathlib, signal, sys
wanted = json.loads(sys.argv[1])
tries = {
    "read": lambda path: open(path, "rb").read().decode("latin-1"),
    "list": lambda path: " ".join(os.listdir(path)),
    "follow": os.readlink,
    "write": lambda path: open(path, "ab").write(b""),
    "kill": lambda pid: os.kill(int(pid), signal.SIGKILL),
}
told = {}
for how, targets in wanted.items():
    for target in targets:
        try:
            told[f"{how} {target}"] = f"done {tries[how](target)}"
        except OSError as error:
            told[f"{how} {target}"] = type(error).__name__
print("TOLD" + json.dumps(told), flush=True)
"""
SERVER = """
import http.server, pathlib, sys
secret = pathlib.Path(sys.argv[2]).read_text()
class Asking(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        right = f"token={secret}" in self.path or self.headers.get("Authorization") == f"token {secret}"
        self.send_response(200 if right else 403)
        self.end_headers()
        self.wfile.write(b"served to its owner" if right else b"who are you?")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Asking).serve_forever()
"""
ASK = "import sys, urllib.request; print('TOLD', urllib.request.urlopen(sys.argv[1]).read())"
# What the kernel shows of each process to everybody; `docs/operate/threats.md` names the command line.
SHOWN = {
    "arch_status", "attr", "autogroup", "cgroup", "cmdline", "comm", "coredump_filter", "cpu_resctrl_groups", "cpuset",
    "gid_map", "latency", "limits", "loginuid", "mountinfo", "mounts", "net", "oom_adj", "oom_score", "oom_score_adj",
    "projid_map", "sched", "schedstat", "sessionid", "setgroups", "smaps_rollup", "stat", "statm", "status", "task",
    "timens_offsets", "timers", "timerslack_ns", "uid_map", "wchan",
}  # fmt: skip


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    need_root()
    with running_stack(forked=True, local_nodes=[NODE]) as running:
        yield running


@pytest.fixture(scope="module")
def tokens(stack: Stack) -> dict[str, str]:
    """A token of each user, made as people do in a browser."""
    with Client(stack.url, stack.token) as admin:
        for name, password in PASSWORDS.items():
            admin.admin.add_user(name, password)
            admin.admin.set_role(name, "default", Role.USER)
    return {name: token_of(stack.url, name) for name in PASSWORDS}


@pytest.fixture
def users(stack: Stack, tokens: dict[str, str]) -> Iterator[dict[str, Client]]:
    clients = {name: Client(stack.url, token) for name, token in tokens.items()}
    yield clients
    for client in clients.values():
        client.close()


def token_of(url: str, user: str) -> str:
    with httpx.Client(base_url=url) as http:
        signed_in = http.post("/api/v1/session", json={"user": user, "password": PASSWORDS[user]})
        proof = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
        body = {"note": "test", "lifetime_s": 3600, "scopes": ["read", "submit"]}
        return str(http.post("/api/v1/tokens", json=body, headers=proof).json()["secret"])


def python() -> str:
    return "/usr/bin/python3"


def escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def test_a_program_of_another_user_gets_nothing(stack: Stack, users: dict[str, Client], tokens: dict[str, str]) -> None:
    ada, bob = users["ada"], users["bob"]
    ada.set_secret("db", VALUE)
    command = (python(), "-I", "-c", escaped(OWNER), "{workspace}", "{shared}", MINE, "{secrets}/db")
    application: dict[str, Any] = job(*command)
    [component] = application["components"]
    component["environment"] = {"WORD": WORD}
    component["secrets"] = [{"name": "db"}, {"name": "db", "variable": "TOKEN"}]
    hers = ada.submit(application)
    service = hers.services[0].id
    until(lambda: ada.execution(hers.id).state is ExecutionState.RUNNING)
    [process] = until(lambda: processes_with(WORD))
    workspaces, scratch = stack.home.workspaces / "default", stack.home.scratch / service
    until((workspaces / "shared" / "ours").exists)
    entries = sorted(entry.name for entry in process.iterdir())
    directories = {"attr", "fd", "fdinfo", "map_files", "net", "ns", "task"}
    wanted = {
        "read": [
            *(str(process / name) for name in entries if name not in directories),
            *(str(directory / "mine") for directory in (workspaces / "ada", scratch)),
            str(scratch / "zoe-secrets" / "db"),
            str(process / "cwd" / "mine"),
            f"{process}/root{workspaces}/ada/mine",
            *(str(path) for path in stack.home.state.rglob("*") if path.is_file()),
        ],
        "list": [str(process / name) for name in sorted(directories - {"attr", "net", "task"})]
        + [str(workspaces), str(workspaces / "ada"), str(scratch), str(scratch / "zoe-secrets"), str(scratch.parent)],
        "follow": [str(process / name) for name in ("cwd", "root", "exe")],
        "write": [str(workspaces / "ada" / "new"), str(scratch / "new"), str(process / "mem")],
        "kill": [process.name],
    }
    his = bob.submit(job(python(), "-I", "-c", escaped(OTHER), escaped(json.dumps(wanted))))
    output = b"".join(bob.follow_logs(his.id, his.services[0].id)).decode()
    assert bob.wait(his.id, 60).state is ExecutionState.SUCCEEDED, output
    told = json.loads(output.partition("TOLD")[2])
    done = {act for act, how in told.items() if how.startswith("done")}
    assert done <= {f"read {process / name}" for name in SHOWN}, done
    for act in ("read", "list", "follow", "write", "kill"):
        assert [entry for entry in told if entry.startswith(act)], act
    assert told[f"read {process / 'environ'}"] == told[f"kill {process.name}"] == "PermissionError"
    for word in (VALUE, WORD):
        assert word not in output
    ours = bob.submit(job("cat", "{shared}/ours"))
    assert b"".join(bob.follow_logs(ours.id, ours.services[0].id)) == b"ours"
    with pytest.raises(NotFound):
        bob.execution(hers.id)
    nowhere_else(stack, tokens["ada"], hers.id)
    ada.cancel(hers.id)
    ada.wait(hers.id, 60)
    assert not processes_with(WORD)


def test_ports_of_another_user(stack: Stack, users: dict[str, Client]) -> None:
    """All programs of the machine can connect to a port; the attempt's secret and Zoe's proxy keep others out."""
    ada, bob = users["ada"], users["bob"]
    port = {"name": "web", "number": 80, "protocol": "http", "proxied": True, "sign_in": {"scheme": "token"}}
    application = job(python(), "-I", "-c", escaped(SERVER), "{port:web}", "{secret_file}")
    [component] = application["components"]
    component |= {"ports": [port], "readiness": {"tcp": "web"}}
    hers = ada.submit(application)
    until(lambda: ada.execution(hers.id).state is ExecutionState.RUNNING)
    service = hers.services[0].id
    [process] = until(lambda: processes_with(service))
    number = process.joinpath("cmdline").read_bytes().split(b"\0")[-3].decode()
    his = bob.submit(job(python(), "-I", "-c", ASK, f"http://127.0.0.1:{number}/"))
    output = b"".join(bob.follow_logs(his.id, his.services[0].id)).decode()
    assert "HTTP Error 403" in output
    assert "served to its owner" not in output
    with pytest.raises(NotFound):
        bob.open_port(hers.id, service, "web")
    opened = urlsplit(ada.open_port(hers.id, service, "web").url)
    host, near = {"Host": opened.netloc}, f"http://127.0.0.1:{opened.port}"
    entered = httpx.get(f"{near}{opened.path}?{opened.query}", headers=host)
    cookie = {"Cookie": entered.headers["set-cookie"].partition(";")[0]}
    assert httpx.get(f"{near}/", headers=host | cookie).text == "served to its owner"
    assert httpx.get(f"{near}/", headers=host).text != "served to its owner"
    ada.cancel(hers.id)
    ada.wait(hers.id, 60)


def test_a_secret_that_is_removed_while_it_is_used(users: dict[str, Client]) -> None:
    """Running services keep the file; waiting executions show the reason; new starts fail with it."""
    ada = users["ada"]
    value = "another-secret, which its program tells"
    ada.set_secret("gone", value)
    application = job("sh", "-c", "sleep 2; cat {secrets}/gone")
    application["components"][0]["secrets"] = [{"name": "gone"}]
    running = ada.submit(application)
    until(lambda: ada.execution(running.id).state is ExecutionState.RUNNING)
    waiting = ada.submit(application, hold=True)  # a full node would depend on what other programs use
    ada.remove_secret("gone")
    assert "has the secret gone" in ada.explain(waiting.id).missing_secrets
    assert value.encode() in b"".join(ada.follow_logs(running.id, running.services[0].id))
    ada.release(waiting.id)
    ended = ada.wait(waiting.id, 60)
    assert ended.state is ExecutionState.FAILED
    assert any("neither ada nor tenant default has the secret gone" in service.message for service in ended.services)


def nowhere_else(stack: Stack, token: str, execution_id: str) -> None:
    """The value is in no file of Zoe but the sealed row, no log, and no answer of the API to its owner."""
    home = stack.home
    for directory in (home.state, home.logs, home.postgres, home.secrets):
        for path in directory.rglob("*"):
            if path.is_file():
                assert VALUE.encode() not in path.read_bytes(), path
    document = httpx.get(f"{stack.url}/api/v1/openapi.json").json()
    headers = {"Authorization": f"Bearer {token}"}
    fields = {"execution_id": execution_id, "service_id": f"{execution_id}.main.0.1"}
    for path, methods in document["paths"].items():
        if "get" in methods and not path.endswith(("/stream", "/events")):
            shown = httpx.get(stack.url + path.format_map(Fields(fields)), headers=headers, timeout=10)
            assert VALUE not in shown.text, path


class Fields(dict[str, str]):
    """What fills any other field of a path."""

    def __missing__(self, key: str) -> str:
        return "none"


def processes_with(word: str) -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"={word}\0".encode() in path.read_bytes():
                found.append(path.parent)
        except OSError:
            continue
    return [path for path in found if path.name != str(os.getpid())]
