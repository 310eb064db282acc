"""Terminals in containers of real engines: transfer, users, and cleanup."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.local.support import component
from tests.support.images import provide
from tests.support.needs import need_program
from tests.support.swarm_backend import SwarmHarness, small
from tests.support.terminals import Talk, all_closed
from tests.support.waiting import until
from tests.swarm.cluster import Cluster
from zoe_cli.commands.inside import ssh_keys, ssh_server
from zoe_client.calls import frames
from zoe_lib.domain.executions.execution import ServiceId
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import BackendError, ObservedState, TerminalRequest
from zoe_master.backends.local.supervisor import processes

SERVICE: ServiceId = "e.c.0.1"


@pytest.fixture(scope="module")
def shared(swarm: Cluster) -> Iterator[SwarmHarness]:
    """A back-end with one service, for all tests of this module."""
    made = SwarmHarness(swarm, images=("shell", "shell-less", "zoe/*"))
    made.start(small("exec sleep 600", work_dir="{scratch}/here", environment=(("WORD", "said"),)), SERVICE)
    made.reach(SERVICE, ObservedState.READY)
    yield made
    made.finish()


@pytest.fixture
def running(shared: SwarmHarness) -> Iterator[SwarmHarness]:
    """The back-end; nothing may be left of a test's terminals."""
    with all_closed():
        yield shared
    until(lambda: not _of_terminals())
    until(lambda: not inside(shared), lambda: inside(shared))


def _of_terminals() -> list[int]:
    return [pid for pid in processes.descendants(os.getpid()) if b"terminal.process" in _command_of(pid)]


def _command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def opened(harness: SwarmHarness, *command: str, tty: bool = False, service: ServiceId = SERVICE) -> Talk:
    return Talk(harness.backend.terminal(service, TerminalRequest(command, tty, 30, 100, "xterm")))


def inside(harness: SwarmHarness) -> list[str]:
    """The commands that run in the container, but for its init and the service itself."""
    api: Any = harness.cluster.manager.api
    [container] = api.containers(filters={"label": "zoe.execution=e"})
    found = [" ".join(process) for process in api.top(container["Id"], ps_args="-eo pid,args")["Processes"]]
    return [line.partition(" ")[2] for line in found if "docker-init" not in line and "sleep 600" not in line]


def test_a_command_runs_as_the_service_does(running: SwarmHarness) -> None:
    facts = "id -u; pwd; echo $WORD $HOME; grep -E 'CapEff|NoNewPrivs' /proc/self/status; hostname"
    talk = opened(running, "sh", "-c", f"{facts}; echo bad >&2; exit 7")
    assert talk.until_end() == {"exit_code": 7, "message": ""}
    uid, place, words, capabilities, privileges, host = talk.texts[frames.OUTPUT].decode().splitlines()
    assert (uid, place, words, host) == ("65534", "/tmp/here", "said /tmp", "c-0")
    assert (capabilities.split()[1], privileges.split()[1]) == ("0" * 16, "1")
    assert talk.texts[frames.ERRORS] == b"bad\n"
    missing = opened(running, "no-such-program")
    assert missing.until_end()["exit_code"] == 127
    assert b"cannot run 'no-such-program'" in missing.texts[frames.ERRORS]


def test_bytes_pass_unchanged_and_the_end_of_input_is_said(running: SwarmHarness) -> None:
    data = bytes(range(256)) * 4096
    talk = opened(running, "cat")
    sent = 0
    while talk.taken < len(data):
        while sent < len(data) and sent - talk.taken + 4096 <= frames.WINDOW:
            talk.send(frames.INPUT + data[sent : sent + 4096])
            sent += 4096
        talk.turn()
    talk.send(frames.INPUT_END)
    assert talk.until_end()["exit_code"] == 0
    assert talk.texts[frames.OUTPUT] == data


def test_a_terminal_has_a_size_and_passes_interrupts_on(running: SwarmHarness) -> None:
    script = "trap 'echo caught' INT; stty size; tty; echo $TERM; while :; do sleep 0.1; stty size; done"
    talk = opened(running, "sh", "-c", script, tty=True)
    talk.until(b"30 100\r\n/dev/pts/")
    talk.send(frames.SIZE + b"\x00\x28\x00\x78")
    talk.until(b"40 120")
    talk.send(frames.INPUT + b"\x03")
    talk.until(b"caught")
    assert b"xterm\r\n" in talk.texts[frames.OUTPUT]
    talk.socket.close()


def test_keys_that_engines_take_for_themselves_reach_the_program(running: SwarmHarness) -> None:
    talk = opened(running, "sh", "-c", "stty raw -echo; echo go; od -An -tx1 -N4", tty=True)
    talk.until(b"go")
    talk.send(frames.INPUT + b"\x10\x11\x00x")
    assert talk.until_end()["exit_code"] == 0
    assert b"10 11 00 78" in talk.texts[frames.OUTPUT]


def test_reader_that_stops_does_not_grow_buffers(running: SwarmHarness) -> None:
    talk = opened(running, "yes")
    talk.takes = False
    while len(talk.texts[frames.OUTPUT]) < frames.WINDOW:
        talk.turn()
    talk.socket.settimeout(1)
    with suppress(TimeoutError):
        while talk.turn():
            pass
    assert len(talk.texts[frames.OUTPUT]) < frames.WINDOW + frames.CONTENT_MAX
    [pid] = _of_terminals()
    status = Path(f"/proc/{pid}/status").read_text()
    assert int(status.partition("VmRSS:")[2].split()[0]) < 48 * 1024
    talk.socket.close()


