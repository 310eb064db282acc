"""exec against the whole of Zoe: bytes, exit codes, terminals, permissions, and ends."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.held import own_environment, tenant_of
from tests.support.people import make_token
from tests.support.stack import ZOE
from tests.support.stack import zoe as process
from tests.support.waiting import until
from zoe_cli.exits import Exit, exit_of
from zoe_client import Client, NotAllowed, NotFound
from zoe_client.calls.terminals import TerminalEnded
from zoe_client.vocabulary import ShareLevel
from zoe_client.wire import AuditEntryView, TerminalOpening
from zoe_embedded.stack import Stack
from zoe_lib.store.postgres.store import PostgresStore

SLEEP = TerminalOpening(command=["sh", "-c", "echo here; sleep 600"])


def executed(stack: Stack, client: Client, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(ZOE), "exec", *words],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
        env=own_environment(stack, client),
    )


def begun(client: Client, execution_id: str, opening: TerminalOpening = SLEEP):  # type: ignore[no-untyped-def]
    """Return a terminal that has printed `here`, and its outputs."""
    service = client.execution(execution_id).services[0].id
    terminal = client.terminal(execution_id, service, opening)
    outputs = terminal.outputs()
    errors, data = next(outputs)
    assert not errors
    assert data.startswith(b"here\n")  # what follows may come with it
    return terminal, outputs


def test_the_end_of_the_outputs_reader_ends_the_command_like_any_other(stack: Stack, ada: Client, running: str) -> None:
    line = f"{ZOE} exec {running} -- sh -c 'yes' | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, timeout=60, check=False, env=own_environment(stack, ada)
    )
    assert (done.returncode, done.stdout, done.stderr) == (Exit.BROKEN_PIPE, b"y\n", b"")


def test_streams_are_apart_and_binary_and_the_exit_code_is_passed_on(stack: Stack, ada: Client, running: str) -> None:
    data = os.urandom(3_000_000)
    done = executed(stack, ada, running, "--", "sh", "-c", "echo bad >&2; cat; exit 7", data=data)
    assert (done.returncode, done.stderr) == (7, b"bad\n")
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


def test_services_are_named_by_component_and_index(stack: Stack, ada: Client, running: str) -> None:
    for name in ("main/1", "main-1"):
        done = executed(stack, ada, running, name, "--", "sh", "-c", "echo $ZOE_SERVICE_ID")
        assert done.stdout.decode().strip() == f"{running}.main.1.1"
    assert executed(stack, ada, running, "main/7", "--", "true").returncode == 3
    missing = executed(stack, ada, running, "no-such-program")
    assert (missing.returncode, b"cannot run 'no-such-program'" in missing.stderr) == (127, True)
    assert executed(stack, ada, running, "/etc/passwd").returncode == 126


def test_a_person_types_in_a_terminal(stack: Stack, ada: Client, running: str) -> None:
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(ZOE, [str(ZOE), "exec", running], own_environment(stack, ada))
    try:
        seen = b""

        def shows(text: bytes) -> bool:
            nonlocal seen
            if select.select([screen], [], [], 0.1)[0]:
                seen += os.read(screen, 65536)
            return text in seen

        until(lambda: shows(b"$ "), lambda: seen)
        os.write(screen, b"echo $((6 * 7)); trap 'echo caught' INT\r")
        until(lambda: shows(b"42\r\n"), lambda: seen)
        os.write(screen, b"sleep 600\r")
        time.sleep(0.5)
        os.write(screen, b"\x03")
        os.write(screen, b"stty size; echo done-$?\r")
        until(lambda: shows(b"done-0\r\n"), lambda: seen)
        os.write(screen, b"\r~.")
        until(lambda: shows(b"you have left"), lambda: seen)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
        pid = 0
    finally:
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(screen)


def test_a_reader_that_stops_makes_the_program_wait(stack: Stack, ada: Client, running: str) -> None:
    opening = TerminalOpening(command=["sh", "-c", "echo here; exec yes"])
    terminal, outputs = begun(ada, running, opening)
    read = sum(len(data) for _, data in (next(outputs) for _ in range(20)))
    assert read > 0
    api = int(_status_kib("VmRSS", _pids("zoe_api.main")[0]))
    time.sleep(2)
    assert int(_status_kib("VmRSS", _pids("zoe_api.main")[0])) < api + 4096
    terminal.close()
    until(lambda: not _pids("backends.terminal.process"))


def test_others_are_refused_whatever_their_role(stack: Stack, store: PostgresStore, ada: Client, running: str) -> None:
    bob = Client(stack.url, make_token(store, "bob", tenant_of(stack)))
    admin = Client(stack.url, stack.token)
    service = ada.execution(running).services[0].id
    with bob, admin:
        with pytest.raises(NotFound):
            bob.terminal(running, service, SLEEP)
        with pytest.raises(NotAllowed, match="only its owner, and users with a share"):
            admin.terminal(running, service, SLEEP)
        for level in (ShareLevel.LOOK, ShareLevel.OPEN):
            ada.share(running, level, "bob")
            with pytest.raises(NotAllowed, match="has not shared this"):
                bob.terminal(running, service, SLEEP)
        ada.share(running, ShareLevel.CONTROL, "bob")
        terminal, outputs = begun(bob, running)
        ada.end_share(running, "bob")
        began_s = time.monotonic()
        with pytest.raises(TerminalEnded, match="has ended, or cannot be confirmed") as ended:
            next(outputs)
        assert exit_of(ended.value) == Exit.NOT_ALLOWED
        assert time.monotonic() - began_s < 8
        terminal.close()
    reader = Client(stack.url, make_token(store, "ada", tenant_of(stack), scopes=("read",)))
    with reader, pytest.raises(NotAllowed, match="scope"):
        reader.terminal(running, service, SLEEP)


def test_a_terminal_ends_with_its_token_and_stands_in_the_audit_log(
    stack: Stack, store: PostgresStore, ada: Client, running: str
) -> None:
    text = make_token(store, "ada", tenant_of(stack))
    with Client(stack.url, text) as client:
        _, outputs = begun(client, running)
        ada.revoke_token(text.split("_")[1])
        with pytest.raises(TerminalEnded, match="has ended"):
            next(outputs)
    with Client(stack.url, stack.token) as admin:
        newest = until(lambda: _ended_entry(admin))
    assert newest.target.endswith(f"/executions/{running}/services/{running}.main.0.1/terminal")
    assert "here" not in str(newest)


def _ended_entry(admin: Client) -> AuditEntryView | None:
    """The newest terminal in the audit log, once its end is written."""
    found = [entry for entry in admin.admin.audit(user="ada", limit=20).entries if entry.action == "open_terminal"]
    return found[0] if found and "seconds" in found[0].changes else None


def test_killed_client_leaves_no_process(stack: Stack, ada: Client, running: str) -> None:
    command = [str(ZOE), "exec", running, "--", "sh", "-c", "echo here; sleep 613"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, env=own_environment(stack, ada)) as client:  # type: ignore[call-overload]
        try:
            assert client.stdout.readline() == b"here\n"
            until(lambda: _pids("sleep\x00613"))
        finally:
            client.kill()
    until(lambda: not _pids("sleep\x00613") and not _pids("backends.terminal.process"))


def test_refusals_come_before_anything_runs(stack: Stack, ada: Client, running: str) -> None:
    with pytest.raises(NotFound):
        ada.terminal(running, f"{running}.main.9.1", SLEEP)
    with pytest.raises(NotFound):
        ada.terminal("x1m7xhnzn3f4144", "x1m7xhnzn3f4144.main.0.1", SLEEP)
    assert process(stack, "exec", "x1m7xhnzn3f4144", "true").returncode == 3
    ada.cancel(running)
    until(lambda: ada.execution(running).state == "cancelled")
    with pytest.raises(NotFound, match="no running service"):
        ada.terminal(running, f"{running}.main.0.1", SLEEP)


def _pids(words: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            line = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if words.encode() in line and int(place.name) != os.getpid():
            found.append(int(place.name))
    return found


def _status_kib(name: str, pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text().partition(f"{name}:")[2].split()[0]
