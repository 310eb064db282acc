"""Which filters an object went through, as it is kept in the object's metadata: by them it is read, whatever the rules
are by then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage_filters.rules.chains import Verdict
from storage_filters.rules.placing import Placed
from storage_filters.transforms.compression import LEVELS, Compression
from storage_filters.transforms.encryption import Encryption
from storage_filters.transforms.keyring import Keyring
from storage_filters.transforms.modules.filters import MODULE
from storage_filters.transforms.modules.modules import Modules
from storage_filters.transforms.stream_filters import DamagedObjectError, FilterRefused, Noop, StreamFilter

STEPS_MAX = 8
_TOLD = ("filter", "type", "key", "name", "module", "rule", "moved")
KINDS = ("COMPRESSION", "ENCRYPTION", "NOOP", MODULE)
"""The filters that a host has; a module goes by a name of its own."""
_BUILT_IN = frozenset(KINDS) - {MODULE}


@dataclass(frozen=True, slots=True)
class Step:
    """A filter of an object, and the rule that set it. moved: why it runs at the proxy though ON OBJECT."""

    filter: StreamFilter
    rule: int
    moved: str | None = None

    def record(self) -> dict[str, Any]:
        """Return what is kept of it."""
        made = {**self.filter.record(), "rule": self.rule}
        return made if self.moved is None else {**made, "moved": self.moved}


def steps_of(
    chain: Sequence[Placed],
    tenant: str,
    keyring: Keyring,
    name: bytes,
    modules: Modules | None = None,
    metadata: Mapping[str, str] | None = None,
) -> list[Step]:
    """Return the filters of a new object, in their order at PUT. name: of the object, with account and container.
    metadata: of the request, for modules. FilterRefused.
    """
    made = (_filter(one.verdict, tenant, keyring, name, modules, metadata or {}) for one in chain)
    return [Step(one, at.verdict.rule.id, at.moved) for one, at in zip(made, chain, strict=True)]


def stored_by(verdicts: Sequence[Verdict], tenant: str, modules: Modules | None = None) -> Sequence[Verdict]:
    """Return those whose filters run when an object is stored; those that this proxy does not have, and modules that
    run when an object is read, are left out.
    """
    return [
        one
        for one in verdicts
        if one.action.kind in _BUILT_IN or (modules is not None and modules.stores(tenant, one.action))
    ]


def written(steps: Sequence[Step]) -> str:
    """Return what is kept of the filters of an object."""
    return json.dumps([step.record() for step in steps], separators=(",", ":"))


def handed(steps: Sequence[Step]) -> str:
    """Return what object servers are told to do: records, with the level of a compression. They are complete, so that
    all replicas have the same bytes.
    """
    return json.dumps([{**step.record(), **_level(step.filter)} for step in steps], separators=(",", ":"))


def _level(one: StreamFilter) -> dict[str, int]:
    return {"level": one.level} if isinstance(one, Compression) else {}


def taken(text: str, tenant: str, keyring: Keyring, name: bytes) -> list[Step]:
    """Return the filters that an object server is told to run. FilterRefused, DamagedObjectError."""
    found = []
    for record in parsed(text):
        made = _of_record(record, tenant, keyring, name, None)
        if isinstance(made, Compression):
            made = Compression(record["type"], int(record.get("level", 1)))
        found.append(Step(made, int(record.get("rule") or 0)))
    return found


def parsed(text: str) -> list[Mapping[str, Any]]:
    """Return the filters that are kept with an object; DamagedObjectError."""
    try:
        records = json.loads(text)
        if not (isinstance(records, list) and len(records) <= STEPS_MAX and all(isinstance(r, dict) for r in records)):
            raise ValueError("not a list of filters")
    except ValueError as error:
        raise DamagedObjectError(f"its filters are not known: {error}") from None
    return records


def told(text: str) -> list[dict[str, Any]]:
    """Return what a reader is told of the filters of an object: names, types, names of keys, and the rules that set
    them. DamagedObjectError.
    """
    return [{name: record[name] for name in _TOLD if name in record} for record in parsed(text)]


def met_by(text: str) -> list[tuple[int, str]]:
    """Return the rules and kinds of the filters of an object; a module goes by its name. DamagedObjectError."""
    return [
        (int(record.get("rule") or 0), str(record.get("name") or record.get("filter", "")).upper())
        for record in parsed(text)
    ]


def filters_of(
    text: str, tenant: str, keyring: Keyring, name: bytes, modules: Modules | None = None
) -> list[StreamFilter]:
    """Return the filters of a stored object of this name. FilterRefused for a missing key or module,
    DamagedObjectError.
    """
    return [_of_record(record, tenant, keyring, name, modules) for record in parsed(text)]


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
        raise FilterRefused(f"rule {verdict.rule.id} asks for compression by {kind} at level {level}, which is unknown")
    return Compression(kind, int(level))


def _of_record(
    record: Mapping[str, Any], tenant: str, keyring: Keyring, name: bytes, modules: Modules | None
) -> StreamFilter:
    try:
        match record["filter"]:
            case "COMPRESSION" if record["type"] in LEVELS:
                return Compression.of_record(record)
            case "ENCRYPTION":
                return Encryption.of_record(record, keyring.named(tenant, record["key"]), name)
            case "NOOP":
                return Noop()
            case "MODULE" if modules is not None:
                return modules.of_record(record)
    except (KeyError, ValueError, TypeError) as error:
        raise DamagedObjectError(f"its filters are not known: {error!r}") from None
    raise FilterRefused(f"this server does not have the filter {record['filter']}, which this object went through")
