"""Reports of proxies and object servers, as `storage_filters/bandwidth/limits.py` and `node_bandwidth.py` send them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage_bridge.bandwidth.assignment import ClaimKey, TransferKind
from storage_bridge.bandwidth.meter import TransferProgress
from storage_filters.rules.metrics import rule_of_counter

DIRECTIONS = {"get": TransferKind.READ, "put": TransferKind.WRITE}
"""Kinds of traffic by their names in messages."""


class BadReport(Exception):  # noqa: N818 - it is an answer
    """A message is not a valid report."""


@dataclass(frozen=True, slots=True)
class ServerReport:
    """One report. order: the epoch of the server and the number of the report. clients: bytes by client address.

    operations: by rule and direction. hosted: filters of the server; lacks: modules that it needs. cache: events and
    bytes, by name. requests, signers, computed, samples, moved, settled, uses: counters as sent.
    """

    server: str
    order: tuple[int, int]
    progress: TransferProgress
    clients: Mapping[ClaimKey, int]
    operations: Mapping[int, Mapping[str, int]]
    hosted: frozenset[str]
    lacks: frozenset[str]
    cache: Mapping[str, tuple[int, int]]
    requests: Mapping[str, Sequence[int]]
    signers: Mapping[str, Sequence[int]]
    computed: Mapping[str, Sequence[int]]
    samples: Mapping[str, Sequence[int]]
    moved: Any
    settled: Sequence[Any]
    uses: Any


def read_report(message: bytes, tenant: Callable[[str], str]) -> ServerReport:
    """Parse a report. Raises BadReport. tenant: returns the tenant of an account, or of an execution's account."""
    try:
        fields: dict[str, Any] = json.loads(message)
        seconds = float(fields["seconds"])
        if not seconds > 0:
            raise ValueError(f"moved within {seconds} s")
        waiting = frozenset((tenant(entry), DIRECTIONS[way]) for entry, way in fields.get("waiting", []))
        cache = fields.get("cache", {}).items()
        return ServerReport(
            str(fields["proxy"]),
            (int(fields["epoch"]), int(fields["seq"])),
            TransferProgress(seconds, _amounts(fields["accounts"], tenant), waiting),
            _amounts(fields.get("clients", {}), str),
            _operations(fields.get("operations", {})),
            frozenset(map(str, fields.get("filters", ()))),
            frozenset(map(str, fields.get("lacks", ()))),
            {str(name): (int(counts[0]), int(counts[1])) for name, counts in cache},
            dict(fields.get("requests", {})),
            dict(fields.get("signers", {})),
            dict(fields.get("computed", {})),
            dict(fields.get("samples", {})),
            fields.get("moved"),
            fields.get("settled", ()),
            fields.get("uses", {}),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise BadReport(str(error)) from None


def _operations(told: Mapping[str, Mapping[str, Any]]) -> dict[int, dict[str, int]]:
    return {
        rule_of_counter(str(name)): {str(direction): int(count) for direction, count in counts.items()}
        for name, counts in told.items()
    }


def _amounts(accounts: Mapping[str, Mapping[str, Any]], name: Callable[[str], str]) -> dict[ClaimKey, int]:
    return {
        (name(text), DIRECTIONS[direction]): int(moved)
        for text, directions in accounts.items()
        for direction, moved in directions.items()
    }
