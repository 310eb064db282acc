"""Filters in both dialects: uploaded programs, and their deployments, which are rules.

`COMPRESSION`, `ENCRYPTION` and `NOOP` need no upload. A program that is a WebAssembly module is checked and becomes a
shared module with the filter's name: once deployed, proxies run it. Other programs, such as those of Storlets, are
stored for clients of the API; no proxy runs them, and deploying one returns a `Warning` header (299) that says so.

A dependency is a library of such programs. A module imports only the host's calls, so dependencies are stored, and
deployed ones are listed, without effect on any object.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response, UploadFile
from pydantic import BaseModel, ConfigDict, StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.dependencies import DATA_BYTES_MAX, PATH, is_dependency
from storage_controller.database.guarantee_store import Ledger
from storage_controller.routes.parameters import Author, LedgerDep, ModulesDep, PromisableDep, RulesDep
from storage_controller.rules.adding import TEXT_BYTES_MAX, apply_dialect, keep_rules
from storage_controller.rules.dsl import RuleError, parse_rule, show_rule
from storage_controller.rules.rule_store import KeptRule
from storage_controller.rules.uploading import keep_module
from storage_filters.rules.documents import SHARED
from storage_filters.rules.rules import Action, Comparison, Operator, Rule, Target, TargetKind

BODY_BYTES_MAX = DATA_BYTES_MAX + TEXT_BYTES_MAX
"""Longest body of a request: a filter's program, and the form around it."""
DslName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[\w-]+$")]


class Filter(BaseModel):
    """A filter's name in rules; other fields are stored unchanged."""

    model_config = ConfigDict(extra="allow")

    dsl_name: DslName


_MODULE_BEGIN = b"\0asm"
_BUILT_IN = ("compression", "encryption", "noop")


class Deployment(BaseModel):
    """Parameters of a deployment; an object_size is `<10M`, or a number, which means at most."""

    object_type: str | None = None
    object_size: str | None = None
    object_tag: str | None = None
    params: str | dict[str, Any] | None = None


router = APIRouter()


@router.get("/filters")
@router.get("/filters/", include_in_schema=False)
def list_filters(ledger: LedgerDep) -> list[dict[str, Any]]:
    """List all filters."""
    return _filters(ledger)


@router.post("/filters", status_code=201)
@router.post("/filters/", status_code=201, include_in_schema=False)
def create(ledger: LedgerDep, one: Filter) -> dict[str, Any]:
    """Create a filter, or replace its fields."""
    if one.dsl_name == PATH:
        raise RequestRefusedError(400, f"a filter cannot be named {PATH}: /filters/{PATH} is reserved")
    ledger.keep_filter(one.dsl_name, one.model_extra or {})
    return one.model_dump()


@router.get("/filters/{name}")
@router.get("/filters/{name}/", include_in_schema=False)
def show_filter(ledger: LedgerDep, name: str) -> dict[str, Any]:
    """Show a filter."""
    return _filter(ledger, name)


