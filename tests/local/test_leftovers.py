"""Nothing of a service goes on after its end, however it tries."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, needs_cgroups, python, shell, wait_until
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.supervisor import processes

# A daemon by the book: forked twice, in a session of its own, deaf to requests, printing its pid.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {clear}
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(1000)
    os._exit(0)
os.wait()
{then}
"""
CLEAR = "os.execve(sys.executable, [sys.executable, '-c', {program!r}], {{}})"
CLEARED_PROGRAM = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "os.write(1, b'%d\\n' % os.getpid()); time.sleep(1000)"
)
STAYS = "time.sleep(1000)"


def daemon(then: str, *, cleared: bool = False) -> str:
    clear = CLEAR.format(program=CLEARED_PROGRAM) if cleared else "pass"
    return DAEMON.format(clear=clear, then=then).replace("{", "{{").replace("}", "}}")


def printed_pids(world: LocalWorld, service: str, count: int) -> list[int]:
    world.until(lambda: world.output(service).count("\n") >= count)
    return [int(line) for line in world.output(service).split()]


def is_alive(pid: int) -> bool:
    process = processes.read_process(pid)
    return process is not None and process.state != "Z"


@pytest.mark.parametrize("cleared", [False, True])
def test_daemons_go_with_the_component(either_world: LocalWorld, cleared: bool) -> None:
    service = either_world.start(python(daemon("time.sleep(0.3); sys.exit(4)", cleared=cleared)))
    [pid] = printed_pids(either_world, service, 1)
    assert either_world.ended(service).exit_code == 4
    assert not is_alive(pid)


def test_daemons_go_with_a_stop(either_world: LocalWorld) -> None:
    service = either_world.start(python(daemon(STAYS, cleared=True)))
    [pid] = printed_pids(either_world, service, 1)
    either_world.backend.stop([service])
    assert either_world.ended(service).cause is Cause.STOPPED
    assert not is_alive(pid)


def test_a_growing_crowd_of_children_is_ended(either_world: LocalWorld) -> None:
    """Every child forks on until there are many, all deaf; then the component exits."""
    program = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(5):
    os.fork()
os.write(1, b"%d\\n" % os.getpid())
while True:
    if os.fork() == 0:
        time.sleep(0.05)
        os._exit(0)
    time.sleep(0.01)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]: pass
    except ChildProcessError:
        pass
"""
    service = either_world.start(python(program, stop_grace_s=0.1))
    pids = printed_pids(either_world, service, 32)
    either_world.backend.stop([service])
    assert either_world.ended(service).exit_code == 137
    assert not [pid for pid in pids if is_alive(pid)]


def supervisor_of(world: LocalWorld, service: str) -> int:
    record = world.backend._records[service]
    assert record.status is not None
    pid: int = record.status["shim_pid"]
    return pid


@pytest.mark.parametrize("child", [True, False], ids=["own supervisor", "adopted supervisor"])
def test_a_component_does_not_outlive_its_supervisor(either_world: LocalWorld, child: bool) -> None:
    world = either_world
    service = world.start(python(daemon("os.write(1, b'%d\\n' % os.getpid()); time.sleep(1000)")))
    pids = printed_pids(world, service, 2)
    world.until_state(service, ObservedState.READY)
    if not child:
        world.close()
        world.until_state(service, ObservedState.READY)
    os.kill(supervisor_of(world, service), signal.SIGKILL)
    found = world.ended(service)
    assert (found.cause, found.exit_code) == (Cause.KILLED, 137)
    assert "supervisor" in found.message
    assert not [pid for pid in pids if is_alive(pid)]
    assert not (world.settings.scratch_dir / service).exists()


def test_in_a_control_group_nothing_outlives_the_supervisor_even_unmarked(world: LocalWorld) -> None:
    needs_cgroups()
    service = world.start(python(daemon(STAYS, cleared=True)))
    [pid] = printed_pids(world, service, 1)
    world.until_state(service, ObservedState.READY)
    os.kill(supervisor_of(world, service), signal.SIGKILL)
    assert world.ended(service).cause is Cause.KILLED
    assert not is_alive(pid)
    assert not world.control_groups()


def test_a_supervisor_killed_while_nobody_looks_is_found_later(either_world: LocalWorld) -> None:
    world = either_world
    service = world.start(shell("exec sleep 1000"))
    world.until_state(service, ObservedState.READY)
    supervisor = supervisor_of(world, service)
    world.close()
    os.kill(supervisor, signal.SIGKILL)
    assert world.ended(service).cause is Cause.KILLED


def test_a_supervisor_asked_to_end_by_others_ends_its_service_and_says_so(world: LocalWorld) -> None:
    service = world.start(shell("exec sleep 1000"))
    world.until_state(service, ObservedState.READY)
    os.kill(supervisor_of(world, service), signal.SIGTERM)
    found = world.ended(service)
    assert (found.cause, found.exit_code) == (Cause.KILLED, 143)


def test_a_supervisor_whose_directory_was_removed_ends_when_it_is_asked_to(either_world: LocalWorld) -> None:
    """It keeps writing the end of its service only as long as the record could be read."""
    world = either_world
    service = world.start(shell("echo $$; exec sleep 1000"))
    [pid] = printed_pids(world, service, 1)
    world.until_state(service, ObservedState.READY)
    supervisor = supervisor_of(world, service)
    world.close()
    while world.settings.state_dir.exists():  # the supervisor writes its record meanwhile
        shutil.rmtree(world.settings.state_dir, ignore_errors=True)
    os.kill(supervisor, signal.SIGTERM)
    wait_until(lambda: not is_alive(pid) and not is_alive(supervisor), world.waker)


def test_the_end_leaves_no_supervisor_and_no_zombie(world: LocalWorld) -> None:
    service = world.start(shell("exit 0"))
    world.ended(service)
    supervisor = supervisor_of(world, service)
    wait_until(lambda: not Path(f"/proc/{supervisor}").exists(), world.waker)


@pytest.mark.parametrize("killed", [False, True])
def test_files_in_the_scratch_directory_are_named_as_it_is_removed(world: LocalWorld, killed: bool) -> None:
    then = "echo $$; exec sleep 1000" if killed else "exit 3"
    service = world.start(shell(f"cd {{scratch}}; mkdir .cache out; echo 12345 > out/part; echo 1 > model; {then}"))
    if killed:
        printed_pids(world, service, 1)
        os.kill(supervisor_of(world, service), signal.SIGKILL)
    found = world.ended(service)
    assert (found.message == "", found.left_files) == (not killed, "out/ (1 file, 6 B), model (2 B)")
