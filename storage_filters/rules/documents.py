"""Rules as JSON documents, as the storage controller sends them to proxies, with the names that they use."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from typing import Any

from storage_filters.rules.rules import (
    Action,
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    ModuleVersion,
    Operator,
    Rule,
    Target,
    TargetKind,
)

RULES_MAX = 2000
"""Most rules: each proxy gets all of them, repeatedly, at some 300 bytes each."""


_SEGMENTS = "+segments"
_PART_NAMES = 2
SHARED = ""
"""The tenant of modules that an admin uploaded for all."""


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules in the order of their creation, and the names that they use.

    groups: tenants and `<tenant>/<container>` of each group. types: endings of names, in lower case and without a dot,
    of each object type. metrics: the present value of each metric of a rule's target, by rule; the value of a missing
    metric is unknown. modules: a version of each module in a rule, by tenant and upper-case name. pinned: each rule
    names its versions; otherwise the book is from a controller of an earlier version, and `modules` applies to all
    rules.
    """

    rules: tuple[Rule, ...] = ()
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)
    metrics: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    modules: Mapping[str, Mapping[str, ModuleVersion]] = field(default_factory=dict)
    pinned: bool = False
    _by_target: Mapping[str, tuple[tuple[int, Rule], ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        for number, rule in enumerate(self.rules):
            for name in self._matching_targets(rule.target):
                found[name].append((number, rule))
        object.__setattr__(self, "_by_target", {name: tuple(rules) for name, rules in found.items()})

    def _matching_targets(self, target: Target) -> Iterable[str]:
        if target.kind is TargetKind.GROUP:
            return (text for text in self.groups.get(target.tenant, ()) if text.count("/") < 2)
        return ("/".join((target.tenant, target.container, target.object)[: target.rank]),)

    def rules_for(self, tenant: str, container: str, name: str) -> list[tuple[int, Rule]]:
        """Return the rules whose target contains an object, with their places, in order. The time does not grow with
        the number of other rules.
        """
        names = {tenant}
        for of, text in ((container, name), complete_object(container, name)):
            names |= {f"{tenant}/{of}", f"{tenant}/{of}/{text}"}
        places = (self._by_target.get(name, ()) for name in names)
        # A group may contain several of them.
        return sorted(dict(chain.from_iterable(places)).items(), key=itemgetter(0))

    def module(self, tenant: str, action: Action) -> ModuleVersion | None:
        """Return the module of a filter for a tenant; None without one. A shared module takes precedence over the
        tenant's, so that no tenant can replace a module of the admin.
        """
        of_rule = dict(action.versions)
        for owner in (SHARED, tenant):
            if (found := of_rule.get(owner)) is not None:
                return found
            if not self.pinned and (found := self.modules.get(owner, {}).get(action.kind)) is not None:
                return found
        return None

    def versions(self) -> set[ModuleVersion]:
        """Return all versions of modules that rules set."""
        found = {version for rule in self.rules for action in rule.actions for _, version in action.versions}
        if not self.pinned:
            found.update(version for modules in self.modules.values() for version in modules.values())
        return found


def complete_object(container: str, name: str) -> tuple[str, str]:
    """Return container and name of the object to which a part of an S3 multipart upload belongs; the same for other
    objects. S3 clients do not see where Swift stores parts: in a container beside the bucket, by object, upload and
    number of the part.
    """
    if container.endswith(_SEGMENTS) and name.count("/") >= _PART_NAMES:
        return container.removesuffix(_SEGMENTS), name.rsplit("/", _PART_NAMES)[0]
    return container, name


def book_document(book: RuleBook) -> dict[str, Any]:
    """Return the document of a book."""
    return {
        "rules": [_rule_document(rule) for rule in book.rules],
        "groups": {name: sorted(members) for name, members in book.groups.items()},
        "types": {name: sorted(endings) for name, endings in book.types.items()},
        "metrics": {str(rule): dict(values) for rule, values in book.metrics.items()},
        "modules": {
            tenant: {kind: [version.name, version.sha256, version.reads] for kind, version in modules.items()}
            for tenant, modules in book.modules.items()
        },
        "pinned": book.pinned,
    }


def digest_of(book: RuleBook) -> str:
    """Return the digest of a book, without its metrics: a SHA-256, in hexadecimal."""
    text = json.dumps(book_document(replace(book, metrics={})), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_book(document: Any) -> RuleBook:
    """Return the book of a document. Raises ValueError for an invalid document."""
    try:
        if len(document["rules"]) > RULES_MAX:
            raise ValueError(f"more than {RULES_MAX} rules")
        return RuleBook(
            tuple(_rule(rule) for rule in document["rules"]),
            {str(name): frozenset(map(str, members)) for name, members in document["groups"].items()},
            {str(name).upper(): frozenset(map(str, endings)) for name, endings in document["types"].items()},
            {
                int(rule): {str(name): float(value) for name, value in values.items()}
                for rule, values in document["metrics"].items()
            },
            {
                str(tenant): {str(kind).upper(): _module(entry) for kind, entry in modules.items()}
                for tenant, modules in document.get("modules", {}).items()
            },
            bool(document.get("pinned", False)),
        )
    except (TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a book of rules: {error!r}") from None


def condition_document(condition: Condition | None) -> Any:
    """Return `[name, operator, value]` of a comparison, `{"all": [...]}` or `{"any": [...]}`; None for no condition."""
    if condition is None:
        return None
    if isinstance(condition, Comparison):
        return [condition.name, str(condition.operator), condition.value]
    name = "all" if isinstance(condition, AllOf) else "any"
    return {name: [condition_document(part) for part in condition.parts]}


def action_document(action: Action) -> dict[str, Any]:
    """Return the document of an action."""
    return {
        "verb": action.verb,
        "filter": action.filter,
        "parameters": dict(action.parameters),
        "server": action.server,
        "duration": action.duration,
        "callable": action.callable,
        "only": [condition_document(term) for term in action.only],
    } | _versions_document(action)


def _versions_document(action: Action) -> dict[str, Any]:
    if not action.versions:
        return {}
    return {"versions": {tenant: [version.name, version.sha256, version.reads] for tenant, version in action.versions}}


def read_action(document: Mapping[str, Any]) -> Action:
    """Return the action of a document; fields that an older version did not write have their defaults."""
    return Action(
        str(document["verb"]),
        str(document["filter"]),
        tuple((str(name), str(value)) for name, value in document["parameters"].items()),
        _optional(document.get("server")),
        _optional(document.get("duration")),
        bool(document.get("callable")),
        tuple(_comparison(term) for term in document.get("only", ())),
        tuple((str(tenant), _module(entry)) for tenant, entry in document.get("versions", {}).items()),
    )


def read_condition(document: Any) -> Condition | None:
    """Return the condition of a document."""
    if document is None:
        return None
    if isinstance(document, list):
        return _comparison(document)
    [(name, parts)] = document.items()
    made = tuple(one for part in parts if (one := read_condition(part)) is not None)
    return AllOf(made) if name == "all" else {"any": AnyOf(made)}[name]


def _rule_document(rule: Rule) -> dict[str, Any]:
    target = rule.target
    return {
        "id": rule.id,
        "target": [str(target.kind), target.tenant, target.container, target.object],
        "when": condition_document(rule.condition),
        "do": [action_document(action) for action in rule.actions],
        "replaces_all": rule.replaces_all,
        "mandatory": rule.mandatory,
    }


def _rule(document: Mapping[str, Any]) -> Rule:
    kind, *names = document["target"]
    return Rule(
        Target(TargetKind(kind), *map(str, names)),
        read_condition(document["when"]),
        tuple(map(read_action, document["do"])),
        document["replaces_all"],
        bool(document["mandatory"]),
        int(document["id"]),
    )


def _module(document: Any) -> ModuleVersion:
    name, sha256, reads = document
    return ModuleVersion(str(name), str(sha256), bool(reads))


def _comparison(document: Any) -> Comparison:
    name, operator, value = document
    return Comparison(str(name), Operator(operator), str(value))


def _optional(value: Any) -> str | None:
    return None if value is None else str(value)
