"""Handles of executions: returned by `run`, to wait for the end, and shown by notebooks."""

from __future__ import annotations

import base64
from collections.abc import Awaitable
from html import escape
from pathlib import Path
from typing import Protocol

from zoe_client import wire
from zoe_client.http.flow import BlockingFlow, answer_to
from zoe_client.vocabulary import TERMINAL_STATES, ExecutionState


class Executions(Protocol):
    """The calls that a handle makes: `Client`."""

    url: str
    flow: BlockingFlow

    def execution(self, execution_id: str) -> wire.ExecutionView:
        """Return one execution."""

    def wait(self, execution_id: str, timeout_s: float | None = None) -> wire.ExecutionView:
        """Return the execution after its end; TimedOut."""

    def cancel(self, execution_id: str) -> wire.ExecutionView:
        """Cancel an execution."""

    def logs(self, execution_id: str, service_id: str, offset: int = 0) -> wire.LogChunkView:
        """Return a piece of a service's output."""

    def fetch(self, execution_id: str, directory: Path | str = ".") -> list[Path]:
        """Copy the results to a directory."""


class AsyncExecutions(Protocol):
    """The calls that a handle makes: `AsyncClient`."""

    url: str

    def execution(self, execution_id: str) -> Awaitable[wire.ExecutionView]:
        """Return one execution."""

    def wait(self, execution_id: str, timeout_s: float | None = None) -> Awaitable[wire.ExecutionView]:
        """Return the execution after its end; TimedOut."""

    def cancel(self, execution_id: str) -> Awaitable[wire.ExecutionView]:
        """Cancel an execution."""

    def logs(self, execution_id: str, service_id: str, offset: int = 0) -> Awaitable[wire.LogChunkView]:
        """Return a piece of a service's output."""

    def fetch(self, execution_id: str, directory: Path | str = ".") -> Awaitable[list[Path]]:
        """Copy the results to a directory."""


class _ExecutionDisplay:
    """The last known state of an execution, as a terminal and a notebook show it."""

    def __init__(self, url: str, view: wire.ExecutionView) -> None:
        self._url = url
        self.view = view
        """The execution as last read."""

    @property
    def id(self) -> str:
        """Return the id of the execution."""
        return self.view.id

    @property
    def state(self) -> ExecutionState:
        """Return the last known state."""
        return self.view.state

    @property
    def page(self) -> str:
        """Return the address of the execution in the web UI."""
        return f"{self._url}/executions/{self.id}"

    def __repr__(self) -> str:
        return f"<{self.view.name} ({self.id}): {' '.join(self._facts())}>"

    def _repr_html_(self) -> str:
        """Return the HTML that Jupyter shows."""
        facts = escape(", ".join(self._facts()))
        return f'<b>{escape(self.view.name)}</b> <a href="{escape(self.page)}">{escape(self.id)}</a>: {facts}'

    def _facts(self) -> list[str]:
        view = self.view
        facts = [view.state.value]
        if view.reason is not None and view.state not in TERMINAL_STATES:
            facts.append(view.reason.sentence)
        if view.cause is not None:
            facts.append(view.cause.value)
        if view.exit_code is not None:
            facts.append(f"exit code {view.exit_code}")
        return facts


class ExecutionHandle(_ExecutionDisplay):
    """An execution submitted by `Client.run`."""

    def __init__(self, client: Executions, view: wire.ExecutionView) -> None:
        super().__init__(client.url, view)
        self._client = client

    def refresh(self) -> ExecutionHandle:
        """Read the execution again."""
        self.view = self._client.execution(self.id)
        return self

    def wait(self, timeout_s: float | None = None) -> ExecutionHandle:
        """Return after the execution has ended; TimedOut."""
        self.view = self._client.wait(self.id, timeout_s)
        return self

    def cancel(self) -> ExecutionHandle:
        """Cancel the execution."""
        self.view = self._client.cancel(self.id)
        return self

    def fetch(self, directory: Path | str = ".") -> list[Path]:
        """Copy its results to a directory of this machine, and return their paths. NotFound if there are none."""
        return self._client.fetch(self.id, directory)

    def output(self) -> str:
        """Return the output of its services so far, in the order of the services."""
        return self._client.flow.perform(_output(self, self._client))


class AsyncExecutionHandle(_ExecutionDisplay):
    """An execution submitted by `AsyncClient.run`."""

    def __init__(self, client: AsyncExecutions, view: wire.ExecutionView) -> None:
        super().__init__(client.url, view)
        self._client = client

    async def refresh(self) -> AsyncExecutionHandle:
        """Read the execution again."""
        self.view = await self._client.execution(self.id)
        return self

    async def wait(self, timeout_s: float | None = None) -> AsyncExecutionHandle:
        """Return after the execution has ended; TimedOut."""
        self.view = await self._client.wait(self.id, timeout_s)
        return self

    async def cancel(self) -> AsyncExecutionHandle:
        """Cancel the execution."""
        self.view = await self._client.cancel(self.id)
        return self

    async def fetch(self, directory: Path | str = ".") -> list[Path]:
        """Copy its results to a directory of this machine, and return their paths. NotFound if there are none."""
        return await self._client.fetch(self.id, directory)

    async def output(self) -> str:
        """Return the output of its services so far, in the order of the services."""
        return await _output(self, self._client)


async def _output(handle: _ExecutionDisplay, client: Executions | AsyncExecutions) -> str:
    handle.view = await answer_to(client.execution(handle.id))
    return "".join([await _output_of(client, handle.id, service.id) for service in handle.view.services])


async def _output_of(client: Executions | AsyncExecutions, execution_id: str, service_id: str) -> str:
    offset, pieces = 0, []
    while (chunk := await answer_to(client.logs(execution_id, service_id, offset))).next_offset > offset:
        pieces.append(base64.b64decode(chunk.data))
        offset = chunk.next_offset
    return b"".join(pieces).decode(errors="replace")
