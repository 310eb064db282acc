"""Lists of the jobs that are visible to a job: itself, and the submissions of itself and its descendants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from zoe_job.commands.api import Api, RefusedError
from zoe_job.commands.calling import is_array, path_of
from zoe_job.commands.records import JobRecord, cancelled_record, record_of, waiting_record

_PAGE = 500
_PAGES_MAX = 20


def jobs_of(api: Api, ids: Sequence[str] | None = None) -> tuple[list[JobRecord], dict[str, RefusedError]]:
    """Return complete records of these jobs, of all without ids, and the refusals by id."""
    found: list[JobRecord] = []
    refused: dict[str, RefusedError] = {}
    if ids is None:
        return records_of(api, whole=True), refused
    for fromkey in dict.fromkeys(ids):
        try:
            found += _complete_records(api, fromkey)
        except RefusedError as error:
            refused[fromkey] = error
    return found, refused


def records_of(api: Api, ids: Sequence[str] | None = None, *, whole: bool = False) -> list[JobRecord]:
    """Return the records of these jobs, of all without ids, oldest first; `whole`: with the details of each. Raises
    RefusedError if none of the named jobs is visible.
    """
    if ids is not None:
        found, refused = jobs_of(api, ids)
        if refused and not found:
            raise next(iter(refused.values()))
        return found
    views = list(_pages(api, "/executions", "executions"))
    # The list does not say which jobs of several nodes are heterogeneous; their own records do.
    each = (
        _complete_records(api, view["id"]) if whole or view["core_total"] > 1 else [record_of(view)] for view in views
    )
    records = [record for found in each for record in found]
    arrays = _pages(api, "/arrays", "arrays", open=None if whole else "true")
    without = [
        entry for array in arrays for entry in (*_waiting(api, array), *(_never_begun(api, array) if whole else ()))
    ]
    return sorted([*records, *without], key=lambda entry: (entry.submitted_s, entry.id))


def array_of_waiting(api: Api, job_id: str) -> Any | None:
    """Return the array of an index that has not begun, and so has no execution; None for all other ids."""
    found = _without_execution(api, job_id)
    return found[0] if found is not None and found[1] == "waiting" else None


def _without_execution(api: Api, job_id: str) -> tuple[Any, str] | None:
    """Return the array and the state of an index; None for other ids."""
    array_id, _, index = job_id.partition("_")
    if not (is_array(array_id) and index.isascii() and index.isdecimal()):
        return None
    after = int(index) - 1 if int(index) else None
    for entry in api.get(f"{path_of(array_id)}/indices", after=after, limit=1)["indices"]:
        if entry["index"] == int(index):
            return api.get(path_of(array_id)), entry["state"]
    return None


def _pages(api: Api, path: str, name: str, **query: Any) -> Iterator[Any]:
    cursor = None
    for _ in range(_PAGES_MAX):
        page = api.get(path, limit=_PAGE, cursor=cursor, **query)
        yield from page[name]
        if (cursor := page["next_cursor"]) is None:
            return


def _complete_records(api: Api, job_id: str) -> list[JobRecord]:
    if "[" in job_id:
        job_id = job_id.partition("_")[0]
    if not is_array(job_id):
        try:
            return [record_of(api.get(path_of(job_id)))]
        except RefusedError as error:
            if error.code != "not_found" or (found := _without_execution(api, job_id)) is None:
                raise
            array, state = found
            if state not in ("waiting", "cancelled"):
                raise
            index = job_id.rpartition("_")[2]
            cancelled = state == "cancelled"
            return [cancelled_record(array, index) if cancelled else waiting_record(array, index, alone=True)]
    array = api.get(path_of(job_id))
    made = [record_of(view, array["description"]) for view in _pages(api, "/executions", "executions", array=job_id)]
    return [*reversed(made), *_waiting(api, array), *_never_begun(api, array)]


def _waiting(api: Api, array: Any) -> Iterator[JobRecord]:
    if not array["counts"].get("waiting"):
        return
    if "description" not in array:  # the record of a list
        array = api.get(path_of(array["id"]))
    if text := array["ranges"].get("waiting"):
        yield waiting_record(array, text)


def _never_begun(api: Api, array: Any) -> Iterator[JobRecord]:
    """Yield the indices that were cancelled before they had an execution, as one record."""
    if not array["counts"].get("cancelled"):
        return
    if "description" not in array:  # the record of a list
        array = api.get(path_of(array["id"]))
    found: list[int] = []
    after = None
    for _ in range(_PAGES_MAX):
        answer = api.get(f"{path_of(array['id'])}/indices", state="cancelled", limit=_PAGE, after=after)
        found += [index["index"] for index in answer["indices"] if index["execution_id"] is None]
        if (after := answer["next_after"]) is None:
            break
    if found:
        yield cancelled_record(array, _ranges(found))


def _ranges(indices: Sequence[int]) -> str:
    """Return ascending indices as `3-6,9`."""
    parts: list[list[int]] = []
    for index in indices:
        if parts and index == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], index]
        else:
            parts.append([index])
    return ",".join("-".join(map(str, part)) for part in parts)
