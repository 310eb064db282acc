"""Rules in both dialects of Crystal, and under `/v1/rules` with who wrote them, dry runs and explanations.

A rule that comes by the appendix dialect (`/registry`) displaces all filters of less specific targets, as there, unless
it says REPLACES SAME. Text is one rule a line, all of them or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from pydantic import BaseModel, Field, StringConstraints
from sqlalchemy import Connection

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import Promisable, Refused, warning
from storage_controller.dsl import RuleError, parse_rules
from storage_controller.module_ledger import content_of
from storage_controller.rule_checks import check, check_modules, check_version, not_carried_out, promised
from storage_controller.rule_ledger import KeptRule, RuleLedger
from storage_controller.rule_modules import Ran, RuleModule
from storage_controller.rule_verdicts import Idle, told
from storage_controller.supervision import Mode
from storage_controller.traffic import Traffic
from storage_controller.word_ledger import expanded
from storage_filters.chains import ObjectRequest
from storage_filters.module_filters import MODULE
from storage_filters.placing import AT_OBJECT_SERVERS, SENTENCES, Moved
from storage_filters.records import KINDS
from storage_filters.rule_documents import SHARED, action_document
from storage_filters.rules import ModuleVersion, Rule, TargetKind, metrics_of

TEXT_BYTES_MAX = 2**20
Text = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_BYTES_MAX)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]*$")]
Author = Annotated[
    str | None, Header(alias="X-Zoe-Author", max_length=256, description="Who asks; kept with the rule.")
]
Caller = Annotated[
    str | None, Header(alias="X-Project-Id", max_length=256, description="Tenant of targets that name none.")
]
Metrics = Callable[[], Mapping[int, Mapping[str, float]]]
"""The values of metrics that proxies know, by rule."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as it is stored. filters: what it went through; size and tags: of what was put, None if not told."""

    filters: Sequence[Mapping[str, Any]]
    size: int | None = None
    tags: Sequence[str] = ()


Done = Callable[[str, str, str], StoredObject | None]
"""What the store did with an object: of tenant, container and object; None if there is no such object."""


class NewRules(BaseModel):
    """Rules, one a line; `tenant` is that of targets which name none. dry_run: they are judged, and no proxy gets
    them.
    """

    text: Text
    tenant: Name | None = None
    dry_run: bool = False


