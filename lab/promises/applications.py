"""Applications of the study of promises: their work, and how it advances with services and bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from zoe_lib.domain.applications.application import Application, Component
from zoe_lib.domain.values.finish_times import PromiseWish
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.resources import Resources
from zoe_lib.domain.values.storage import StorageDemand, StorageObject
from zoe_lib.run_times.samples import Kind
from zoe_lib.run_times.values import RunSample, RunSetting

TENANT = USER = "study"
SERVICE = "zoe"
RESERVATION = Resources(1000, 1 << 30)
# Rounding of times must not leave a remainder of work that never ends.
_DONE = 1.0 - 1e-9


@dataclass(frozen=True, slots=True)
class StudyApplication:
    """One application of `total` services with a core each, `core` of them essential; times in seconds.

    run_s: its run time with all services and unlimited bandwidth. serial: the share of it that services do not divide.
    read_bytes: evenly over its work. declared_s: its declared run time. deadline_s: infinite without a deadline.
    """

    number: int
    kind: str
    submit_s: float
    run_s: float
    core: int
    total: int
    serial: float
    read_bytes: float
    declared_s: float
    deadline_s: float = math.inf

    @property
    def has_deadline(self) -> bool:
        """Return whether it has a deadline."""
        return self.deadline_s < math.inf

    @property
    def key(self) -> Kind:
        """Return the kind for learned run times."""
        return TENANT, USER, _program(self.kind)

    @property
    def core_s(self) -> float:
        """Return the core-seconds of its work with all services."""
        return self.run_s * self.total

    def computing_s(self, services: int) -> float:
        """Return its computing time with so many services."""
        return self.run_s * (self.serial + (1 - self.serial) * self.total / services)

    def takes_s(self, services: int, rate: float) -> float:
        """Return its run time with so many services and bytes per second: the longer one of computing and reading."""
        return max(self.computing_s(services), self.read_bytes / rate)


@dataclass(slots=True)
class ApplicationWork:
    """The progress of one attempt, as a share `done` from 0 to 1, with its transfers and waits so far.

    `running` services; `bandwidth`: its bytes per second; `there`: bytes per second of the store with unlimited demand.
    """

    application: StudyApplication
    start_s: float
    running: int = 0
    bandwidth: float = 0.0
    there: float = math.inf
    done: float = 0.0
    service_s: float = 0.0
    ran_s: float = 0.0
    transferring_s: float = 0.0
    waiting_s: float = 0.0

    @property
    def demand(self) -> float:
        """Return bytes per second that it could use now."""
        if not self.running:
            return 0.0
        return self.application.read_bytes / self.application.computing_s(self.running)

    @property
    def speed(self) -> float:
        """Return the share of the work done per second, by its services and its bandwidth."""
        if not self.running:
            return 0.0
        computes = 1.0 / self.application.computing_s(self.running)
        read = self.application.read_bytes
        return min(computes, self.bandwidth / read) if read > 0 else computes

    @property
    def left_s(self) -> float:
        """Return seconds to its end if nothing changes; infinite while nothing runs."""
        if self.done >= _DONE:
            return 0.0
        return (1.0 - self.done) / self.speed if self.speed > 0 else math.inf

    @property
    def read_so_far(self) -> float:
        """Return the bytes that it has read."""
        return self.done * self.application.read_bytes

    def advance(self, seconds: float) -> None:
        """Advance by some time. If bandwidth is short, the store uses all of it to deliver, otherwise as long as it
        needs; services wait while they do not compute.
        """
        if self.running and self.bandwidth > 0:
            self.transferring_s += seconds * min(self.bandwidth / max(self.there, self.bandwidth), 1.0)
            computes = self.speed * self.application.computing_s(self.running)
            self.waiting_s += seconds * self.running * max(1.0 - computes, 0.0)
        self.done = min(self.done + self.speed * seconds, 1.0)
        self.service_s += self.running * seconds
        self.ran_s += seconds

    def sample(self) -> RunSample:
        """Return the sample of its ended run, as the master would learn it."""
        cores, app = self.service_s / max(self.ran_s, 1e-9), self.application
        if not app.read_bytes or self.transferring_s <= 0:
            return RunSample(RunSetting(cores, 0.0), 0.0, self.ran_s, 1.0)
        busy = max(1.0 - self.waiting_s / max(self.service_s, 1e-9), 0.01)
        setting = RunSetting(cores, app.read_bytes, app.read_bytes / self.transferring_s)
        return RunSample(setting, 0.0, self.ran_s, busy)


def describe(one: StudyApplication, expected_s: float, wish: PromiseWish | None, name: str = "") -> Application:
    """Return the application as its user submits it; name: for learned run times."""
    name = name or one.kind
    component = changed(_component(name), essential_count=one.core, total_count=one.total)
    source = StorageObject("input", f"swift2d://data.{SERVICE}/{one.kind}")
    storage = StorageDemand(inputs=(source,)) if one.read_bytes > 0 else None
    return Application(name, (component,), expected_run_s=expected_s, promise=wish, storage=storage)


def _component(name: str) -> Component:
    return Component(name, "study", RESERVATION, (name,))


@cache
def _program(name: str) -> str:
    return Application(name, (_component(name),)).program
