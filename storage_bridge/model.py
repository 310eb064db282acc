"""Values exchanged between Zoe and a storage controller. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class RewriteOutcome(StrEnum):
    """Result for an object that was to be rewritten."""

    CHANGED = "changed"
    KEPT = "kept"
    """It has the wanted form already."""
    MANIFEST = "manifest"
    """It has no bytes of its own."""
    GONE = "gone"
    FAILED = "failed"
    """It failed, and the object is unchanged."""
    AWAY = "away"
    """The store is away at the moment."""
    LATER = "later"
    """This proxy has other rules than the controller, or lacks some of their filters."""


@dataclass(frozen=True, slots=True)
class StorageCapacity:
    """Bytes per second that the store can move in total, and the guaranteed part.

    one_proxy_bytes_per_s: maximum of the largest of its proxies, both ways together; proxies_bytes_per_s: of all of
    them. None: not reported. unkept: sentences that say why guarantees are not enforced at present. available: what can
    be guaranteed now, while servers are away; None: everything. away: why that is less, as sentences.
    """

    read_bytes_per_s: int
    write_bytes_per_s: int
    promised_read_bytes_per_s: int = 0
    promised_write_bytes_per_s: int = 0
    one_proxy_bytes_per_s: int | None = None
    proxies_bytes_per_s: int | None = None
    unkept: tuple[str, ...] = ()
    available: BandwidthSlo | None = None
    away: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BandwidthSlo:
    """A bandwidth guarantee for a tenant, in bytes per second; None means no guarantee."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class BandwidthDemand:
    """The bandwidth that one execution demands for its tenant."""

    tenant: str
    slo: BandwidthSlo


@dataclass(frozen=True, slots=True)
class DemandFeasibility:
    """Whether a demand fits beside existing guarantees, and a sentence if it does not."""

    feasible: bool
    sentence: str = ""


def feasibility(now: StorageCapacity, slo: BandwidthSlo) -> DemandFeasibility:
    """Return whether one more guarantee keeps the sum of all within the capacity, in each direction."""
    for direction, wanted, all_of_it, promised in (
        ("read", slo.read_bytes_per_s or 0, now.read_bytes_per_s, now.promised_read_bytes_per_s),
        ("write", slo.write_bytes_per_s or 0, now.write_bytes_per_s, now.promised_write_bytes_per_s),
    ):
        free = max(all_of_it - promised, 0)
        if wanted > free:
            return DemandFeasibility(False, f"{wanted} bytes/s to {direction} are more than the free {free}")
    return DemandFeasibility(True)


_NOT_FOUND = 404
SENTENCE_LENGTH_MAX = 300
"""Maximum length of a controller's sentence for users."""
RATE_MAX = 10**15
"""Maximum rate of a guarantee."""
TOKEN_HEADER = "X-Storage-Token"  # noqa: S105 - the name of a header
"""The header that carries a tenant's token to the controller."""
UNREADABLE = "the tenant's stored credential cannot read the source"
"""The only error about a source that its tenant may not read."""
WHY_HEADER = "X-Zoe-Why"
STORED_HEADER = "X-Zoe-Stored-Bytes"
"""Companion header: the bytes that the store keeps of an object with filters."""
"""A reader that sends it gets the filters of an object in a header of the same name."""
REWRITE = "REWRITE"
"""Method with which a reseller admin has an object rewritten; a proxy without the filters answers 405."""
REWRITE_HEADER = "X-Zoe-Rewrite"
"""Its header: `rules` for the present filters, or `plain` for none. The others: whether to change nothing (`yes`),
bytes per second, and the digest of the rules.
"""
DRY_HEADER = "X-Zoe-Rewrite-Dry"
RATE_HEADER = "X-Zoe-Rewrite-Rate"
BOOK_HEADER = "X-Zoe-Rewrite-Rules"
VIEW_PREFIX = "zoe-view-"
"""The prefix of view containers' names."""
VIEW_DIRECTORY = "data"
"""The directory in which a view shows its objects: readers read a directory, not a whole container."""


S3 = "s3a"
"""The scheme of buckets, and the name of their service, which an S3 URI does not contain."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The service of a URI, and the place there."""

    service: str
    container: str
    prefix: str


def place_of(uri: str) -> SourcePlace:
    """Return the place of `swift2d://container.service/prefix` or `s3a://bucket/prefix`, where a bucket's name may have
    dots.
    """
    scheme, _, rest = uri.partition("://")
    host, _, prefix = rest.partition("/")
    if scheme == S3:
        return SourcePlace(S3, host, prefix)
    container, _, service = host.partition(".")
    return SourcePlace(service, container, prefix)


