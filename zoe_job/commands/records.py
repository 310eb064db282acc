"""Jobs in the form of Slurm's commands, from the answers of the API."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zoe_job.common.job import NAME, shown_name

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
    "window_ahead": "ReqNodeNotAvail",
    "tenant_limit": "AssocGrpCpuLimit",
    "user_limit": "AssocGrpCpuLimit",
}
_SIGNALS_FROM, _SIGNALS_TO = 128, 192


@dataclass(frozen=True)
class Group:
    """A group of nodes of a job, with separate resources; memory of each node in MiB, cores of all."""

    nodes: int = 1
    memory_mib: int = 0
    cores: int = 1
    name: str = ""


@dataclass(frozen=True)
class JobRecord:
    """One job, or the indices of an array that wait. Times in seconds since the epoch, None before they are known;
    memory in MiB. `nodes_named` and `first_service` are set in complete records only; `limit_s`, `cores`, `memory_mib`
    and `directory` also for the indices of a requested array.
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
    groups: tuple[Group, ...] = ()
    """One unless the job is heterogeneous."""
    nodes_of_groups: tuple[str, ...] = ()
    """Names of the nodes of each group, as far as known."""
    offset: int | None = None
    """Number of the group of a heterogeneous job that it represents, if it does."""
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
        """Return whether it has one of these names, as submitted or as listed."""
        return self.name in names or self.name in map(shown_name, names)

    def ran_s(self, now_s: float | None = None) -> float:
        """Return the seconds that its present or last attempt ran."""
        if self.started_s is None:
            return 0.0
        until_s = self.ended_s if self.ended_s is not None else (time.time() if now_s is None else now_s)
        return max(until_s - self.started_s, 0.0)

    @property
    def job_id(self) -> str:
        """Return the id of the job, also for one of its groups."""
        return self.id.partition("+")[0]

    def components(self) -> list[JobRecord]:
        """Return a record for each group of a heterogeneous job, as Slurm lists them; itself for other jobs."""
        if len(self.groups) < 2:
            return [self]
        return [
            replace(
                self,
                id=f"{self.id}+{offset}",
                name=(group.name and shown_name(group.name)) or self.name,
                nodes=group.nodes,
                cores=group.cores,
                memory_mib=group.memory_mib,
                groups=(group,),
                nodes_named=self.nodes_of_groups[offset] if offset < len(self.nodes_of_groups) else "",
                offset=offset,
            )
            for offset, group in enumerate(self.groups)
        ]


def record_of(view: Mapping[str, Any], description: Mapping[str, Any] | None = None) -> JobRecord:
    """Return the record of an execution, as listed or shown. description: of the array, for an index."""
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
    """Return the record of the indices of an array without an execution yet; `alone`: of a requested one."""
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


def cancelled_record(array: Mapping[str, Any], indices: str) -> JobRecord:
    """Return the record of the indices of an array that were cancelled before they had an execution."""
    return replace(
        waiting_record(array, indices, alone=indices.isdecimal()),
        state="CANCELLED",
        reason="None",
        ended_s=array["ended_at_s"],
    )


def _state(view: Mapping[str, Any]) -> str:
    if view["state"] == "failed":
        return _FAILURES.get(view["cause"] or "", "FAILED")
    return _STATES.get(view["state"], "FAILED")


def _code(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return exit code and signal, which Slurm separates."""
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
    each = [(component, component.get("total_count", 1)) for component in description["components"]]
    job = _job(description["components"][0])
    groups = [job, *job.get("others", ())]
    cores = [0.0] * len(groups)
    for entry, count in each:
        cores[min(_group(entry["name"]), len(groups) - 1)] += count * (entry["resources"].get("cores") or 0)
    return {
        "limit_s": description.get("time_limit_s"),
        "cores": round(sum(cores)),
        "memory_mib": int(job.get("memory_mib") or 0),
        "groups": tuple(
            Group(
                int(entry.get("nodes") or 1),
                int(entry.get("memory_mib") or 0),
                round(own),
                str(entry.get("name") or ""),
            )
            for entry, own in zip(groups, cores, strict=True)
        ),
        "directory": str(job.get("directory") or ""),
        "output": str(job.get("output") or ""),
        "comment": description.get("description", ""),
    }


def _of_services(services: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    newest = [service for service in services if service["attempt"] == max(other["attempt"] for other in services)]
    if not newest:
        return {}
    placed = [(group_of(mapping["id"]), mapping["node"]) for mapping in newest if mapping["node"]]
    groups = range(max((group for group, _ in placed), default=0) + 1)
    return {
        "nodes_named": ",".join(dict.fromkeys(node for _, node in placed)),
        "nodes_of_groups": tuple(",".join(dict.fromkeys(node for own, node in placed if own == n)) for n in groups),
        "first_service": newest[0]["id"],
    }


def group_of(service_id: str) -> int:
    """Return the group of a service in its job: `x1.group-2.0.1` is of 2."""
    return _group(service_id.split(".")[1])


def _group(component: str) -> int:
    """Return the group of a component, by its name from `zoe_job/submission/draft.py`."""
    number = component.removeprefix("group-")
    return int(number) if component.startswith("group-") and number.isdecimal() else 0


def _of_conditions(conditions: Mapping[str, Any] | None) -> dict[str, Any]:
    after = (
        []
        if conditions is None
        else [f"after{_kind(condition['kind'])}:{condition['on']}" for condition in conditions["after"]]
    )
    return {"dependency": ",".join(after)}


def _kind(kind: str) -> str:
    return {"fail": "notok"}.get(kind, kind)


def _job(component: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(component.get("files", {}).get(NAME, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
