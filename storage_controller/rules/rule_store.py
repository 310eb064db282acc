"""Rules of the object store and the names that they use, in PostgreSQL. Every call is one transaction."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import READ, WRITE, Ledger, set_rates
from storage_controller.database.supervision import Mode
from storage_controller.database.tables import groups, metrics, object_types, policies, rule_modules, slos
from storage_controller.rules.dsl import RuleError, parse_rule, show_rule
from storage_controller.rules.module_ledger import drop_unneeded, file_of, versions
from storage_controller.rules.rule_modules import (
    Named,
    Ran,
    RuleModule,
    newest_of,
    pin,
    pin_again,
    pin_versions,
    read_rule_modules,
)
from storage_controller.rules.words import FilterWord, Words, drop_word, expand_rule, keep_word, read_words
from storage_filters.filter_host.records import KINDS
from storage_filters.rules.documents import RULES_MAX, RuleBook, action_document
from storage_filters.rules.rules import ModuleVersion, Rule, Target, TargetKind
from zoe_lib.clock import SYSTEM_CLOCK, Clock

_log = logging.getLogger(__name__)
HISTORY_MAX = 500
TARGET_RULES_MAX = 100
"""Most rules of a target: each request evaluates all rules for its object."""
_SENTENCE_MAX = 300
_PRESENT = policies.c.removed_s.is_(None)
_LOCK = 0x5A6F6552  # lock of requests that add rules, so that their number stays bounded


def rule_policy(number: int) -> str:
    """Return the policy id for the guarantee of a rule."""
    return f"rule-{number}"


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A stored rule, in its original text. rule: None for a text that this version cannot parse. mode: of its
    controller, if it has metrics. Times are since the epoch. ran: of a removed rule, the versions of modules that it
    ran; None if unknown.
    """

    id: int
    target: str
    text: str
    rule: Rule | None
    author: str | None
    created_s: float | None
    removed_by: str | None = None
    removed_s: float | None = None
    mode: Mode = Mode.ON
    ran: tuple[Ran, ...] | None = None


@dataclass(frozen=True, slots=True)
class RuleBooks:
    """Rules for proxies, and rules in a dry run."""

    held: RuleBook
    dry: tuple[Rule, ...] = ()


