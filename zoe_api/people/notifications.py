"""Targets of notifications: set, list, test, remove."""

from __future__ import annotations

import base64
import secrets
from dataclasses import replace
from ipaddress import ip_network
from typing import Annotated

from fastapi import Path, Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_client.vocabulary import NotificationKind
from zoe_client.wire import TargetList, TargetRequest, TargetView
from zoe_client.words.names import NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.domain.executions.notifications import MAIL_SCHEME, TargetRefused, is_mail, mail_address, web_address
from zoe_lib.sealing import Seal
from zoe_lib.settings.config import Settings
from zoe_lib.store.errors import TooManyTargets
from zoe_lib.store.people import NotificationTarget, Principal

router = api_router("/notifications", tag="people")
Name = Annotated[str, Path(pattern=NAME, description="Name of the target.")]
OfTenant = Annotated[
    bool, Query(description="All executions of the tenant instead of your own; for operators and admins.")
]
_SECRET_BYTES = 32
_ID_BYTES = 12


@router.get("", response_model=TargetList)
def list_targets(caller: AsReader) -> TargetList:
    """List your targets in the tenant, and the tenant's. URLs of the tenant's targets are shown to operators only, as
    they often contain a secret.
    """
    found = caller.services.accounts.targets(caller.tenant, caller.user)
    return TargetList(targets=[_visible_target(target, caller.principal) for target in found])


@router.put("/{name}", response_model=TargetView)
def set_target(name: Name, body: TargetRequest, caller: AsSubmitter, of_tenant: OfTenant = False) -> TargetView:
    """Set a webhook or a mail address as a target, replacing an earlier one of the name, whose secret stays unless a
    new one is requested. Earlier events are not delivered.
    """
    settings, user = caller.services.settings, _owner(caller.principal, of_tenant)
    _check_url(body.url, settings)
    before = [target for target in caller.services.accounts.targets(caller.tenant, caller.user)
              if (target.user, target.name) == (user, name)]  # fmt: skip
    fresh = NotificationTarget(
        id=f"n{secrets.token_hex(_ID_BYTES)}",
        tenant=caller.tenant,
        user=user,
        name=name,
        url=body.url,
        kinds=sorted(set(body.on)),
        sealed=b"",
        set_at_s=caller.services.clock.now_s(),
        set_by=caller.user,
    )
    made = replace(fresh, id=before[0].id, sealed=before[0].sealed) if before else fresh
    secret = None if before and not body.new_secret else _new_secret()
    if secret is not None:
        made = replace(made, sealed=Seal.from_keys_dir(settings.keys_dir).encrypt(secret, *made.belongs_to))
    try:
        kept = caller.services.accounts.set_target(made, settings.notification_targets_max)
    except TooManyTargets as refused:
        raise ApiProblem(Code.TOO_MANY_TARGETS, str(refused)) from None
    return _view(kept, None if is_mail(kept.url) else secret)


@router.post("/{name}/test", status_code=202)
def try_target(name: Name, caller: AsSubmitter, of_tenant: OfTenant = False) -> Response:
    """Send a test soon; the list of targets shows its result. It resumes a stopped target."""
    caller.services.accounts.test_target(caller.tenant, _owner(caller.principal, of_tenant), name)
    return Response(status_code=202)


@router.delete("/{name}", status_code=204)
def remove_target(name: Name, caller: AsSubmitter, of_tenant: OfTenant = False) -> Response:
    """Remove a target."""
    caller.services.accounts.remove_target(caller.tenant, _owner(caller.principal, of_tenant), name)
    return Response(status_code=204)


def _owner(principal: Principal, of_tenant: bool) -> str | None:
    if of_tenant:
        check(principal, Scope.OPERATE)
    return None if of_tenant else principal.user


def _check_url(url: str, settings: Settings) -> None:
    try:
        if is_mail(url):
            mail_address(url, settings.mail_domains)
        else:
            web_address(url, [ip_network(network) for network in settings.webhook_networks])
    except TargetRefused as refused:
        raise ApiProblem(Code.TARGET_REFUSED, str(refused)) from None


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()}"


def _visible_target(target: NotificationTarget, principal: Principal) -> TargetView:
    view = _view(target)
    if target.user is not None or principal.operator:
        return view
    scheme, _, rest = target.url.partition(":")
    host = rest.removeprefix("//").partition("/")[0] if scheme != MAIL_SCHEME else ""
    return view.model_copy(update={"url": f"{scheme}://{host}/..." if host else f"{scheme}:...", "last_error": ""})


def _view(target: NotificationTarget, secret: str | None = None) -> TargetView:
    return TargetView(
        name=target.name,
        user=target.user,
        url=target.url,
        on=[NotificationKind(kind) for kind in target.kinds],
        secret=secret,
        set_at_s=target.set_at_s,
        set_by=target.set_by,
        failures=target.failures,
        failing_since_s=target.failing_since_s,
        next_at_s=target.next_at_s if target.failures and not target.stopped else None,
        last_error=target.last_error,
        told_at_s=target.told_at_s,
        stopped=target.stopped,
        test=target.test,
        waiting=target.news_id > target.done_id,
    )
