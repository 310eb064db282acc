"""What the back-end does when its own files or supervisors are not as they should be."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, shell, start_of
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import BackendError, ObservedState
from zoe_master.backends.local.services import launch
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.services.kept_logs import BYTES_MIN


def test_a_supervisor_that_cannot_begin_is_a_failed_start(world: LocalWorld) -> None:
    directory = world.base / "state" / "services" / "e.c.0.1"
    assert world.backend.observe() == []
    directory.mkdir()
    (directory / files.OUTPUT).touch()
    found = world.ended(world.start(shell("true"), directory.name))
    assert (found.cause, found.exit_code) == (Cause.START_FAILED, None)
    assert "FileExistsError" in found.message


def test_a_fork_server_that_ends_at_once_is_a_failed_start(world: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_PROGRAM", "raise SystemExit('no luck: {path!r}')")
    found = world.ended(world.start(shell("true")))
    assert (found.cause, found.exit_code) == (Cause.START_FAILED, None)
    assert "cannot start its supervisor" in found.message


def test_a_fork_server_that_hangs_is_replaced(world: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_ANSWER_S", 1.0)
    assert world.ended(world.start(shell("exit 3"), "e.first.0.1")).exit_code == 3
    server = world.backend._worker._fork_server._pid
    os.kill(server, signal.SIGSTOP)
    assert world.ended(world.start(shell("exit 4"), "e.second.0.1")).exit_code == 4
    assert world.backend._worker._fork_server._pid != server


def test_services_go_on_and_new_ones_start_after_the_fork_server_was_killed(world: LocalWorld) -> None:
    first = world.start(shell("exec sleep 1000"), "e.first.0.1")
    world.until_state(first, ObservedState.READY)
    server = world.backend._worker._fork_server._pid
    os.kill(server, signal.SIGKILL)
    assert world.ended(world.start(shell("exit 3"), "e.second.0.1")).exit_code == 3
    assert world.backend._worker._fork_server._pid != server
    assert world.seen(first) is not None
    world.backend.stop([first])
    assert world.ended(first).cause is Cause.STOPPED


def test_an_interpreter_that_is_gone_is_a_failed_start(world: LocalWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoe_master.backends.local.services.launch.sys.executable", "/no/python")
    found = world.ended(world.start(shell("true")))
    assert found.cause is Cause.START_FAILED
    assert "cannot start its supervisor" in found.message


def test_one_broken_status_does_not_hide_the_others(world: LocalWorld) -> None:
    world.start(shell("exec sleep 1000"), "e.broken.0.1")
    world.until_state("e.broken.0.1", ObservedState.READY)
    status = world.base / "state" / "services" / "e.broken.0.1" / files.STATUS
    whole = status.read_text()
    status.write_text('{"state": "nonsense"}')
    world.start(shell("exit 3"), "e.c.0.1")
    assert world.ended("e.c.0.1").exit_code == 3
    status.write_text(whole)
    world.backend.stop(["e.broken.0.1"])
    assert world.ended("e.broken.0.1").cause is Cause.STOPPED


def test_a_directory_taken_away_loses_the_service(world: LocalWorld) -> None:
    service = world.start(shell("exit 3"))
    world.ended(service)
    world.until(lambda: not any(world.settings.scratch_dir.iterdir()))
    record = world.backend._records[service]
    shutil.rmtree(record.directory)
    world.backend.forget([service])
    assert world.seen(service) is None


@pytest.mark.parametrize("service", ["../x", "a/b.c.0.1", "", "-.c.0.1", "x" * 300])
def test_hostile_ids_are_refused(world: LocalWorld, service: str) -> None:
    with pytest.raises(BackendError):
        world.backend.start(replace(start_of(shell("true")), service_id=service))
    with pytest.raises(BackendError):
        world.backend.logs(service, 0, 1)


def test_relative_settings_work(monkeypatch: pytest.MonkeyPatch) -> None:
    made = LocalWorld()
    monkeypatch.chdir(made.base)
    names = ("state", "scratch", "workspaces", "volumes")
    made.settings = replace(made.settings, **{f"{name}_dir": Path(name) for name in names})
    service = made.start(shell("pwd"))
    assert made.ended(service).exit_code == 0
    assert made.output(service).strip() == str(made.base / "scratch" / service)
    made.settings = replace(made.settings, **{f"{name}_dir": made.base / name for name in names})
    made.finish()


def test_kept_output_is_bounded(world: LocalWorld) -> None:
    world.settings = replace(world.settings, kept_logs_bytes_max=2 * BYTES_MIN)
    services = [f"e.c.{index}.1" for index in range(4)]
    for service in services:  # one after the other, so that they end in this order
        world.start(shell("echo x"), service)
        world.ended(service)
        world.backend.forget([service])
        world.until(lambda service=service: not world.backend._layout.service(service).exists())
    assert world.backend.prune_logs() == 2
    kept = [service for service in services if world.backend._layout.find(service)]
    assert kept == services[2:]


def test_kept_output_is_bounded_by_age(world: LocalWorld) -> None:
    world.settings = replace(world.settings, kept_logs_age_max_s=0.0)
    service = world.start(shell("echo x"))
    world.ended(service)
    world.backend.forget([service])
    world.until(lambda: not world.backend._layout.service(service).exists())
    assert world.backend.prune_logs() == 1
    assert world.backend._layout.find(service) is None
