"""The little that no engine keeps of a service, in one file each: readiness, why it was stopped, its end."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from zoe_lib.domain.execution import Cause, ServiceId
from zoe_master.backends.base import Observation, ObservedState

_FILE = "mark.json"


@dataclass(frozen=True, slots=True)
class Mark:
    """`stop_cause` is why we end it; `end` what was observed last; `forgotten`: the journal knows its end."""

    ready_at_s: float | None = None
    stop_at_s: float | None = None
    stop_cause: Cause | None = None
    end: Observation | None = None
    forgotten: bool = False


class ServiceFiles:
    """A directory for each service, which holds its output, too. Losing them costs detail, never a container."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def place(self, service: ServiceId) -> Path:
        """The directory of a service."""
        return self._directory / quote(service, safe="")

    def read(self, service: ServiceId) -> Mark | None:
        """The mark of a service; None when there is none that can be read."""
        try:
            return _mark_of(json.loads((self.place(service) / _FILE).read_text()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, service: ServiceId, mark: Mark) -> None:
        """Keep a mark; a crash leaves the old one or the new one."""
        place = self.place(service)
        place.mkdir(exist_ok=True)
        new = place / f"{_FILE}.new"
        new.write_text(json.dumps(asdict(mark)))
        new.replace(place / _FILE)

    def all(self) -> Iterator[tuple[ServiceId, Mark]]:
        """Every service that has one."""
        for place in self._directory.iterdir():
            service = unquote(place.name)
            mark = self.read(service)
            if mark is not None:
                yield service, mark

    def prune(self, count_max: int, age_max_s: float) -> None:
        """Remove the oldest of forgotten services beyond the count or the age."""
        kept = [(mark.end.at_s if mark.end else 0.0, service) for service, mark in self.all() if mark.forgotten]
        kept.sort(reverse=True)
        oldest_s = time.time() - age_max_s
        for number, (ended_at_s, service) in enumerate(kept):
            if number >= count_max or ended_at_s < oldest_s:
                shutil.rmtree(self.place(service), ignore_errors=True)


def _mark_of(document: dict[str, object]) -> Mark:
    mark = Mark(**document)  # type: ignore[arg-type]
    cause = Cause(mark.stop_cause) if mark.stop_cause else None
    return replace(mark, stop_cause=cause, end=_observation(document["end"]))


def _observation(document: object) -> Observation | None:
    if not isinstance(document, dict):
        return None
    seen = Observation(**document)
    return replace(seen, state=ObservedState(seen.state), cause=Cause(seen.cause) if seen.cause else None)
