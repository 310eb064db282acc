"""Slowdown of a service with promised cores by its neighbours, on the local back-end with its real supervisors.

`python -m benchmarks.promised_core [groups|priorities]`. A fixed amount of work for one core runs alone, and beside
four busy services, all on the same one or two processors; promised and not, with control groups and without (priorities
only). The runs take turns, so that other load on the machine affects all of them. The group of all services together
gets the greatest weight, so that other programs disturb less.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.support import machine
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import ObservedState, PeerService, ServiceStart, SystemUser
from zoe_master.backends.local import LocalBackend, LocalNode, LocalSettings, Runtime
from zoe_master.backends.local.machine.cgroups import find_parent
from zoe_master.backends.local.machine.hints import hint_name
from zoe_master.backends.local.supervisor.cgroup import CPU_WEIGHT_MAX
from zoe_master.waker import TickWaker

RUNS = 7
BESIDE = 4
WORK_S = 1.0
# Seconds for which services sleep, until all have started, and supervisors have seen those without a control group.
_WAIT_S = 2.0
_USER = SystemUser(450_001, 450_009)
_SHARE_S = 8.0
_PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin") or sys.executable
_WORK = """
import os, sys, time
os.sched_setaffinity(0, {cpus})
time.sleep({wait_s})
begin = time.monotonic()
while time.process_time() < {work_s}: pass
print(time.monotonic() - begin, flush=True)
"""
_BUSY = """
import os
os.sched_setaffinity(0, {cpus})
while True: pass
"""


class _World:
    """A separate back-end, in temporary directories."""

    def __init__(self, base: Path, cgroups: bool) -> None:
        base.chmod(0o711)
        names = ("state", "scratch", "workspaces", "volumes")
        state, scratch, workspaces, volumes = (base / name for name in names)
        settings = LocalSettings(
            state,
            scratch,
            workspaces,
            volumes,
            {"python": Runtime()},
            nodes=(LocalNode("n", 64_000, 1 << 40),),
            cgroups=cgroups,
        )
        self.backend = LocalBackend(settings, TickWaker())
        self._started = 0
        parent = find_parent(hint_name(state.absolute())) if cgroups else None
        if parent is not None and parent.cpu is not None:
            name = "cpu.shares" if parent.version == 1 else "cpu.weight"
            (parent.cpu / name).write_text(str(CPU_WEIGHT_MAX[parent.version]))

    def start(self, program: str, cores_milli: int, promised: bool) -> str:
        self._started += 1
        service = f"e{self._started}.c.0.1"
        component = Component("c", "python", Resources(cores_milli, 64 << 20), (_PYTHON, "-I", "-S", "-c", program))
        peers = (PeerService(service, "c", 0, "n"),)
        execution = service.partition(".")[0]
        self.backend.start(
            ServiceStart(service, execution, "t", "u", component, 0, "n", peers, system_user=_USER, promised=promised)
        )
        return service

    def wait_until(self, service: str, state: ObservedState) -> None:
        give_up_s = time.monotonic() + 120
        while not any(
            observation.service_id == service and observation.state is state for observation in self.backend.observe()
        ):
            if time.monotonic() > give_up_s:
                raise TimeoutError(f"{service} is not {state} after 120 s")
            time.sleep(0.05)

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds of each service, of at most a second ago."""
        return {usage.service_id: usage.cpu_s for usage in self.backend.usage()}

    def end(self, services: list[str]) -> None:
        self.backend.stop(services)
        for service in services:
            self.wait_until(service, ObservedState.ENDED)
        self.backend.forget(services)


@contextmanager
def _world(cgroups: bool) -> Iterator[_World]:
    base = Path(tempfile.mkdtemp(prefix="zoe-bench-cores-"))
    world = _World(base, cgroups)
    try:
        yield world
    finally:
        world.end([observation.service_id for observation in world.backend.observe()])
        world.backend.close()
        shutil.rmtree(base, ignore_errors=True)


def took_s(world: _World, promised: bool, beside: int, cpus: list[int]) -> float:
    """Return the time of the work beside so many busy services, which together reserve as much."""
    busy = [world.start(_BUSY.format(cpus=cpus), 1000 // BESIDE, promised=False) for _ in range(beside)]
    for text in busy:
        world.wait_until(text, ObservedState.READY)
    work = world.start(_WORK.format(cpus=cpus, wait_s=_WAIT_S, work_s=WORK_S), 1000, promised)
    world.wait_until(work, ObservedState.ENDED)
    took = float(world.backend.logs(work, 0, 1000).data)
    world.end([*busy, work])
    return took


def share(world: _World, promised: bool) -> float:
    """Return the share of a busy service in the time of all busy services, on one processor.

    Other programs of the machine hardly change it, so it can be measured beside them.
    """
    busy = [world.start(_BUSY.format(cpus=[0]), 1000 // BESIDE, promised=False) for _ in range(BESIDE)]
    work = world.start(_BUSY.format(cpus=[0]), 1000, promised)
    for text in (*busy, work):
        world.wait_until(text, ObservedState.READY)
    time.sleep(_WAIT_S)
    before = world.cpu_s()
    time.sleep(_SHARE_S)
    got = {text: used_s - before.get(text, 0.0) for text, used_s in world.cpu_s().items()}
    world.end([*busy, work])
    return got[work] / sum(got.values())


def _row(world: _World, promised: bool, cpus: list[int]) -> None:
    alone, beside, ratios = [], [], []
    for _ in range(RUNS):
        alone.append(took_s(world, promised, 0, cpus))
        beside.append(took_s(world, promised, BESIDE, cpus))
        ratios.append(beside[-1] / alone[-1])
    ratio = statistics.median(beside) / statistics.median(alone)
    name = f"{'promised' if promised else 'not promised'}, {len(cpus)} processor{'s' if len(cpus) > 1 else ''}"
    times = f"alone {statistics.median(alone):.3f} s   beside {BESIDE} busy {statistics.median(beside):.3f} s"
    print(f"  {name:<28}{times}   ratio {ratio:.3f} ({min(ratios):.3f} to {max(ratios):.3f}, {RUNS} runs)", flush=True)


def main() -> None:
    """Print the ratios."""
    print(machine())
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    for cgroups in (flag for name, flag in (("groups", True), ("priorities", False)) if asked in ("", name)):
        print("with control groups" if cgroups else "without: priorities only", flush=True)
        with _world(cgroups) as world:
            for promised in (False, True):
                shares = [share(world, promised) for _ in range(RUNS)]
                name, spread = ("promised" if promised else "not promised"), f"{min(shares):.3f} to {max(shares):.3f}"
                print(f"  {name:<28}share on one processor {statistics.median(shares):.3f} ({spread})", flush=True)
            for cpus in ([0], [0, 1]):
                for promised in (False, True):
                    _row(world, promised, cpus)


if __name__ == "__main__":
    main()
