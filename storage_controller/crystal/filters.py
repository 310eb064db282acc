"""Filters in both dialects: uploaded programs, and their deployments, which are rules.

`COMPRESSION`, `ENCRYPTION` and `NOOP` need no upload. A program that is a WebAssembly module is checked and becomes a
shared module with the filter's name: once deployed, proxies run it. Other programs, such as those of Storlets, are
stored for clients of the API; no proxy runs them, and deploying one returns a `Warning` header (299) that says so.

A dependency is a library of such programs. A module imports only the host's calls, so dependencies are stored, and
deployed ones are listed, without effect on any object.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Response, UploadFile
from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

from storage_controller.answers import RequestRefusedError, warning
from storage_controller.crystal.dependencies import DATA_BYTES_MAX, PATH, is_dependency
from storage_controller.crystal.filter_forms import check_change, check_file, check_new
from storage_controller.crystal.groups import Groups, GroupsDep
from storage_controller.database.guarantee_store import Ledger
from storage_controller.routes.parameters import Author, LedgerDep, ModulesDep, PromisableDep, RulesDep
from storage_controller.rules.adding import TEXT_BYTES_MAX, apply_dialect, keep_rules
from storage_controller.rules.checks import parameters_of
from storage_controller.rules.dsl import RuleError, parse_rule, show_rule
from storage_controller.rules.rule_store import KeptRule, RuleLedger
from storage_controller.rules.uploading import keep_module
from storage_filters.rules.documents import SHARED
from storage_filters.rules.rules import Action, Comparison, Operator, Rule, Target, TargetKind

BODY_BYTES_MAX = DATA_BYTES_MAX + TEXT_BYTES_MAX
"""Longest body of a request: a filter's program, and the form around it."""
DslName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[\w-]+$")]
_DSL_NAME = re.compile(r"[\w-]{1,100}")


class Filter(BaseModel):
    """A filter's name in rules, by default its number; other fields are stored unchanged."""

    model_config = ConfigDict(extra="allow")

    dsl_name: DslName | None = None


_MODULE_BEGIN = b"\0asm"
_BUILT_IN = ("caching", "compression", "encryption", "noop")
_GROUP = "group:"


def size_text(given: object) -> object:
    """Join an operator and a number, as Crystal's dashboard sends a size."""
    return "".join(map(str, given)) if isinstance(given, list) and len(given) == 2 else given


class Deployment(BaseModel):
    """Parameters of a deployment; an object_size is `<10M`, `["<", "10"]`, or a number, which means at most."""

    object_type: str | None = None
    object_size: Annotated[str | None, BeforeValidator(size_text)] = None
    object_tag: str | None = None
    params: str | dict[str, Any] | None = None
    execution_server: Literal["proxy", "object", "default", ""] | None = None


router = APIRouter()


@router.get("/filters")
def list_filters(ledger: LedgerDep) -> list[dict[str, Any]]:
    """List all filters."""
    return _filters(ledger)


@router.post("/filters", status_code=201)
def create(ledger: LedgerDep, one: Filter) -> dict[str, Any]:
    """Create a filter, or replace its fields."""
    fields = one.model_dump(exclude_unset=True)
    check_new(fields)
    if one.dsl_name == PATH:
        raise RequestRefusedError(400, f"a filter cannot be named {PATH}: /filters/{PATH} is reserved")
    there = {filter_["dsl_name"]: filter_.get("id") for filter_ in _filters(ledger)}
    number = there.get(one.dsl_name) or 1 + max((int(text) for text in there.values() if text is not None), default=0)
    if "filter_type" in fields:
        fields["id"] = str(number)
    name = one.dsl_name or str(number)
    ledger.keep_filter(name, {field: value for field, value in fields.items() if field != "dsl_name"})
    return {**fields, "id": int(number)} if "filter_type" in fields else fields


@router.get("/filters/{name}")
def show_filter(ledger: LedgerDep, name: str) -> dict[str, Any]:
    """Show a filter."""
    return _filter(ledger, name)


