"""A local back-end in directories of its own, and components for it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.waiting import pause_s
from zoe_lib.domain.applications.application import Component, Port, Probe, ProbeKind
from zoe_lib.domain.executions.execution import ServiceId
from zoe_lib.domain.values.resources import Resources
from zoe_master.backends.base import Observation, ObservedState, PeerService, ServiceStart, SystemUser
from zoe_master.backends.local import LocalBackend, LocalNode, LocalSettings, Runtime
from zoe_master.backends.local.machine.cgroups import find_parent
from zoe_master.backends.local.machine.hints import hint_name
from zoe_master.backends.local.supervisor import processes
from zoe_master.waker import TickWaker

DEADLINE_S = 60.0
MIB = 2**20
IS_ROOT = os.geteuid() == 0
ANN, BOB = SystemUser(450_001, 450_009), SystemUser(450_002, 450_009)
"""Two users of the tenant."""
NODES = (LocalNode("node-1", 4000, 4096 * MIB), LocalNode("node-2", 4000, 4096 * MIB))

needs_root = pytest.mark.skipif(not IS_ROOT, reason="privilege: only root can run components as another user")


def component_python() -> str:
    """An interpreter that the component's user may run."""
    found = shutil.which("python3", path="/usr/local/bin:/usr/bin") if IS_ROOT else sys.executable
    if found is None:
        pytest.skip("tool: no python3 in /usr/bin for components")
    return found


def needs_cgroups() -> None:
    parent = find_parent("zoe-local-test-probe")
    if parent is None:
        pytest.skip("privilege: no control groups may be made here")
    parent.remove()


class LocalWorld:
    """Directories, settings and the back-end that is open on them now."""

    def __init__(self, base: Path | None = None, **changes: object) -> None:
        self.base = base or Path(tempfile.mkdtemp(prefix="zoe-local-test-"))
        self.base.chmod(0o711)
        self.settings = LocalSettings(
            state_dir=self.base / "state",
            scratch_dir=self.base / "scratch",
            workspaces_dir=self.base / "workspaces",
            volumes_dir=self.base / "volumes",
            images={"shell": Runtime(), "python": Runtime(command=(component_python(), "-c", "print('default')"))},
            nodes=NODES,
        )
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        self.waker = TickWaker()
        self._backend: LocalBackend | None = None

    @property
    def backend(self) -> LocalBackend:
        if self._backend is None:
            self._backend = LocalBackend(self.settings, self.waker)
        return self._backend

    def close(self) -> None:
        if self._backend is not None:
            self._backend.close()
            self._backend = None

    def start(self, component: Component, service: ServiceId = "e.c.0.1", node: str = "node-1") -> ServiceId:
        self.backend.start(start_of(component, service, node))
        return service

    def state(self, service: ServiceId) -> ObservedState | None:
        found = self.seen(service)
        return found.state if found else None

    def seen(self, service: ServiceId) -> Observation | None:
        return next((o for o in self.backend.observe() if o.service_id == service), None)

    def until(self, condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
        wait_until(condition, self.waker, deadline_s, lambda: str(self.backend.observe()))

    def until_state(self, service: ServiceId, *states: ObservedState) -> Observation:
        self.until(lambda: self.state(service) in states)
        seen = self.seen(service)
        assert seen is not None
        return seen

    def ended(self, service: ServiceId) -> Observation:
        return self.until_state(service, ObservedState.ENDED)

    def output(self, service: ServiceId) -> str:
        return self.backend.logs(service, 0, 10**6).data.decode()

    def finish(self) -> None:
        """End everything, forget it, and check that no trace is left."""
        self.backend.stop([o.service_id for o in self.backend.observe()])
        self.until(lambda: all(o.state in (ObservedState.ENDED, ObservedState.LOST) for o in self.backend.observe()))
        services = [o.service_id for o in self.backend.observe()]
        self.backend.forget(services)
        wait_until(lambda: next(self._traces(), None) is None, self.waker, story=lambda: str(self.traces()))
        self.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def traces(self) -> list[str]:
        """Return the remains of services: processes, scratch directories, ports, control groups."""
        return list(self._traces())

    def _traces(self) -> Iterator[str]:
        """Return the cheap ones first: if there are any, a wait looks no further."""
        for kind, place in (
            ("service", self.base / "state" / "services"),
            ("scratch", self.settings.scratch_dir),
            ("ports", self.base / "state" / "ports"),
        ):
            yield from (f"{kind} {path}" for path in place.iterdir())
        yield from (f"process {pid}" for pid in processes.pids() if self._is_ours(pid))
        yield from (f"control group {path}" for path in self.control_groups())

    def control_groups(self) -> list[Path]:
        name = hint_name(self.settings.state_dir.absolute())
        walked = os.walk("/sys/fs/cgroup")  # it continues if another user's groups vanish meanwhile
        return [Path(found) / group for found, groups, _ in walked if Path(found).name == name for group in groups]

    def _is_ours(self, pid: int) -> bool:
        """By its environment (HOME is below our directories) or its command line (a supervisor)."""
        if pid == os.getpid():
            return False
        for name in ("environ", "cmdline"):
            try:
                if str(self.base).encode() in Path(f"/proc/{pid}/{name}").read_bytes():
                    return True
            except OSError:
                continue
        return False


def wait_until(
    condition: Callable[[], object],
    waker: TickWaker,
    deadline_s: float = DEADLINE_S,
    story: Callable[[], str] = str,
) -> None:
    began_s = time.monotonic()
    while not condition():
        waited_s = time.monotonic() - began_s
        assert waited_s < deadline_s, f"not within {deadline_s} s: {story()}"
        waker.wait(pause_s(waited_s))


def shell(script: str, **changes: object) -> Component:
    return component("shell", ("/bin/sh", "-c", script), **changes)


def python(program: str, **changes: object) -> Component:
    return component("python", (component_python(), "-I", "-S", "-c", program), **changes)


def component(image: str, command: tuple[str, ...], **changes: object) -> Component:
    base = Component("c", image, Resources(500, 128 * MIB), command=command, stop_grace_s=5.0)
    return replace(base, **changes)  # type: ignore[arg-type]


def server(**changes: object) -> Component:
    """Listens on its port `main` and answers nothing; ends by SIGTERM."""
    program = "import socket, time; s = socket.create_server(('127.0.0.1', {port:main})); time.sleep(1e6)"
    return python(program, ports=(Port("main", 80),), readiness=probe(), **changes)


def probe(timeout_s: float = 20.0) -> Probe:
    return Probe(ProbeKind.TCP, "main", interval_s=0.1, timeout_s=timeout_s)


def start_of(
    component: Component, service: ServiceId = "e.c.0.1", node: str = "node-1", **changes: object
) -> ServiceStart:
    execution, _, index, _ = service.rsplit(".", 3)
    peers = (PeerService(service, component.name, int(index), node),)
    start = ServiceStart(service, execution, "tenant", "ann", component, int(index), node, peers, "cause-1")
    return replace(replace(start, system_user=ANN), **changes)  # type: ignore[arg-type]