@dataclass(frozen=True, slots=True)
class View:
    """An execution's virtual container with the wanted columns of all rows that may be wanted.

    `source` is a URI for `place_of`. types: of columns; names: all columns if there is no header; csv: the format, by
    the fields of `storage_filters.csv.selection.CsvFormat`. token: for reading its source while the view is created;
    short-lived, and never stored. promised: it is read even if the plain objects would be as fast.
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
    promised: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        """Sort, so that a view is equal in whatever order a database returns its parts."""
        object.__setattr__(self, "types", tuple(sorted(self.types)))
        object.__setattr__(self, "csv", tuple(sorted(self.csv, key=lambda pair: pair[0])))

    def reading(self) -> dict[str, Any]:
        """Return how its source is read, as JSON; empty for the defaults."""
        found = {"types": dict(self.types), "names": list(self.names), "csv": dict(self.csv)}
        return {name: text for name, text in found.items() if text}

    @staticmethod
    def read_as(reading: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a view from the JSON of `reading`."""
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
        """Return the place of its source."""
        return place_of(self.source)

    @property
    def uri(self) -> str:
        """Return its URI, in the same service as its source."""
        scheme, service = self.source.partition("://")[0], self.place.service
        host = self.container if scheme == S3 else f"{self.container}.{service}"
        return f"{scheme}://{host}/{VIEW_DIRECTORY}"


@dataclass(frozen=True, slots=True)
class ViewSample:
    """Measurements of reading part of a view's source, plainly and through the view.

    delivered_bytes: sent by the view, compressed; selected_bytes: uncompressed. rate_bytes_per_s: what its tenant would
    get for reading beside the present readers, None if not reported. columns: those of the view, in order. filters:
    those of the sampled object, in the order of PUT: the proxy undoes them in both reads, so their seconds include it.
    stored_share: stored bytes for each original byte; None without filters.
    """

    source_bytes: int
    sampled_bytes: int
    delivered_bytes: int
    selected_bytes: int
    plain_s: float
    view_s: float
    rate_bytes_per_s: int | None = None
    columns: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    stored_share: float | None = None


@dataclass(frozen=True, slots=True)
class ViewVerdict:
    """Whether a job reads through a view, its columns, and a sentence with the reason.

    share: delivered bytes of the view for each byte of the sample; None without a sample.
    """

    used: bool
    columns: tuple[str, ...] = ()
    why: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class StoreExecution:
    """An execution as a user of its tenant's account, with its guarantee.

    owner and generation of its credential: as at the controller.
    """

    id: str
    tenant: str
    slo: BandwidthSlo
    owner: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class AchievedBandwidth:
    """Recent bandwidth of a tenant, in bytes per second."""

    read_bytes_per_s: float
    write_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class TransferTotals:
    """Transfer with a credential: bytes of bodies.

    transferring_s: seconds in which any request waited for the store or moved bytes, without the program's time between
    pieces. waiting_s: the same added up over requests that wait at the same time.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    transferring_s: float = 0.0
    waiting_s: float = 0.0


@dataclass(frozen=True, slots=True)
class EndedTransfers:
    """Transfer with an ended credential. totals: None if no proxy reports.

    whole: whether all proxies have reported since its end; otherwise it may be more.
    """

    execution: str
    generation: int
    totals: TransferTotals | None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ExecutionBandwidth:
    """Guarantee, recent bandwidth and transfers of an execution with a credential.

    generation: of the credential. totals: None if unknown.
    """

    tenant: str
    slo: BandwidthSlo
    achieved: AchievedBandwidth
    generation: int = 0
    totals: TransferTotals | None = None


@dataclass(frozen=True, slots=True)
class MissedBandwidth:
    """Shortfall of a tenant's SLO at present, in bytes per second; 0 if it is met."""

    read_bytes_per_s: int = 0
    write_bytes_per_s: int = 0


class StorageUnavailableError(Exception):
    """The controller cannot be reached, or its answer is invalid; the effect of the request is unknown."""


class StorageRefusedError(StorageUnavailableError):
    """The controller understood the request and refuses it; repeating would not change that.

    `sentence` is its explanation, for users: one line of at most SENTENCE_LENGTH_MAX printable characters. `status`: of
    its HTTP answer, if there was one. `missing`: the request's object does not exist.
    """

    def __init__(self, story: str, sentence: str = "", status: int | None = None) -> None:
        super().__init__(story)
        self.status = status
        self.missing = status == _NOT_FOUND
        self.sentence = _readable(sentence) or _readable(story)


def _readable(text: str) -> str:
    """Return a foreign text without characters that control a terminal, change direction or break lines."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * SENTENCE_LENGTH_MAX])
    return " ".join(printable.split())[:SENTENCE_LENGTH_MAX]