class RuleLedger:
    """Rules, groups and object types. The guarantee of a rule is an SLO while the rule exists. hosted: the filters of
    the proxies.
    """

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock = SYSTEM_CLOCK,
        hosted: Callable[[], Collection[str]] = lambda: KINDS,
    ) -> None:
        self.hosted = hosted
        self.begin = self._begin = ledger.begin
        self._clock = clock

    def rules(self) -> list[KeptRule]:
        """Return the rules in force, in the order of their creation."""
        with self._begin() as connection:
            return _rules_of_rows(connection.execute(sa.select(policies).where(_PRESENT).order_by(policies.c.id)))

    def history(self) -> list[KeptRule]:
        """Return the removed rules, the last one first; 500 at most."""
        removed = sa.select(policies).where(policies.c.removed_s.is_not(None))
        with self._begin() as connection:
            return _rules_of_rows(connection.execute(removed.order_by(policies.c.removed_s.desc()).limit(HISTORY_MAX)))

    def add(
        self,
        rules: Sequence[tuple[Rule, int | None]],
        author: str | None,
        mode: Mode = Mode.ON,
        twins: bool = True,
        ran: Collection[Ran] | None = None,
    ) -> list[int]:
        """Store all rules or none, each with the bytes per second that it guarantees its tenant each way; return their
        ids. ran: the versions of modules that they run, instead of the newest. Raises RequestRefusedError if there
        are too many, if
        a rule equals another one and `twins` is false, or if a version was removed.
        """
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            there = connection.execute(sa.select(sa.func.count()).select_from(policies).where(_PRESENT)).scalar_one()
            if there + len(rules) > RULES_MAX:
                raise RequestRefusedError(
                    409, f"there are {there} rules, and at most {RULES_MAX} are kept: remove some first"
                )
            added = Counter(str(rule.target) for rule, _ in rules)
            same = sa.select(policies.c.target, sa.func.count()).where(_PRESENT, policies.c.target.in_(added))
            for target, kept in connection.execute(same.group_by(policies.c.target)):
                added[target] += kept
            if crowded := [target for target, count in added.items() if count > TARGET_RULES_MAX]:
                raise RequestRefusedError(
                    409, f"at most {TARGET_RULES_MAX} rules are kept for {crowded[0]}: remove some first"
                )
            if not twins:
                _refuse_twins(connection, [rule for rule, _ in rules], mode)
            insert_all = sa.insert(policies).returning(policies.c.id, sort_by_parameter_order=True)
            rows = [self._row(rule, author, mode) for rule, _ in rules]
            ids = [int(number) for number in connection.execute(insert_all, rows).scalars()]
            for number, (rule, promised) in zip(ids, rules, strict=True):
                if promised is not None:
                    rates = dict.fromkeys((READ, WRITE), promised)
                    set_rates(connection, rule.target.tenant, rule_policy(number), rates, None)
            words, members = read_words(connection), _groups(connection)
            numbered = [replace(rule, id=number) for number, (rule, _) in zip(ids, rules, strict=True)]
            if ran is None:
                pin(connection, [expand_rule(rule, words) for rule in numbered], members)
            else:
                for rule in numbered:
                    pin_again(connection, rule, ran)
            return ids

    def _row(self, rule: Rule, author: str | None, mode: Mode) -> dict[str, Any]:
        return {
            "target": str(rule.target),
            "rule": show_rule(rule),
            "actions": [action_document(action) for action in rule.actions],
            "author": author,
            "created_s": self._clock.now_s(),
            "mode": mode,
        }

    def change(self, number: int, rule: Rule, author: str | None) -> None:
        """Change the text of a rule that keeps its filters and target; the history keeps the old text under a new
        number. Raises RequestRefusedError.
        """
        mine, now_s = sa.and_(policies.c.id == number, _PRESENT), self._clock.now_s()
        kept = ("target", "rule", "actions", "author", "created_s", "mode")
        with self._begin() as connection:
            before = connection.execute(sa.select(policies).where(mine).with_for_update()).first()
            if before is None:
                raise RequestRefusedError(404, f"rule {number} does not exist")
            row = {name: getattr(before, name) for name in kept}
            connection.execute(sa.insert(policies).values(**row, removed_by=author, removed_s=now_s))
            new = {"rule": show_rule(rule), "actions": [action_document(action) for action in rule.actions]}
            connection.execute(sa.update(policies).where(mine).values(**new, author=author, created_s=now_s))

    def remove(self, number: int, author: str | None, target: str | None = None) -> bool:
        """Remove a rule and its guarantee, if it has this target; return whether it existed."""
        wanted = sa.and_(policies.c.id == number, _PRESENT)
        if target is not None:
            wanted = sa.and_(wanted, policies.c.target == target)
        removed = sa.update(policies).where(wanted).values(removed_by=author, removed_s=self._clock.now_s())
        with self._begin() as connection:
            ran = [
                (entry.tenant, entry.version.name, entry.version.sha256)
                for entry in read_rule_modules(connection).get(number, ())
            ]
            removed = removed.values(ran=ran)
            if not connection.execute(removed).rowcount:
                return False
            connection.execute(sa.delete(slos).where(slos.c.policy_id == rule_policy(number)))
            connection.execute(sa.delete(rule_modules).where(rule_modules.c.rule == number))
            drop_unneeded(connection, self._clock.now_s())
            return True

    def book(self) -> RuleBook:
        """Return all data for proxies, except metrics."""
        return self.books().held

    def books(self) -> RuleBooks:
        """Return the same, and the rules of dry runs."""
        with self._begin() as connection:
            kept = _rules_of_rows(connection.execute(sa.select(policies).where(_PRESENT).order_by(policies.c.id)))
            words, of_rules = read_words(connection), read_rule_modules(connection)
            of_mode = {
                mode: tuple(
                    pin_versions(expand_rule(entry.rule, words), of_rules.get(entry.id, ()))
                    for entry in kept
                    if entry.rule is not None and entry.mode is mode
                )
                for mode in (Mode.ON, Mode.DRY)
            }
            rules = of_mode[Mode.ON]
            held = RuleBook(
                rules,
                {name: frozenset(members) for name, members in _groups(connection).items()},
                {row.name.upper(): frozenset(row.endings) for row in connection.execute(sa.select(object_types))},
                modules=_for_older_proxies(rules),
                pinned=True,
            )
            return RuleBooks(held, of_mode[Mode.DRY])

    def rule_modules(self) -> Mapping[int, Sequence[RuleModule]]:
        """Return the versions of modules in rules, by rule."""
        with self._begin() as connection:
            return read_rule_modules(connection)

    def as_if_added(self, rules: Sequence[Rule]) -> list[Rule]:
        """Return rules, with aliases expanded, with the versions of modules that they would get if they were added
        now.
        """
        with self._begin() as connection:
            members = _groups(connection)
            return [pin_versions(rule, newest_of(connection, rule, members)) for rule in rules]

    def pin_missing(self, tenant: str, name: str) -> None:
        """Let rules that were added before a module of this name existed run an admin's upload of it."""
        with self._begin() as connection:
            _pin_missing(connection, lambda _: True, (tenant, name.lower()))

    def move(self, number: int, name: str, version: Callable[[sa.Connection, str], ModuleVersion]) -> list[RuleModule]:
        """Let a rule run another version of a module, which `version` returns for the tenant; return the versions that
        it ran before. Raises RequestRefusedError.
        """
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            before = [
                entry for entry in read_rule_modules(connection).get(number, ()) if entry.version.name == name.lower()
            ]
            if not before:
                raise RequestRefusedError(
                    404,
                    f"rule {number} runs no uploaded version of {name}: remove the rule and add it again to run one",
                )
            same = 0
            for module in before:
                after = version(connection, module.tenant)
                if after.reads != module.version.reads:
                    runs = "read" if after.reads else "stored"
                    raise RequestRefusedError(
                        409, f"version {after.sha256[:12]} runs when objects are {runs}: add a rule for it"
                    )
                same += after.sha256 == module.version.sha256
                mine = sa.and_(rule_modules.c.rule == number, rule_modules.c.tenant == module.tenant)
                named = sa.and_(mine, rule_modules.c.name == module.version.name)
                connection.execute(sa.update(rule_modules).where(named).values(sha256=after.sha256))
            if same == len(before):
                raise RequestRefusedError(409, _unchanged_reason(connection, number, before))
            drop_unneeded(connection, self._clock.now_s())
            return before

    def module_kinds(self) -> Mapping[str, Collection[str]]:
        """Return the kinds of filters that are modules, by tenant; the empty tenant stands for shared ones."""
        with self._begin() as connection:
            return {tenant: set(kinds) for tenant, kinds in versions(connection).items()}

    def module_file(self, tenant: str, kind: str) -> bytes | None:
        """Return the file of a tenant's module with this name; None if there is none."""
        with self._begin() as connection:
            return file_of(connection, tenant, kind)

    # Words

    def metric_names(self) -> set[str]:
        """Return the names of the added metrics, in capitals."""
        with self._begin() as connection:
            return set(connection.execute(sa.select(metrics.c.name)).scalars())

    def words(self) -> Words:
        """Return the aliases of filters, by name."""
        with self._begin() as connection:
            return read_words(connection)

    def keep_word(self, word: FilterWord, new: bool) -> None:
        """Create or change an alias of a filter. Raises RequestRefusedError."""
        with self._begin() as connection:
            keep_word(connection, word, new)
            _pin_missing(connection, lambda rule: any(action.kind == word.name for action in rule.actions))

    def drop_word(self, name: str) -> None:
        """Remove an alias of a filter, if it exists."""
        with self._begin() as connection:
            drop_word(connection, name)

    def groups(self) -> Mapping[str, Sequence[str]]:
        """Return tenants and `<tenant>/<container>` of each group."""
        with self._begin() as connection:
            return _groups(connection)

    def keep_group(self, name: str, members: Collection[str]) -> None:
        """Create or change a group."""
        values = {"members": sorted(set(members))}
        with self._begin() as connection:
            connection.execute(
                insert(groups).values(name=name, **values).on_conflict_do_update(index_elements=["name"], set_=values)
            )
            _pin_missing(connection, lambda rule: rule.target == Target(TargetKind.GROUP, name))

    def drop_group(self, name: str) -> None:
        """Remove a group, if it exists."""
        with self._begin() as connection:
            connection.execute(sa.delete(groups).where(groups.c.name == name))

    def object_types(self) -> Mapping[str, Sequence[str]]:
        """Return the endings of names of each object type, in lower case and without a dot."""
        with self._begin() as connection:
            found = connection.execute(sa.select(object_types).order_by(object_types.c.name))
            return {row.name: row.endings for row in found}

    def keep_object_type(self, name: str, endings: Collection[str]) -> None:
        """Create or change an object type."""
        values = {"endings": sorted(set(endings))}
        upsert = insert(object_types).values(name=name, **values)
        with self._begin() as connection:
            connection.execute(upsert.on_conflict_do_update(index_elements=["name"], set_=values))

    def drop_object_type(self, name: str) -> None:
        """Remove an object type, if it exists."""
        with self._begin() as connection:
            connection.execute(sa.delete(object_types).where(object_types.c.name == name))


