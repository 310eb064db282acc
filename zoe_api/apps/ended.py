"""What a browser sees in place of an application that has ended, is stopping, or has not started."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from zoe_api.apps.access import LOOPBACK
from zoe_api.apps.pages import error_page
from zoe_api.http import cookies
from zoe_lib.domain.executions.execution import Cause, Execution, ExecutionState, Mark

_PREFIX = "apps."
_ENDS = {
    ExecutionState.SUCCEEDED: "has ended",
    ExecutionState.FAILED: "has failed",
    ExecutionState.CANCELLED: "was cancelled",
    ExecutionState.STOPPING: "is stopping",
}


def is_over(execution: Execution) -> bool:
    """Return whether its application answers no more."""
    return execution.state in _ENDS


def page_of(execution: Execution, zoe_url: str | None) -> Response:
    """Return the page for an execution none of whose services answers. zoe_url: where Zoe's pages are, if known."""
    name = execution.name
    if not is_over(execution):
        why = "" if execution.reason is None else execution.reason.sentence
        text = f"It is {execution.state}. {why} This page opens it as soon as it is ready."
        return error_page(404, f"{name} has not started yet", text, _links(execution, zoe_url), refresh=True)
    # JupyterLab asks again at once after 404, and says that a directory is missing.
    return error_page(410, f"{name} {_ENDS[execution.state]}", _story(execution), _links(execution, zoe_url))


def _story(execution: Execution) -> str:
    """Return what happened, by whom and when."""
    cause = "" if execution.cause in (None, Cause.EXITED) else str(execution.cause).replace("_", " ")
    what = execution.message or cause
    if execution.exit_code:
        what = f"{what}, exit code {execution.exit_code}" if what else f"exit code {execution.exit_code}"
    ended_s = execution.marks.get(Mark.ENDED)
    when = "" if ended_s is None else datetime.fromtimestamp(ended_s, UTC).strftime(" It ended on %d %B %Y, %H:%M UTC.")
    sentence = f"{what[0].upper()}{what[1:]}." if what else ""
    kept = "Files in the workspace are kept; variables of notebooks are not."
    return f"{sentence}{when} {kept}".strip()


def _links(execution: Execution, zoe_url: str | None) -> Mapping[str, str]:
    if zoe_url is None:
        return {}
    again = {"Run again": f"{zoe_url}/clone/{execution.id}"} if is_over(execution) else {}
    return again | {
        "What happened": f"{zoe_url}/executions/{execution.id}",
        "Executions": f"{zoe_url}/executions",
    }


def zoe_url_of(request: Request, domain: str, public_url: str | None) -> str | None:
    """Return the address of Zoe's pages, for a request to a host below `domain`; None if it is not known."""
    if public_url is not None:
        return public_url.rstrip("/")
    if not domain.startswith(_PREFIX):
        return None
    port = request.headers.get("host", "").rpartition(":")[2]
    name = domain.removeprefix(_PREFIX)
    host = LOOPBACK if name == "localhost" and cookies.is_sent(request, cookies.BY_ADDRESS) else name
    return f"{request.url.scheme}://{host}{f':{port}' if port.isdigit() else ''}"
