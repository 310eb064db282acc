"""What differs between the two dialects of Crystal, and the locality of objects, which does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from storage_bridge.line import Line
from storage_bridge.model import BandwidthSlo, StorageRefusedError

MB = 10**6


class Dialect(Protocol):
    """SLOs by tenant, ours marked by the policy id. What comes of reading nonsense is raised as it is."""

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours."""
        ...

    def others(self) -> BandwidthSlo:
        """What others were promised in all."""
        ...

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put it in force, whole or not at all."""
        ...

    def clear_slo(self, tenant: str) -> None:
        """Remove it; nothing when there is none."""
        ...


class Appendix:
    """`/bw/slas`: one value for both directions, whole MB/s; the greater of the two is asked for, rounded up."""

    def __init__(self, line: Line, owner: str) -> None:
        self._line = line
        self._owner = owner

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Ours."""
        return {r["project_id"]: _both(int(r["bandwidth"]) * MB) for r in self._rows() if r["policy_id"] == self._owner}

    def others(self) -> BandwidthSlo:
        """What others were promised."""
        return _both(sum(int(r["bandwidth"]) * MB for r in self._rows() if r["policy_id"] != self._owner))

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
        """Put it in force: both directions, or none where one is refused."""
        before = self.slos().get(tenant, BandwidthSlo())
        try:
            self._put(tenant, slo)
        except StorageRefusedError:
            self._put(tenant, before)
            raise

    def _put(self, tenant: str, slo: BandwidthSlo) -> None:
        for name, rate in (("get_bw", slo.read_bytes_per_s), ("put_bw", slo.write_bytes_per_s)):
            if rate is None:
                self._line.ask("DELETE", self._path(name, tenant))
            else:
                self._line.ask("PUT", self._path(name, tenant), {"value": _megabytes(rate)})

    def clear_slo(self, tenant: str) -> None:
        """Remove it, both directions."""
        self._put(tenant, BandwidthSlo())

    def _rows(self) -> list[tuple[str, str, str, int]]:
        found = []
        for row in self._line.ask("GET", "/policies/slos"):
            project, _, owner = row["target"].partition("#")
            found.append((project, owner, row["slo_name"], int(row["value"]) * MB))
        return found

    def _path(self, name: str, tenant: str) -> str:
        return f"/policies/slo/bandwidth/{name}/{quote(f'{tenant}#{self._owner}', safe='')}"


_ACCOUNT_PREFIX = "AUTH_"  # of Swift, unless it was set up otherwise


def places(line: Line, tenant: str, uri: str) -> Sequence[str]:
    """The hosts that Swift names for a tenant's object; none when it cannot say."""
    container, _, name = uri.partition("://")[2].partition("/")
    parts = (_ACCOUNT_PREFIX + tenant, container.partition(".")[0], name)
    asked = "/".join(quote(part) for part in parts if part)
    told = line.ask("GET", f"/swift/locality/{asked}/", absent=())
    endpoints = told.get("endpoints", ()) if isinstance(told, dict) else told
    if not isinstance(endpoints, (list, tuple)):
        return ()
    return tuple(dict.fromkeys(urlsplit(str(one)).hostname or str(one) for one in endpoints))


def _both(rate: int) -> BandwidthSlo:
    return BandwidthSlo(rate, rate)


def _megabytes(rate: int) -> int:
    return max(-(-rate // MB), 1)
