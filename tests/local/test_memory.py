"""Memory limits, with control groups and without."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.local.support import MIB, LocalWorld, needs_cgroups, python, start_of
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.services.specification import specify
from zoe_master.backends.local.supervisor import files

LIMITED = {"reservation": Resources(500, 64 * MIB)}
GREEDY_CHILD = """
import os, time
if os.fork() == 0:
    kept = []
    while True:
        kept.append(bytearray(b"x" * 2**22)); time.sleep(0.01)
while True: time.sleep(1)
"""
INTERPRETER_MIB, INTERPRETER_S = 8, 0.08
# Each below the limit, all together above it.
GREEDY_CROWD = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        break
kept = bytearray(b"x" * (24 * 2**20))
time.sleep(1000)
"""
SHARING_CROWD = """
import os, time
kept = bytearray(b"x" * (24 * 2**20))
for _ in range(4):
    if os.fork() == 0:
        break
os.write(1, b"up\\n")
time.sleep(1000)
"""


def test_a_child_over_the_limit_ends_the_whole_service(either_world: LocalWorld) -> None:
    service = either_world.start(python(GREEDY_CHILD, **LIMITED))
    found = either_world.ended(service)
    assert found.cause is Cause.OUT_OF_MEMORY
    assert "64 MiB" in found.message


def test_a_program_that_ends_well_after_its_child_was_killed_ran_out_of_memory(world: LocalWorld) -> None:
    """Within the second between two looks: as a shell that goes on without the results of a command."""
    needs_cgroups()
    program = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'x = bytearray(b\"x\" * 200 * 2**20)'])\n"
    service = world.start(python(program, **LIMITED))
    found = world.ended(service)
    # A look of the supervisor between the two ends may stop the program first.
    assert (found.cause, found.exit_code in (0, 137)) == (Cause.OUT_OF_MEMORY, True)


def test_memory_of_all_processes_counts(either_world: LocalWorld) -> None:
    service = either_world.start(python(GREEDY_CROWD, **LIMITED))
    assert either_world.ended(service).cause is Cause.OUT_OF_MEMORY


def test_shared_memory_counts_once(either_world: LocalWorld) -> None:
    world = either_world
    service = world.start(python(SHARING_CROWD, **LIMITED))
    world.until(lambda: world.output(service).count("up") == 5)
    before_s = world.seen(service)
    world.until(lambda: world.backend.usage() and world.backend.usage()[0].memory_bytes > 20 * MIB)
    assert before_s is not None
    assert world.state(service) is ObservedState.READY


def test_the_limit_counts_and_not_the_reservation(world: LocalWorld) -> None:
    program = "import time; kept = bytearray(b'x' * 2**26); print('had it', flush=True); time.sleep(1000)"
    service = world.start(python(program, reservation=Resources(500, 32 * MIB), memory_limit_bytes=256 * MIB))
    world.until(lambda: "had it" in world.output(service))
    assert world.state(service) is ObservedState.READY


def test_a_control_group_carries_the_limit(world: LocalWorld) -> None:
    needs_cgroups()
    service = world.start(python("import time; time.sleep(1000)", **LIMITED))
    world.until_state(service, ObservedState.READY)
    record = world.backend._records[service]
    assert record.status is not None
    group = Path(record.status["cgroup"]["memory"])
    limit = group / ("memory.max" if record.status["cgroup"]["version"] == 2 else "memory.limit_in_bytes")
    assert int(limit.read_text()) == 64 * MIB
    assert str(record.status["pid"]) in (group / "cgroup.procs").read_text().split()


def test_usage_counts_the_cpu_of_children_that_ended(either_world: LocalWorld) -> None:
    program = """
import os, time
def burn():
    end = time.process_time() + 0.4
    while time.process_time() < end: pass
if os.fork() == 0:
    burn(); os._exit(0)
os.wait(); time.sleep(1000)
"""
    either_world.start(python(program))
    either_world.until(lambda: any(usage.cpu_s >= 0.3 for usage in either_world.backend.usage()))
    assert either_world.backend.usage()[0].cpu_s < 2


def test_use_of_a_short_service_is_reported_once_after_its_end(world: LocalWorld) -> None:
    program = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    service = world.start(python(program))
    assert world.ended(service).exit_code == 0
    (used,) = world.backend.total_usage()
    assert (used.service_id, 0.3 <= used.cpu_s < 5) == (service, True)
    assert world.backend.total_usage() == []
    assert world.backend.usage() == []


def known_use(chance: random.Random) -> tuple[str, float, float]:
    """Return a short program, the CPU seconds it uses, and the MiB that its largest moment adds to its interpreters."""
    mib, children, cpu_s = chance.randrange(64, 200), chance.choice((0, 0, 1)), chance.uniform(0.1, 1.0)
    program = f"""
import os, time
with open("left", "wb") as file: file.write(bytes(2**25))
child = {children} and os.fork()
kept = b"x" * ({mib} * 2**20 // {children + 1})
while time.process_time() < {cpu_s / (children + 1)}: pass
if {children} and child == 0: os._exit(0)
if {children}: os.wait()
"""
    return program, cpu_s, mib


@pytest.mark.parametrize("seed", range(100 if os.environ.get("ZOE_TEST_LONG") else 2))
def test_figures_of_short_programs_are_right(either_world: LocalWorld, seed: int) -> None:
    program, cpu_s, mib = known_use(random.Random(seed))
    service = either_world.start(python(program, reservation=Resources(500, 1024 * MIB)))
    assert either_world.ended(service).exit_code == 0
    (used,) = either_world.backend.total_usage()
    print(f"{used.cpu_s:.2f} s of {cpu_s:.2f}, {used.memory_bytes / MIB:.0f} MiB of {mib}")
    assert used.memory_bytes / MIB == pytest.approx(mib + INTERPRETER_MIB, rel=0.1)
    assert used.cpu_s == pytest.approx(cpu_s + INTERPRETER_S, rel=0.1, abs=INTERPRETER_S)


def test_a_control_group_that_takes_no_process_is_done_without(world: LocalWorld) -> None:
    """As in a session whose control groups are delegated only half: limits can be written, processes not moved."""
    world.backend.observe()
    start = start_of(python(GREEDY_CHILD, **LIMITED))
    spec = specify(start, world.backend._layout.around)
    directory = world.backend._layout.service(start.service_id)
    world.close()
    group = world.base / "group"
    group.mkdir()
    (group / "memory.limit_in_bytes").touch()
    spec["cgroup"] = {"version": 1, "memory": str(group), "pids": None}
    directory.mkdir()
    files.write_json(str(directory / files.START), dict(spec))
    assert world.ended(start.service_id).cause is Cause.OUT_OF_MEMORY
    assert "memory is sampled" in (directory / files.ERRORS).read_text()
