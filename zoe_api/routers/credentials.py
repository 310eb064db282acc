"""Credentials of tenants for services of the object store: set, listed without their keys, removed."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Query, Response

from zoe_api.access import Reader, Submitter, check
from zoe_api.dependencies import ServicesDep
from zoe_lib.domain.roles import Scope
from zoe_lib.sealing import Seal
from zoe_lib.store.base import (
    NotFound,
)
from zoe_lib.store.people import Principal, SealedCredential
from zoe_lib.wire import CredentialList, CredentialRequest, CredentialView

router = APIRouter(prefix="/storage/credentials", tags=["storage"])
Tenant = Annotated[str | None, Query(description="Another tenant than the own, as an admin.")]


@router.get("", response_model=CredentialList)
def list_storage_credentials(who: Reader, its: ServicesDep, tenant: Tenant = None) -> CredentialList:
    """For which services the tenant has credentials, without their keys."""
    kept = its.accounts.storage_credentials(_tenant(who, tenant))
    return CredentialList(credentials=[_view(one) for one in kept], services=sorted(its.settings.storage_services))


@router.put("/{service}", response_model=CredentialView)
def set_storage_credential(
    service: str, body: CredentialRequest, who: Submitter, its: ServicesDep, tenant: Tenant = None
) -> CredentialView:
    """Keep how the tenant logs in to a service; services that start from now on get it as a file."""
    if service not in its.settings.storage_services:
        known = ", ".join(sorted(its.settings.storage_services)) or "none"
        raise NotFound(f"there is no service {service[:200]!r} of an object store; known: {known}")
    owner = _tenant(who, tenant)
    sealed = Seal.of(its.settings.keys_dir).sealed(body.key, owner, service, body.user)
    credential = SealedCredential(owner, service, body.user, sealed, time.time(), who.user)
    its.accounts.set_storage_credential(credential)
    return _view(credential)


@router.delete("/{service}", status_code=204)
def remove_storage_credential(service: str, who: Submitter, its: ServicesDep, tenant: Tenant = None) -> Response:
    """Forget how the tenant logs in to a service; what runs already keeps what it got."""
    its.accounts.remove_storage_credential(_tenant(who, tenant), service)
    return Response(status_code=204)


def _tenant(who: Principal, wanted: str | None) -> str:
    if wanted is not None and wanted != who.tenant:
        check(who, Scope.ADMIN)
    return wanted or who.tenant


def _view(kept: SealedCredential) -> CredentialView:
    return CredentialView(
        tenant=kept.tenant, service=kept.service, user=kept.login, set_at_s=kept.set_at_s, set_by=kept.set_by
    )
