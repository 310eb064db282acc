"""A storage controller over HTTP: our own by its extensions, Crystal's in the dialect that it speaks.

Against our own, everything of ours holds by a lease that each look renews. Elsewhere ours are marked by their policy id
and never expire: what a master leaves behind that does not come back stays until the next one's first look.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import httpx

from storage_bridge.model import (
    Achieved,
    BandwidthDemand,
    BandwidthSlo,
    Feasibility,
    Missed,
    StorageCapacity,
    StorageUnavailableError,
    View,
    ViewSample,
    feasibility,
)

MB = 10**6
_NOT_FOUND = 404
_NEVER = object()
Clock = Callable[[], float]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Where the controller is and how it is spoken to.

    owner: marks what is ours. capacity: what a controller can promise that cannot tell. After `failures_max` failures
    in a row nothing is asked for `rest_s` seconds, so that one that is away costs no time-outs.
    """

    url: str
    token: str
    owner: str
    capacity: BandwidthSlo = field(default_factory=BandwidthSlo)
    timeout_s: float = 2.0
    attempts: int = 2
    lease_s: float = 120.0
    failures_max: int = 3
    rest_s: float = 5.0


class Line:
    """Calls that answer in time or raise StorageUnavailableError; all calls are idempotent, so they may be repeated."""

    def __init__(self, settings: ControllerSettings, clock: Clock = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._failures = 0
        self._rests_until_s = 0.0
        headers = {"X-Auth-Token": settings.token, "User-Agent": "zoe"}
        # Looks are seconds apart: a connection that is kept would mostly be found dead.
        fresh = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(base_url=settings.url, headers=headers, timeout=settings.timeout_s, limits=fresh)

    @property
    def resting(self) -> bool:
        """Whether nothing is asked for a while, since too much failed."""
        return self._clock() < self._rests_until_s

    def ask(self, method: str, path: str, json: object = None, absent: object = _NEVER) -> Any:
        """The answer's JSON, None for an empty one; `absent` for 404 where that is an answer."""
        if self.resting:
            raise StorageUnavailableError("the storage controller did not answer lately and is left alone for a while")
        story = ""
        for _ in range(self._settings.attempts):
            try:
                answer = self._http.request(method, path, json=json)
            except httpx.HTTPError as error:
                story = f"{method} {path}: {error or type(error).__name__}"
                continue
            if answer.status_code == _NOT_FOUND and absent is not _NEVER:
                self._failures = 0
                return absent
            if answer.is_success:
                self._failures = 0
                return self._read(answer)
            story = f"{method} {path} answers {answer.status_code}: {answer.text[:200]}"
            if answer.is_client_error:
                self._failures = 0
                raise StorageUnavailableError(story)  # asking again would not change it
        self._failures += 1
        if self._failures >= self._settings.failures_max:
            self._rests_until_s = self._clock() + self._settings.rest_s
        raise StorageUnavailableError(story)

    def _read(self, answer: httpx.Response) -> Any:
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError:
            raise StorageUnavailableError(f"{answer.url} answers no JSON") from None


class _Dialect(Protocol):
    def slos(self) -> Mapping[str, BandwidthSlo]: ...
    def others(self) -> BandwidthSlo: ...
    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None: ...
    def clear_slo(self, tenant: str) -> None: ...


class Appendix:
    """`/bw/slas`: one value for both directions, whole MB/s; the greater of the two is asked for, rounded up."""

    def __init__(self, line: Line, owner: str) -> None:
        self._line = line
        self._owner = owner

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours."""
        return {r["project_id"]: _both(r["bandwidth"] * MB) for r in self._rows() if r["policy_id"] == self._owner}

    def others(self) -> BandwidthSlo:
        """What others were promised."""
        return _both(sum(r["bandwidth"] * MB for r in self._rows() if r["policy_id"] != self._owner))

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put it in force."""
        rate = max(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0)
        self._line.ask("PUT", self._path(tenant), {"bandwidth": _megabytes(rate)})

    def clear_slo(self, tenant: str) -> None:
        """Remove it."""
        self._line.ask("DELETE", self._path(tenant))

    def _rows(self) -> list[dict[str, Any]]:
        return [row for row in self._line.ask("GET", "/bw/slas") if row["bandwidth"] is not None]

    def _path(self, tenant: str) -> str:
        return f"/bw/sla/{quote(tenant, safe='')}:{quote(self._owner, safe='')}"


class Later:
    """`/policies/slos`: a value for each direction, whole MB/s, rounded up."""

    def __init__(self, line: Line, owner: str) -> None:
        self._line = line
        self._owner = owner

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours."""
        rates: dict[str, dict[str, int]] = {}
        for project, owner, name, rate in self._rows():
            if owner == self._owner:
                rates.setdefault(project, {})[name] = rate
        return {tenant: BandwidthSlo(found.get("get_bw"), found.get("put_bw")) for tenant, found in rates.items()}

    def others(self) -> BandwidthSlo:
        """What others were promised."""
        rows = [row for row in self._rows() if row[1] != self._owner]
        read, write = (sum(rate for _, _, name, rate in rows if name == one) for one in ("get_bw", "put_bw"))
        return BandwidthSlo(read, write)

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put it in force, both directions."""
        for name, rate in (("get_bw", slo.read_bytes_per_s), ("put_bw", slo.write_bytes_per_s)):
            if rate is None:
                self._line.ask("DELETE", self._path(name, tenant))
            else:
                self._line.ask("PUT", self._path(name, tenant), {"value": _megabytes(rate)})

    def clear_slo(self, tenant: str) -> None:
        """Remove it, both directions."""
        self.set_slo(tenant, BandwidthSlo())

    def _rows(self) -> list[tuple[str, str, str, int]]:
        found = []
        for row in self._line.ask("GET", "/policies/slos"):
            project, _, owner = row["target"].partition("#")
            found.append((project, owner, row["slo_name"], int(row["value"]) * MB))
        return found

    def _path(self, name: str, tenant: str) -> str:
        return f"/policies/slo/bandwidth/{name}/{quote(f'{tenant}#{self._owner}', safe='')}"


class CrystalController:
    """A controller of Crystal's kind. It has no views and does not say what it achieves."""

    def __init__(self, line: Line, settings: ControllerSettings, dialect: _Dialect) -> None:
        self._line = line
        self._settings = settings
        self._dialect = dialect

    def capacity(self) -> StorageCapacity:
        """What was configured, since it does not tell."""
        there, promised = self._settings.capacity, [*_read(self._dialect.slos).values(), _read(self._dialect.others)]
        return StorageCapacity(
            there.read_bytes_per_s or 0,
            there.write_bytes_per_s or 0,
            sum(slo.read_bytes_per_s or 0 for slo in promised),
            sum(slo.write_bytes_per_s or 0 for slo in promised),
        )

    def feasible(self, demand: BandwidthDemand) -> Feasibility:
        """Counted here: it takes any SLO."""
        return feasibility(self.capacity(), demand.slo)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours, by tenant."""
        return _read(self._dialect.slos)

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        self._dialect.set_slo(tenant, slo)

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._dialect.clear_slo(tenant)

    def views(self) -> Sequence[View]:
        """None: it has no such thing."""
        return ()

    def create_view(self, view: View) -> None:
        """Cannot be."""
        raise StorageUnavailableError(f"this storage controller makes no views ({view.id})")

    def sample(self, view_id: str) -> ViewSample:
        """There is none."""
        raise StorageUnavailableError(f"this storage controller makes no views ({view_id})")

    def drop_view(self, view_id: str) -> None:
        """There is none."""

    def achieved(self) -> Mapping[str, Achieved]:
        """Not told."""
        return {}

    def missed(self) -> Mapping[str, Missed]:
        """Not told."""
        return {}

    def resting(self) -> bool:
        """Whether it is left alone for a while."""
        return self._line.resting

    def locality(self, uri: str) -> Sequence[str]:
        """The nodes that Swift names for an object; none when it cannot say."""
        return _places(self._line, uri)


class OwnController:
    """Our own controller, by its extensions: exact rates, leases, views."""

    def __init__(self, line: Line, settings: ControllerSettings) -> None:
        self._line = line
        self._lease = {"lease_s": settings.lease_s}
        self._mine = f"/v1/owners/{quote(settings.owner, safe='')}"

    def capacity(self) -> StorageCapacity:
        """What it can move and has promised."""
        return _read(lambda: StorageCapacity(**self._line.ask("GET", "/v1/capacity")))

    def feasible(self, demand: BandwidthDemand) -> Feasibility:
        """Whether it would fit."""
        return _read(lambda: Feasibility(**self._line.ask("POST", "/v1/feasible", asdict(demand.slo))))

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours; looking renews the lease of all that is ours."""
        self._line.ask("PUT", f"{self._mine}/lease", self._lease)
        told = self._line.ask("GET", f"{self._mine}/slos")
        return _read(lambda: {tenant: BandwidthSlo(**rates) for tenant, rates in told.items()})

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        self._line.ask("PUT", f"{self._mine}/slos/{quote(tenant, safe='')}", asdict(slo) | self._lease)

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._line.ask("DELETE", f"{self._mine}/slos/{quote(tenant, safe='')}")

    def views(self) -> Sequence[View]:
        """Ours."""
        told = self._line.ask("GET", f"{self._mine}/views")
        return _read(lambda: [View(**{**row, "columns": tuple(row["columns"])}) for row in told])

    def create_view(self, view: View) -> None:
        """Make a view."""
        wanted = {"tenant": view.tenant, "source": view.source, "columns": list(view.columns), "where": view.where}
        self._line.ask("PUT", f"{self._mine}/views/{quote(view.id, safe='')}", wanted | self._lease)

    def sample(self, view_id: str) -> ViewSample:
        """What a part of a view's source takes to read, as the controller measures it now."""
        told = self._line.ask("POST", f"{self._mine}/views/{quote(view_id, safe='')}/sample")
        return _read(lambda: _sample(told))

    def drop_view(self, view_id: str) -> None:
        """Remove a view."""
        self._line.ask("DELETE", f"{self._mine}/views/{quote(view_id, safe='')}")

    def achieved(self) -> Mapping[str, Achieved]:
        """What each tenant got lately."""
        told = self._line.ask("GET", "/v1/achieved")
        return _read(lambda: {tenant: Achieved(**rates) for tenant, rates in told.items()})

    def missed(self) -> Mapping[str, Missed]:
        """By how much SLOs cannot be met."""
        told = self._line.ask("GET", "/v1/missed")
        return _read(lambda: {tenant: Missed(**rates) for tenant, rates in told.items()})

    def resting(self) -> bool:
        """Whether it is left alone for a while."""
        return self._line.resting

    def locality(self, uri: str) -> Sequence[str]:
        """The nodes that Swift names for an object; none when it cannot say."""
        return _places(self._line, uri)


def connect(settings: ControllerSettings, line: Line | None = None) -> CrystalController | OwnController:
    """Speak to whatever controller is there, by what it answers. StorageUnavailableError."""
    line = line or Line(settings)
    if line.ask("GET", "/v1/capacity", absent=False) is not False:
        return OwnController(line, settings)
    later = line.ask("GET", "/policies/slos", absent=False) is not False
    return CrystalController(line, settings, (Later if later else Appendix)(line, settings.owner))


def _sample(told: Mapping[str, Any]) -> ViewSample:
    rate = told["rate_bytes_per_s"]
    return ViewSample(
        source_bytes=int(told["source_bytes"]),
        sampled_bytes=int(told["sampled_bytes"]),
        delivered_bytes=int(told["delivered_bytes"]),
        selected_bytes=int(told["selected_bytes"]),
        plain_s=float(told["plain_s"]),
        view_s=float(told["view_s"]),
        rate_bytes_per_s=None if rate is None else int(rate),
        columns=tuple(str(name) for name in told["columns"]),
    )


def _places(line: Line, uri: str) -> Sequence[str]:
    _, _, path = uri.partition("://")
    container, _, name = path.partition("/")
    asked = "/".join(quote(part, safe="") for part in (container.partition(".")[0], name) if part)
    told = line.ask("GET", f"/swift/locality/{asked}/", absent=())
    return tuple(str(place) for place in told) if isinstance(told, (list, tuple)) else ()


def _read(look: Callable[[], T]) -> T:
    """What was told, made ours; StorageUnavailableError when it makes no sense."""
    try:
        return look()
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise StorageUnavailableError(f"the storage controller's answer makes no sense: {error}") from None


def _both(rate: int) -> BandwidthSlo:
    return BandwidthSlo(rate, rate)


def _megabytes(rate: int) -> int:
    return max(-(-rate // MB), 1)