@router.put("/filters/{name}")
def change(
    ledger: LedgerDep,
    rules: RulesDep,
    name: str,
    attributes: Annotated[dict[str, Any], Body(min_length=1)],
) -> dict[str, Any]:
    """Change fields of a filter, also its name."""
    before = _filter(ledger, name)
    if name.isdecimal() and "filter_type" in before:
        check_change(attributes, before["filter_type"])
    kept = {**before, **attributes, "id": before.get("id")}
    new = str(kept.pop("dsl_name"))
    if kept["id"] is None:
        kept.pop("id")
    if new != name:
        _rename(ledger, rules, name, new)
    ledger.keep_filter(new, kept)
    return {"dsl_name": new, **kept}


@router.delete("/filters/{name}", status_code=204)
def delete(ledger: LedgerDep, rules: RulesDep, modules: ModulesDep, name: str) -> Response:
    """Remove a filter that no rule sets, and its module."""
    _filter(ledger, name)
    if used := next((rule.id for rule in rules.rules() if _sets(rule, name)), None):
        raise RequestRefusedError(409, f"rule {used} sets {name}: undeploy it first")
    ledger.drop_filter(name)
    modules.drop(SHARED, name)
    return Response(status_code=204)


@router.get("/filters/{name}/data")
def program(ledger: LedgerDep, name: str) -> Response:
    """Return the program of a filter."""
    if (found := ledger.filter_data(_filter(ledger, name)["dsl_name"])) is None:
        raise RequestRefusedError(404, f"filter {name} has no program")
    return Response(found, media_type="application/octet-stream")


@router.put("/filters/{name}/data", status_code=201)
def data(
    ledger: LedgerDep,
    rules: RulesDep,
    modules: ModulesDep,
    name: str,
    file: UploadFile,
    author: Author = None,
) -> dict[str, int]:
    """Store the program of a filter; a WebAssembly module is checked, and proxies can run it."""
    kind = _filter(ledger, name).get("filter_type")
    content = file.file.read(DATA_BYTES_MAX + 1)
    if len(content) > DATA_BYTES_MAX:
        raise RequestRefusedError(400, f"the file is larger than {DATA_BYTES_MAX} bytes")
    if not content.startswith(_MODULE_BEGIN):
        check_file(file.filename, kind)
    else:
        keep_module(modules, SHARED, name, content, author)
        rules.pin_missing(SHARED, name)
    if not ledger.keep_filter_data(name, content):
        raise RequestRefusedError(404, f"filter {name} does not exist")
    return {"bytes": len(content)}


@router.get("/filters/{project}/deploy")
def list_deployed(rules: RulesDep, project: str) -> list[str]:
    """List the filters that rules set for a project."""
    target = _target(project, None, None)
    mine = [one.rule for one in rules.rules() if one.rule is not None and one.rule.target == target]
    if not mine:
        raise RequestRefusedError(404, f"no filter is deployed for {project}")
    return sorted({action.filter for rule in mine for action in rule.actions if action.verb == "SET"})


@router.put("/filters/{project}/deploy/{name}", status_code=201)
@router.put("/filters/{project}/{container}/deploy/{name}", status_code=201)
@router.put("/filters/{project}/{container}/{object_name}/deploy/{name}", status_code=201)
def deploy(
    ledger: LedgerDep,
    rules: RulesDep,
    groups: GroupsDep,
    promisable: PromisableDep,
    project: str,
    name: str,
    response: Response,
    given: Deployment,
    container: str | None = None,
    object_name: str | None = None,
    author: Author = None,
) -> int:
    """Deploy a filter for a project, a group, a container or an object; the answer is the number of the new rule."""
    _known(ledger, name)
    target = _target(_named(project, groups), container, object_name)
    action, said = _without_unknown(_rule(target, name, given).actions[0])
    rule = apply_dialect(Rule(target, None, (action,)), appendix=True)
    added = keep_rules(rules, promisable, [rule], author)
    response.headers.update(warning([*said, *added.caveats]))
    return added.ids[0]


@router.put("/filters/{project}/undeploy/{name}", status_code=204)
@router.put("/filters/{project}/{container}/undeploy/{name}", status_code=204)
@router.put("/filters/{project}/{container}/{object_name}/undeploy/{name}", status_code=204)
def undeploy(
    ledger: LedgerDep,
    rules: RulesDep,
    groups: GroupsDep,
    project: str,
    name: str,
    container: str | None = None,
    object_name: str | None = None,
    author: Author = None,
) -> Response:
    """Remove the rules that deploy a filter there."""
    _known(ledger, name)
    target = _target(_named(project, groups), container, object_name)
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


