"""A typed client of the HTTP API for asyncio. Every method may raise the errors drawn in `zoe_client.errors`."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from zoe_client import wire
from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import LOOK_EVERY_S, LOOK_EVERY_S_MAX, Arrays, index_pages
from zoe_client.calls.awaited import awaited, threaded
from zoe_client.calls.calls import Calls
from zoe_client.calls.files import Files
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.workflows import Workflows
from zoe_client.client import STATE_AFTER, WORKFLOW_LOOK_S, Client, left_s_until, step_to_await, successor_of
from zoe_client.errors import TimedOut
from zoe_client.http.async_transport import AsyncTransport
from zoe_client.http.transport import path_part
from zoe_client.running.handles import AsyncExecutionHandle
from zoe_client.running.options import MapOptions, SubmitOptions
from zoe_client.vocabulary import ExecutionState, IndexState, WorkspaceKind

if TYPE_CHECKING:
    from zoe_client.running.mapping import AsyncMapRun

_T = TypeVar("_T")
_R = TypeVar("_R")


class AsyncAdministration:
    """Administration of people: `AsyncClient.admin`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    users = awaited(Administration.users)
    add_user = awaited(Administration.add_user)
    change_user = awaited(Administration.change_user)
    end_access = awaited(Administration.end_access)
    tenants = awaited(Administration.tenants)
    add_tenant = awaited(Administration.add_tenant)
    set_quota = awaited(Administration.set_quota)
    price_lists = awaited(Administration.price_lists)
    set_price_list = awaited(Administration.set_price_list)
    check_price_list = awaited(Administration.check_price_list)
    remove_price_list = awaited(Administration.remove_price_list)
    close_statement = awaited(Administration.close_statement)
    budgets = awaited(Administration.budgets)
    set_budget = awaited(Administration.set_budget)
    clear_budget = awaited(Administration.clear_budget)
    limits = awaited(Administration.limits)
    set_limit = awaited(Administration.set_limit)
    clear_limit = awaited(Administration.clear_limit)
    set_role = awaited(Administration.set_role)
    remove_member = awaited(Administration.remove_member)
    hand_over = awaited(Administration.hand_over)
    tokens = awaited(Administration.tokens)
    revoke_token = awaited(Administration.revoke_token)
    audit = awaited(Administration.audit)


class AsyncArrays:
    """Arrays of one Zoe: `AsyncClient.arrays`."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    submit = awaited(Arrays.submit)
    plan = awaited(Arrays.plan)
    array = awaited(Arrays.array)
    list = awaited(Arrays.list)
    accept = awaited(Arrays.accept)
    cancel = awaited(Arrays.cancel)
    hold = awaited(Arrays.hold)
    release = awaited(Arrays.release)
    requeue = awaited(Arrays.requeue)
    modify = awaited(Arrays.modify)
    _act = Arrays._act

    async def indices(
        self, array_id: str, states: Sequence[IndexState] = (), *, brief: bool = False
    ) -> AsyncIterator[wire.IndexView]:
        """Yield the indices in these states, or all, in order; `brief`: without their executions, which is faster."""
        after: int | None = None
        while True:
            path, parameters = index_pages(array_id, states, after, brief)
            page = await self._transport.call(wire.IndexList, "GET", path, parameters=parameters)
            for index in page.indices:
                yield index
            after = page.next_after
            if after is None:
                return

    async def wait(self, array_id: str, timeout_s: float | None = None) -> wire.ArrayView:
        """Return the array after all its indices have ended; TimedOut."""
        give_up_s = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = LOOK_EVERY_S
        while (array := await self.array(array_id)).ended_at_s is None:
            if give_up_s is not None and time.monotonic() >= give_up_s:
                raise TimedOut(f"array {array_id} has not ended within {timeout_s:g} s")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LOOK_EVERY_S_MAX)
        return array


class AsyncWorkflows:
    """Workflows of one Zoe: `AsyncClient.workflows`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    run = awaited(Workflows.run)
    validate = awaited(Workflows.validate)
    plan = awaited(Workflows.plan)
    one = awaited(Workflows.one)
    page = awaited(Workflows.page)
    accept = awaited(Workflows.accept)
    cancel = awaited(Workflows.cancel)
    resume = awaited(Workflows.resume)


class AsyncStoredApplications:
    """Stored applications: `AsyncClient.applications`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    put = awaited(StoredApplications.put)
    all = awaited(StoredApplications.all)
    one = awaited(StoredApplications.one)
    remove = awaited(StoredApplications.remove)
    dispatch = awaited(StoredApplications.dispatch)


class AsyncSchedules:
    """Schedules of one Zoe: `AsyncClient.schedules`."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client

    put = awaited(Schedules.put)
    all = awaited(Schedules.all)
    one = awaited(Schedules.one)
    hold = awaited(Schedules.hold)
    release = awaited(Schedules.release)
    run = awaited(Schedules.run)
    backfill = awaited(Schedules.backfill)
    remove = awaited(Schedules.remove)


