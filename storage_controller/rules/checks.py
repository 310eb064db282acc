"""Check whether rules can be carried out: refuse one that cannot, and warn about filters that the proxies do not
have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from storage_controller.answers import RequestRefusedError
from storage_controller.rules.dsl import bandwidth_of
from storage_controller.rules.module_check import wrong_parameter
from storage_filters.rules.metrics import COMPRESSIBILITY, METRICS
from storage_filters.rules.rules import (
    BANDWIDTH,
    CACHING,
    OBJECT_SIZE,
    OBJECT_TYPE,
    Action,
    Rule,
    TargetKind,
    comparisons,
    metrics_of,
    number_of,
)

PARAMETERS_BYTES_MAX = 512
ACTIONS_MAX = 16
TRIALS_MAX = 20
"""Most modules that are tried for one request: each is compiled in a separate process."""
ModuleFile = Callable[[str, str], bytes | None]
"""Returns the file of a tenant's module by its upper-case name."""
_TYPES = ("ZSTD", "LZ4", "GZIP")
_LEVELS = {"ZSTD": 19, "LZ4": 12, "GZIP": 9}


def guaranteed_rates(rule: Rule) -> int | None:
    """Return the bytes per second that a rule guarantees its tenant, both ways; None without a guarantee. Raises
    Refused.
    """
    rates = [rate for action in rule.actions if (rate := bandwidth_of(action)) is not None]
    if rates and rule.target.kind is not TargetKind.TENANT:
        raise RequestRefusedError(400, f"bandwidth can be promised to tenants only, not to {rule.target}")
    if rates and (rule.condition is not None or any(a.only for a in rule.actions if a.kind == BANDWIDTH)):
        raise RequestRefusedError(
            400, "a promise of bandwidth always holds: write it as a rule of its own, without a condition"
        )
    if any(action.verb == "DELETE" and action.kind == BANDWIDTH for action in rule.actions):
        raise RequestRefusedError(400, "no rule overrides BANDWIDTH: remove the rule that guarantees it")
    return max(rates, default=None)


def check(rule: Rule, types: Collection[str], groups: Collection[str], added: Collection[str] = ()) -> None:
    """Refuse a rule with unknown names, or with parameters that its filters do not have. added: the names of added
    metrics, in capitals.
    """
    if len(rule.actions) > ACTIONS_MAX:
        raise RequestRefusedError(400, f"a rule has at most {ACTIONS_MAX} actions, not {len(rule.actions)}")
    if rule.target.kind is TargetKind.GROUP and rule.target.tenant not in groups:
        raise RequestRefusedError(
            400, f"the group {rule.target.tenant} is not registered; known: {_names_text(groups)}"
        )
    terms = (*comparisons(rule.condition), *(term for action in rule.actions for term in action.only))
    known = {name.upper() for name in types}
    for term in terms:
        if term.name.upper() == OBJECT_TYPE and term.value.upper() not in known:
            raise RequestRefusedError(
                400, f"the object type {term.value} is not registered; known: {_names_text(known)}"
            )
        if term.name.upper() == OBJECT_SIZE and not float(number_of(term.value) or 0).is_integer():
            raise RequestRefusedError(400, f"OBJECT_SIZE is compared with whole bytes, not with {term.value}")
    _check_metrics(rule, added)
    kinds = {verb: {action.kind for action in rule.actions if action.verb == verb} for verb in ("SET", "DELETE")}
    if both := sorted(kinds["SET"] & kinds["DELETE"]):
        raise RequestRefusedError(400, f"it sets and deletes {both[0]}: leave one of them out")
    for action in rule.actions:
        if action.server == "OBJECT" and (why := _AT_PROXIES.get(action.kind)) is not None:
            raise RequestRefusedError(400, f"{action.filter} cannot run ON OBJECT: {why}")
        if action.verb == "SET" and action.kind not in _FILTERS:
            _module(action)
        if (of := _FILTERS.get(action.kind)) is not None and action.verb == "SET":
            of(action, {name.upper(): value for name, value in action.parameters})


def not_carried_out(actions: Collection[Action], hosted: Collection[str]) -> list[str]:
    """Return the names of filters that are stored only, since proxies do not have them."""
    return sorted({action.filter for action in actions if action.kind not in (BANDWIDTH, *hosted)})


