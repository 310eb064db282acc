"""An owner's executions: each has a credential of its own of its tenant's account, and may have a guarantee.

A guarantee ends with the owner's lease. The credential does not: what runs goes on while the owner is away. It ends
when the owner removes the execution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field, StringConstraints

from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StoreExecution
from storage_controller.answers import Refused
from storage_controller.extensions import Name, Promise, Works
from storage_controller.ledger import Ledger
from storage_filters.execution_names import EXECUTION_ID, ExecutionUser, key_of, read_secrets

ExecutionName = Annotated[str, StringConstraints(pattern=f"^{EXECUTION_ID}$")]
_NOTHING = AchievedBandwidth(0.0, 0.0)


class WantedExecution(Promise):
    """An execution of a tenant, with its guarantee, if any, and the owner's lease."""

    tenant: Annotated[Name, Field(description="Whose account it uses.")]


@dataclass(frozen=True, slots=True)
class ExecutionKeys:
    """Derives the credentials of executions from the secret that the proxies have, too."""

    secret: bytes
    account_prefix: str

    @classmethod
    def read(cls, secret_file: Path, account_prefix: str) -> ExecutionKeys:
        """Read the secret, the first one of the file. OSError, ValueError."""
        return cls(read_secrets(secret_file)[0], account_prefix)

    def credential(self, tenant: str, execution: str, generation: int) -> dict[str, str]:
        """Return user and key."""
        user = ExecutionUser(tenant, execution, generation)
        return {"user": user.login, "key": key_of(self.secret, self.account_prefix + tenant, user)}


def execution_routes(ledger: Ledger, works: Works, keys: ExecutionKeys) -> APIRouter:
    """Return the routes of an owner's executions; all but PUT answer without keys."""
    routes = APIRouter(prefix="/v1/owners/{owner}/executions")

    @routes.get("")
    def listed(owner: str) -> dict[str, dict[str, Any]]:
        achieved = works.achieved_by_execution()
        return {one.id: _shown(one, achieved) for one in ledger.executions() if one.owner == owner}

    @routes.get("/{execution}")
    def shown(owner: str, execution: str) -> dict[str, Any]:
        for one in ledger.executions():
            if (one.owner, one.id) == (owner, execution):
                return _shown(one, works.achieved_by_execution())
        raise Refused(404, f"there is no execution {execution}")

    @routes.put("/{execution}", status_code=201)
    def put(owner: Name, execution: ExecutionName, wanted: WantedExecution, response: Response) -> dict[str, Any]:
        slo = BandwidthSlo(wanted.read_bytes_per_s, wanted.write_bytes_per_s)
        if slo != BandwidthSlo():
            response.headers.update(works.promisable.check(wanted.tenant, slo))
        ledger.renew(owner, wanted.lease_s)
        kept = ledger.keep_execution(StoreExecution(execution, wanted.tenant, slo, owner))
        if kept is None:
            raise Refused(409, f"execution {execution} belongs to another owner or tenant")
        return {**_shown(kept, {}), **keys.credential(kept.tenant, kept.id, kept.generation)}

    @routes.delete("/{execution}", status_code=204)
    def drop(owner: str, execution: str) -> Response:
        ledger.drop_execution(owner, execution)
        return Response(status_code=204)

    return routes


def _shown(one: StoreExecution, achieved: Mapping[str, AchievedBandwidth]) -> dict[str, Any]:
    moved = achieved.get(one.id, _NOTHING)
    return {
        "tenant": one.tenant,
        "read_bytes_per_s": one.slo.read_bytes_per_s,
        "write_bytes_per_s": one.slo.write_bytes_per_s,
        "achieved_read_bytes_per_s": moved.read_bytes_per_s,
        "achieved_write_bytes_per_s": moved.write_bytes_per_s,
    }