def _refuse_twins(connection: sa.Connection, rules: Sequence[Rule], mode: Mode) -> None:
    """Raise RequestRefusedError if a rule equals a present one of this mode, or another new one."""
    targets = {str(rule.target) for rule in rules}
    mine = sa.select(policies).where(_PRESENT, policies.c.target.in_(targets), policies.c.mode == mode)
    present = _rules_of_rows(connection.execute(mine.order_by(policies.c.id)))
    # Their texts may be of another version, so the parsed rules are compared.
    said = {show_rule(entry.rule): f"rule {entry.id} says this already" for entry in present if entry.rule is not None}
    for rule in rules:
        text = show_rule(rule)
        if text in said:
            raise RequestRefusedError(409, f"{said[text]}: {text}"[:_SENTENCE_MAX])
        said[text] = "another line says this already"


def _unchanged_reason(connection: sa.Connection, number: int, before: Sequence[RuleModule]) -> str:
    """Return why a move changed nothing, and how to switch a rule to a shared module that was uploaded since."""
    name = before[0].version.name
    said = f"rule {number} runs {name} {before[0].version.sha256[:12]} already: nothing changed"
    if all(entry.tenant for entry in before) and name.upper() in versions(connection, {name.upper()}).get("", {}):
        said += f"; to run the shared {name}, remove the rule and add it again"
    return said


