"""Values that pass between Zoe and a storage controller. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class StorageCapacity:
    """Bytes per second that the store can move in all, and what is promised of it.

    one_proxy_bytes_per_s: what the largest of its proxies moves, both ways together; proxies_bytes_per_s: what all of
    them do. None: not told.
    """

    read_bytes_per_s: int
    write_bytes_per_s: int
    promised_read_bytes_per_s: int = 0
    promised_write_bytes_per_s: int = 0
    one_proxy_bytes_per_s: int | None = None
    proxies_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class BandwidthSlo:
    """A bandwidth promise for a tenant, in bytes per second; None is no promise."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class BandwidthDemand:
    """What one execution asks for its tenant."""

    tenant: str
    slo: BandwidthSlo


@dataclass(frozen=True, slots=True)
class DemandFeasibility:
    """Whether a demand fits beside what is promised already, and a sentence when it does not."""

    feasible: bool
    sentence: str = ""


def feasibility(now: StorageCapacity, slo: BandwidthSlo) -> DemandFeasibility:
    """Return whether one more promise keeps the sum of all within the capacity, each way."""
    for direction, wanted, all_of_it, promised in (
        ("read", slo.read_bytes_per_s or 0, now.read_bytes_per_s, now.promised_read_bytes_per_s),
        ("write", slo.write_bytes_per_s or 0, now.write_bytes_per_s, now.promised_write_bytes_per_s),
    ):
        free = max(all_of_it - promised, 0)
        if wanted > free:
            return DemandFeasibility(
                False, f"{wanted} bytes/s to {direction} are more than the {free} that are still free"
            )
    return DemandFeasibility(True)


SENTENCE_LENGTH_MAX = 300
"""Characters of what a controller says to users."""
RATE_MAX = 10**15
"""Bytes per second that can be promised at most."""
TOKEN_HEADER = "X-Storage-Token"  # noqa: S105 - the name of a header
"""What the controller is told a tenant's token in."""
UNREADABLE = "the tenant's stored credential cannot read the source"
"""All that is said of a source that its tenant may not read."""
VIEW_PREFIX = "zoe-view-"
"""Of the names of view containers."""
VIEW_DIRECTORY = "data"
"""Where a view shows its objects: readers read a directory, not a whole container."""


S3 = "s3a"
"""The scheme of buckets, and the name of their service, which a URI by S3 does not name."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The service that a URI leads to, and what it means there."""

    service: str
    container: str
    prefix: str


def place_of(uri: str) -> SourcePlace:
    """Of `swift2d://container.service/prefix`, or `s3a://bucket/prefix`, where the name of a bucket may have dots."""
    scheme, _, rest = uri.partition("://")
    host, _, prefix = rest.partition("/")
    if scheme == S3:
        return SourcePlace(S3, host, prefix)
    container, _, service = host.partition(".")
    return SourcePlace(service, container, prefix)


@dataclass(frozen=True, slots=True)
class View:
    """A per-execution virtual container that shows the wanted columns of all rows that may be wanted.

    `source` is a URI as of `place_of`. types: of columns; names: all columns where there is no header;
    csv: how it is written, by the fields of `storage_filters.selection.CsvFormat`. token: with which its source is
    read while the view is made; short-lived, and kept nowhere.
    """

    id: str
    tenant: str
    source: str
    columns: tuple[str, ...] = ()
    where: str | None = None
    types: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    csv: tuple[tuple[str, str | bool], ...] = ()
    token: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        """A view is the same in whatever sequence a database gives back what is said by name."""
        object.__setattr__(self, "types", tuple(sorted(self.types)))
        object.__setattr__(self, "csv", tuple(sorted(self.csv, key=lambda pair: pair[0])))

    def reading(self) -> dict[str, Any]:
        """What of it says how its source is read, as JSON; empty where nothing is said."""
        found = {"types": dict(self.types), "names": list(self.names), "csv": dict(self.csv)}
        return {name: text for name, text in found.items() if text}

    @staticmethod
    def read_as(reading: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a view that `reading` gives."""
        return {
            "types": tuple(reading.get("types", {}).items()),
            "names": tuple(reading.get("names", ())),
            "csv": tuple(reading.get("csv", {}).items()),
        }

    @property
    def container(self) -> str:
        """Return its name in the tenant's account."""
        return VIEW_PREFIX + self.id

    @property
    def place(self) -> SourcePlace:
        """Return where its source is."""
        return place_of(self.source)

    @property
    def uri(self) -> str:
        """Where it is read, by the same service as its source."""
        scheme, service = self.source.partition("://")[0], self.place.service
        host = self.container if scheme == S3 else f"{self.container}.{service}"
        return f"{scheme}://{host}/{VIEW_DIRECTORY}"


@dataclass(frozen=True, slots=True)
class ViewSample:
    """What reading a part of a view's source took, plainly and through the view.

    delivered_bytes: what came of the view, packed; selected_bytes: unpacked. rate_bytes_per_s: what its
    tenant would get to read beside who reads now, None when it is not told. columns: those of the view, in order.
    """

    source_bytes: int
    sampled_bytes: int
    delivered_bytes: int
    selected_bytes: int
    plain_s: float
    view_s: float
    rate_bytes_per_s: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewVerdict:
    """Whether a job reads through a view, the columns it finds there, and a sentence that says why or why not."""

    used: bool
    columns: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class AchievedBandwidth:
    """What a tenant got lately, in bytes per second."""

    read_bytes_per_s: float
    write_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class MissedBandwidth:
    """By how much a tenant's SLO cannot be met at present, in bytes per second; 0 where it is."""

    read_bytes_per_s: int = 0
    write_bytes_per_s: int = 0


class StorageUnavailableError(Exception):
    """The controller cannot be reached or makes no sense; nothing is known of what it did."""


class StorageRefusedError(StorageUnavailableError):
    """The controller understood and does not do it; asking again would not change that.

    `sentence` is what it says of that, for users: on one line, of at most SENTENCE_LENGTH_MAX printable characters.
    """

    def __init__(self, story: str, sentence: str = "") -> None:
        super().__init__(story)
        self.sentence = _readable(sentence) or _readable(story)


def _readable(text: str) -> str:
    """What a foreign text says, without anything that a terminal would obey or that turns or breaks lines."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * SENTENCE_LENGTH_MAX])
    return " ".join(printable.split())[:SENTENCE_LENGTH_MAX]
