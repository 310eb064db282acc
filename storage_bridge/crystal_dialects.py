"""The differences between the two dialects of Crystal."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from storage_bridge.http import ControllerHttp
from storage_bridge.model import BandwidthSlo, StorageRefusedError

_log = logging.getLogger(__name__)
MB = 10**6
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,15})?")
_ROW_CHARACTERS_MAX = 200


class _Row(NamedTuple):
    """An SLO in a list: its project, policy id, direction (`name`, empty for both), and bytes per second."""

    project: str
    policy: str
    name: str
    bytes_per_s: int


class _Rows:
    """The rows of a list, without unreadable ones: Crystal stores any text that a client sends as a value.

    An unreadable row counts as no SLO, and is logged once while it exists.
    """

    def __init__(self, read: Callable[[Mapping[str, Any]], _Row | None]) -> None:
        self._read = read
        self._odd: frozenset[str] = frozenset()

    def parse(self, answer: object) -> list[_Row]:
        """Parse a list. Raises TypeError for anything else."""
        if not isinstance(answer, list):
            raise TypeError(f"the list of SLOs is a {type(answer).__name__}")
        rows, odd = [], set()
        for row in answer:
            try:
                read = self._read(row)
            except (TypeError, ValueError, KeyError, AttributeError):
                odd.add(repr(row)[:_ROW_CHARACTERS_MAX])
            else:
                rows += [] if read is None else [read]
        for row in odd - self._odd:
            _log.warning("cannot parse an SLO that the storage controller lists; it is not counted: %s", row)
        self._odd = frozenset(odd)
        return rows


class ControllerDialect(Protocol):
    """SLOs by tenant; the policy id marks Zoe's. Errors from invalid answers are raised unchanged."""

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return Zoe's SLOs."""
        ...

    def other_guarantees(self) -> BandwidthSlo:
        """Return the sum of other owners' guarantees."""
        ...

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put an SLO in force, completely or not at all."""
        ...

    def clear_slo(self, tenant: str) -> None:
        """Remove an SLO, if it exists."""
        ...


class AppendixDialect:
    """`/bw/slas`: one value for both directions, whole MB/s; requests the greater of the two, rounded up."""

    def __init__(self, line: ControllerHttp, owner: str) -> None:
        self._http = line
        self._owner = owner
        self._rows = _Rows(_sla)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return Zoe's SLOs."""
        return {row.project: _both_ways(row.bytes_per_s) for row in self._listed_rows() if row.policy == self._owner}

    def other_guarantees(self) -> BandwidthSlo:
        """Return the sum of other owners' guarantees."""
        return _both_ways(sum(row.bytes_per_s for row in self._listed_rows() if row.policy != self._owner))

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put it in force."""
        rate = max(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0)
        self._http.ask("PUT", self._path(tenant), {"bandwidth": _megabytes(rate)})

    def clear_slo(self, tenant: str) -> None:
        """Remove it."""
        self._http.ask("DELETE", self._path(tenant))

    def _listed_rows(self) -> list[_Row]:
        return self._rows.parse(self._http.ask("GET", "/bw/slas"))

    def _path(self, tenant: str) -> str:
        return f"/bw/sla/{quote(tenant, safe='')}:{quote(self._owner, safe='')}"


class LaterDialect:
    """`/policies/slos`: one value per direction, whole MB/s, rounded up."""

    def __init__(self, line: ControllerHttp, owner: str) -> None:
        self._http = line
        self._owner = owner
        self._rows = _Rows(_slo)

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return Zoe's SLOs."""
        rates: dict[str, dict[str, int]] = {}
        for row in self._listed_rows():
            if row.policy == self._owner:
                rates.setdefault(row.project, {})[row.name] = row.bytes_per_s
        return {tenant: BandwidthSlo(found.get("get_bw"), found.get("put_bw")) for tenant, found in rates.items()}

    def other_guarantees(self) -> BandwidthSlo:
        """Return the sum of other owners' guarantees."""
        rows = [row for row in self._listed_rows() if row.policy != self._owner]
        read, write = (sum(row.bytes_per_s for row in rows if row.name == entry) for entry in ("get_bw", "put_bw"))
        return BandwidthSlo(read, write)

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put it in force: both directions, or none if one is refused."""
        before = self.slos().get(tenant, BandwidthSlo())
        try:
            self._put(tenant, slo)
        except StorageRefusedError:
            self._put(tenant, before)
            raise

    def _put(self, tenant: str, slo: BandwidthSlo) -> None:
        for name, rate in (("get_bw", slo.read_bytes_per_s), ("put_bw", slo.write_bytes_per_s)):
            if rate is None:
                self._http.ask("DELETE", self._path(name, tenant))
            else:
                self._http.ask("PUT", self._path(name, tenant), {"value": _megabytes(rate)})

    def clear_slo(self, tenant: str) -> None:
        """Remove it, both directions."""
        self._put(tenant, BandwidthSlo())

    def _listed_rows(self) -> list[_Row]:
        return self._rows.parse(self._http.ask("GET", "/policies/slos"))

    def _path(self, name: str, tenant: str) -> str:
        return f"/policies/slo/bandwidth/{name}/{quote(f'{tenant}#{self._owner}', safe='')}"


def _sla(row: Mapping[str, Any]) -> _Row | None:
    """Return a row of `/bw/slas`; None for a policy without an SLO."""
    if row["bandwidth"] is None:
        return None
    return _Row(str(row["project_id"]), str(row["policy_id"]), "", _bytes_per_s(row["bandwidth"]))


def _slo(row: Mapping[str, Any]) -> _Row | None:
    """Return a row of `/policies/slos`; None for a value other than bandwidth."""
    if row.get("dsl_filter", "bandwidth") != "bandwidth":
        return None
    project, _, policy = str(row["target"]).partition("#")
    return _Row(project, policy, str(row["slo_name"]), _bytes_per_s(row["value"]))


def _bytes_per_s(value: object) -> int:
    """Convert MB/s as a number or as text. Raises ValueError."""
    text = str(value).strip()
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:_ROW_CHARACTERS_MAX]!r} is not a rate")
    return int(Decimal(text) * MB)


def _both_ways(rate: int) -> BandwidthSlo:
    return BandwidthSlo(rate, rate)


def _megabytes(rate: int) -> int:
    return max(-(-rate // MB), 1)
