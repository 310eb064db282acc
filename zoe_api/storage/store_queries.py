"""Reports of Spark drivers: what their queries read from the object store."""

from __future__ import annotations

from fastapi import Response

from zoe_api.access.access import AsReader
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_client.wire import StoreQueriesReport
from zoe_lib.domain.values.store_queries import StoreQuery

router = api_router("/executions/{execution_id}/queries", tag="executions")


@router.post("", status_code=204, response_class=Response)
def report_queries(execution_id: str, report: StoreQueriesReport, caller: AsReader) -> None:
    """Record what queries of an execution read from the object store. Only its own Spark drivers may report them, with
    a token in their configuration; `GET /executions/{execution_id}` returns them.
    """
    job = caller.principal.job
    if job is None or job.execution_id != execution_id:
        raise ApiProblem(Code.NOT_OF_JOB, f"only programs of {execution_id:.64} report its queries")
    now_s = caller.services.clock.now_s()
    caller.store.add_queries(
        execution_id,
        [StoreQuery(q.number, q.object_bytes, q.read_bytes, tuple(q.plainly), now_s) for q in report.queries],
    )
