"""Views of executions, limited to what the client may see."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Response

from zoe_api.access.wire_forms import execution_view
from zoe_api.services.dependencies import etag
from zoe_client.wire import ExecutionView
from zoe_lib.descriptions import to_document
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Execution


def view_of_execution(execution: Execution, response: Response, with_secrets: bool = True) -> ExecutionView:
    """Return the view of an execution, with its ETag; without secrets, values of environment variables and texts of
    files are empty, and dependencies are left out.
    """
    response.headers["ETag"] = etag(execution.version)
    application = execution.application
    if not with_secrets:
        application = without_contents(application)
        execution = replace(execution, conditions=replace(execution.conditions, after=()))
    return execution_view(execution, to_document(application))


def without_contents(application: Application) -> Application:
    """Return the application with the names of environment variables and files, without their contents."""
    components = tuple(
        replace(component, environment=_names_of(component.environment), files=_names_of(component.files))
        for component in application.components
    )
    return replace(application, components=components)


def _names_of(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, "") for name, _ in pairs)