def test_cut_terminal_leaves_no_process(running: SwarmHarness) -> None:
    hidden = "(setsid env -i sleep 611 &); (setsid sh -c 'trap \"\" HUP; sleep 612' &)"
    talk = opened(running, "sh", "-c", f"trap '' HUP TERM; {hidden}; echo begun; sleep 613", tty=True)
    talk.until(b"begun\r\n")
    until(lambda: sum("sleep 61" in line for line in inside(running)) >= 3)
    talk.socket.close()
    until(lambda: not inside(running))
    assert running.seen(SERVICE).state is ObservedState.READY  # type: ignore[union-attr]


def test_background_process_ends_with_its_terminal(running: SwarmHarness) -> None:
    talk = opened(running, "sh", "-c", "setsid sleep 611 & echo begun; exit 3")
    assert talk.until_end()["exit_code"] == 3
    talk.socket.close()
    until(lambda: not inside(running))


def test_a_terminal_ends_with_its_service(running: SwarmHarness) -> None:
    other = running.start(small("exec sleep 600"), "f.c.0.1")
    running.reach(other, ObservedState.READY)
    talk = opened(running, "sh", "-c", "echo here; sleep 600", service=other)
    talk.until(b"here")
    running.backend.stop([other])
    assert talk.until_end()["exit_code"] in (None, 137)
    running.reach(other, ObservedState.ENDED)
    with pytest.raises(BackendError, match="is not running"):
        opened(running, "true", service=other)


def test_a_terminal_ends_with_its_back_end(running: SwarmHarness) -> None:
    talk = opened(running, "sleep", "611")
    until(lambda: inside(running))
    running.reopen()
    with suppress(ConnectionResetError):
        while talk.turn():
            pass
    assert _of_terminals() == []
    assert inside(running) == []


def test_a_new_back_end_ends_what_a_killed_one_left(running: SwarmHarness) -> None:
    talk = opened(running, "sh", "-c", "(setsid sleep 611 &); sleep 612")
    until(lambda: len(inside(running)) >= 2)
    [pid] = _of_terminals()
    os.kill(pid, 9)
    with suppress(ConnectionResetError):
        while talk.turn():
            pass
    assert len(inside(running)) >= 2
    running.reopen()
    assert running.backend is not None
    until(lambda: not inside(running))


def test_an_image_without_a_shell_is_refused(running: SwarmHarness) -> None:
    api: Any = running.cluster.manager.api
    made = api.create_container("shell", ["rm", "/bin/sh"])["Id"]
    api.start(made)
    api.wait(made)
    api.commit(made, "shell-less", "latest")
    api.remove_container(made)
    try:
        bare = component("shell-less", ("/bin/sleep", "600"), reservation=Resources(50, 32 * 2**20))
        running.start(bare, "g.c.0.1")
        running.reach("g.c.0.1", ObservedState.READY)
        end = opened(running, "sleep", "1", service="g.c.0.1").until_end()
        assert end["exit_code"] is None
        assert "has no /bin/sh" in str(end["message"])
    finally:
        running.backend.stop(["g.c.0.1"])
        running.reach("g.c.0.1", ObservedState.ENDED)
        running.backend.forget(["g.c.0.1"])
        running.until(lambda: not api.containers(all=True, filters={"label": "zoe.execution=g"}))
        api.remove_image("shell-less", force=True)


def test_terminals_are_bounded_and_listen_where_the_master_does(running: SwarmHarness) -> None:
    running.reopen()
    running.settings = replace(running.settings, terminals_max=1, terminals_host="0.0.0.0")
    endpoint = running.backend.terminal(SERVICE, TerminalRequest(("sleep", "611")))
    assert endpoint.host == ""
    talk = Talk(replace(endpoint, host="127.0.0.1"))
    with pytest.raises(BackendError, match="maximum"):
        opened(running, "true")
    talk.socket.close()
    until(lambda: not _of_terminals())
    running.reopen()
    running.settings = replace(running.settings, terminals_max=64, terminals_host="127.0.0.1")


def test_an_image_without_sshd_says_what_to_install(running: SwarmHarness) -> None:
    talk = opened(running, "/bin/sh", "-c", ssh_server.CHECK)
    assert talk.until_end()["exit_code"] == 127
    assert b"install openssh-server in its image" in talk.texts[frames.ERRORS]


def test_ssh_reaches_a_container_whose_image_has_sshd(running: SwarmHarness, swarm: Cluster, tmp_path: Path) -> None:
    need_program("ssh")
    provide(swarm, "zoe/mpi")
    mpi = component("zoe/mpi", ("sleep", "600"), environment=(("WORD", "said twice"),))
    running.start(replace(mpi, reservation=Resources(50, 64 * 2**20)), "h.c.0.1")
    running.reach("h.c.0.1", ObservedState.READY)
    check = opened(running, "/bin/sh", "-c", ssh_server.CHECK, service="h.c.0.1")
    assert check.until_end()["exit_code"] == 0
    user = check.texts[frames.OUTPUT].decode().strip()
    ssh_keys.make_keys(tmp_path, "held")
    first = tmp_path / "first"
    first.write_bytes(ssh_server.set_up((tmp_path / "key.pub").read_text(), (tmp_path / "host").read_text()))
    at = running.backend.terminal("h.c.0.1", TerminalRequest(("/bin/sh", "-c", ssh_server.SERVE)))
    proxy = [sys.executable, "-m", "tests.support.terminals", at.host, str(at.port), at.secret, str(first)]
    config = ssh_keys.write_configuration(tmp_path, ssh_keys.configuration(tmp_path, "held", user, proxy))
    script = 'echo "$WORD"; hostname; cat; exit 7'
    done = subprocess.run(
        ["ssh", "-F", config, "held", script], input=b"typed", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (7, b"said twice\nc-0\ntyped"), done
    running.backend.stop(["h.c.0.1"])