def _known(ledger: Ledger, name: str) -> None:
    """Refuse (404) a filter that neither Zoe has nor a client created."""
    if name.lower() not in _BUILT_IN:
        _filter(ledger, name)


def _rename(ledger: Ledger, rules: RuleLedger, name: str, new: str) -> None:
    if used := next((rule.id for rule in rules.rules() if _sets(rule, name)), None):
        raise RequestRefusedError(400, f"rule {used} sets {name}, so its dsl_name cannot change: undeploy it first")
    if not _DSL_NAME.fullmatch(new) or new == PATH or any(one["dsl_name"] == new for one in _filters(ledger)):
        raise RequestRefusedError(400, f"dsl_name: {new[:80]!r} is taken or not a name")
    if (ledger.filter_data(name) or b"").startswith(_MODULE_BEGIN):
        raise RequestRefusedError(409, f"{name} is a module: create the filter {new} and upload the module to it")
    ledger.rename_filter(name, new)


def _named(project: str, groups: Groups) -> str:
    """Return a project, or `group:` with the name of a group that is given by its number."""
    return _GROUP + groups.name_of(project.removeprefix(_GROUP)) if project.startswith(_GROUP) else project


def _target(project: str, container: str | None, object_name: str | None) -> Target:
    if project.startswith(_GROUP):
        if container is not None:
            raise RequestRefusedError(400, "a filter is deployed for a whole group, not for a container of it")
        return Target(TargetKind.GROUP, project.removeprefix(_GROUP))
    if container is None:
        return Target(TargetKind.TENANT, project)
    if object_name is None:
        return Target(TargetKind.CONTAINER, project, container)
    return Target(TargetKind.OBJECT, project, container, object_name)


def _without_unknown(action: Action) -> tuple[Action, list[str]]:
    """Return an action without parameters that Zoe's filter does not have, and sentences on them: those are of the
    uploaded program, which Zoe's filter of the same name replaces.
    """
    known = parameters_of(action.kind)
    more = [] if known is None else [name for name, _ in action.parameters if name.upper() not in known]
    kept = tuple((name, value) for name, value in action.parameters if name not in more)
    said = [f"{action.filter} of Zoe has no parameter {', '.join(more)}: ignored"] if more else []
    return replace(action, parameters=kept), said


def _rule(target: Target, name: str, given: Deployment) -> Rule:
    """Return the rule of a deployment. Raises RequestRefusedError if no rule can express it."""
    only = restrictions(given.object_type, given.object_size, given.object_tag)
    server = given.execution_server.upper() if given.execution_server in ("proxy", "object") else None
    rule = Rule(target, None, (Action("SET", name, parameters(given.params), server, only=only),))
    try:
        return parse_rule(show_rule(rule))  # the stored rule is the text
    except RuleError as error:
        raise RequestRefusedError(400, f"this cannot be deployed: {error}") from None


def restrictions(object_type: str | None, object_size: str | None, object_tag: str | None) -> tuple[Comparison, ...]:
    """Return the objects that an action is limited to; a size without an operator means at most."""
    only = []
    if object_type:
        only.append(Comparison("OBJECT_TYPE", Operator.EQUAL, object_type))
    if object_size:
        text = object_size.strip()
        sign = next((entry for entry in (">=", "<=", "==", "!=", ">", "<", "=") if text.startswith(entry)), "")
        operator = Operator("=" if sign == "==" else sign or "<=")
        only.append(Comparison("OBJECT_SIZE", operator, text.removeprefix(sign).strip()))
    if object_tag:
        only.append(Comparison("OBJECT_TAG", Operator.EQUAL, object_tag))
    return tuple(only)


def parameters(given: str | dict[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return parameters that a client sends as `name=value, ...` or as an object. Raises RequestRefusedError."""
    if isinstance(given, dict):
        return tuple((str(name), str(value)) for name, value in given.items())
    pairs = [part.partition("=") for part in (given or "").split(",") if part.strip()]
    if wrong := next((name for name, equals, _ in pairs if not equals), None):
        raise RequestRefusedError(400, f"{wrong.strip()!r} is not a parameter; use name=value")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
