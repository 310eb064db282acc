"""Volumes of blocks at the local back-end: real servers, loop devices and mounts."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.local.support import MIB, LocalWorld, needs_root, shell, start_of
from zoe_lib.domain.applications.application import Component, Volume
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import AttachedVolume, BackendError, ServiceVolumes
from zoe_master.backends.local.backend import why_no_volumes
from zoe_master.backends.local.supervisor.volumes import attachment, mounts

pytestmark = [
    needs_root,
    pytest.mark.skipif(bool(why_no_volumes()), reason=f"tool: volumes of blocks: {why_no_volumes()}"),
]
KEY = "0123456789abcdef" * 4
WRITE = 'echo "$0" > $ZOE_VOLUME_DATA/kept; sync -f $ZOE_VOLUME_DATA/kept; '


def mounting(script: str, **changes: object) -> Component:
    return shell(script, volumes=(Volume("/data", "data"),), **changes)


def begin(world: LocalWorld, component: Component, service: str, epoch: int, filters: tuple[str, ...] = ()) -> str:
    volumes = ServiceVolumes({"data": AttachedVolume("v1", epoch, filters, KEY)})
    world.backend.start(start_of(component, service, volumes=volumes))
    return service


def directory(world: LocalWorld) -> str:
    return str(world.settings.blocks_dir / "v1")


def nothing_is_left(world: LocalWorld) -> bool:
    there = directory(world)
    left = (*attachment.processes_of(there), *mounts.mounts_below(there), *mounts.loops_of(f"{there}/run/disk"))
    return not left and not list(Path(there, "run").iterdir())


def test_what_was_written_is_read_by_the_next_execution(world: LocalWorld) -> None:
    world.backend.make_volume("v1", 32 * MIB, ("rate=100000000", "luks"), KEY)
    stacked = ("rate=100000000", "luks")
    first = begin(world, mounting("df $ZOE_VOLUME_DATA; echo words > $ZOE_VOLUME_DATA/kept"), "a.c.0.1", 1, stacked)
    assert world.ended(first).exit_code == 0, world.output(first)
    assert "/dev/loop" in world.output(first)
    assert nothing_is_left(world)
    assert b"words" not in Path(directory(world), "data").read_bytes(), "it is encrypted"
    second = begin(world, mounting("cat $ZOE_VOLUME_DATA/kept"), "b.c.0.1", 2, stacked)
    assert world.ended(second).exit_code == 0
    assert world.output(second) == "words\n"
    world.backend.remove_volume("v1")
    assert not Path(directory(world)).exists()


@pytest.mark.parametrize("victim", ["server", "client", "component", "supervisor"])
def test_flushed_data_survives_a_kill_and_nothing_stays(world: LocalWorld, victim: str) -> None:
    world.backend.make_volume("v1", 32 * MIB, (), "")
    script = "echo words > $ZOE_VOLUME_DATA/kept; sync $ZOE_VOLUME_DATA/kept; echo flushed; sleep 1000"
    service = begin(world, mounting(script), "a.c.0.1", 1)
    world.until(lambda: "flushed" in world.output(service))
    status = world.backend._records[service].status or {}
    (server,), (client,) = attachment.holders(directory(world)), attachment.clients(directory(world))
    pids = {"server": server, "client": client, "component": status["pid"], "supervisor": status["shim_pid"]}
    os.kill(pids[victim], signal.SIGKILL)
    seen = world.ended(service)
    assert seen.cause is (Cause.KILLED if victim != "component" else Cause.EXITED)
    if victim in ("server", "client"):
        assert "the server of volume data has ended" in seen.message
    assert nothing_is_left(world)
    second = begin(world, mounting("cat $ZOE_VOLUME_DATA/kept"), "b.c.0.1", 2)
    assert world.ended(second).exit_code == 0
    assert world.output(second) == "words\n"


def test_an_older_epoch_is_refused(world: LocalWorld) -> None:
    world.backend.make_volume("v1", 32 * MIB, (), "")
    assert world.ended(begin(world, mounting("true"), "a.c.0.1", 2)).exit_code == 0
    late = world.ended(begin(world, mounting("true"), "b.c.0.1", 1))
    assert late.cause is Cause.START_FAILED
    assert late.message == "volume data: attachment 1 is fenced off: the volume has been attached again (2)"
    assert nothing_is_left(world)


def test_a_volume_is_never_smaller_than_its_size(world: LocalWorld) -> None:
    with pytest.raises(BackendError, match="the disk has no room for 1e\\+06 GiB"):
        world.backend.make_volume("v1", 10**6 << 30, (), "")
    assert not Path(directory(world)).exists()
