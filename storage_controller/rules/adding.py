"""Add rules: parse, check and store them, restore removed ones, and move one to another version of a module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import RequestRefusedError
from storage_controller.database.supervision import Mode
from storage_controller.promises.promisable import Promisable
from storage_controller.rules.checks import check, check_modules, check_version, guaranteed_rates, not_carried_out
from storage_controller.rules.dsl import RuleError, parse_rules
from storage_controller.rules.module_ledger import content_of
from storage_controller.rules.rule_modules import Ran, RuleModule
from storage_controller.rules.rule_store import RuleLedger
from storage_controller.rules.verdicts import Idle
from storage_controller.rules.words import expand_rule
from storage_filters.filter_host.records import KINDS
from storage_filters.rules.documents import SHARED
from storage_filters.rules.placing import AT_OBJECT_SERVERS, SENTENCES, MoveReason
from storage_filters.rules.rules import ModuleVersion, Rule, TargetKind, comparisons, metrics_of
from storage_filters.transforms.modules.filters import MODULE

TEXT_BYTES_MAX = 2**20
TRIAL_STEPS_MAX = 2_000
"""Maximum rules, actions and comparisons that a trial reads together: some tenths of a second."""


@dataclass(frozen=True, slots=True)
class AddedRules:
    """Stored rules: their numbers and caveats."""

    ids: list[int]
    caveats: list[str]


def keep_rules(
    rules: RuleLedger,
    promisable: Promisable,
    wanted: Sequence[Rule],
    author: str | None,
    mode: Mode = Mode.ON,
    twins: bool = True,
    ran: Collection[Ran] | None = None,
) -> AddedRules:
    """Check and store rules. ran: the versions of modules that they run, instead of the newest. Raises
    RequestRefusedError.
    """
    rates = [guaranteed_rates(rule) for rule in wanted]
    expand_rules(rules, wanted)
    caveats: list[str] = []
    if mode is Mode.DRY and not all(map(metrics_of, wanted)):
        raise RequestRefusedError(
            400, "a dry run shows when a metric would switch a rule: this rule has none; try it instead"
        )
    for rule, rate in zip(wanted, rates, strict=True):
        if rate is not None:
            promisable.check(rule.target.tenant, BandwidthSlo(rate, rate))
            caveats += promisable.caveats(BandwidthSlo(rate, rate))
    ids = rules.add(list(zip(wanted, rates, strict=True)), author, mode, twins, ran)
    return AddedRules(ids, [*_caveats(wanted, unenforced_filters_by(rules), rules.hosted()), *sorted(set(caveats))])


def restore(rules: RuleLedger, promisable: Promisable, number: int, author: str | None) -> AddedRules:
    """Restore a removed rule; one that was not on is only judged. Raises RequestRefusedError."""
    found = next((entry for entry in rules.history() if entry.id == number), None)
    if found is None:
        raise RequestRefusedError(404, f"no removed rule has the number {number}; see zoe storage policy ls --removed")
    if found.rule is None:
        raise RequestRefusedError(409, f"this version does not understand rule {number}: add it with other keywords")
    rule = expand_rule(found.rule, rules.words())
    if found.ran is None and any(action.verb == "SET" and action.kind not in KINDS for action in rule.actions):
        raise RequestRefusedError(
            409,
            f"rule {number} was removed before the versions of its filters were recorded: add it with the newest ones "
            "(zoe storage policy add)",
        )
    mode = Mode.ON if found.mode is Mode.ON else Mode.DRY
    return keep_rules(rules, promisable, [replace(found.rule, id=0)], author, mode, False, found.ran or ())


def move_rule(rules: RuleLedger, number: int, name: str, sha256: str | None) -> Sequence[RuleModule]:
    """Let a rule run another version of a module, after a trial with its parameters; return the versions that it ran.
    Raises RequestRefusedError.
    """
    kept = next((rule.rule for rule in rules.rules() if rule.id == number and rule.rule is not None), None)
    if kept is None:
        raise RequestRefusedError(404, f"rule {number} does not exist")
    rule = expand_rule(kept, rules.words())
    contents: dict[str, bytes] = {}

    def version_for(connection: Connection, tenant: str) -> ModuleVersion:
        version, contents[version.sha256] = content_of(connection, tenant, name.lower(), sha256)
        return version

    with rules.begin() as connection:
        for module in rules.rule_modules().get(number, ()):
            if module.version.name == name.lower():
                version_for(connection, module.tenant)
    for content in contents.values():  # outside of the transaction: each is compiled in a separate process
        check_version(rule, name.upper(), content)

    def tried_one(connection: Connection, tenant: str) -> ModuleVersion:
        tried = set(contents)
        version = version_for(connection, tenant)
        if version.sha256 not in tried:
            raise RequestRefusedError(409, f"a newer version of {name} was uploaded at this moment: try again")
        return version

    return rules.move(number, name, tried_one)


def expand_rules(rules: RuleLedger, wanted: Sequence[Rule]) -> list[Rule]:
    """Return the rules with their aliases expanded. Raises RequestRefusedError."""
    types, groups, added, words = rules.object_types(), rules.groups(), rules.metric_names(), rules.words()
    found = [expand_rule(rule, words) for rule in wanted]
    for rule in found:
        check(rule, types, groups, added)
    check_modules(found, groups, rules.module_file)
    return found


def parse_text(body: bytes, caller: str | None, appendix: bool = False, steps_max: int | None = None) -> list[Rule]:
    """Return the rules of a text. Raises RequestRefusedError with the line and the position of an error, or if it takes
    more steps: rules, actions and comparisons.
    """
    if len(body) > TEXT_BYTES_MAX:
        raise RequestRefusedError(400, f"the rules have more than {TEXT_BYTES_MAX} bytes; add them in parts")
    try:
        rules = list(_within(parse_rules(body.decode(), caller), steps_max))
    except (RuleError, UnicodeDecodeError) as error:
        raise RequestRefusedError(400, str(error)) from None
    if not rules:
        raise RequestRefusedError(400, "the text contains no rule")
    return [apply_dialect(rule, appendix) for rule in rules]


def _within(rules: Iterable[Rule], steps_max: int | None) -> Iterator[Rule]:
    steps = 0
    for number, rule in enumerate(rules, start=1):
        terms = (rule.condition, *(term for action in rule.actions for term in action.only))
        steps += 1 + len(rule.actions) + sum(len(comparisons(term)) for term in terms)
        if steps_max is not None and steps > steps_max:
            why = f"cut after {steps_max:,} steps (rules, actions and comparisons), in rule {number}"
            raise RequestRefusedError(400, f"{why}: try fewer rules at once")
        yield rule


def apply_dialect(rule: Rule, appendix: bool) -> Rule:
    """Return a rule with the defaults of its dialect. No target is less specific than a tenant."""
    if rule.replaces_all is not None or rule.target.kind is TargetKind.TENANT or not appendix:
        return rule
    return replace(rule, replaces_all=True)


def unenforced_filters_by(rules: RuleLedger) -> Idle:
    """Return a function that lists the filters of a rule that are stored only, for the present proxies and modules."""
    hosted = frozenset(rules.hosted())
    known, of_rules = (rules.module_kinds(), rules.rule_modules()) if MODULE in hosted else ({}, {})
    words = rules.words()

    def idle(rule: Rule) -> Sequence[str]:
        own = {*known.get(SHARED, ()), *known.get(rule.target.tenant, ())}
        if rule.target.kind is TargetKind.GROUP:
            own = {kind for kinds in known.values() for kind in kinds}
        if rule.id:  # it is stored, with the versions that it runs
            own = {entry.kind for entry in of_rules.get(rule.id, ())}
        return not_carried_out(expand_rule(rule, words).actions, (hosted | own) - {MODULE})

    return idle


def _caveats(rules: Sequence[Rule], idle: Idle, hosted: Collection[str]) -> list[str]:
    found = []
    if names := sorted({name for rule in rules for name in idle(rule)}):
        found.append(f"stored, but not enforced: {', '.join(names)}")
    asked = any(action.server == "OBJECT" for rule in rules for action in rule.actions)
    if asked and AT_OBJECT_SERVERS not in hosted:
        found.append(f"filters ON OBJECT run at the proxy, after those ON PROXY: {SENTENCES[MoveReason.NO_SERVERS]}")
    return found
