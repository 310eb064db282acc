"""What a back-end finds when it comes back."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.local.support import DEADLINE_S, LocalWorld, server, shell, start_of, wait_until
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.services.launch import ForkServer
from zoe_master.backends.local.services.records import new_record
from zoe_master.backends.local.services.specification import specify
from zoe_master.backends.local.supervisor import files, processes

REPOSITORY = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from tests.local.support import LocalWorld, shell, server
from zoe_master.backends.base import ObservedState
world = LocalWorld(Path(sys.argv[1]))
world.start(server(), "e.c.0.1")
world.start(shell("while [ ! -e {workspace}/go ]; do sleep 0.02; done; exit 9"), "e.c.1.1")
world.until_state("e.c.0.1", ObservedState.READY)
world.until_state("e.c.1.1", ObservedState.READY)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(world: LocalWorld) -> Iterator[subprocess.Popen[str]]:
    """Another process whose back-end runs two services."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY), *sys.path))}
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(world.base)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_after_sigkill_of_the_master_everything_is_adopted(world: LocalWorld) -> None:
    with holder(world) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
    before = {o.service_id: o for o in world.backend.observe()}
    assert before["e.c.0.1"].state is ObservedState.READY
    assert before["e.c.1.1"].state is ObservedState.READY
    (world.settings.workspaces_dir / "tenant" / "ann" / "go").touch()
    assert world.ended("e.c.1.1").exit_code == 9
    world.backend.stop(["e.c.0.1"])
    assert world.ended("e.c.0.1").cause is Cause.STOPPED


def test_an_end_while_no_backend_lives_is_found_with_its_exit_code(world: LocalWorld) -> None:
    with holder(world) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(DEADLINE_S)
    (world.settings.workspaces_dir / "tenant" / "ann" / "go").touch()
    status = world.base / "state" / "services" / "e.c.1.1" / files.STATUS
    until_file_says(world, status, "ended")
    found = next(o for o in world.backend.observe() if o.service_id == "e.c.1.1")
    assert (found.state, found.exit_code, found.cause) == (ObservedState.ENDED, 9, Cause.EXITED)


def until_file_says(world: LocalWorld, path: Path, state: str) -> None:
    wait_until(lambda: (files.read_json(str(path)) or {}).get("state") == state, world.waker)


def test_written_but_unbegun_service_is_begun(world: LocalWorld) -> None:
    start = start_of(shell("echo once; exit 3"))
    world.backend.observe()
    spec = specify(start, world.backend._layout.around)
    directory = world.backend._layout.service(start.service_id)
    world.close()
    directory.mkdir()
    files.write_json(str(directory / files.START), dict(spec))
    assert world.ended(start.service_id).exit_code == 3
    world.backend.start(start)
    assert world.output(start.service_id) == "once\n"


def test_service_with_an_empty_directory_can_be_started(world: LocalWorld) -> None:
    world.backend.observe()
    world.close()
    (world.base / "state" / "services" / "e.c.0.1").mkdir()
    assert world.backend.observe() == []
    service = world.start(shell("exit 3"))
    assert world.ended(service).exit_code == 3


def test_two_supervisors_run_a_service_once(world: LocalWorld) -> None:
    service = world.start(shell("echo once; exec sleep 1000"))
    world.until_state(service, ObservedState.READY)
    with closing(ForkServer()) as server:
        second = server.launch(world.backend._layout.service(service))
        world.until(lambda: second.has_ended)
    assert world.output(service) == "once\n"


def test_after_a_reboot_services_are_lost(world: LocalWorld) -> None:
    service = world.start(shell("exec sleep 1000"))
    world.until_state(service, ObservedState.READY)
    world.backend.stop([service])
    world.ended(service)
    world.close()
    directory = world.base / "state" / "services" / service
    rewrite(directory / files.START, boot_id="another")
    rewrite(directory / files.STATUS, boot_id="another", state="ready")
    scratch = world.settings.scratch_dir / service
    wait_until(lambda: not scratch.exists(), world.waker)
    scratch.mkdir()
    found = world.until_state(service, ObservedState.LOST)
    assert "restarted" in found.message
    assert not scratch.exists()
    world.backend.forget([service])
    assert world.seen(service) is None


def rewrite(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_reused_pid_is_not_mistaken_for_a_supervisor(world: LocalWorld) -> None:
    """The status names a process that lives but is another one: it must be left alone."""
    service = world.start(shell("exec sleep 1000"))
    world.until_state(service, ObservedState.READY)
    record = world.backend._records[service]
    assert record.status is not None
    supervisor = record.status["shim_pid"]
    world.close()
    os.kill(supervisor, signal.SIGKILL)
    began = record.status["pid_start_ticks"] / processes.CLOCK_TICKS_PER_S
    wait_until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) > began + 0.1, world.waker)
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as stranger:
        try:
            status = world.base / "state" / "services" / service / files.STATUS
            rewrite(status, shim_pid=stranger.pid, pid=stranger.pid)
            assert world.ended(service).cause is Cause.KILLED
            assert stranger.poll() is None
            assert processes.start_ticks(stranger.pid) is not None
        finally:
            stranger.kill()


