"""How an execution is sent to those who may see it."""

from __future__ import annotations

from fastapi import Response

from zoe_api.dependencies import etag
from zoe_api.wire_forms import execution_view
from zoe_client.wire import ExecutionView
from zoe_lib.descriptions import to_document
from zoe_lib.domain.execution import Execution


def viewed(execution: Execution, response: Response) -> ExecutionView:
    """Return the view of an execution, with its ETag."""
    response.headers["ETag"] = etag(execution.version)
    return execution_view(execution, to_document(execution.application))