def _groups(connection: sa.Connection) -> Mapping[str, Sequence[str]]:
    return {row.name: row.members for row in connection.execute(sa.select(groups).order_by(groups.c.name))}


def _pin_missing(connection: sa.Connection, concerned: Callable[[Rule], bool], only: Named | None = None) -> None:
    """Let rules that an admin's change concerns run modules of which they run no version so far. Other rules stay:
    their author did not mean a module that a user uploaded later.
    """
    kept = _rules_of_rows(connection.execute(sa.select(policies).where(_PRESENT).order_by(policies.c.id)))
    words = read_words(connection)
    rules = [expand_rule(entry.rule, words) for entry in kept if entry.rule is not None and concerned(entry.rule)]
    pin(connection, rules, _groups(connection), only)


def _for_older_proxies(rules: Sequence[Rule]) -> Mapping[str, Mapping[str, ModuleVersion]]:
    """Return one version of each module by tenant, for proxies of earlier versions: the one of the last rule."""
    made: dict[str, dict[str, ModuleVersion]] = {}
    for rule in rules:
        for action in rule.actions:
            for tenant, version in action.versions:
                made.setdefault(tenant, {})[action.kind] = version
    return made


def _rules_of_rows(rows: sa.CursorResult[Any]) -> list[KeptRule]:
    return [
        KeptRule(
            row.id,
            row.target,
            row.rule,
            _rule(row.rule, row.id),
            row.author,
            row.created_s,
            row.removed_by,
            row.removed_s,
            Mode(row.mode),
            None if row.ran is None else tuple((tenant, name, sha256) for tenant, name, sha256 in row.ran),
        )
        for row in rows
    ]


@lru_cache(maxsize=2 * RULES_MAX)
def _rule(text: str, number: int) -> Rule | None:
    try:
        return replace(parse_rule(text), id=number)
    except RuleError as error:
        _log.error("rule %s has no effect, since this version cannot parse it: %s", number, error)
        return None
