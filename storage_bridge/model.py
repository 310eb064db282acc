"""Values exchanged between Zoe and a storage controller. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class RewriteOutcome(StrEnum):
    """What became of an object that was to be stored again."""

    CHANGED = "changed"
    KEPT = "kept"
    """It is stored so already."""
    MANIFEST = "manifest"
    """It has no bytes of its own."""
    GONE = "gone"
    FAILED = "failed"
    """It stays as it is."""
    AWAY = "away"
    """The store cannot at the moment."""
    LATER = "later"
    """This proxy has other rules than the controller, or has not all of their filters yet."""


@dataclass(frozen=True, slots=True)
class StorageCapacity:
    """Bytes per second that the store can move in all, and how much of it is promised.

    one_proxy_bytes_per_s: what the largest of its proxies moves, both ways together; proxies_bytes_per_s: what all of
    them move. None: not reported. unkept: sentences that say why no promise is kept at present.
    """

    read_bytes_per_s: int
    write_bytes_per_s: int
    promised_read_bytes_per_s: int = 0
    promised_write_bytes_per_s: int = 0
    one_proxy_bytes_per_s: int | None = None
    proxies_bytes_per_s: int | None = None
    unkept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BandwidthSlo:
    """A bandwidth promise for a tenant, in bytes per second; None means no promise."""

    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class BandwidthDemand:
    """The bandwidth that one execution demands for its tenant."""

    tenant: str
    slo: BandwidthSlo


@dataclass(frozen=True, slots=True)
class DemandFeasibility:
    """Whether a demand fits beside existing promises, and a sentence if it does not."""

    feasible: bool
    sentence: str = ""


def feasibility(now: StorageCapacity, slo: BandwidthSlo) -> DemandFeasibility:
    """Return whether one more promise keeps the sum of all within the capacity, in each direction."""
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


_NOT_FOUND = 404
SENTENCE_LENGTH_MAX = 300
"""Maximum length of a controller's sentence for users."""
RATE_MAX = 10**15
"""Maximum rate that can be promised."""
TOKEN_HEADER = "X-Storage-Token"  # noqa: S105 - the name of a header
"""The header that carries a tenant's token to the controller."""
UNREADABLE = "the tenant's stored credential cannot read the source"
"""The only thing said of a source that its tenant may not read."""
WHY_HEADER = "X-Zoe-Why"
STORED_HEADER = "X-Zoe-Stored-Bytes"
"""Beside it: how many bytes the store keeps of an object with filters."""
"""A reader that sends it is told which filters an object went through, in a header of the same name."""
REWRITE = "REWRITE"
"""The method by which a reseller admin has an object stored again; a proxy without the filters answers it with 405."""
REWRITE_HEADER = "X-Zoe-Rewrite"
"""Its header: `rules` for today's filters, or `plain` for none. The others say whether nothing is to be changed
(`yes`), bytes per second, and the digest of the rules.
"""
DRY_HEADER = "X-Zoe-Rewrite-Dry"
RATE_HEADER = "X-Zoe-Rewrite-Rate"
BOOK_HEADER = "X-Zoe-Rewrite-Rules"
VIEW_PREFIX = "zoe-view-"
"""The prefix of view containers' names."""
VIEW_DIRECTORY = "data"
"""The directory in which a view shows its objects: readers read a directory, not a whole container."""


S3 = "s3a"
"""The scheme of buckets, and the name of their service, which an S3 URI does not name."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The service that a URI leads to, and the place there."""

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
    """An execution's virtual container that shows the wanted columns of all rows that may be wanted.

    `source` is a URI for `place_of`. types: of columns; names: all columns if there is no header; csv: the format, by
    the fields of `storage_filters.csv.selection.CsvFormat`. token: for reading its source while the view is created;
    short-lived, and never stored. promised: it is read even where the plain objects would be read as soon.
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
        """Return the part that says how its source is read, as JSON; empty if nothing is said."""
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
        """Return where its source is."""
        return place_of(self.source)

    @property
    def uri(self) -> str:
        """Return the URI to read it, in the same service as its source."""
        scheme, service = self.source.partition("://")[0], self.place.service
        host = self.container if scheme == S3 else f"{self.container}.{service}"
        return f"{scheme}://{host}/{VIEW_DIRECTORY}"


@dataclass(frozen=True, slots=True)
class ViewSample:
    """What reading part of a view's source takes, plainly and through the view.

    delivered_bytes: what the view sent, compressed; selected_bytes: uncompressed. rate_bytes_per_s: what its tenant
    would get for reading beside the present readers, None if not reported. columns: those of the view, in order.
    filters: what the sampled object is stored through, in the order of PUT: the proxy undoes it in both reads, so their
    seconds contain it. stored_share: bytes that the store keeps for each byte that was put; None without filters.
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
    """Whether a job reads through a view, the columns that it finds there, and a sentence with the reason.

    share: bytes that the view delivered for each byte of the sample; None: there was no sample.
    """

    used: bool
    columns: tuple[str, ...] = ()
    why: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class StoreExecution:
    """An execution as a user of its tenant's account, and what it is guaranteed.

    owner and generation of its credential: as the controller keeps them.
    """

    id: str
    tenant: str
    slo: BandwidthSlo
    owner: str = ""
    generation: int = 0


@dataclass(frozen=True, slots=True)
class AchievedBandwidth:
    """What a tenant recently got, in bytes per second."""

    read_bytes_per_s: float
    write_bytes_per_s: float


@dataclass(frozen=True, slots=True)
class TransferTotals:
    """What was moved with a credential: bytes of bodies.

    transferring_s: seconds in which any request waited for the store or moved bytes; the time that its program took
    between pieces is left out. waiting_s: the same added up over requests that wait at the same time.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    transferring_s: float = 0.0
    waiting_s: float = 0.0


@dataclass(frozen=True, slots=True)
class EndedTransfers:
    """What was moved with a credential that has ended. totals: None if no proxy tells.

    whole: whether all proxies have reported since its end; else it may have been more.
    """

    execution: str
    generation: int
    totals: TransferTotals | None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class ExecutionBandwidth:
    """What an execution of a tenant is guaranteed and recently got, and what it moved with its credential.

    generation: of the credential. totals: None if it is not known.
    """

    tenant: str
    slo: BandwidthSlo
    achieved: AchievedBandwidth
    generation: int = 0
    totals: TransferTotals | None = None


@dataclass(frozen=True, slots=True)
class MissedBandwidth:
    """How much of a tenant's SLO cannot be met at present, in bytes per second; 0 if all of it is."""

    read_bytes_per_s: int = 0
    write_bytes_per_s: int = 0


class StorageUnavailableError(Exception):
    """The controller cannot be reached or makes no sense; the effect of the request is unknown."""


class StorageRefusedError(StorageUnavailableError):
    """The controller understood the request and refuses it; repeating would not change that.

    `sentence` is its explanation, for users: one line of at most SENTENCE_LENGTH_MAX printable characters. `status`: of
    its answer by HTTP, if there was one. `missing`: what the request names does not exist.
    """

    def __init__(self, story: str, sentence: str = "", status: int | None = None) -> None:
        super().__init__(story)
        self.status = status
        self.missing = status == _NOT_FOUND
        self.sentence = _readable(sentence) or _readable(story)


def _readable(text: str) -> str:
    """Return a foreign text without anything that a terminal would obey, or that changes direction or breaks lines."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * SENTENCE_LENGTH_MAX])
    return " ".join(printable.split())[:SENTENCE_LENGTH_MAX]
