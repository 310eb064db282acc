"""An owner's executions: each has a credential of its own of its tenant's account, and may have a guarantee.

A guarantee ends with the owner's lease. The credential does not: what runs goes on while the owner is away. It ends
when the owner removes the execution. What was moved with it is settled then, and told until the owner forgets it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import Field, StringConstraints

from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StoreExecution, TransferTotals
from storage_controller.answers import Refused
from storage_controller.extensions import Name, Promise
from storage_controller.ledger import Ledger
from storage_controller.services import Services
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
    def read(cls, secret_file: pathlib.Path, account_prefix: str) -> ExecutionKeys:
        """Read the secret, the first one of the file. OSError, ValueError."""
        return cls(read_secrets(secret_file)[0], account_prefix)

    def credential(self, tenant: str, execution: str, generation: int) -> dict[str, str]:
        """Return user and key."""
        user = ExecutionUser(tenant, execution, generation)
        return {"user": user.login, "key": key_of(self.secret, self.account_prefix + tenant, user)}


def execution_routes(ledger: Ledger, services: Services, keys: ExecutionKeys) -> APIRouter:
    """Return the routes of an owner's executions; all but PUT answer without keys."""
    routes = APIRouter(prefix="/v1/owners/{owner}/executions")

    @routes.get("")
    def listed(owner: str) -> dict[str, dict[str, Any]]:
        told = known(owner)
        return {one.id: _shown(one, *told) for one in ledger.executions() if one.owner == owner}

    def known(owner: str) -> _Known:
        return services.reports.achieved_by_execution(), ledger.transfers(owner), services.reports.counts_transfers()

    @routes.get("/{execution}")
    def shown(owner: str, execution: str) -> dict[str, Any]:
        for one in ledger.executions():
            if (one.owner, one.id) == (owner, execution):
                return _shown(one, *known(owner))
        raise Refused(404, f"there is no execution {execution}")

    @routes.put("/{execution}", status_code=201)
    def put(owner: Name, execution: ExecutionName, wanted: WantedExecution, response: Response) -> dict[str, Any]:
        slo = BandwidthSlo(wanted.read_bytes_per_s, wanted.write_bytes_per_s)
        if slo != BandwidthSlo():
            response.headers.update(services.promisable.check(wanted.tenant, slo))
        ledger.renew(owner, wanted.lease_s)
        kept = ledger.keep_execution(StoreExecution(execution, wanted.tenant, slo, owner))
        if kept is None:
            raise Refused(409, f"execution {execution} belongs to another owner or tenant")
        return {**_shown(kept, {}, {}, False), **keys.credential(kept.tenant, kept.id, kept.generation)}

    @routes.delete("/{execution}", status_code=204)
    def drop(owner: str, execution: str) -> Response:
        ledger.drop_execution(owner, execution)
        return Response(status_code=204)

    return routes


def transfer_routes(ledger: Ledger) -> APIRouter:
    """Return the routes of what was moved with credentials that have ended."""
    routes = APIRouter(prefix="/v1/owners/{owner}/transfers")

    @routes.get("")
    def ended(owner: str) -> list[dict[str, Any]]:
        return [asdict(one) for one in ledger.ended_transfers(owner)]

    @routes.delete("/{generation}", status_code=204)
    def forget(owner: str, generation: Annotated[int, Path(ge=0, lt=2**63)]) -> Response:
        ledger.forget_transfers(owner, generation)
        return Response(status_code=204)

    return routes


_Known = tuple[Mapping[str, AchievedBandwidth], Mapping[str, TransferTotals], bool]


def _shown(
    one: StoreExecution,
    achieved: Mapping[str, AchievedBandwidth],
    moved_by: Mapping[str, TransferTotals],
    counting: bool,
) -> dict[str, Any]:
    moved, totals = achieved.get(one.id, _NOTHING), moved_by.get(one.id, TransferTotals() if counting else None)
    return {
        "tenant": one.tenant,
        "generation": one.generation,
        "read_bytes_per_s": one.slo.read_bytes_per_s,
        "write_bytes_per_s": one.slo.write_bytes_per_s,
        "achieved_read_bytes_per_s": moved.read_bytes_per_s,
        "achieved_write_bytes_per_s": moved.write_bytes_per_s,
        "totals": None if totals is None else asdict(totals),
    }
