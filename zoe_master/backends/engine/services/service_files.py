"""Facts of a service that no engine stores, in one file each: readiness, why it was stopped, its end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import Cause, ServiceId
from zoe_master.backends.base import Observation, ObservedState
from zoe_master.backends.services.kept_logs import KeptOutput, bytes_of, outputs_to_remove

_FILE = "mark.json"


@dataclass(frozen=True, slots=True)
class Mark:
    """`stop_cause`: why Zoe ends it; `end`: the last observation; `forgotten`: the journal has its end."""

    ready_at_s: float | None = None
    stop_at_s: float | None = None
    stop_cause: Cause | None = None
    end: Observation | None = None
    forgotten: bool = False


class ServiceFiles:
    """A directory for each service, which also holds its output. Losing them costs details, never a container."""

    def __init__(self, directory: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._directory = directory
        self._kept: dict[str, KeptOutput] = {}
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def place(self, service: ServiceId) -> Path:
        """Return the directory of a service."""
        return self._directory / quote(service, safe="")

    def read(self, service: ServiceId) -> Mark | None:
        """Return the mark of a service; None if there is no readable one."""
        try:
            return _mark_of(json.loads((self.place(service) / _FILE).read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, service: ServiceId, mark: Mark) -> None:
        """Write a mark; after a crash the old or the new one exists."""
        place = self.place(service)
        place.mkdir(exist_ok=True)
        new = place / f"{_FILE}.new"
        new.write_text(json.dumps(asdict(mark)))
        new.replace(place / _FILE)

    def marks(self) -> Iterator[tuple[ServiceId, Mark]]:
        """Yield every service that has a mark."""
        for place in self._directory.iterdir():
            service = unquote(place.name)
            mark = self.read(service)
            if mark is not None:
                yield service, mark

    def prune(self, bytes_max: int, age_max_s: float) -> None:
        """Remove the oldest forgotten services beyond the size or the age. They no longer change."""
        kept: dict[str, KeptOutput] = {}
        for place in self._directory.iterdir():
            log = self._kept.get(place.name) or self._forgotten_output(place)
            if log is not None:
                kept[place.name] = log
        for name in outputs_to_remove(kept, bytes_max, self._clock.now_s() - age_max_s):
            shutil.rmtree(self._directory / name, ignore_errors=True)
            del kept[name]
        self._kept = kept

    def _forgotten_output(self, place: Path) -> KeptOutput | None:
        mark = self.read(unquote(place.name))
        if mark is None or not mark.forgotten:
            return None
        return KeptOutput(mark.end.at_s if mark.end else 0.0, bytes_of(place))


def _mark_of(document: dict[str, object]) -> Mark:
    mark = Mark(**document)  # type: ignore[arg-type]
    cause = Cause(mark.stop_cause) if mark.stop_cause else None
    return replace(mark, stop_cause=cause, end=_observation(document["end"]))


def _observation(document: object) -> Observation | None:
    if not isinstance(document, dict):
        return None
    seen = Observation(**document)
    return replace(seen, state=ObservedState(seen.state), cause=Cause(seen.cause) if seen.cause else None)
