"""Rules under `/v1/rules`, with who wrote them, dry runs and explanations.

A rule of this dialect displaces filters of its own kinds. Text is one rule a line, all of them or none.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field, StringConstraints

from storage_controller.answers import Refused, warning
from storage_controller.database.supervision import Mode
from storage_controller.routes.parameters import Author, PromisableDep, RulesDep, ServicesDep
from storage_controller.rules.adding import TEXT_BYTES_MAX, idle_by, in_full, keep, move_rule, parsed, restore
from storage_controller.rules.checks import promised
from storage_controller.rules.documents import document, modules_document
from storage_controller.rules.verdicts import told
from storage_filters.wsgi.object_requests import ObjectRequest

Text = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_BYTES_MAX)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00]*$")]


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


router = APIRouter(prefix="/v1/rules")


@router.get("")
def listed(rules: RulesDep, services: ServicesDep, removed: bool = False) -> list[dict[str, Any]]:
    """List the rules that hold, or those that were removed."""
    idle = idle_by(rules)
    known = {} if removed else services.reports.metrics()
    found, of_rules = (rules.history() if removed else rules.rules()), rules.rule_modules()
    return [
        document(one, idle)
        | {"metrics": dict(known.get(one.id, {})), "modules": modules_document(of_rules.get(one.id, ()))}
        for one in found
    ]


@router.post("", status_code=201)
def add(
    rules: RulesDep, promisable: PromisableDep, wanted: NewRules, response: Response, author: Author = None
) -> list[dict[str, Any]]:
    """Add the rules of a text."""
    mode = Mode.DRY if wanted.dry_run else Mode.ON
    new = parsed(wanted.text.encode(), wanted.tenant)
    added = keep(rules, promisable, new, author, mode, twins=False)
    response.headers.update(warning(added.caveats))
    idle, of_rules = idle_by(rules), rules.rule_modules()
    return [
        document(one, idle) | {"modules": modules_document(of_rules.get(one.id, ()))}
        for one in rules.rules()
        if one.id in added.ids
    ]


@router.put("/{number}/modules/{name}")
def move(rules: RulesDep, number: int, name: Name, wanted: WantedVersion) -> dict[str, Any]:
    """Let a rule run another version of a module."""
    before = move_rule(rules, number, name, wanted.sha256)
    [kept] = [one for one in rules.rules() if one.id == number]
    was = sorted({one.version.sha256 for one in before})
    return document(kept, idle_by(rules)) | {
        "modules": modules_document(rules.rule_modules().get(number, ())),
        "was": was,
    }


@router.post("/{number}/again", status_code=201)
def again(
    rules: RulesDep, promisable: PromisableDep, number: int, response: Response, author: Author = None
) -> dict[str, Any]:
    """Add a removed rule under a new number, with the versions of modules that it ran."""
    added = restore(rules, promisable, number, author)
    response.headers.update(warning(added.caveats))
    [made] = added.ids
    [kept] = [one for one in rules.rules() if one.id == made]
    return document(kept, idle_by(rules)) | {"modules": modules_document(rules.rule_modules().get(made, ()))}


@router.delete("/{number}", status_code=204)
def remove(rules: RulesDep, number: int, author: Author = None) -> Response:
    """Remove a rule."""
    if not rules.remove(number, author):
        raise Refused(404, f"there is no rule {number}")
    return Response(status_code=204)


@router.post("/try")
def tried(rules: RulesDep, services: ServicesDep, wanted: RuleToTry) -> dict[str, Any]:
    """Return what would be done with an object under further rules, and what is done now."""
    book = replace(rules.book(), metrics=services.reports.metrics())
    more = parsed(wanted.text.encode(), wanted.tenant) if wanted.text.strip() else []
    for rule in more:
        promised(rule)
    more = in_full(rules, more)
    beside = replace(book, rules=(*book.rules, *rules.as_if_added(more)))
    idle, hosted = idle_by(rules), rules.hosted()
    now, then = (told(one, wanted.request(), idle, hosted) for one in (book, beside))
    hour = asdict(services.reports.traffic.under(more, book.groups, wanted.tenant)) if more else None
    return {"now": now, "then": then, "last_hour": hour}


@router.get("/why")
def why(
    rules: RulesDep,
    services: ServicesDep,
    tenant: Annotated[Name, Query()],
    container: Annotated[Name, Query()],
    name: Annotated[Name, Query(alias="object")],
) -> dict[str, Any]:
    """Return what was done with an object when it was stored, and what would be done now."""
    found = services.done(tenant, container, name)
    if found is None:
        raise Refused(404, f"there is no object {tenant}/{container}/{name}")
    wanted = ObjectToTry(tenant=tenant, container=container, object=name, size=found.size, tags=list(found.tags))
    return {
        "done": list(found.filters),
        "now": told(
            replace(rules.book(), metrics=services.reports.metrics()), wanted.request(), idle_by(rules), rules.hosted()
        ),
    }