def test_a_stop_asked_before_a_restart_holds(world: LocalWorld) -> None:
    service = world.start(server())
    world.until_state(service, ObservedState.READY)
    world.close()
    (world.base / "state" / "services" / service / files.STOP).touch()
    assert world.ended(service).cause is Cause.STOPPED


def test_service_forgotten_by_another_master_is_not_run_again(world: LocalWorld) -> None:
    """A deposed master wakes up: it has looked for the service, and the new one forgets it before the first hands over.

    The window is short, so the worker is asked as if its back-end had looked before.
    """
    lines = world.settings.workspaces_dir / "tenant" / "ann" / "lines"
    component = shell("echo ran >> {workspace}/lines")
    service = world.start(component)
    world.ended(service)
    world.backend.forget([service])
    world.until(lambda: not (world.base / "state" / "services" / service).exists())
    late = new_record(start_of(component), world.base / "state" / "services" / service)
    world.backend._worker.start(late, start_of(component))
    assert late.final
    assert late.forgotten
    assert late.child is None
    assert not late.directory.exists()
    assert lines.read_text() == "ran\n"
    assert world.backend.logs(service, 0, 100).complete


@contextmanager
def another_master(world: LocalWorld) -> Iterator[LocalWorld]:
    """A back-end on the same directories, as a deposed master has that does not know it yet."""
    other = LocalWorld(world.base)
    assert other.backend.observe() == []
    try:
        yield other
    finally:
        other.close()


def test_unbegun_service_is_left_to_the_next_back_end(world: LocalWorld) -> None:
    """The next master may have ended it by then."""
    go_on = threading.Event()
    for _ in range(world.settings.workers):
        world.backend._pool.submit(go_on.wait)
    service = world.start(shell("exit 0"))
    closing = threading.Thread(target=world.close)
    closing.start()
    world.until(world.backend._closing.is_set)
    go_on.set()
    closing.join()
    assert not (world.base / "state" / "services" / service).exists()
    assert world.seen(service) is None


def test_service_stopped_before_another_master_begins_it_never_runs(world: LocalWorld) -> None:
    with another_master(world) as deposed:
        world.backend.stop(["e.c.0.1", "../e"])
        deposed.start(shell("echo ran"), "e.c.0.1")
        deposed.until(lambda: deposed.seen("e.c.0.1") is None)
        assert world.backend.logs("e.c.0.1", 0, 100).complete
        assert world.output("e.c.0.1") == ""


def test_service_stopped_while_another_master_begins_it_never_runs(world: LocalWorld) -> None:
    """The deposed master has looked for a refusal; the rest of its work follows when it wakes up."""
    component = shell("echo ran")
    assert world.backend.observe() == []
    with another_master(world) as deposed:
        late = new_record(start_of(component), world.base / "state" / "services" / "e.c.0.1")
        late.directory.mkdir()
        world.backend.stop(["e.c.0.1"])
        spec = specify(start_of(component), deposed.backend._layout.around)
        files.write_json(str(late.directory / files.START), dict(spec))
        deposed.backend._worker.launch(late)
        ended = world.ended("e.c.0.1")
        assert (ended.cause, ended.started_at_s) == (Cause.STOPPED, None)
        assert world.output("e.c.0.1") == ""
        world.backend.forget(["e.c.0.1"])
        world.until(lambda: not late.directory.exists())


def test_a_full_disk_does_not_keep_a_stop_from_being_known(world: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be written and nothing made, as on a file system whose last block and inode are taken."""
    component, state = shell("echo ran"), world.base / "state"
    assert world.backend.observe() == []
    with another_master(world) as deposed, monkeypatch.context() as full:
        late = new_record(start_of(component), state / "services" / "e.c.0.1")
        late.directory.mkdir()
        full.setattr(Path, "mkdir", no_space)
        full.setattr(Path, "touch", no_space)
        full.setattr(files, "write_json", no_space)
        world.backend.stop(["e.c.0.1"])
        full.undo()
        assert (state / "kept" / "e.c.0.1").is_dir()
        spec = specify(start_of(component), deposed.backend._layout.around)
        files.write_json(str(late.directory / files.START), dict(spec))
        deposed.backend._worker.launch(late)
        assert world.ended("e.c.0.1").cause is Cause.STOPPED
        assert world.output("e.c.0.1") == ""


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "no space left on device")


def test_service_begun_late_by_another_master_can_be_stopped(world: LocalWorld) -> None:
    assert world.backend.observe() == []
    with another_master(world) as deposed:
        deposed.start(shell("exec sleep 1000"), "e.c.0.1")
        deposed.until_state("e.c.0.1", ObservedState.READY)
        world.until_state("e.c.0.1", ObservedState.READY)
        world.backend.stop(["e.c.0.1"])
        assert world.ended("e.c.0.1").cause is Cause.STOPPED


def test_directory_that_another_master_abandoned_is_removed(world: LocalWorld) -> None:
    made = world.base / "state" / "services" / "e.c.0.1"
    assert world.backend.observe() == []
    made.mkdir()
    world.backend.stop(["e.c.0.1"])
    os.utime(made, (0, 0))
    world.until(lambda: not made.exists())
