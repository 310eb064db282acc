"""Stored applications: descriptions and workflows under a name, with versions, run with parameters."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from fastapi import Path, Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.executions.submissions.conditions import conditions_of
from zoe_api.executions.submitting import IdempotencyKey
from zoe_api.http.problems.problems import from_description
from zoe_api.http.routing import api_router
from zoe_client.wire import (
    DispatchRequest,
    RunView,
    StoredApplicationDetail,
    StoredApplicationList,
    StoredApplicationRequest,
    StoredApplicationView,
    SubmitRequest,
)
from zoe_client.words.names import NAME
from zoe_lib.descriptions import DescriptionError
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.schedules.run_times import RunTimes, with_times
from zoe_lib.schedules.values import RunOptions, StoredApplication
from zoe_lib.store.people import Principal
from zoe_lib.submission import making
from zoe_lib.submission.scheduling import fill_times
from zoe_lib.workflows.applications import check_stored, is_workflow

router = api_router("/applications", tag="applications")
Name = Annotated[str, Path(pattern=NAME, description="Name of the stored application.")]
OfTenant = Annotated[
    bool, Query(description="The tenant's stored application; only operators and admins can change it.")
]
Version = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Default: the newest.")]
_CONDITIONS = ("hold", "begin_at_s", "begin_in_s", "after", "keep")


@router.get("", response_model=StoredApplicationList)
def list_applications(caller: AsReader) -> StoredApplicationList:
    """List the newest versions of your stored applications in the tenant, and of the tenant's."""
    found = caller.store.schedules.applications(caller.tenant, caller.user)
    return StoredApplicationList(applications=[StoredApplicationView(**_facts(application)) for application in found])


@router.get("/{name}", response_model=StoredApplicationDetail)
def show_application(
    name: Name, caller: AsReader, version: Version = None, of_tenant: OfTenant = False
) -> StoredApplicationDetail:
    """Return a version of a stored application: your own of this name, else the tenant's."""
    find = caller.store.schedules
    found = find.application(caller.tenant, caller.user, name, version, of_tenant)
    kept = [version.version for version in find.versions(caller.tenant, caller.user, name, found.user is None)]
    return StoredApplicationDetail(**_facts(found), document=dict(found.document), versions=kept)


@router.put("/{name}", response_model=StoredApplicationView)
def put_application(
    name: Name,
    body: StoredApplicationRequest,
    caller: AsSubmitter,
    of_tenant: OfTenant = False,
) -> StoredApplicationView:
    """Store the next version of a description or a workflow; a document equal to the newest adds none. The newest 20
    are kept. 422 with all errors of the document.
    """
    user = _owner(caller.principal, of_tenant)
    try:
        check_stored(with_times(body.document, RunTimes(0.0, 0.0, "UTC")))
    except DescriptionError as error:
        raise from_description(error) from None
    new = StoredApplication(caller.tenant, user, name, 1, body.document, caller.services.clock.now_s(), caller.user)
    kept = caller.store.schedules.put_application(new, caller.services.settings.stored_applications_max)
    return StoredApplicationView(**_facts(kept))


@router.delete("/{name}", status_code=204)
def remove_application(name: Name, caller: AsSubmitter, of_tenant: OfTenant = False) -> Response:
    """Remove all versions. Active runs continue; times of its schedules are refused."""
    caller.store.schedules.remove_application(caller.tenant, _owner(caller.principal, of_tenant), name)
    return Response(status_code=204)


@router.post("/{name}/dispatch", status_code=201, response_model=RunView)
def dispatch_application(
    name: Name,
    body: DispatchRequest,
    caller: AsSubmitter,
    of_tenant: OfTenant = False,
    idempotency_key: IdempotencyKey = None,
) -> RunView:
    """Run a stored application with parameters: as an execution, an array or a workflow. The same idempotency key
    returns the same run, also after the application has changed.
    """
    fingerprint = _fingerprint(name, of_tenant, body)
    earlier = making.run_with_key(caller.services, caller.principal, idempotency_key, fingerprint)
    if earlier is not None:
        return RunView(kind=making.kind_of(earlier), id=earlier)
    find = caller.store.schedules.application
    found = find(caller.tenant, caller.user, name, body.version, of_tenant)
    options = RunOptions(body.name, body.priority, body.deadline_s, body.indices, body.deadline)
    under = SubmitRequest(application={}, **body.model_dump(include=set(_CONDITIONS)))
    (conditions,) = conditions_of([under], [""], caller)
    times = RunTimes(float(int(caller.services.clock.now_s())), None, "UTC")
    document, parameters = fill_times(found.document, body.parameters, times)
    run = making.prepare(
        document, parameters, options, caller.services, caller.principal, conditions, clock=caller.services.clock
    )
    run_id = making.store_run(run, caller.services, caller.request_id, idempotency_key, fingerprint)
    caller.services.master.hint()
    return RunView(kind=making.kind_of(run_id), id=run_id, notes=list(run.notes))


def _owner(principal: Principal, of_tenant: bool) -> str | None:
    if of_tenant:
        check(principal, Scope.OPERATE)
    return None if of_tenant else principal.user


def _facts(one: StoredApplication) -> dict[str, Any]:
    return {
        "name": one.name,
        "user": one.user,
        "version": one.version,
        "workflow": is_workflow(one.document),
        "parameters": one.document.get("params", {}),
        "made_at_s": one.made_at_s,
        "made_by": one.made_by,
    }


def _fingerprint(name: str, of_tenant: bool, body: DispatchRequest) -> str:
    document = {"dispatch": [name, of_tenant], "body": body.model_dump(exclude_defaults=True)}
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
