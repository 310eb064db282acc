"""Which filters an object went through, as it is kept in the object's metadata: by them it is read, whatever the rules
are by then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage_filters.chains import Verdict
from storage_filters.compression import LEVELS, Compression
from storage_filters.encryption import Encryption
from storage_filters.keyring import Keyring
from storage_filters.module_filters import MODULE
from storage_filters.modules import Modules
from storage_filters.stream_filters import DamagedObjectError, FilterRefused, Noop, StreamFilter

STEPS_MAX = 8
_TOLD = ("filter", "type", "key", "name", "module", "rule")
KINDS = ("COMPRESSION", "ENCRYPTION", "NOOP", MODULE)
"""The filters that a host has; a module goes by a name of its own."""
_BUILT_IN = frozenset(KINDS) - {MODULE}
hosted: set[str] = set()
"""Those of this process: empty in a proxy without the host."""


@dataclass(frozen=True, slots=True)
class Step:
    """A filter of an object, and the rule that set it."""

    filter: StreamFilter
    rule: int


def steps_of(
    verdicts: Sequence[Verdict],
    tenant: str,
    keyring: Keyring,
    modules: Modules | None = None,
    metadata: Mapping[str, str] | None = None,
) -> list[Step]:
    """Return the filters of a new object, in their order at PUT. metadata: of the request, for modules.
    FilterRefused.
    """
    known = stored_by(verdicts, tenant, modules)
    if len(known) > STEPS_MAX:
        raise FilterRefused(f"{len(known)} filters apply to this object, and at most {STEPS_MAX} run: see its rules")
    return [Step(_filter(one, tenant, keyring, modules, metadata or {}), one.rule.id) for one in known]


def stored_by(verdicts: Sequence[Verdict], tenant: str, modules: Modules | None = None) -> Sequence[Verdict]:
    """Return those whose filters run when an object is stored; those that this proxy does not have, and modules that
    run when an object is read, are left out.
    """
    return [
        one
        for one in verdicts
        if one.action.kind in _BUILT_IN or (modules is not None and modules.stores(tenant, one.action.kind))
    ]


def written(steps: Sequence[Step]) -> str:
    """Return what is kept of the filters of an object."""
    return json.dumps([{**step.filter.record(), "rule": step.rule} for step in steps], separators=(",", ":"))


def parsed(text: str) -> list[Mapping[str, Any]]:
    """Return the filters that are kept with an object; DamagedObjectError."""
    try:
        records = json.loads(text)
        if not (isinstance(records, list) and len(records) <= STEPS_MAX and all(isinstance(r, dict) for r in records)):
            raise ValueError("not a list of filters")
    except ValueError as error:
        raise DamagedObjectError(f"its filters are not known: {error}") from None
    return records


def told(text: str) -> str:
    """Return what a reader is told of the filters of an object: names, types, names of keys, and the rules that set
    them. DamagedObjectError.
    """
    return json.dumps([{name: record[name] for name in _TOLD if name in record} for record in parsed(text)])


def met_by(text: str) -> list[tuple[int, str]]:
    """Return the rules and kinds of the filters of an object; a module goes by its name. DamagedObjectError."""
    return [
        (int(record.get("rule") or 0), str(record.get("name") or record.get("filter", "")).upper())
        for record in parsed(text)
    ]


def filters_of(text: str, tenant: str, keyring: Keyring, modules: Modules | None = None) -> list[StreamFilter]:
    """Return the filters of a stored object. FilterRefused for a missing key or module, DamagedObjectError."""
    return [_of_record(record, tenant, keyring, modules) for record in parsed(text)]


def _filter(
    verdict: Verdict, tenant: str, keyring: Keyring, modules: Modules | None, metadata: Mapping[str, str]
) -> StreamFilter:
    action = verdict.action
    if action.kind not in _BUILT_IN and modules is not None:
        return modules.filter(tenant, action, metadata)
    if action.kind == "ENCRYPTION":
        return Encryption(keyring.current(tenant))
    if action.kind == "NOOP":
        return Noop()
    kind, level = (action.parameter("TYPE") or "ZSTD").upper(), action.parameter("LEVEL") or "1"
    if kind not in LEVELS or not level.isdecimal() or not 1 <= int(level) <= LEVELS[kind]:
        raise FilterRefused(f"rule {verdict.rule.id} asks for compression by {kind} at level {level}, which is unknown")
    return Compression(kind, int(level))


def _of_record(record: Mapping[str, Any], tenant: str, keyring: Keyring, modules: Modules | None) -> StreamFilter:
    try:
        match record["filter"]:
            case "COMPRESSION" if record["type"] in LEVELS:
                return Compression.of_record(record)
            case "ENCRYPTION":
                return Encryption.of_record(record, keyring.named(tenant, record["key"]))
            case "NOOP":
                return Noop()
            case "MODULE" if modules is not None:
                return modules.of_record(record)
    except (KeyError, ValueError, TypeError) as error:
        raise DamagedObjectError(f"its filters are not known: {error!r}") from None
    raise FilterRefused(f"this proxy does not have the filter {record['filter']}, which this object went through")
