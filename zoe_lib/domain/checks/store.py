"""Check that the owner of an application can reach its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.checks.finding import Finding, Target
from zoe_lib.domain.executions.promises import no_service
from zoe_lib.domain.values.storage import StorageDemand, service_of


def check_store_uris(application: Application, target: Target) -> Iterator[Finding]:
    """Yield notes on missing credentials: only notes, since a program may sign in by itself, and public containers need
    none.
    """
    storage, access = application.storage or StorageDemand(), target.access
    for kind, ones in (("input", storage.inputs), ("output", storage.outputs)):
        for index, entry in enumerate(ones):
            place, service = ("storage", f"{kind}s", index, "uri"), service_of(entry.uri)
            if why := no_service(entry, access.services):
                hint = f"services of this installation: {', '.join(sorted(access.services or ())) or 'none'}"
                yield Finding(place, "no_such_service", f"{kind} {entry.name}: {why}", hint, certain=False)
            elif service and access.credentials is not None and service not in access.credentials:
                message = f"{kind} {entry.name}: tenant {access.tenant} has no credential for the service {service}"
                hint = f"store one: zoe storage credentials set {service}"
                yield Finding(place, "no_storage_credential", message, hint, certain=False)