class AsyncFiles:
    """Files of workspaces: `AsyncClient.files`. Transfers run in threads, as disks make everybody wait."""

    def __init__(self, blocking: Files) -> None:
        self.blocking = blocking

    find = threaded(Files.find)
    make_directory = threaded(Files.make_directory)
    rename = threaded(Files.rename)
    delete = threaded(Files.delete)
    upload = threaded(Files.upload)
    download = threaded(Files.download)

    async def list(self, path: str = "", root: str = WorkspaceKind.WORKSPACE) -> list[wire.FileEntry]:
        """Return what is in a directory, by name."""
        return await asyncio.to_thread(lambda: list(self.blocking.list(path, root)))


class AsyncClient(AsyncTransport):
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
        """Workflows: executions that belong together."""
        return AsyncWorkflows(self)

    @property
    def applications(self) -> AsyncStoredApplications:
        """Stored applications: run by name with parameters."""
        return AsyncStoredApplications(self)

    @property
    def schedules(self) -> AsyncSchedules:
        """Schedules: what runs at which times."""
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

    submit = awaited(Calls.submit)
    submit_batch = awaited(Calls.submit_batch)
    execution = awaited(Calls.execution)
    executions = awaited(Calls.executions)
    cancel = awaited(Calls.cancel)
    cancel_descendants = awaited(Calls.cancel_descendants)
    hold = awaited(Calls.hold)
    release = awaited(Calls.release)
    requeue = awaited(Calls.requeue)
    scale = awaited(Calls.scale)
    accept = awaited(Calls.accept)
    modify = awaited(Calls.modify)
    diff = awaited(Calls.diff)
    results = awaited(Calls.results)
    shares = awaited(Calls.shares)
    share = awaited(Calls.share)
    end_share = awaited(Calls.end_share)
    explain = awaited(Calls.explain)
    eta = awaited(Calls.eta)
    why_waited = awaited(Calls.why_waited)
    events = awaited(Calls.events)
    logs = awaited(Calls.logs)
    port_address = awaited(Calls.port_address)
    open_port = awaited(Calls.open_port)
    execution_usage = awaited(Calls.execution_usage)
    nodes = awaited(Calls.nodes)
    usage = awaited(Calls.usage)
    use_of = awaited(Calls.use_of)
    daily_use = awaited(Calls.daily_use)
    quota = awaited(Calls.quota)
    statement = awaited(Calls.statement)
    statement_csv = awaited(Calls.statement_csv)
    budgets = awaited(Calls.budgets)
    policy = awaited(Calls.policy)
    plugins = awaited(Calls.plugins)
    try_policy = awaited(Calls.try_policy)
    replay = awaited(Calls.replay)
    set_policy = awaited(Calls.set_policy)
    storage = awaited(Calls.storage)
    storage_rules = awaited(Calls.storage_rules)
    add_storage_rules = awaited(Calls.add_storage_rules)
    remove_storage_rule = awaited(Calls.remove_storage_rule)
    move_storage_rule = awaited(Calls.move_storage_rule)
    restore_storage_rule = awaited(Calls.restore_storage_rule)
    try_storage_rules = awaited(Calls.try_storage_rules)
    storage_traffic = awaited(Calls.storage_traffic)
    storage_slos = awaited(Calls.storage_slos)
    set_storage_slo = awaited(Calls.set_storage_slo)
    remove_storage_slo = awaited(Calls.remove_storage_slo)
    storage_cores = awaited(Calls.storage_cores)
    set_storage_cores = awaited(Calls.set_storage_cores)
    remove_storage_cores = awaited(Calls.remove_storage_cores)
    execution_storage = awaited(Calls.execution_storage)
    storage_history = awaited(Calls.storage_history)
    storage_rewrites = awaited(Calls.storage_rewrites)
    begin_storage_rewrite = awaited(Calls.begin_storage_rewrite)
    resume_storage_rewrite = awaited(Calls.resume_storage_rewrite)
    cancel_storage_rewrite = awaited(Calls.cancel_storage_rewrite)
    storage_metrics = awaited(Calls.storage_metrics)
    add_storage_metric = awaited(Calls.add_storage_metric)
    remove_storage_metric = awaited(Calls.remove_storage_metric)
    storage_controllers = awaited(Calls.storage_controllers)
    storage_controller = awaited(Calls.storage_controller)
    set_storage_controller = awaited(Calls.set_storage_controller)
    storage_nodes = awaited(Calls.storage_nodes)
    restart_storage_node = awaited(Calls.restart_storage_node)
    storage_filters = awaited(Calls.storage_filters)
    upload_storage_filter = awaited(Calls.upload_storage_filter)
    remove_storage_filter = awaited(Calls.remove_storage_filter)
    remove_storage_filter_version = awaited(Calls.remove_storage_filter_version)
    why_stored = awaited(Calls.why_stored)
    status = awaited(Calls.status)
    validate = awaited(Calls.validate)
    plan = awaited(Calls.plan)
    convert = awaited(Calls.convert)
    catalogue = awaited(Calls.catalogue)
    me = awaited(Calls.me)
    tokens = awaited(Calls.tokens)
    add_token = awaited(Calls.add_token)
    revoke_token = awaited(Calls.revoke_token)
    secrets = awaited(Calls.secrets)
    set_secret = awaited(Calls.set_secret)
    remove_secret = awaited(Calls.remove_secret)
    targets = awaited(Calls.targets)
    set_target = awaited(Calls.set_target)
    test_target = awaited(Calls.test_target)
    remove_target = awaited(Calls.remove_target)
    storage_credentials = awaited(Calls.storage_credentials)
    set_storage_credential = awaited(Calls.set_storage_credential)
    remove_storage_credential = awaited(Calls.remove_storage_credential)

    async def run(self, application: dict[str, Any], **how: Unpack[SubmitOptions]) -> AsyncExecutionHandle:
        """Submit an application, and return what waits for it and shows it."""
        return AsyncExecutionHandle(self, await self.submit(application, **how))

    async def map(
        self, function: Callable[[_T], _R], inputs: Iterable[_T], **how: Unpack[MapOptions]
    ) -> AsyncMapRun[_T, _R]:
        """Call a function with each of the inputs, in services of their own; `async for` yields results in order."""
        from zoe_client.running.mapping import AsyncMapRun, start_map

        return AsyncMapRun(await asyncio.to_thread(start_map, self._blocking, function, inputs, how))

    async def wait(self, execution_id: str, timeout_s: float | None = None) -> wire.ExecutionView:
        """Return the execution after its end; TimedOut. Follow the stream of events, even if the server restarts."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        async for _ in self.follow(execution_id, deadline_s=deadline_s):
            pass
        return await self.execution(execution_id)

    async def wait_for_workflow(self, workflow_id: str, timeout_s: float | None = None) -> wire.WorkflowView:
        """Return the workflow after its end, even if the server restarts; TimedOut."""
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        while (found := await self.workflows.one(workflow_id)).ended_at_s is None:
            left_s = left_s_until(deadline_s)
            left = step_to_await(found)
            if left is None:  # of those that this user may see
                await asyncio.sleep(WORKFLOW_LOOK_S)
            elif left.entries is not None:
                await self.arrays.wait(left.execution_id, left_s)
            else:
                await self.wait(left.execution_id, left_s)
        return found

    async def follow(
        self, execution_id: str, *, after: int = 0, deadline_s: float | None = None
    ) -> AsyncIterator[tuple[wire.EventView, ExecutionState | None]]:
        """Yield every event of an execution until it has ended, each with its resulting state if that is known.

        `deadline_s` is a time of `time.monotonic`; TimedOut when it passes first."""
        async for event in self.stream("/events", {"execution_id": execution_id, "after": after}, deadline_s):
            view = wire.EventView.model_validate_json(event.data)
            yield view, STATE_AFTER.get(view.kind)

    async def follow_events(
        self, execution_id: str | None = None, *, after: int | None = None, all_tenants: bool = False
    ) -> AsyncIterator[wire.EventView]:
        """Yield events as they happen, each once, even if the server restarts: of one execution until it has ended, or
        of all that the user sees, without an end.

        `after`: begin behind this id; None: with new events. `all_tenants`: for operators.
        """
        parameters = {"execution_id": execution_id, "after": after, "all_tenants": "true" if all_tenants else None}
        async for event in self.stream("/events", {name: one for name, one in parameters.items() if one is not None}):
            if event.kind != "end":
                yield wire.EventView.model_validate_json(event.data)

    async def follow_logs(self, execution_id: str, service_id: str, offset: int = 0) -> AsyncIterator[bytes]:
        """Yield a service's output until it has ended, each byte once, even if the server restarts."""
        path = f"/executions/{path_part(execution_id)}/services/{path_part(service_id)}/logs/stream"
        async for event in self.stream(path, {"offset": offset}):
            if event.kind == "log":
                yield base64.b64decode(json.loads(event.data)["data"])

    async def next_attempt(self, execution_id: str, service_id: str) -> wire.ServiceView | None:
        """Wait until a service is retried, and return the next attempt; None once the execution has ended."""
        async for event, _ in self.follow(execution_id):
            retried = event.kind == "service_retried" and event.data.get("service_id") == service_id
            if retried or event.kind == "requeued":
                found = successor_of((await self.execution(execution_id)).services, service_id)
                if found is not None:
                    return found
        return successor_of((await self.execution(execution_id)).services, service_id)
