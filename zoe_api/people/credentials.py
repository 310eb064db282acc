"""Credentials of tenants for services of the object store: set, list without keys, remove."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from zoe_api.access.access import AsReader, AsSubmitter, check
from zoe_api.http.routing import api_router
from zoe_client.wire import CredentialList, CredentialRequest, CredentialView
from zoe_lib.domain.applications.roles import Scope
from zoe_lib.sealing import Seal
from zoe_lib.store.errors import NotFound
from zoe_lib.store.people import Principal, SealedCredential

router = api_router("/storage/credentials", tag="storage")
Tenant = Annotated[str | None, Query(description="Another tenant than your own; admins only.")]


@router.get("", response_model=CredentialList)
def list_storage_credentials(caller: AsReader, tenant: Tenant = None) -> CredentialList:
    """List the services for which the tenant has credentials, without the keys."""
    credentials = caller.services.accounts.storage_credentials(_tenant(caller.principal, tenant))
    return CredentialList(
        credentials=[_view(credential) for credential in credentials],
        services=sorted(caller.services.settings.storage_services),
    )


@router.put("/{service}", response_model=CredentialView)
def set_storage_credential(
    service: str, body: CredentialRequest, caller: AsSubmitter, tenant: Tenant = None
) -> CredentialView:
    """Store the tenant's credential for a service. Services that start from now on get it as a file."""
    if service not in caller.services.settings.storage_services:
        names = ", ".join(sorted(caller.services.settings.storage_services)) or "none"
        raise NotFound(f"object-store service {service[:200]!r} does not exist; known: {names}")
    owner = _tenant(caller.principal, tenant)
    sealed = Seal.from_keys_dir(caller.services.settings.keys_dir).encrypt(body.key, owner, service, body.user)
    credential = SealedCredential(owner, service, body.user, sealed, caller.services.clock.now_s(), caller.user)
    caller.services.accounts.set_storage_credential(credential)
    return _view(credential)


@router.delete("/{service}", status_code=204)
def remove_storage_credential(service: str, caller: AsSubmitter, tenant: Tenant = None) -> Response:
    """Remove the tenant's credential for a service. Running services keep it."""
    caller.services.accounts.remove_storage_credential(_tenant(caller.principal, tenant), service)
    return Response(status_code=204)


def _tenant(principal: Principal, tenant: str | None) -> str:
    if tenant is not None and tenant != principal.tenant:
        check(principal, Scope.ADMIN)
    return tenant or principal.tenant


def _view(credential: SealedCredential) -> CredentialView:
    return CredentialView(
        tenant=credential.tenant,
        service=credential.service,
        user=credential.login,
        set_at_s=credential.set_at_s,
        set_by=credential.set_by,
    )
