"""A typed client of the HTTP API for asyncio. Every method may raise the errors drawn in `zoe_client.errors`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from zoe_client import wire
from zoe_client.calls.asynchronous import (
    AsyncAdministration,
    AsyncArrays,
    AsyncCalls,
    AsyncSchedules,
    AsyncStoredApplications,
    AsyncWorkflows,
)
from zoe_client.calls.awaited import threaded
from zoe_client.calls.files import Files
from zoe_client.client import Client
from zoe_client.running.handles import AsyncExecutionHandle
from zoe_client.running.options import MapOptions, ScriptOptions, SubmitOptions
from zoe_client.vocabulary import WorkspaceKind

if TYPE_CHECKING:
    from zoe_client.running.mapping import AsyncMapRun

_T = TypeVar("_T")
_R = TypeVar("_R")


class AsyncFiles:
    """Files of workspaces: `AsyncClient.files`. Transfers run in threads, since disk I/O would block the event loop."""

    def __init__(self, blocking: Files) -> None:
        self.blocking = blocking

    find = threaded(Files.find)
    make_directory = threaded(Files.make_directory)
    rename = threaded(Files.rename)
    delete = threaded(Files.delete)
    upload = threaded(Files.upload)
    write_tree = threaded(Files.write_tree)
    download = threaded(Files.download)

    async def list(self, path: str = "", root: str = WorkspaceKind.WORKSPACE) -> list[wire.FileEntry]:
        """Return the entries of a directory, by name."""
        return await asyncio.to_thread(lambda: list(self.blocking.list(path, root)))


class AsyncClient(AsyncCalls):
    """Client of one Zoe, whose methods are awaited. Use it with `async with`, or await `aclose`.

    The methods are those of `zoe_client.Client`, but for terminals."""

    @property
    def admin(self) -> AsyncAdministration:
        """Administration of people."""
        return AsyncAdministration(self)

    @property
    def arrays(self) -> AsyncArrays:
        """Arrays: one application that runs for each of many indices."""
        return AsyncArrays(self)

    @property
    def workflows(self) -> AsyncWorkflows:
        """Workflows: executions that depend on each other."""
        return AsyncWorkflows(self)

    @property
    def applications(self) -> AsyncStoredApplications:
        """Stored applications: run by name with parameters."""
        return AsyncStoredApplications(self)

    @property
    def schedules(self) -> AsyncSchedules:
        """Schedules: applications that run at given times."""
        return AsyncSchedules(self)

    @property
    def files(self) -> AsyncFiles:
        """Files of your workspace, and of the tenant's shared one."""
        return AsyncFiles(self._blocking.files)

    @cached_property
    def _blocking(self) -> Client:
        return Client(self.url, self._token, patience_s=self._patience_s)

    async def aclose(self) -> None:
        """Close every connection."""
        await super().aclose()
        if "_blocking" in self.__dict__:
            self._blocking.close()

    async def script(self, program: str | Path, *arguments: str, **how: Unpack[ScriptOptions]) -> dict[str, Any]:
        """Return the application that runs a script or a command with its files; CannotCarry, ValueError."""
        return await asyncio.to_thread(partial(self._blocking.script, program, *arguments, **how))

    async def run(self, application: dict[str, Any], **how: Unpack[SubmitOptions]) -> AsyncExecutionHandle:
        """Submit an application, and return a handle to wait for it and show it."""
        return AsyncExecutionHandle(self, await self.submit(application, **how))

    async def fetch(self, execution_id: str, directory: Path | str = ".") -> list[Path]:
        """Copy the results of an execution to a directory of this machine, and return their paths; NotFound."""
        return await asyncio.to_thread(self._blocking.fetch, execution_id, directory)

    async def map(
        self, function: Callable[[_T], _R], inputs: Iterable[_T], **how: Unpack[MapOptions]
    ) -> AsyncMapRun[_T, _R]:
        """Call a function with each of the inputs, in services of their own; `async for` yields results in order."""
        from zoe_client.running.mapping import AsyncMapRun, start_map

        return AsyncMapRun(await asyncio.to_thread(start_map, self._blocking, function, inputs, how))