def _check_metrics(rule: Rule, added: Collection[str]) -> None:
    measured = (*METRICS, *sorted(added))
    if missing := [name for name in metrics_of(rule) if name not in measured]:
        raise RequestRefusedError(400, f"the metric {missing[0]} is not measured; measured are {', '.join(measured)}")
    if rule.target.kind is TargetKind.OBJECT and COMPRESSIBILITY in metrics_of(rule):
        raise RequestRefusedError(
            400, f"{COMPRESSIBILITY} is measured for containers, not for one object: name its container"
        )
    if metrics_of(rule) and any(action.duration == "PERSISTENT" for action in rule.actions):
        raise RequestRefusedError(400, "PERSISTENT cannot be used in a rule with a metric")


def parameters_of(kind: str) -> Collection[str] | None:
    """Return the names of a filter's parameters, in capitals; None for a module, which has its own."""
    return _PARAMETERS.get(kind)


def check_modules(rules: Collection[Rule], groups: Mapping[str, Collection[str]], file: ModuleFile) -> None:
    """Refuse rules without a parameter that their module needs to store, or to read, an object."""
    trials = {
        (tenant, action.kind, tuple(sorted((name.lower(), value) for name, value in action.parameters)))
        for rule in rules
        for action in rule.actions
        if action.verb == "SET" and action.kind not in _FILTERS
        for tenant in _tenants(rule, groups)
    }
    files = {(tenant, kind): file(tenant, kind) for tenant, kind, _ in trials}
    runs = {
        (content, kind, parameters)
        for tenant, kind, parameters in trials
        if (content := files[tenant, kind]) is not None
    }
    if len(runs) > TRIALS_MAX:
        raise RequestRefusedError(400, f"at most {TRIALS_MAX} modules, each with its parameters, can be set at a time")
    for content, kind, parameters in sorted(runs):
        _try(content, kind, dict(parameters))


def check_version(rule: Rule, kind: str, content: bytes) -> None:
    """Refuse a version of a module that does not accept a rule's parameters."""
    for action in rule.actions:
        if action.verb == "SET" and action.kind == kind:
            _try(content, kind, {name.lower(): value for name, value in action.parameters})


def _try(content: bytes, kind: str, parameters: Mapping[str, str]) -> None:
    if (wrong := wrong_parameter(content, parameters)) is not None:
        name, said = wrong
        given = "does not take" if name in parameters else "needs"
        raise RequestRefusedError(400, f"{kind.lower()} {given} the parameter {name}: {said}")


def _tenants(rule: Rule, groups: Mapping[str, Collection[str]]) -> set[str]:
    """Return the tenants whose modules a rule may set; the empty one stands for shared modules."""
    if rule.target.kind is TargetKind.GROUP:
        return {"", *(member.partition("/")[0] for member in groups.get(rule.target.tenant, ()))}
    return {rule.target.tenant}


def _names_text(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _module(action: Action) -> None:
    """Check the parameters of a filter that may be a module; they are stored with each object."""
    if len(json.dumps(dict(action.parameters))) > PARAMETERS_BYTES_MAX:
        raise RequestRefusedError(400, f"{action.filter}: its parameters take more than {PARAMETERS_BYTES_MAX} bytes")


def _compression(action: Action, given: Mapping[str, str]) -> None:
    _only(action, given)
    kind = given.get("TYPE", "ZSTD").upper()
    if kind not in _TYPES:
        raise RequestRefusedError(400, f"{action.filter}: TYPE is one of {', '.join(_TYPES)}, not {given['TYPE']}")
    level = given.get("LEVEL", "1")
    if not (level.isascii() and level.isdecimal() and 1 <= int(level) <= _LEVELS[kind]):
        raise RequestRefusedError(
            400, f"{action.filter}: LEVEL of {kind} must be from 1 to {_LEVELS[kind]}, not {level}"
        )


def _plain(action: Action, given: Mapping[str, str]) -> None:
    _only(action, given)


def _bandwidth(action: Action, _given: Mapping[str, str]) -> None:
    bandwidth_of(action)


def _only(action: Action, given: Mapping[str, str]) -> None:
    known = _PARAMETERS[action.kind]
    if unknown := sorted(set(given) - set(known)):
        raise RequestRefusedError(
            400, f"{action.filter} has no parameter {unknown[0]}; known: {', '.join(known) or 'none'}"
        )


_AT_PROXIES = {
    CACHING: "it saves the way to the object servers, so it is at the proxy",
    BANDWIDTH: "a promise holds for all requests of a tenant, whichever servers hold it",
}
_PARAMETERS = {CACHING: (), "COMPRESSION": ("TYPE", "LEVEL"), "ENCRYPTION": (), "NOOP": ()}
_FILTERS: Mapping[str, Callable[[Action, Mapping[str, str]], None]] = {
    CACHING: _plain,
    "COMPRESSION": _compression,
    "ENCRYPTION": _plain,
    "NOOP": _plain,
    BANDWIDTH: _bandwidth,
}
