"""The limit of cores, where control groups let us set one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, needs_cgroups, python, start_of
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState

MIB = 2**20
BURN = """
import time
begin = time.monotonic()
while time.process_time() < 0.4: pass
print("took", time.monotonic() - begin, flush=True)
time.sleep(1000)
"""


def test_a_component_gets_no_more_than_its_limit_of_cores(world: LocalWorld) -> None:
    needs_cgroups()
    service = world.start(python(BURN, reservation=Resources(100, 64 * MIB), cores_limit_milli=200))
    world.until_state(service, ObservedState.READY)
    status = world.backend._records[service].status
    assert status is not None
    if status["cgroup"]["cpu"] is None:
        pytest.skip("privilege: no control group for cores may be made here")
    world.until(lambda: "took" in world.output(service))
    took_s = float(world.output(service).split()[1])
    # 0.4 s of a fifth of a core are 2 s; the first and last period are not paid in full.
    assert took_s > 1.5
    group = Path(status["cgroup"]["cpu"])
    world.backend.stop([service])
    world.ended(service)
    deadline_s = time.monotonic() + 10
    world.until(lambda: not group.exists() or time.monotonic() > deadline_s)
    assert not group.exists()


def test_without_a_limit_a_reservation_slows_nobody_down(world: LocalWorld) -> None:
    service = world.start(python("import time; time.sleep(1000)", reservation=Resources(100, 64 * MIB)))
    world.until_state(service, ObservedState.READY)
    status = world.backend._records[service].status
    assert status is not None
    if status["cgroup"] is not None and status["cgroup"]["version"] == 1 and status["cgroup"]["cpu"]:
        assert (Path(status["cgroup"]["cpu"]) / "cpu.cfs_quota_us").read_text().strip() == "-1"


BUSY = """
import os
os.sched_setaffinity(0, [0])
while True: pass
"""


def used_s(world: LocalWorld, service: str) -> float:
    """CPU seconds of a service by its supervisor's last measurement."""
    return next((usage.cpu_s for usage in world.backend.usage() if usage.service_id == service), 0.0)


def test_unpromised_services_leave_a_promised_core_to_its_owner_and_use_what_is_idle(world: LocalWorld) -> None:
    needs_cgroups()
    burns = python(BUSY, reservation=Resources(1000, 64 * MIB))
    other = world.start(burns, "a.c.0.1")
    world.until_state(other, ObservedState.READY)
    status = world.backend._records[other].status
    assert status is not None
    if status["cgroup"]["cpu"] is None:
        pytest.skip("privilege: no control group for cores may be made here")
    world.until(lambda: used_s(world, other) > 0.2)  # nothing else of ours wants it
    world.backend.start(start_of(burns, "b.c.0.1", promised=True))
    world.until(lambda: used_s(world, "b.c.0.1") > 0.2)
    others_s, promised_s = used_s(world, other), used_s(world, "b.c.0.1")
    world.until(lambda: used_s(world, "b.c.0.1") > promised_s + 2)
    # A hundredth of it is the other's; its last measurement may be of a second before both ran.
    assert used_s(world, other) - others_s < 0.5


def priority(world: LocalWorld, service: str) -> int:
    status = world.backend._records[service].status
    return os.getpriority(os.PRIO_PROCESS, status["pid"]) if status is not None and status.get("pid") else 99


def test_without_control_groups_unpromised_services_get_the_lowest_priority_while_promised_ones_run() -> None:
    world = LocalWorld(cgroups=False)
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        sleeps = python("import time; time.sleep(1000)", reservation=Resources(100, 64 * MIB))
        before = world.start(sleeps, "a.c.0.1")
        world.until_state(before, ObservedState.READY)
        assert priority(world, before) == usual
        world.backend.start(start_of(sleeps, "b.c.0.1", promised=True))
        world.until_state("b.c.0.1", ObservedState.READY)
        world.until(lambda: priority(world, before) == 19)
        session = Path(f"/proc/{world.backend._records[before].status['pid']}/autogroup")  # type: ignore[index]
        if session.exists():
            world.until(lambda: session.read_text().endswith("nice 19\n"))
        later = world.start(sleeps, "c.c.0.1")
        world.until_state(later, ObservedState.READY)
        world.until(lambda: priority(world, later) == 19)
        assert priority(world, "b.c.0.1") == usual
        world.close()  # the next back-end knows it, too
        world.until(lambda: world.backend._records["b.c.0.1"].promised)
        world.backend.stop(["b.c.0.1"])
        world.ended("b.c.0.1")
        world.until(lambda: not (world.settings.state_dir / "promised").exists())
        last = world.start(sleeps, "d.c.0.1")
        world.until_state(last, ObservedState.READY)
        assert priority(world, last) == usual
    finally:
        world.finish()