@router.put("/filters/{name}")
@router.put("/filters/{name}/", include_in_schema=False)
def change(ledger: LedgerDep, name: str, attributes: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
    """Change fields of a filter."""
    kept = {**_filter(ledger, name), **attributes}
    kept.pop("dsl_name")
    ledger.keep_filter(name, kept)
    return {"dsl_name": name, **kept}


@router.delete("/filters/{name}", status_code=204)
@router.delete("/filters/{name}/", status_code=204, include_in_schema=False)
def delete(ledger: LedgerDep, rules: RulesDep, modules: ModulesDep, name: str) -> Response:
    """Remove a filter that no rule sets, and its module."""
    if used := next((rule.id for rule in rules.rules() if _sets(rule, name)), None):
        raise RequestRefusedError(409, f"rule {used} sets {name}: undeploy it first")
    ledger.drop_filter(name)
    modules.drop(SHARED, name)
    return Response(status_code=204)


@router.put("/filters/{name}/data")
@router.put("/filters/{name}/data/", include_in_schema=False)
def data(
    ledger: LedgerDep,
    rules: RulesDep,
    modules: ModulesDep,
    name: str,
    file: UploadFile,
    author: Author = None,
) -> dict[str, int]:
    """Store the program of a filter; a WebAssembly module is checked, and proxies can run it."""
    content = file.file.read(DATA_BYTES_MAX + 1)
    if len(content) > DATA_BYTES_MAX:
        raise RequestRefusedError(400, f"the file is larger than {DATA_BYTES_MAX} bytes")
    if content.startswith(_MODULE_BEGIN):
        _filter(ledger, name)
        keep_module(modules, SHARED, name, content, author)
        rules.pin_missing(SHARED, name)
    if not ledger.keep_filter_data(name, content):
        raise RequestRefusedError(404, f"filter {name} does not exist")
    return {"bytes": len(content)}


@router.put("/filters/{project}/deploy/{name}", status_code=201)
@router.put("/filters/{project}/{container}/deploy/{name}", status_code=201)
def deploy(
    ledger: LedgerDep,
    rules: RulesDep,
    promisable: PromisableDep,
    project: str,
    name: str,
    response: Response,
    container: str | None = None,
    given: Deployment | None = None,
    author: Author = None,
) -> int:
    """Deploy a filter for a project or one of its containers; the answer is the number of the new rule."""
    if name.lower() not in _BUILT_IN:
        _filter(ledger, name)
    rule = apply_dialect(_rule(_target(project, container), name, given or Deployment()), appendix=True)
    added = keep_rules(rules, promisable, [rule], author)
    response.headers.update(warning(added.caveats))
    return added.ids[0]


@router.put("/filters/{project}/undeploy/{name}", status_code=204)
@router.put("/filters/{project}/{container}/undeploy/{name}", status_code=204)
def undeploy(rules: RulesDep, project: str, name: str, container: str | None = None, author: Author = None) -> Response:
    """Remove the rules that deploy a filter there."""
    target = _target(project, container)
    for rule in rules.rules():
        if rule.rule is not None and rule.rule.target == target and [a.filter for a in rule.rule.actions] == [name]:
            rules.remove(rule.id, author)
    return Response(status_code=204)


def _sets(one: KeptRule, name: str) -> bool:
    return one.rule is not None and any(a.verb == "SET" and a.kind == name.upper() for a in one.rule.actions)


def _filters(ledger: Ledger) -> list[dict[str, Any]]:
    return [filter_ for filter_ in ledger.filters() if not is_dependency(filter_["dsl_name"])]


def _filter(ledger: Ledger, name: str) -> dict[str, Any]:
    for filter_ in _filters(ledger):
        if filter_["dsl_name"] == name:
            return filter_
    raise RequestRefusedError(404, f"filter {name} does not exist")


def _target(project: str, container: str | None) -> Target:
    if container is None:
        return Target(TargetKind.TENANT, project)
    return Target(TargetKind.CONTAINER, project, container)


def _rule(target: Target, name: str, given: Deployment) -> Rule:
    """Return the rule of a deployment. Raises RequestRefusedError if no rule can express it."""
    only = []
    if given.object_type:
        only.append(Comparison("OBJECT_TYPE", Operator.EQUAL, given.object_type))
    if given.object_size:
        sign = next((entry for entry in (">=", "<=", ">", "<", "=") if given.object_size.strip().startswith(entry)), "")
        only.append(
            Comparison("OBJECT_SIZE", Operator(sign or "<="), given.object_size.strip().removeprefix(sign).strip())
        )
    if given.object_tag:
        only.append(Comparison("OBJECT_TAG", Operator.EQUAL, given.object_tag))
    rule = Rule(target, None, (Action("SET", name, _parameters(given.params), only=tuple(only)),))
    try:
        return parse_rule(show_rule(rule))  # the stored rule is the text
    except RuleError as error:
        raise RequestRefusedError(400, f"this cannot be deployed: {error}") from None


def _parameters(given: str | dict[str, Any] | None) -> tuple[tuple[str, str], ...]:
    if isinstance(given, dict):
        return tuple((str(name), str(value)) for name, value in given.items())
    pairs = [part.partition("=") for part in (given or "").split(",") if part.strip()]
    if wrong := next((name for name, equals, _ in pairs if not equals), None):
        raise RequestRefusedError(400, f"{wrong.strip()!r} is not a parameter; use name=value")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
