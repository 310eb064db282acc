"""ssh with the real programs of OpenSSH against the whole of Zoe: commands, files, ports, and permissions."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.held import own_environment, tenant_of
from tests.support.needs import need_program
from tests.support.people import make_token
from tests.support.stack import ZOE
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.store.postgres.store import PostgresStore


@pytest.fixture(autouse=True)
def openssh() -> None:
    for program in ("ssh", "scp", "ssh-keygen"):
        need_program(program)
    if not (shutil.which("sshd") or Path("/usr/sbin/sshd").exists()):
        need_program("sshd")


class Person:
    """`zoe ssh` of a user with a home of their own."""

    def __init__(self, stack: Stack, client: Client, home: Path) -> None:
        self.home = home
        self.environment = {**own_environment(stack, client), "XDG_CONFIG_HOME": str(home)}

    def ssh(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return self.run(str(ZOE), "ssh", *words)

    def run(self, *command: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, input=data, capture_output=True, timeout=60, check=False, env=self.environment, cwd=self.home
        )

    def configured(self, *words: str) -> Path:
        """The file with the block that `--config` prints."""
        done = self.ssh("--config", *words)
        assert done.returncode == 0, done
        path = self.home / "ssh_config"
        path.write_bytes(done.stdout)
        return path


@pytest.fixture
def person(stack: Stack, ada: Client, tmp_path: Path) -> Iterator[Person]:
    yield Person(stack, ada, tmp_path)
    until(lambda: not list(stack_directories(stack, "zoe-ssh.*")))


def stack_directories(stack: Stack, pattern: str) -> list[Path]:
    return list(stack.home.scratch.glob(f"*/{pattern}"))


def test_a_command_runs_in_the_service_and_its_exit_code_is_passed_on(person: Person, running: str) -> None:
    script = "echo out; echo bad >&2; echo $ZOE_SERVICE_ID; id -un; cat; exit 7"
    done = subprocess.run(
        [str(ZOE), "ssh", running, "main/1", "--", script],
        input=b"typed\n", capture_output=True, timeout=60, check=False, env=person.environment,
    )  # fmt: skip
    assert done.returncode == 7, done
    out, service, _, typed = done.stdout.decode().splitlines()
    assert (out, service, typed) == ("out", f"{running}.main.1.1", "typed")
    assert b"bad\n" in done.stderr


def test_files_are_copied_both_ways(person: Person, running: str) -> None:
    config = person.configured(running)
    data = os.urandom(3_000_000)
    (person.home / "data").write_bytes(data)
    host = f"zoe-{running}"
    up = person.run("scp", "-q", "-F", str(config), "data", f"{host}:copied")
    assert up.returncode == 0, up
    summed = person.run("ssh", "-F", str(config), host, "sha256sum copied")
    assert summed.stdout.decode().split()[0] == hashlib.sha256(data).hexdigest()
    down = person.run("scp", "-q", "-F", str(config), f"{host}:copied", "back")
    assert down.returncode == 0, down
    assert (person.home / "back").read_bytes() == data


def test_a_port_is_forwarded(person: Person, running: str) -> None:
    config = person.configured(running)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        local = probe.getsockname()[1]
        probe.close()

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(connection.recv(100).upper())

        threading.Thread(target=answer, daemon=True).start()
        forward = f"127.0.0.1:{local}:127.0.0.1:{server.getsockname()[1]}"
        command = ["ssh", "-F", str(config), "-N", "-o", "ExitOnForwardFailure=yes", "-L", forward, f"zoe-{running}"]
        with subprocess.Popen(command, env=person.environment, stdin=subprocess.DEVNULL) as client:
            try:
                until(lambda: _answers(local))
            finally:
                client.terminate()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(b"hello")
            return connection.recv(100) == b"HELLO"
    except OSError:
        return False


def test_the_host_is_known_before_it_is_met(person: Person, running: str) -> None:
    config = person.configured(running)
    [directory] = (person.home / "zoe" / "ssh").iterdir()
    assert directory.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o077 == 0 for path in directory.iterdir() if path.suffix != ".pub")
    assert person.run("ssh", "-F", str(config), f"zoe-{running}", "true").returncode == 0
    for name in ("host", "host.pub"):
        (directory / name).unlink()
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / "host")], check=True)
    other = person.run("ssh", "-F", str(config), f"zoe-{running}", "true")
    assert other.returncode == 255
    assert b"HOST IDENTIFICATION HAS CHANGED" in other.stderr


def test_others_are_refused(stack: Stack, store: PostgresStore, person: Person, running: str, tmp_path: Path) -> None:
    config = person.configured(running)
    with Client(stack.url, make_token(store, "bob", tenant_of(stack))) as bob:
        other = Person(stack, bob, tmp_path)
        assert other.ssh(running, "--", "true").returncode == 3
        stolen = other.run("ssh", "-F", str(config), f"zoe-{running}", "true")
        assert (stolen.returncode, stolen.stdout) == (255, b"")


def test_unknown_execution_or_missing_dashes_are_reported(person: Person, running: str) -> None:
    assert person.ssh("x1m7xhnzn3f4144", "--", "true").returncode == 3
    wrong = person.ssh(running, "main", "true")
    assert (wrong.returncode, b"write -- before the command 'true'" in wrong.stderr) == (2, True)


def test_the_keys_of_a_session_are_no_files_while_it_lasts(person: Person, running: str) -> None:
    look = 'find "${TMPDIR:-/tmp}" "$HOME" . -name "zoe-ssh.*" 2> /dev/null; echo looked'
    done = person.ssh(running, "--", look)
    assert (done.returncode, done.stdout) == (0, b"looked\n"), done
