"""Secrets of users and tenants: set, list without values, remove."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Path, Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_client.wire import SecretList, SecretRequest, SecretView
from zoe_client.words.names import NAME
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.sealing import Seal
from zoe_lib.store.errors import TooManySecrets
from zoe_lib.store.people import Principal, SealedSecret

router = api_router("/secrets", tag="people")
Name = Annotated[str, Path(pattern=NAME, description="Name of the secret.")]
OfTenant = Annotated[bool, Query(description="The tenant's secret instead of your own; for operators and admins.")]


@router.get("", response_model=SecretList)
def list_secrets(caller: AsReader) -> SecretList:
    """List your secrets in the tenant and the tenant's, without the values."""
    return SecretList(
        secrets=[_view(secret) for secret in caller.services.accounts.secrets(caller.tenant, caller.user)]
    )


@router.put("/{name}", response_model=SecretView)
def set_secret(name: Name, body: SecretRequest, caller: AsSubmitter, of_tenant: OfTenant = False) -> SecretView:
    """Store a secret, replacing an earlier value. Services that ask for it by name and start from now on get it."""
    settings, user = caller.services.settings, _owner(caller.principal, of_tenant)
    size, seal = len(body.value.encode()), Seal.from_keys_dir(settings.keys_dir)
    secret = SealedSecret(caller.tenant, user, name, b"", size, caller.services.clock.now_s(), caller.user)
    secret = replace(secret, sealed=seal.encrypt(body.value, *secret.belongs_to))
    most = settings.secrets_of_tenant_max if user is None else settings.secrets_of_user_max
    try:
        caller.services.accounts.set_secret(secret, most)
    except TooManySecrets as refused:
        raise ApiProblem(Code.TOO_MANY_SECRETS, str(refused)) from None
    return _view(secret)


@router.delete("/{name}", status_code=204)
def remove_secret(name: Name, caller: AsSubmitter, of_tenant: OfTenant = False) -> Response:
    """Remove a secret. Running services keep the value; later starts fail."""
    caller.services.accounts.remove_secret(caller.tenant, _owner(caller.principal, of_tenant), name)
    return Response(status_code=204)


def _owner(principal: Principal, of_tenant: bool) -> str | None:
    if of_tenant:
        check(principal, Scope.OPERATE)
    return None if of_tenant else principal.user


def _view(secret: SealedSecret) -> SecretView:
    return SecretView(
        name=secret.name, user=secret.user, size_bytes=secret.size_bytes, set_at_s=secret.set_at_s, set_by=secret.set_by
    )
