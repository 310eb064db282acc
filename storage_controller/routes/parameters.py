"""Parameters of requests, and the services that routes get."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request
from pydantic import BaseModel, Field, StringConstraints

from storage_bridge.model import RATE_MAX, TOKEN_HEADER
from storage_controller.database.guarantee_store import Ledger
from storage_controller.metrics.added import AddedMetrics
from storage_controller.promises.promisable import Promisable
from storage_controller.routes.services import Services
from storage_controller.rules.module_ledger import ModuleLedger
from storage_controller.rules.rule_store import RuleLedger

LEASE_S_MAX = 7 * 86400.0
NO_NUL = r"^[^\x00]*$"  # PostgreSQL cannot store this character in a text
Rate = Annotated[int, Field(gt=0, le=RATE_MAX, strict=True)]
Text = Annotated[str, StringConstraints(max_length=4096, pattern=NO_NUL)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\s\x00-\x1f#:/]+$")]
Source = Annotated[str, StringConstraints(min_length=1, max_length=2048, pattern=NO_NUL)]
Token = Annotated[str, Header(alias=TOKEN_HEADER, max_length=8192, description="Token of the view's tenant.")]
Author = Annotated[
    str | None,
    Header(alias="X-Zoe-Author", max_length=256, description="User who sends the request; stored with the rule."),
]
Caller = Annotated[
    str | None, Header(alias="X-Project-Id", max_length=256, description="Tenant of targets without one.")
]


class Demand(BaseModel):
    """A rate each way; none means no guarantee."""

    read_bytes_per_s: Rate | None = None
    write_bytes_per_s: Rate | None = None


class Lease(BaseModel):
    """The owner, and the duration of the lease without a renewal."""

    lease_s: Annotated[float, Field(gt=0, le=LEASE_S_MAX, allow_inf_nan=False)]


class Promise(Demand, Lease):
    """An SLO with its lease."""


# Coroutines, since a plain function would cost a change of threads each.
async def _services(request: Request) -> Services:
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


ServicesDep = Annotated[Services, Depends(_services)]


async def _ledger(services: ServicesDep) -> Ledger:
    return services.ledger


async def _promisable(services: ServicesDep) -> Promisable:
    return services.promisable


async def _rules(services: ServicesDep) -> RuleLedger:
    return services.rules


async def _modules(services: ServicesDep) -> ModuleLedger:
    return services.modules


async def _metrics(services: ServicesDep) -> AddedMetrics:
    return services.metrics


LedgerDep = Annotated[Ledger, Depends(_ledger)]
PromisableDep = Annotated[Promisable, Depends(_promisable)]
RulesDep = Annotated[RuleLedger, Depends(_rules)]
ModulesDep = Annotated[ModuleLedger, Depends(_modules)]
MetricsDep = Annotated[AddedMetrics, Depends(_metrics)]
