"""Rules of the object store as values: a target, a condition, and the filters to set or delete.

The storage controller parses their text and sends proxies the documents of `documents.py`, so proxies need no grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

BANDWIDTH = "BANDWIDTH"
"""Bandwidth guarantee of a tenant: the controller enforces it as an SLO, and no rule overrides it."""

CACHING = "CACHING"
"""Caching at reads: the proxy keeps the objects on its disk."""


class TargetKind(StrEnum):
    """Kind of a rule's target; a group is a named list of tenants and containers."""

    TENANT = "TENANT"
    CONTAINER = "CONTAINER"
    OBJECT = "OBJECT"
    GROUP = "G"


class Operator(StrEnum):
    """Comparison operator."""

    GREATER = ">"
    LESS = "<"
    AT_LEAST = ">="
    AT_MOST = "<="
    EQUAL = "="
    UNEQUAL = "!="


OBJECT_TYPE, OBJECT_SIZE, OBJECT_TAG = "OBJECT_TYPE", "OBJECT_SIZE", "OBJECT_TAG"
STATIC_NAMES = frozenset((OBJECT_TYPE, OBJECT_SIZE, OBJECT_TAG))
"""Names that a request itself determines; every other name in a condition is a metric."""

_RANKS = {TargetKind.TENANT: 1, TargetKind.CONTAINER: 2, TargetKind.OBJECT: 3}
_NUMBER = re.compile(
    r"(?P<number>[+-]?\d{1,18}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?)(?P<unit>[KMGT]i?)?B?(?:ps|/s)?", re.IGNORECASE
)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def number_of(text: str) -> float | None:
    """Return a number with an optional unit (`10M`, `5.5e3`, `-5`, `64KiB`, `30MBps`); None for any other text."""
    found = _NUMBER.fullmatch(text)
    return None if found is None else float(found["number"]) * _FACTORS[(found["unit"] or "").lower()]


@dataclass(frozen=True, slots=True)
class Target:
    """Tenant, container and object, as the kind requires; `tenant` of a group is the group's name."""

    kind: TargetKind
    tenant: str
    container: str = ""
    object: str = ""

    @property
    def name(self) -> str:
        """Return `<tenant>`, `<tenant>/<container>` or `<tenant>/<container>/<object>`."""
        return "/".join(part for part in (self.tenant, self.container, self.object) if part)

    @property
    def rank(self) -> int:
        """Return how specific it is; 0 for a group, which ranks as its members."""
        return _RANKS.get(self.kind, 0)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A term of a condition, such as `OBJECT_SIZE < 10M`; the value is the original text."""

    name: str
    operator: Operator
    value: str


@dataclass(frozen=True, slots=True)
class AllOf:
    """Two or more conditions that all have to hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Two or more conditions, of which one has to hold."""

    parts: tuple[Condition, ...]


Condition = Comparison | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class ModuleVersion:
    """A WebAssembly module for rules. sha256: of its file, in hexadecimal. reads: it runs when an object is read, not
    when it is stored.
    """

    name: str
    sha256: str
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """A filter to set or delete.

    parameters: names and values as written. server: PROXY, OBJECT or empty. duration: TRANSIENT, PERSISTENT or empty.
    only: comparisons of the object that all have to hold. versions: of a filter that is a module, by tenant; the empty
    name stands for all tenants.
    """

    verb: str
    filter: str
    parameters: tuple[tuple[str, str], ...] = ()
    server: str | None = None
    duration: str | None = None
    callable: bool = False
    only: tuple[Comparison, ...] = ()
    versions: tuple[tuple[str, ModuleVersion], ...] = ()

    @property
    def kind(self) -> str:
        """Return the kind of filter; rules override each other by kind."""
        return self.filter.upper()

    def parameter(self, name: str) -> str | None:
        """Return a parameter's value, whatever the case of its name; None without one."""
        return {key.upper(): value for key, value in self.parameters}.get(name.upper())


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the object store.

    replaces_all: whether it overrides all filters of less specific targets, not only those of the same kinds; None if
    the text does not say. mandatory: no other rule overrides it. id: 0 while it is not stored.
    """

    target: Target
    condition: Condition | None
    actions: tuple[Action, ...]
    replaces_all: bool | None = None
    mandatory: bool = False
    id: int = 0


def comparisons(condition: Condition | None) -> tuple[Comparison, ...]:
    """Return all terms of a condition, from left to right."""
    if condition is None:
        return ()
    if isinstance(condition, Comparison):
        return (condition,)
    return tuple(term for part in condition.parts for term in comparisons(part))


def metrics_of(rule: Rule) -> tuple[str, ...]:
    """Return the metrics in a rule's condition; a rule with metrics is dynamic."""
    return tuple(sorted({term.name.upper() for term in comparisons(rule.condition)} - STATIC_NAMES))
