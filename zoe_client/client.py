"""A typed client of the HTTP API. Every method may raise the errors drawn in `zoe_client.errors`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from zoe_client import wire
from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.files import Files
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.waiting import Waiting
from zoe_client.calls.workflows import Workflows
from zoe_client.errors import NotFound
from zoe_client.http.transport import path_part
from zoe_client.running.handles import ExecutionHandle
from zoe_client.running.options import MapOptions, ScriptOptions, SubmitOptions
from zoe_client.words.file_paths import path_parts

if TYPE_CHECKING:
    from zoe_client.calls.terminals import Terminal
    from zoe_client.running.mapping import MapRun

_T = TypeVar("_T")
_R = TypeVar("_R")


class Client(Waiting):
    """Client of one Zoe. Use it as a context manager, or call `close`.

    While the server does not answer, requests that may safely be repeated are retried for up to `patience_s`: reads,
    submissions (they carry an idempotency key) and cancellations. Others are retried only if no connection was made.
    `transport` replaces the network in tests. `zoe_client.AsyncClient` has the same methods."""

    @property
    def admin(self) -> Administration:
        """Administration of people."""
        return Administration(self)

    @property
    def arrays(self) -> Arrays:
        """Arrays: one application that runs for each of many indices."""
        return Arrays(self)

    @property
    def files(self) -> Files:
        """Files of your workspace, and of the tenant's shared one."""
        return Files(self, self._http, self._patience_s)

    @property
    def workflows(self) -> Workflows:
        """Workflows: executions that depend on each other."""
        return Workflows(self)

    @property
    def applications(self) -> StoredApplications:
        """Stored applications: run by name with parameters."""
        return StoredApplications(self)

    @property
    def schedules(self) -> Schedules:
        """Schedules: applications that run at given times."""
        return Schedules(self)

    def terminal(self, execution_id: str, service_id: str, opening: wire.TerminalOpening) -> Terminal:
        """Run a command in a service; the caller reads its outputs and closes it."""
        from zoe_client.calls.terminals import Terminal  # few clients need its library

        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/terminal"
        return Terminal(self.url, self._token, path, opening)

    def script(self, program: str | Path, *arguments: str, **how: Unpack[ScriptOptions]) -> dict[str, Any]:
        """Return the application that runs a script, or with `image` a command, in your workspace, for `run`,
        `arrays.submit` and others: `client.run(client.script("train.py", "data.csv", packages=["pandas"]))`.

        Local files among the arguments go with it, as `zoe run` does it: up to 64 MiB, of which this call copies what
        does not fit into a description to your workspace. It keeps them for 30 days after the last such call.
        CannotCarry, ValueError.
        """
        from zoe_client.running.bundles import carry  # few clients need it
        from zoe_client.running.drafts import command_draft, command_options

        draft = command_draft([str(program), *arguments], command_options(how))
        return carry(self.files, draft)

    def run(self, application: dict[str, Any], **how: Unpack[SubmitOptions]) -> ExecutionHandle:
        """Submit an application, and return a handle to wait for it and show it: `client.run(application).wait()`."""
        return ExecutionHandle(self, self.submit(application, **how))

    def fetch(self, execution_id: str, directory: Path | str = ".") -> list[Path]:
        """Copy the results of an execution, as its description names them, to a directory of this machine, and return
        their paths. NotFound if there are none.
        """
        paths = []
        for file in self.results(execution_id).files:
            target = Path(directory).joinpath(*map(os.fsdecode, path_parts(file.path)))
            target.parent.mkdir(parents=True, exist_ok=True)
            self.files.download(file.path, target)
            paths.append(target)
        if not paths:
            title = "There are no results"
            raise NotFound(wire.Problem(title=title, status=404, code="no_results", hint="name them with `results`"))
        return paths

    def map(self, function: Callable[[_T], _R], inputs: Iterable[_T], **how: Unpack[MapOptions]) -> MapRun[_T, _R]:
        """Call a function with each of the inputs, each in its own service; iterate over the result for the return
        values, in order.

        cloudpickle, which must be installed here, sends the function with everything it refers to. Services need the
        same version of Python, or fail.
        """
        from zoe_client.running.mapping import start_map

        return start_map(self, function, inputs, how)
