"""Results of executions: files in the workspace that a description declares."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from zoe_api.access.access import AsReader
from zoe_api.access.visibility import is_owner, seen_execution
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.file_programs import FileRequest
from zoe_client.vocabulary import WorkspaceKind
from zoe_client.wire import ResultList

router = api_router("/executions/{execution_id}/results", tag="files")


@router.get("", response_model=ResultList)
async def list_results(execution_id: str, caller: AsReader) -> ResultList:
    """Return the files of the workspace that match `results` of the description. For its owner only: a share of an
    execution includes no files.

    `GET /files/workspace/content` returns their content.
    """
    execution = await run_in_threadpool(seen_execution, caller, execution_id)
    if not is_owner(caller.principal, execution):
        raise ApiProblem(
            Code.FILE_DENIED,
            "the results are in the workspace of its owner, who alone can read them",
            "ask the owner for a copy in `shared`",
        )
    patterns = list(execution.application.results)
    if not patterns:
        return ResultList(files=[], unmatched=[], complete=True)
    wanted = FileRequest("GET", f"/{WorkspaceKind.WORKSPACE}/matching", {"pattern": patterns})
    answer = await caller.services.files.answer(caller.services.master.ask, caller.principal, wanted, caller.request_id)
    return ResultList.model_validate_json(await caller.services.files.content(answer))
