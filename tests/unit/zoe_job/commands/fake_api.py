"""An API in memory, as the programs of a job call it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zoe_job.commands.api import RefusedError

ENDED = ("succeeded", "failed", "cancelled")


def view(execution_id: str, state: str = "running", **more: Any) -> dict[str, Any]:
    """Return an execution as the API shows it, with what the programs read of it."""
    return {
        "id": execution_id,
        "name": "sums",
        "user": "ada",
        "state": state,
        "submitted_at_s": 1000.0,
        "priority": 0,
        "attempt": 1,
        "marks": {"started": 1010.0} | ({"ended": 1070.0} if state in ENDED else {}),
        "exit_code": None,
        "cause": None,
        "core_total": 1,
        "reason": None,
        "conditions": None,
        "services": [{"id": f"{execution_id}.main.0.1", "attempt": 1, "node": "n1"}],
        "description": description("o-%j.txt"),
        **more,
    }


def description(output: str) -> dict[str, Any]:
    """Return the description of a job with a time limit and memory."""
    job = {"memory_mib": 64, "output": output, "directory": "sub"}
    main = {"name": "main", "resources": {"memory": "64MiB", "cores": 2}, "files": {"zoe-job.json": json.dumps(job)}}
    return {"components": [main], "time_limit_s": 3700.0}


def array(array_id: str, waiting: str = "", **more: Any) -> dict[str, Any]:
    """Return an array as the API shows it."""
    return {
        "id": array_id,
        "name": "many",
        "user": "ada",
        "state": "running",
        "submitted_at_s": 1001.0,
        "priority": 0,
        "reason": None,
        "counts": {"waiting": 1} if waiting else {},
        "ranges": {"waiting": waiting} if waiting else {},
        "ended_at_s": None,
        "description": description("o-%A-%a.txt"),
        **more,
    }


class FakeApi:
    """Answers for these executions and arrays, and records changes."""

    def __init__(self, executions: list[dict[str, Any]], arrays: list[dict[str, Any]] | None = None) -> None:
        self.executions = {execution["id"]: execution for execution in executions}
        self.arrays = {array["id"]: array for array in arrays or []}
        self.calls: list[tuple[str, Any]] = []
        self.usage: list[dict[str, Any]] = []
        self.refusals: dict[str, RefusedError] = {}

    def get(self, path: str, **query: Any) -> Any:
        if path == "/executions":
            wanted = query.get("array")
            found = [
                execution
                for execution in self.executions.values()
                if wanted is None or execution["id"].startswith(f"{wanted}_")
            ]
            light = [
                {name: entry[name] for name in entry if name not in ("description", "services")} for entry in found
            ]
            return {"executions": light, "next_cursor": None}
        if path == "/arrays":
            light = [{name: array[name] for name in array if name != "description"} for array in self.arrays.values()]
            return {"arrays": light, "next_cursor": None}
        if path.endswith("/usage"):
            job = path.split("/")[2]
            return {"usage": [sample for sample in self.usage if sample["service_id"].startswith(f"{job}.")]}
        if path.endswith("/indices"):
            of_array = path.split("/")[2]
            if query.get("state") == "cancelled":
                return self._cancelled(of_array, query["after"])
            self._one(f"/arrays/{of_array}")
            index = 0 if query["after"] is None else query["after"] + 1
            waits = index in (2, 3) and f"{of_array}_{index}" not in self.executions
            state = "cancelled" if index in self.arrays[of_array].get("cancelled", ()) else "active"
            known = index < 4 or state == "cancelled"
            return {"indices": [{"index": index, "state": "waiting" if waits else state}] if known else []}
        return self._one(path)

    def _cancelled(self, of_array: str, after: int | None) -> Any:
        """Return a page of two of the indices that are cancelled."""
        found = [entry for entry in self.arrays[of_array].get("cancelled", ()) if after is None or entry > after]
        names = {entry: f"{of_array}_{entry}" for entry in found}
        rows = [
            {"index": entry, "execution_id": names[entry] if names[entry] in self.executions else None}
            for entry in found
        ]
        return {"indices": rows[:2], "next_after": found[1] if len(found) > 2 else None}

    def post(self, path: str, body: Any = None, key: str | None = None) -> Any:
        if path in ("/executions", "/arrays"):
            self.calls.append((path, body))
            made = "a1m00000000aaaa" if path == "/arrays" else "x1new"
            return {"id": made, "notes": ["a note"]}
        self._change(path, body)
        return {}

    def patch(self, path: str, body: Any) -> Any:
        self._change(path, body)
        return {}

    def _change(self, path: str, body: Any) -> None:
        self._one("/".join(path.split("/")[:3]))
        if path in self.refusals:
            raise self.refusals[path]
        self.calls.append((path, body))

    def _one(self, path: str) -> Mapping[str, Any]:
        kind, name = path.strip("/").split("/")[:2]
        known = self.executions if kind == "executions" else self.arrays
        if name not in known:
            own = name.partition("_")[0] in self.arrays
            if own:
                raise RefusedError(404, "not_found", f"execution {name} does not exist")
            raise RefusedError(403, "not_of_job", f"{name} was not submitted by job x1")
        return known[name]
