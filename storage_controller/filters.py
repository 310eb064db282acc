"""Filters and static policies, in both dialects: what is deployed for which target.

Only bandwidth is enforced, as SLOs. Everything else is stored and listed for clients of the API, and the answers say
that it is not enforced: `enforced` is false in lists, and creating it returns a `Warning` header (299).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Request, Response, UploadFile
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import Promisable, Refused, warning
from storage_controller.dsl import BANDWIDTH, Action, Rule, RuleError, bandwidth_of, parse_rules
from storage_controller.ledger import Ledger, Promised

DATA_BYTES_MAX = 16 * 2**20
TEXT_BYTES_MAX = 2**20
BODY_BYTES_MAX = DATA_BYTES_MAX + TEXT_BYTES_MAX
"""For any request: a filter's program, and the form around it."""
_DEPENDENCIES = "dependencies"  # Crystal uses this path for neither a filter nor a tenant
DslName = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[\w-]+$")]


class Filter(BaseModel):
    """A filter's name in rules; other fields are stored as they are."""

    model_config = ConfigDict(extra="allow")

    dsl_name: DslName


class Deployment(BaseModel):
    """The parameters with which a filter is deployed."""

    object_type: str | None = None
    object_size: str | None = None
    object_tag: str | None = None
    params: str | dict[str, Any] | None = None


class Tenant(BaseModel):
    """A project to enable, in the appendix dialect."""

    tenant_name: Annotated[str, Field(min_length=1, max_length=256)]


