"""Records of an object's filters in its metadata: a read undoes these, even if the rules have changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage_filters.rules.chains import Verdict
from storage_filters.rules.placing import PlacedFilter
from storage_filters.transforms.compression import LEVELS, Compression
from storage_filters.transforms.encryption import Encryption
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.filters import MODULE
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterRefusedError, Noop, StreamFilter

STEPS_MAX = 8
_TOLD = ("filter", "type", "key", "name", "module", "rule", "moved")
KINDS = ("COMPRESSION", "ENCRYPTION", "NOOP", MODULE)
"""Filters of a host; modules have names of their own."""
_BUILT_IN = frozenset(KINDS) - {MODULE}


@dataclass(frozen=True, slots=True)
class Step:
    """A filter of an object, and the rule that set it. moved: why it runs at the proxy in spite of ON OBJECT."""

    filter: StreamFilter
    rule: int
    moved: str | None = None

    def record(self) -> dict[str, Any]:
        """Return the record of the filter."""
        made = {**self.filter.record(), "rule": self.rule}
        return made if self.moved is None else {**made, "moved": self.moved}


def steps_of(
    chain: Sequence[PlacedFilter],
    tenant: str,
    keyring: Keyring,
    name: bytes,
    modules: Modules | None = None,
    metadata: Mapping[str, str] | None = None,
) -> list[Step]:
    """Return the filters of a new object, in their order at PUT. name: of the object, with account and container.
    metadata: of the request, for modules. Raises FilterRefusedError.
    """
    made = (_filter(placed.verdict, tenant, keyring, name, modules, metadata or {}) for placed in chain)
    return [Step(entry, at.verdict.rule.id, at.moved) for entry, at in zip(made, chain, strict=True)]


def stored_by(verdicts: Sequence[Verdict], tenant: str, modules: Modules | None = None) -> Sequence[Verdict]:
    """Return the verdicts with filters that run when an object is stored, without filters that this proxy lacks, and
    without modules that run at reads.
    """
    return [
        verdict
        for verdict in verdicts
        if verdict.action.kind in _BUILT_IN or (modules is not None and modules.stores(tenant, verdict.action))
    ]


def record_text(steps: Sequence[Step]) -> str:
    """Return the record of an object's filters, as text."""
    return json.dumps([step.record() for step in steps], separators=(",", ":"))


def node_record_text(steps: Sequence[Step]) -> str:
    """Return the filters for object servers, as text: records, with the level of a compression. They are complete, so
    that all replicas have the same bytes.
    """
    return json.dumps([{**step.record(), **_level(step.filter)} for step in steps], separators=(",", ":"))


def _level(one: StreamFilter) -> dict[str, int]:
    return {"level": one.level} if isinstance(one, Compression) else {}


def node_steps(text: str, tenant: str, keyring: Keyring, name: bytes) -> list[Step]:
    """Return the filters that a proxy requests from an object server. Raises FilterRefusedError and
    DamagedObjectError.
    """
    found = []
    for record in parse_records(text):
        made = _of_record(record, tenant, keyring, name, None)
        if isinstance(made, Compression):
            made = Compression(record["type"], int(record.get("level", 1)))
        found.append(Step(made, int(record.get("rule") or 0)))
    return found


def parse_records(text: str) -> list[Mapping[str, Any]]:
    """Parse the record of an object's filters. Raises DamagedObjectError."""
    try:
        records = json.loads(text)
        if not (isinstance(records, list) and len(records) <= STEPS_MAX and all(isinstance(r, dict) for r in records)):
            raise ValueError("not a list of filters")
    except ValueError as error:
        raise DamagedObjectError(f"its filters are not known: {error}") from None
    return records


def description_of(text: str) -> list[dict[str, Any]]:
    """Return the description of an object's filters for readers: names, types, names of keys, and the rules that set
    them. Raises DamagedObjectError.
    """
    return [{name: record[name] for name in _TOLD if name in record} for record in parse_records(text)]


def rules_and_kinds(text: str) -> list[tuple[int, str]]:
    """Return the rules and kinds of an object's filters; the kind of a module is its name. Raises
    DamagedObjectError.
    """
    return [
        (int(record.get("rule") or 0), str(record.get("name") or record.get("filter", "")).upper())
        for record in parse_records(text)
    ]


def filters_of(
    text: str, tenant: str, keyring: Keyring, name: bytes, modules: Modules | None = None
) -> list[StreamFilter]:
    """Return the filters of a stored object of this name. Raises FilterRefusedError for a missing key or module, and
    DamagedObjectError.
    """
    return [_of_record(record, tenant, keyring, name, modules) for record in parse_records(text)]


def _filter(
    verdict: Verdict,
    tenant: str,
    keyring: Keyring,
    name: bytes,
    modules: Modules | None,
    metadata: Mapping[str, str],
) -> StreamFilter:
    action = verdict.action
    if action.kind not in _BUILT_IN and modules is not None:
        return modules.filter(tenant, action, metadata)
    if action.kind == "ENCRYPTION":
        return Encryption(keyring.current(tenant), name=name)
    if action.kind == "NOOP":
        return Noop()
    kind, level = (action.parameter("TYPE") or "ZSTD").upper(), action.parameter("LEVEL") or "1"
    if kind not in LEVELS or not level.isdecimal() or not 1 <= int(level) <= LEVELS[kind]:
        raise FilterRefusedError(
            f"rule {verdict.rule.id} asks for compression by {kind} at level {level}, which is unknown"
        )
    return Compression(kind, int(level))


def _of_record(
    record: Mapping[str, Any], tenant: str, keyring: Keyring, name: bytes, modules: Modules | None
) -> StreamFilter:
    try:
        match record["filter"]:
            case "COMPRESSION" if record["type"] in LEVELS:
                return Compression.from_record(record)
            case "ENCRYPTION":
                return Encryption.from_record(record, keyring.key_named(tenant, record["key"]), name)
            case "NOOP":
                return Noop()
            case "MODULE" if modules is not None:
                return modules.filter_of_record(record)
    except (KeyError, ValueError, TypeError) as error:
        raise DamagedObjectError(f"its filters are not known: {error!r}") from None
    raise FilterRefusedError(
        f"this server does not have the filter {record['filter']}, which was applied to this object"
    )
