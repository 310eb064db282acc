"""Jobs as the commands of Slurm show them, from the answers of the API."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zoe_job.job import NAME, shown_name

SHORT = {
    "PENDING": "PD",
    "CONFIGURING": "CF",
    "RUNNING": "R",
    "COMPLETING": "CG",
    "COMPLETED": "CD",
    "FAILED": "F",
    "TIMEOUT": "TO",
    "CANCELLED": "CA",
    "NODE_FAIL": "NF",
    "OUT_OF_MEMORY": "OOM",
    "SUSPENDED": "S",
    "PREEMPTED": "PR",
    "BOOT_FAIL": "BF",
    "DEADLINE": "DL",
    "REQUEUED": "RQ",
}
"""States of Slurm and their short names; the last five do not occur."""
ENDED = frozenset({"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY"})
_STATES = {
    "submitted": "PENDING",
    "queued": "PENDING",
    "starting": "CONFIGURING",
    "running": "RUNNING",
    "stopping": "COMPLETING",
    "succeeded": "COMPLETED",
    "failed": "FAILED",
    "cancelled": "CANCELLED",
}
_FAILURES = {"time_limit": "TIMEOUT", "out_of_memory": "OUT_OF_MEMORY", "node_lost": "NODE_FAIL"}
_REASONS = {
    "held": "JobHeldUser",
    "begin_time": "BeginTime",
    "dependencies": "Dependency",
    "behind_in_queue": "Priority",
    "booked": "Reservation",
    "nodes_away": "ReqNodeNotAvail",
    "tenant_limit": "AssocGrpCpuLimit",
    "user_limit": "AssocGrpCpuLimit",
}
_SIGNALS_FROM, _SIGNALS_TO = 128, 192


@dataclass(frozen=True)
class JobRecord:
    """One job, or the indices of an array that wait. Times in seconds since the epoch, None before they are known;
    memory in MiB. `nodes_named` and `first_service` are known of whole records only; `limit_s`, `cores`, `memory_mib`
    and `directory` also of the indices of an array that was asked for.
    """

    id: str
    name: str
    user: str
    state: str
    submitted_s: float
    priority: int = 0
    attempt: int = 1
    exit_code: int = 0
    signal: int = 0
    started_s: float | None = None
    ended_s: float | None = None
    limit_s: float | None = None
    reason: str = "None"
    nodes: int = 1
    nodes_named: str = ""
    cores: int = 1
    memory_mib: int = 0
    groups: tuple[tuple[int, int], ...] = ()
    """Nodes of each group, and the memory of a node; one group unless the job is heterogeneous."""
    directory: str = ""
    output: str = ""
    comment: str = ""
    dependency: str = ""
    array_id: str = ""
    task: str = ""
    first_service: str = ""

    @property
    def restarts(self) -> int:
        """Return how often it was run again."""
        return self.attempt - 1

    def is_named(self, names: Sequence[str]) -> bool:
        """Return whether it has one of these names, as they were submitted or as lists show them."""
        return self.name in names or self.name in map(shown_name, names)

    def ran_s(self, now_s: float | None = None) -> float:
        """Return for how many seconds its present or last attempt ran."""
        if self.started_s is None:
            return 0.0
        until_s = self.ended_s if self.ended_s is not None else (time.time() if now_s is None else now_s)
        return max(until_s - self.started_s, 0.0)


def record_of(view: Mapping[str, Any], description: Mapping[str, Any] | None = None) -> JobRecord:
    """Return the record of an execution, as it is listed or shown. description: of the array whose index it is."""
    marks = view["marks"]
    array_id, _, task = view["id"].partition("_")
    return JobRecord(
        id=view["id"],
        name=view["name"],
        user=view["user"],
        state=_state(view),
        submitted_s=view["submitted_at_s"],
        priority=view["priority"],
        attempt=view["attempt"],
        started_s=marks.get("started"),
        ended_s=marks.get("ended"),
        reason=_reason(view),
        nodes=view["core_total"],
        array_id=array_id if task else "",
        task=task.partition("r")[0],
        **_code(view),
        **_of_services(view.get("services", ())),
        **_of_description(view.get("description") or description),
        **_of_conditions(view.get("conditions")),
    )


def waiting_record(array: Mapping[str, Any], indices: str, *, alone: bool = False) -> JobRecord:
    """Return the record of the indices of an array that have no execution yet; `alone`: of one that was asked for."""
    return JobRecord(
        id=f"{array['id']}_{indices}" if alone else f"{array['id']}_[{indices}]",
        name=array["name"],
        user=array["user"],
        state="PENDING",
        submitted_s=array["submitted_at_s"],
        priority=array["priority"],
        reason=_reason(array),
        array_id=array["id"],
        task=indices,
        **_of_description(array.get("description")),
    )


def _state(view: Mapping[str, Any]) -> str:
    if view["state"] == "failed":
        return _FAILURES.get(view["cause"] or "", "FAILED")
    return _STATES.get(view["state"], "FAILED")


def _code(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return exit code and signal, as Slurm tells them apart."""
    code = view["exit_code"]
    if code is None:
        return {"exit_code": int(view["state"] == "failed")}
    if _SIGNALS_FROM < code < _SIGNALS_TO:
        return {"signal": code - _SIGNALS_FROM}
    return {"exit_code": code}


def _reason(view: Mapping[str, Any]) -> str:
    conditions = view.get("conditions")
    if view["state"] in ("submitted", "queued"):
        if conditions is not None and conditions["held"]:
            return "JobHeldUser" if conditions["held"] == "user" else "JobHeldAdmin"
        reason = view.get("reason")
        return "None" if reason is None else _REASONS.get(reason["code"], "Resources")
    return "None"


def _of_description(description: Mapping[str, Any] | None) -> dict[str, Any]:
    if description is None:
        return {}
    each = [(one, one.get("total_count", 1)) for one in description["components"]]
    job = _job(description["components"][0])
    return {
        "limit_s": description.get("time_limit_s"),
        "cores": round(sum(one["resources"].get("cores") or 0 for one, count in each for _ in range(count))),
        "memory_mib": int(job.get("memory_mib") or 0),
        "groups": tuple(
            (int(one.get("nodes") or 1), int(one.get("memory_mib") or 0)) for one in (job, *job.get("others", ()))
        ),
        "directory": str(job.get("directory") or ""),
        "output": str(job.get("output") or ""),
        "comment": description.get("description", ""),
    }


def _of_services(services: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    newest = [one for one in services if one["attempt"] == max(other["attempt"] for other in services)]
    if not newest:
        return {}
    nodes = dict.fromkeys(one["node"] for one in newest if one["node"])
    return {"nodes_named": ",".join(nodes), "first_service": newest[0]["id"]}


def _of_conditions(conditions: Mapping[str, Any] | None) -> dict[str, Any]:
    after = [] if conditions is None else [f"after{_kind(one['kind'])}:{one['on']}" for one in conditions["after"]]
    return {"dependency": ",".join(after)}


def _kind(kind: str) -> str:
    return {"fail": "notok"}.get(kind, kind)


def _job(component: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(component.get("files", {}).get(NAME, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