class WantedVersion(BaseModel):
    """A version of a module, by the beginning of its SHA-256; the newest one without it."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{6,64}$")] | None = None


class ObjectToTry(BaseModel):
    """An object for which rules are tried. size: bytes."""

    tenant: Name
    container: Name
    object: Name
    size: Annotated[int, Field(ge=0)] | None = None
    tags: Annotated[list[str], Field(max_length=100)] = []

    def request(self) -> ObjectRequest:
        """Return what a proxy would judge."""
        return ObjectRequest(self.tenant, self.container, self.object, self.size, frozenset(self.tags))


class RuleToTry(ObjectToTry):
    """Rules beside those that hold; without any, what holds now."""

    text: Annotated[str, StringConstraints(max_length=TEXT_BYTES_MAX)] = ""


def rule_routes(rules: RuleLedger, promisable: Promisable) -> APIRouter:
    """`/registry/static_policy`, `/registry/dynamic_policy`, and the same of the later dialect."""
    routes = APIRouter()
    for path, appendix, dynamic in (
        ("/registry/static_policy", True, False),
        ("/registry/dynamic_policy", True, True),
        ("/policies/static", False, False),
        ("/policies/dynamic", False, True),
    ):
        routes.get(path)(_listed(rules, dynamic))
        routes.post(path, status_code=201)(_posted(rules, promisable, appendix))
        named = f"{path}/{{target:path}}:{{number}}"
        routes.get(named)(_shown(rules))
        routes.put(named)(_changed(rules, promisable, appendix))
        routes.delete(named, status_code=204)(_dropped(rules))
    for path in ("/registry/dynamic_policy", "/policies/dynamic"):
        routes.delete(f"{path}/{{number}}", status_code=204)(_dropped_by_number(rules))
    return routes


def own_rule_routes(
    rules: RuleLedger, promisable: Promisable, done: Done, traffic: Traffic, metrics: Metrics
) -> APIRouter:
    """`/v1/rules`: a rule of this dialect displaces filters of its own kinds."""
    routes = APIRouter(prefix="/v1/rules")

    @routes.get("")
    def listed(removed: bool = False) -> list[dict[str, Any]]:
        idle = idle_by(rules)
        known = {} if removed else metrics()
        found, of_rules = (rules.history() if removed else rules.rules()), rules.rule_modules()
        return [
            _document(one, idle) | {"metrics": dict(known.get(one.id, {})), "modules": _modules(of_rules, one.id)}
            for one in found
        ]

    @routes.post("", status_code=201)
    def add(wanted: NewRules, response: Response, author: Author = None) -> list[dict[str, Any]]:
        mode = Mode.DRY if wanted.dry_run else Mode.ON
        new = parsed(wanted.text.encode(), wanted.tenant)
        ids = set(keep(rules, promisable, new, author, response, mode, twins=False))
        idle, of_rules = idle_by(rules), rules.rule_modules()
        return [
            _document(one, idle) | {"modules": _modules(of_rules, one.id)} for one in rules.rules() if one.id in ids
        ]

    @routes.put("/{number}/modules/{name}")
    def move(number: int, name: Name, wanted: WantedVersion) -> dict[str, Any]:
        before = move_rule(rules, number, name, wanted.sha256)
        [kept] = [one for one in rules.rules() if one.id == number]
        was = sorted({one.version.sha256 for one in before})
        return _document(kept, idle_by(rules)) | {"modules": _modules(rules.rule_modules(), number), "was": was}

    @routes.post("/{number}/again", status_code=201)
    def restore(number: int, response: Response, author: Author = None) -> dict[str, Any]:
        """Add a removed rule under a new number, with the versions of modules that it ran."""
        [made] = _restored(rules, promisable, number, author, response)
        [kept] = [one for one in rules.rules() if one.id == made]
        return _document(kept, idle_by(rules)) | {"modules": _modules(rules.rule_modules(), made)}

    @routes.delete("/{number}", status_code=204)
    def remove(number: int, author: Author = None) -> Response:
        if not rules.remove(number, author):
            raise Refused(404, f"there is no rule {number}")
        return Response(status_code=204)

    @routes.post("/try")
    def tried(wanted: RuleToTry) -> dict[str, Any]:
        book = replace(rules.book(), metrics=metrics())
        more = parsed(wanted.text.encode(), wanted.tenant) if wanted.text.strip() else []
        for rule in more:
            promised(rule)
        more = _checked(rules, more)
        beside = replace(book, rules=(*book.rules, *rules.as_if_added(more)))
        idle, hosted = idle_by(rules), rules.hosted()
        now, then = (told(one, wanted.request(), idle, hosted) for one in (book, beside))
        hour = asdict(traffic.under(more, book.groups, wanted.tenant)) if more else None
        return {"now": now, "then": then, "last_hour": hour}

    @routes.get("/why")
    def why(
        tenant: Annotated[Name, Query()],
        container: Annotated[Name, Query()],
        name: Annotated[Name, Query(alias="object")],
    ) -> dict[str, Any]:
        found = done(tenant, container, name)
        if found is None:
            raise Refused(404, f"there is no object {tenant}/{container}/{name}")
        wanted = ObjectToTry(tenant=tenant, container=container, object=name, size=found.size, tags=list(found.tags))
        return {
            "done": list(found.filters),
            "now": told(replace(rules.book(), metrics=metrics()), wanted.request(), idle_by(rules), rules.hosted()),
        }

    return routes


def keep(
    rules: RuleLedger,
    promisable: Promisable,
    wanted: Sequence[Rule],
    author: str | None,
    response: Response,
    mode: Mode = Mode.ON,
    twins: bool = True,
    ran: Collection[Ran] | None = None,
) -> list[int]:
    """Check and store rules; the response gets what is to be said about them. ran: the versions of modules that they
    run, in place of the newest. Refused.
    """
    rates = [promised(rule) for rule in wanted]
    _checked(rules, wanted)
    caveats: list[str] = []
    if mode is Mode.DRY and not all(map(metrics_of, wanted)):
        raise Refused(400, "a dry run shows when a metric would switch a rule: this rule has none; try it instead")
    for rule, rate in zip(wanted, rates, strict=True):
        if rate is not None:
            promisable.check(rule.target.tenant, BandwidthSlo(rate, rate))
            caveats += promisable.caveats(BandwidthSlo(rate, rate))
    ids = rules.add(list(zip(wanted, rates, strict=True)), author, mode, twins, ran)
    response.headers.update(warning([*_caveats(wanted, idle_by(rules), rules.hosted()), *sorted(set(caveats))]))
    return ids


def _restored(
    rules: RuleLedger, promisable: Promisable, number: int, author: str | None, response: Response
) -> list[int]:
    """Store a removed rule again; one that was not on is judged only. Refused."""
    found = next((one for one in rules.history() if one.id == number), None)
    if found is None:
        raise Refused(404, f"no removed rule has the number {number}; see zoe storage policy ls --removed")
    if found.rule is None:
        raise Refused(409, f"this version does not understand rule {number}: add it in other words")
    rule = expanded(found.rule, rules.words())
    if found.ran is None and any(action.verb == "SET" and action.kind not in KINDS for action in rule.actions):
        raise Refused(
            409,
            f"rule {number} was removed before the versions of its filters were recorded: add it with the newest ones "
            "(zoe storage policy add)",
        )
    mode = Mode.ON if found.mode is Mode.ON else Mode.DRY
    return keep(rules, promisable, [replace(found.rule, id=0)], author, response, mode, False, found.ran or ())


def move_rule(rules: RuleLedger, number: int, name: str, sha256: str | None) -> Sequence[RuleModule]:
    """Let a rule run another version of a module, after a trial with its parameters; return what it ran. Refused."""
    kept = next((one.rule for one in rules.rules() if one.id == number and one.rule is not None), None)
    if kept is None:
        raise Refused(404, f"there is no rule {number}")
    rule = expanded(kept, rules.words())
    contents: dict[str, bytes] = {}

    def found(connection: Connection, tenant: str) -> ModuleVersion:
        version, contents[version.sha256] = content_of(connection, tenant, name.lower(), sha256)
        return version

    with rules.begin() as connection:
        for one in rules.rule_modules().get(number, ()):
            if one.version.name == name.lower():
                found(connection, one.tenant)
    for content in contents.values():  # outside of the transaction: each is compiled in a process of its own
        check_version(rule, name.upper(), content)

    def checked(connection: Connection, tenant: str) -> ModuleVersion:
        tried = set(contents)
        version = found(connection, tenant)
        if version.sha256 not in tried:
            raise Refused(409, f"a newer version of {name} came at this moment: try again")
        return version

    return rules.move(number, name, checked)


def _modules(of_rules: Mapping[int, Sequence[RuleModule]], number: int) -> list[dict[str, Any]]:
    return [
        {
            "name": one.version.name,
            "tenant": one.tenant or None,
            "sha256": one.version.sha256,
            "newest": one.newest,
            "only_here": one.only_here,
        }
        for one in of_rules.get(number, ())
    ]


def _checked(rules: RuleLedger, wanted: Sequence[Rule]) -> list[Rule]:
    """Return the rules with what their words stand for. Refused."""
    types, groups, added, words = rules.object_types(), rules.groups(), rules.metric_names(), rules.words()
    found = [expanded(rule, words) for rule in wanted]
    for rule in found:
        check(rule, types, groups, added)
    check_modules(found, groups, rules.module_file)
    return found


def parsed(body: bytes, caller: str | None, appendix: bool = False) -> list[Rule]:
    """Return the rules of a text. Refused with the line and the place of an error."""
    if len(body) > TEXT_BYTES_MAX:
        raise Refused(400, f"more than {TEXT_BYTES_MAX} bytes of rules")
    try:
        rules = list(parse_rules(body.decode(), caller))
    except (RuleError, UnicodeDecodeError) as error:
        raise Refused(400, str(error)) from None
    if not rules:
        raise Refused(400, "the text contains no rule")
    return [in_dialect(rule, appendix) for rule in rules]


def in_dialect(rule: Rule, appendix: bool) -> Rule:
    """Return a rule with what it leaves to its dialect. Nothing is less specific than a tenant."""
    if rule.replaces_all is not None or rule.target.kind is TargetKind.TENANT or not appendix:
        return rule
    return replace(rule, replaces_all=True)


async def _body(request: Request) -> bytes:
    return await request.body()


def idle_by(rules: RuleLedger) -> Idle:
    """Return which filters of a rule are kept only, as proxies and modules are now."""
    hosted = frozenset(rules.hosted())
    known, of_rules = (rules.module_kinds(), rules.rule_modules()) if MODULE in hosted else ({}, {})
    words = rules.words()

    def idle(rule: Rule) -> Sequence[str]:
        own = {*known.get(SHARED, ()), *known.get(rule.target.tenant, ())}
        if rule.target.kind is TargetKind.GROUP:
            own = {kind for kinds in known.values() for kind in kinds}
        if rule.id:  # it is kept, with the versions that it runs
            own = {one.kind for one in of_rules.get(rule.id, ())}
        return not_carried_out(expanded(rule, words).actions, (hosted | own) - {MODULE})

    return idle


def _caveats(rules: Sequence[Rule], idle: Idle, hosted: Collection[str]) -> list[str]:
    found = []
    if names := sorted({name for rule in rules for name in idle(rule)}):
        found.append(f"stored, but not enforced: {', '.join(names)}")
    asked = any(action.server == "OBJECT" for rule in rules for action in rule.actions)
    if asked and AT_OBJECT_SERVERS not in hosted:
        found.append(f"filters ON OBJECT run at the proxy, after those ON PROXY: {SENTENCES[Moved.NO_SERVERS]}")
    return found


def _document(one: KeptRule, idle: Idle) -> dict[str, Any]:
    found = asdict(one)
    text = found.pop("text")
    actions = one.rule.actions if one.rule is not None else ()
    enforced = one.rule is not None and one.mode is Mode.ON and not idle(one.rule)
    return {**found, "rule": text, "enforced": enforced, "actions": [action_document(a) for a in actions]}


def _listed(rules: RuleLedger, dynamic: bool) -> Callable[[], list[dict[str, Any]]]:
    def listed() -> list[dict[str, Any]]:
        idle = idle_by(rules)
        return [
            {**_document(one, idle), "id": f"{one.target}:{one.id}"}
            for one in rules.rules()
            if (one.rule is not None and bool(metrics_of(one.rule))) == dynamic
        ]

    return listed


def _posted(rules: RuleLedger, promisable: Promisable, appendix: bool) -> Callable[..., list[str]]:
    def posted(
        body: Annotated[bytes, Depends(_body)], response: Response, author: Author = None, caller: Caller = None
    ) -> list[str]:
        wanted = parsed(body, caller, appendix)
        ids = keep(rules, promisable, wanted, author, response)
        return [f"{rule.target}:{number}" for rule, number in zip(wanted, ids, strict=True)]

    return posted


def _found(rules: RuleLedger, target: str, number: int) -> KeptRule:
    found = next((one for one in rules.rules() if (one.target, one.id) == (target, number)), None)
    if found is None:
        raise Refused(404, f"there is no rule {target}:{number}")
    return found


def _shown(rules: RuleLedger) -> Callable[..., dict[str, Any]]:
    def shown(target: str, number: int) -> dict[str, Any]:
        return {**_document(_found(rules, target, number), idle_by(rules)), "id": f"{target}:{number}"}

    return shown


def _changed(rules: RuleLedger, promisable: Promisable, appendix: bool) -> Callable[..., str]:
    def changed(
        target: str,
        number: int,
        body: Annotated[bytes, Depends(_body)],
        response: Response,
        author: Author = None,
        caller: Caller = None,
    ) -> str:
        """Replace a rule by one of another text; what was is in the history."""
        before = _found(rules, target, number)
        [rule, *more] = parsed(body, caller, appendix)
        if more:
            raise Refused(400, "a rule is replaced by a single one")
        [made] = keep(rules, promisable, [rule], author, response, before.mode)
        rules.remove(number, author, target)
        return f"{rule.target}:{made}"

    return changed


def _dropped(rules: RuleLedger) -> Callable[..., Response]:
    def dropped(target: str, number: int, author: Author = None) -> Response:
        rules.remove(number, author, target)
        return Response(status_code=204)

    return dropped


def _dropped_by_number(rules: RuleLedger) -> Callable[..., Response]:
    def dropped(number: int, author: Author = None) -> Response:
        rules.remove(number, author)
        return Response(status_code=204)

    return dropped
