"""Terminals in local services: permissions, transfer, and cleanup."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import IS_ROOT, LocalWorld, shell, start_of
from tests.support.terminals import Talk, all_closed, keep_open
from zoe_client.calls import frames
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.base import BackendError, ObservedState, TerminalRequest
from zoe_master.backends.local.supervisor import processes


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close what a test has opened."""
    with all_closed():
        yield


@pytest.fixture
def running(world: LocalWorld) -> Iterator[ServiceId]:
    service = "e.c.0.1"
    world.backend.start(start_of(shell("sleep 600"), service))
    world.until_state(service, ObservedState.READY)
    yield service
    world.until(lambda: not _of_terminals())


def _of_terminals() -> list[int]:
    return [pid for pid in processes.descendants(os.getpid()) if b"terminal.process" in _command_of(pid)]


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return b""


def opened(world: LocalWorld, service: ServiceId, *command: str, tty: bool = False) -> Talk:
    request = TerminalRequest(command, tty, 30, 100, "xterm")
    return Talk(world.backend.terminal(service, request))


def test_a_command_runs_as_the_service_does(world: LocalWorld, running: ServiceId) -> None:
    spec = json.loads((world.settings.state_dir / "services" / running / "start.json").read_text())
    facts = "id -u; pwd; echo $ZOE_SERVICE_ID; grep NoNewPrivs /proc/self/status; cat /proc/self/cgroup"
    script = f"{facts}; echo bad >&2; exit 7"
    talk = opened(world, running, "sh", "-c", script)
    assert talk.until_end() == {"exit_code": 7, "message": ""}
    uid, place, service, privileges, *groups = talk.texts[frames.OUTPUT].decode().splitlines()
    assert (int(uid), place, service) == ((spec["user"] or {"uid": os.geteuid()})["uid"], spec["work_dir"], running)
    assert privileges.split() == ["NoNewPrivs:", "1"]
    assert talk.texts[frames.ERRORS] == b"bad\n"
    if spec["cgroup"]:
        assert any(line.endswith(f"/{running}") for line in groups)
    assert not IS_ROOT or int(uid) != 0


def test_bytes_pass_unchanged_and_the_end_of_input_is_said(world: LocalWorld, running: ServiceId) -> None:
    data = bytes(range(256)) * 4096
    talk = opened(world, running, "cat")
    sent = 0
    while talk.taken < len(data):
        while sent < len(data) and sent - talk.taken + 4096 <= frames.WINDOW:
            talk.send(frames.INPUT + data[sent : sent + 4096])
            sent += 4096
        talk.turn()
    talk.send(frames.INPUT_END)
    assert talk.until_end()["exit_code"] == 0
    assert talk.texts[frames.OUTPUT] == data


def test_a_terminal_has_a_size_and_passes_interrupts_on(world: LocalWorld, running: ServiceId) -> None:
    script = "trap 'echo caught' INT; stty size; tty; echo $TERM; while :; do sleep 0.1; stty size; done"
    talk = opened(world, running, "sh", "-c", script, tty=True)
    talk.until(b"30 100\r\n/dev/pts/")
    talk.send(frames.SIZE + b"\x00\x28\x00\x78")
    talk.until(b"40 120")
    talk.send(frames.INPUT + b"\x03")
    talk.until(b"caught")
    assert b"xterm" in talk.texts[frames.OUTPUT]
    talk.socket.close()


def test_reader_that_stops_does_not_grow_buffers(world: LocalWorld, running: ServiceId) -> None:
    talk = opened(world, running, "yes")
    talk.takes = False
    while len(talk.texts[frames.OUTPUT]) < frames.WINDOW:
        talk.turn()
    talk.socket.settimeout(1)
    with suppress(TimeoutError):
        while talk.turn():
            pass
    assert len(talk.texts[frames.OUTPUT]) < frames.WINDOW + frames.CONTENT_MAX
    [pid] = _of_terminals()
    assert "VmRSS:" in (status := Path(f"/proc/{pid}/status").read_text())
    assert int(status.partition("VmRSS:")[2].split()[0]) < 32 * 1024
    talk.socket.close()


def test_more_input_than_the_window_ends_it(world: LocalWorld, running: ServiceId) -> None:
    talk = opened(world, running, "sleep", "600")
    in_pipe = 2**16  # taken, though the command reads nothing
    with suppress(ConnectionResetError, BrokenPipeError):
        for _ in range((frames.WINDOW + in_pipe) // frames.CONTENT_MAX + 2):
            talk.send(frames.INPUT + b"x" * frames.CONTENT_MAX)
        while talk.turn():
            pass


def test_a_stranger_does_not_get_in_and_keeps_nobody_out(world: LocalWorld, running: ServiceId) -> None:
    endpoint = world.backend.terminal(running, TerminalRequest(("echo", "in")))
    keep_open(*(socket.create_connection((endpoint.host, endpoint.port)) for _ in range(3)))
    assert not Talk(endpoint, "0" * len(endpoint.secret)).turn()
    right = Talk(endpoint)
    assert right.until_end()["exit_code"] == 0
    with pytest.raises(ConnectionRefusedError):
        Talk(endpoint)


def test_cut_terminal_leaves_no_process(world: LocalWorld, running: ServiceId) -> None:
    script = "trap '' HUP TERM; (setsid sh -c 'trap \"\" HUP; sleep 611' &); echo $$; sleep 612"
    talk = opened(world, running, "sh", "-c", script, tty=True)
    talk.until(b"\r\n")
    left = processes.descendants(_of_terminals()[0])
    assert len(left) >= 2
    talk.socket.close()
    world.until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))


def test_a_terminal_ends_with_its_service_and_with_its_master(world: LocalWorld, running: ServiceId) -> None:
    talk = opened(world, running, "sh", "-c", "echo here; sleep 600")
    talk.until(b"here")
    world.backend.stop([running])
    assert talk.until_end()["exit_code"] in (None, 137)
    world.ended(running)
    with pytest.raises(BackendError, match="is not running"):
        opened(world, running, "true")


def test_a_closed_back_end_leaves_no_terminal(world: LocalWorld, running: ServiceId) -> None:
    talk = opened(world, running, "sleep", "600")
    world.close()
    with suppress(ConnectionResetError):
        while talk.turn():
            pass
    assert _of_terminals() == []


def test_terminals_are_bounded(world: LocalWorld) -> None:
    world.settings = replace(world.settings, terminals_max=1)
    world.backend.start(start_of(shell("sleep 600"), "e.c.0.1"))
    world.until_state("e.c.0.1", ObservedState.READY)
    talk = opened(world, "e.c.0.1", "sleep", "600")
    with pytest.raises(BackendError, match="maximum"):
        opened(world, "e.c.0.1", "true")
    talk.socket.close()
