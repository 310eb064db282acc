"""SLOs in the two dialects of Crystal, in whole MB/s; guarantees of other owners are not included."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from storage_bridge.model import BandwidthSlo
from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import READ, WRITE
from storage_controller.routes.parameters import LedgerDep, PromisableDep

MB = 10**6
NAMES = (READ, WRITE, "ssync_bw")
MB_PER_S_MAX = 10**9
Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\s#:/]+$")]
_DIGITS = re.compile(r"\s*[0-9]{1,10}\s*")


def _number(value: object) -> object:
    """Convert digits to a number: Crystal's dashboard sends numbers as text."""
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value


MegabytesPerS = Annotated[int, Field(gt=0, le=MB_PER_S_MAX, strict=True), BeforeValidator(_number)]


class Sla(BaseModel):
    """An SLA of the appendix dialect: one value for reads and writes."""

    project_id: Name
    policy_id: Name
    bandwidth: MegabytesPerS


class SlaValue(BaseModel):
    """The changeable part of an SLA."""

    bandwidth: MegabytesPerS


class Slo(BaseModel):
    """An SLO of the later dialect: one name per value; the target is `<project>#<policy>`."""

    dsl_filter: str = "bandwidth"
    slo_name: str
    target: str
    value: MegabytesPerS


class SloValue(BaseModel):
    """The changeable part of an SLO."""

    value: MegabytesPerS


router = APIRouter()


@router.get("/bw/slas")
def slas(ledger: LedgerDep) -> list[dict[str, Any]]:
    """List the SLAs of reads."""
    names = ledger.project_names()
    rates: dict[tuple[str, str], int] = {}
    for row in ledger.slos():
        if row["slo_name"] == READ:
            rates[row["project_id"], row["policy_id"]] = row["bytes_per_s"]
    return [
        {
            "project_id": project,
            "project_name": names.get(project, project),
            "policy_id": policy,
            "policy_name": policy,
            "bandwidth": rate // MB,
        }
        for (project, policy), rate in rates.items()
    ]


@router.post("/bw/slas", status_code=201)
def add_sla(ledger: LedgerDep, promisable: PromisableDep, sla: Sla, response: Response) -> Sla:
    """Set an SLA for reads and writes."""
    slo = BandwidthSlo(sla.bandwidth * MB, sla.bandwidth * MB)
    response.headers.update(promisable.check(sla.project_id, slo))
    ledger.set_slo(sla.project_id, sla.policy_id, dict.fromkeys((READ, WRITE), sla.bandwidth * MB))
    return sla


@router.get("/bw/sla/{project}:{policy}")
def sla(ledger: LedgerDep, project: str, policy: str) -> dict[str, Any]:
    """Show the SLA of a project and policy."""
    name = ledger.project_names().get(project, project)
    rates = [
        row["bytes_per_s"] // MB
        for row in ledger.slos()
        if (row["project_id"], row["policy_id"], row["slo_name"]) == (project, policy, READ)
    ]
    return {
        "id": f"{project}:{policy}",
        "project_id": project,
        "project_name": name,
        "policy_id": policy,
        "policy_name": policy,
        "bandwidth": rates[0] if rates else None,
    }


@router.put("/bw/sla/{project}:{policy}", status_code=201)
def set_sla(
    ledger: LedgerDep, promisable: PromisableDep, project: Name, policy: Name, value: SlaValue, response: Response
) -> dict[str, Any]:
    """Change an SLA."""
    slo = BandwidthSlo(value.bandwidth * MB, value.bandwidth * MB)
    response.headers.update(promisable.check(project, slo))
    ledger.set_slo(project, policy, dict.fromkeys((READ, WRITE), value.bandwidth * MB))
    return {"project_id": project, "policy_id": policy, "bandwidth": value.bandwidth}


@router.delete("/bw/sla/{project}:{policy}", status_code=204)
def remove_sla(ledger: LedgerDep, project: str, policy: str) -> Response:
    """Remove an SLA."""
    ledger.clear_slo(project, policy)
    return Response(status_code=204)


@router.get("/policies/slos")
def slos(ledger: LedgerDep) -> list[dict[str, Any]]:
    """List all SLOs."""
    return [
        {
            "dsl_filter": "bandwidth",
            "slo_name": row["slo_name"],
            "target": f"{row['project_id']}#{row['policy_id']}",
            "value": row["bytes_per_s"] // MB,
        }
        for row in ledger.slos()
    ]


@router.post("/policies/slos", status_code=201)
def add_slo(ledger: LedgerDep, promisable: PromisableDep, slo: Slo, response: Response) -> Slo:
    """Set an SLO."""
    if slo.dsl_filter != "bandwidth":
        raise RequestRefusedError(400, f"only bandwidth has SLOs, not {slo.dsl_filter}")
    project, policy = _project_and_policy(slo.target)
    response.headers.update(promisable.check(project, _one_way(slo.slo_name, slo.value)))
    ledger.set_one(project, policy, _direction_of(slo.slo_name), slo.value * MB)
    return slo


@router.get("/policies/slo/bandwidth/{slo_name}/{target}")
def slo_of(ledger: LedgerDep, slo_name: str, target: str) -> dict[str, Any]:
    """Show an SLO."""
    for slo in slos(ledger):
        if (slo["slo_name"], slo["target"]) == (slo_name, target):
            return slo
    raise RequestRefusedError(404, f"{target} has no SLO {slo_name}")


@router.put("/policies/slo/bandwidth/{slo_name}/{target}", status_code=201)
def set_slo(
    ledger: LedgerDep, promisable: PromisableDep, slo_name: str, target: str, value: SloValue, response: Response
) -> dict[str, Any]:
    """Change an SLO."""
    project, policy = _project_and_policy(target)
    response.headers.update(promisable.check(project, _one_way(slo_name, value.value)))
    ledger.set_one(project, policy, _direction_of(slo_name), value.value * MB)
    return {"dsl_filter": "bandwidth", "slo_name": slo_name, "target": target, "value": value.value}


@router.delete("/policies/slo/bandwidth/{slo_name}/{target}", status_code=204)
def remove_slo(ledger: LedgerDep, slo_name: str, target: str) -> Response:
    """Remove an SLO."""
    ledger.clear_slo(*_project_and_policy(target), _direction_of(slo_name))
    return Response(status_code=204)


def _one_way(slo_name: str, megabytes: int) -> BandwidthSlo:
    rate = megabytes * MB
    return BandwidthSlo(rate if slo_name == READ else None, rate if slo_name == WRITE else None)


def _direction_of(slo_name: str) -> str:
    if slo_name not in NAMES:
        raise RequestRefusedError(400, f"{slo_name} is not an SLO; choose one of {', '.join(NAMES)}")
    return slo_name


def _project_and_policy(target: str) -> tuple[str, str]:
    project, mark, policy = target.partition("#")
    if not project or not mark or not policy or "#" in policy:
        raise RequestRefusedError(400, "the target must be <project>#<policy>")
    return project, policy