def filter_routes(ledger: Ledger) -> APIRouter:
    """`/filters`; the later dialect has a trailing slash."""
    routes = APIRouter()
    _add_dependencies(routes)

    @routes.get("/filters")
    @routes.get("/filters/", include_in_schema=False)
    def listed() -> list[dict[str, Any]]:
        return ledger.filters()

    @routes.post("/filters", status_code=201)
    @routes.post("/filters/", status_code=201, include_in_schema=False)
    def create(one: Filter) -> dict[str, Any]:
        if one.dsl_name == _DEPENDENCIES:
            raise Refused(400, f"a filter cannot be named {_DEPENDENCIES}: /filters/{_DEPENDENCIES} is reserved")
        ledger.keep_filter(one.dsl_name, one.model_extra or {})
        return one.model_dump()

    @routes.get("/filters/{name}")
    @routes.get("/filters/{name}/", include_in_schema=False)
    def shown(name: str) -> dict[str, Any]:
        return _filter(ledger, name)

    @routes.put("/filters/{name}")
    @routes.put("/filters/{name}/", include_in_schema=False)
    def change(name: str, attributes: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        kept = {**_filter(ledger, name), **attributes}
        kept.pop("dsl_name")
        ledger.keep_filter(name, kept)
        return {"dsl_name": name, **kept}

    @routes.delete("/filters/{name}", status_code=204)
    @routes.delete("/filters/{name}/", status_code=204, include_in_schema=False)
    def delete(name: str) -> Response:
        ledger.drop_filter(name)
        return Response(status_code=204)

    @routes.put("/filters/{name}/data")
    @routes.put("/filters/{name}/data/", include_in_schema=False)
    def data(name: str, file: UploadFile) -> dict[str, int]:
        content = file.file.read(DATA_BYTES_MAX + 1)
        if len(content) > DATA_BYTES_MAX:
            raise Refused(400, f"larger than {DATA_BYTES_MAX} bytes")
        if not ledger.keep_filter_data(name, content):
            raise Refused(404, f"there is no filter {name}")
        return {"bytes": len(content)}

    for path in ("{project}", "{project}/{container}"):
        routes.put(f"/filters/{path}/deploy/{{name}}", status_code=201)(_deploy(ledger))
        routes.put(f"/filters/{path}/undeploy/{{name}}", status_code=204)(_undeploy(ledger))
    return routes


def _add_dependencies(routes: APIRouter) -> None:
    """`/filters/dependencies`, added before all paths that begin with a filter or a project: there are none."""

    @routes.get(f"/filters/{_DEPENDENCIES}")
    def listed() -> list[dict[str, Any]]:
        return []

    @routes.api_route(f"/filters/{_DEPENDENCIES}", methods=["POST", "PUT", "DELETE"])
    @routes.api_route(f"/filters/{_DEPENDENCIES}/{{rest:path}}", methods=["GET", "POST", "PUT", "DELETE"])
    def refused(rest: str = "") -> None:  # noqa: ARG001 - whatever is asked of them
        raise Refused(404, "this controller does not store dependencies of filters; upload them with the filter")


def policy_routes(ledger: Ledger, promisable: Promisable) -> APIRouter:
    """`/registry/static_policy` and `/policies/static`: text, one rule a line, all of them or none."""
    routes = APIRouter()
    for path in ("/registry/static_policy", "/policies/static"):
        routes.get(path)(_listed(ledger))
        routes.post(path, status_code=201)(_added(ledger, promisable))
        routes.delete(f"{path}/{{target:path}}:{{policy_id}}", status_code=204)(_dropped(ledger))
    return routes


def project_routes(ledger: Ledger) -> APIRouter:
    """The routes that enable a project, in both dialects."""
    routes = APIRouter()

    @routes.post("/swift/tenants", status_code=201)
    def appendix(tenant: Tenant) -> dict[str, str]:
        ledger.keep_project(tenant.tenant_name, tenant.tenant_name)
        return {"tenant_name": tenant.tenant_name}

    @routes.put("/projects/{project_id}", status_code=201)
    def later(project_id: str) -> dict[str, str]:
        ledger.keep_project(project_id, project_id)
        return {"project_id": project_id}

    return routes


def _filter(ledger: Ledger, name: str) -> dict[str, Any]:
    for one in ledger.filters():
        if one["dsl_name"] == name:
            return one
    raise Refused(404, f"there is no filter {name}")


def _deploy(ledger: Ledger) -> Any:
    def deploy(
        project: str, name: str, response: Response, container: str | None = None, given: Deployment | None = None
    ) -> int:
        _filter(ledger, name)
        response.headers.update(_warning([name]))
        target = _target(project, container)
        action = {"verb": "SET", "filter": name, "parameters": given.model_dump() if given else {}, "server": None}
        rule = f"FOR {target} DO SET {name}"
        return ledger.add_policies([({"target": target, "rule": rule, "actions": [action]}, None)])[0]

    return deploy


def _undeploy(ledger: Ledger) -> Any:
    def undeploy(project: str, name: str, container: str | None = None) -> Response:
        target = _target(project, container)
        for row in ledger.policies():
            if row["target"] == target and [action["filter"] for action in row["actions"]] == [name]:
                ledger.drop_policy(target, row["id"])
        return Response(status_code=204)

    return undeploy


def _target(project: str, container: str | None) -> str:
    return f"TENANT:{project}" if container is None else f"CONTAINER:{project}/{container}"


def _listed(ledger: Ledger) -> Any:
    def listed() -> list[dict[str, Any]]:
        return [
            {**row, "id": f"{row['target']}:{row['id']}", "enforced": not _idle(row["actions"])}
            for row in ledger.policies()
        ]

    return listed


async def _body(request: Request) -> bytes:
    return await request.body()


def _added(ledger: Ledger, promisable: Promisable) -> Any:
    def added(body: Annotated[bytes, Depends(_body)], response: Response) -> list[str]:
        if len(body) > TEXT_BYTES_MAX:
            raise Refused(400, f"more than {TEXT_BYTES_MAX} bytes of rules")
        try:
            rules = list(parse_rules(body.decode()))
        except (RuleError, UnicodeDecodeError) as error:
            raise Refused(400, str(error)) from None
        if not rules:
            raise Refused(400, "the text contains no rule")
        promised = [_promised(rule) for rule in rules]
        caveats: list[str] = []
        for rule, rate in zip(rules, promised, strict=True):
            if rate is not None:
                promisable.check(rule.name, BandwidthSlo(rate, rate))
                caveats += promisable.caveats(BandwidthSlo(rate, rate))
        rows: list[dict[str, Any]] = [
            {"target": r.target, "rule": r.text, "actions": [_kept(a) for a in r.actions]} for r in rules
        ]
        promises = [None if rate is None else Promised(r.name, rate) for r, rate in zip(rules, promised, strict=True)]
        ids = ledger.add_policies(list(zip(rows, promises, strict=True)))
        idle = [name for row in rows for name in _idle(row["actions"])]
        response.headers.update(warning([*_not_carried_out(idle), *sorted(set(caveats))]))
        return [f"{rule.target}:{number}" for rule, number in zip(rules, ids, strict=True)]

    return added


def _idle(actions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the filters that are not enforced."""
    return [a["filter"] for a in actions if not _is_promise(a)]


def _is_promise(action: Mapping[str, Any]) -> bool:
    named = action["verb"] == "SET" and action["filter"].upper() == BANDWIDTH
    return named and "MIN_BW" in {name.upper() for name in action["parameters"]}


def _not_carried_out(names: Sequence[str]) -> list[str]:
    return [f"stored, but not enforced: {', '.join(sorted(set(names)))}"] if names else []


def _warning(names: Sequence[str]) -> dict[str, str]:
    return warning(_not_carried_out(names))


def _kept(action: Action) -> dict[str, Any]:
    return {"verb": action.verb, "filter": action.filter, "parameters": action.parameters, "server": action.server}


def _promised(rule: Rule) -> int | None:
    """Return the promise of `SET BANDWIDTH`: an SLO of the tenant, both ways, as long as the rule exists; None without
    one.
    """
    rates = [rate for action in rule.actions if (rate := bandwidth_of(action)) is not None]
    if rates and rule.kind != "TENANT":
        raise Refused(400, f"bandwidth can be promised to tenants only, not to {rule.target}")
    return max(rates, default=None)


def _dropped(ledger: Ledger) -> Any:
    def dropped(target: str, policy_id: int) -> Response:
        ledger.drop_policy(target, policy_id)
        return Response(status_code=204)

    return dropped
