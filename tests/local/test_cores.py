"""The limit of cores, where control groups let us set one."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, needs_cgroups, python
from zoe_lib.domain.resources import Resources
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
