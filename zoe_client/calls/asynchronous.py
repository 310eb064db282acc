"""The calls of both clients for asyncio. `make docs` writes this file; edit the classes that it names."""

from __future__ import annotations

from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.awaited import AsyncPart, awaited, iterated
from zoe_client.calls.calls import Calls
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.storage_calls import StorageCalls
from zoe_client.calls.waiting import Waiting
from zoe_client.calls.workflows import Workflows
from zoe_client.http.async_transport import AsyncTransport


class AsyncAdministration(AsyncPart):
    """`Administration`, awaited."""

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
    reopen_statement = awaited(Administration.reopen_statement)
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


class AsyncArrays(AsyncPart):
    """`Arrays`, awaited."""

    submit = awaited(Arrays.submit)
    plan = awaited(Arrays.plan)
    array = awaited(Arrays.array)
    list = awaited(Arrays.list)
    indices = iterated(Arrays.indices)
    accept = awaited(Arrays.accept)
    cancel = awaited(Arrays.cancel)
    hold = awaited(Arrays.hold)
    release = awaited(Arrays.release)
    requeue = awaited(Arrays.requeue)
    modify = awaited(Arrays.modify)
    wait = awaited(Arrays.wait)


class AsyncSchedules(AsyncPart):
    """`Schedules`, awaited."""

    put = awaited(Schedules.put)
    all = awaited(Schedules.all)
    one = awaited(Schedules.one)
    hold = awaited(Schedules.hold)
    release = awaited(Schedules.release)
    run = awaited(Schedules.run)
    backfill = awaited(Schedules.backfill)
    remove = awaited(Schedules.remove)


class AsyncStoredApplications(AsyncPart):
    """`StoredApplications`, awaited."""

    put = awaited(StoredApplications.put)
    all = awaited(StoredApplications.all)
    one = awaited(StoredApplications.one)
    remove = awaited(StoredApplications.remove)
    dispatch = awaited(StoredApplications.dispatch)


class AsyncWorkflows(AsyncPart):
    """`Workflows`, awaited."""

    run = awaited(Workflows.run)
    validate = awaited(Workflows.validate)
    plan = awaited(Workflows.plan)
    one = awaited(Workflows.one)
    page = awaited(Workflows.page)
    of_execution = awaited(Workflows.of_execution)
    accept = awaited(Workflows.accept)
    cancel = awaited(Workflows.cancel)
    resume = awaited(Workflows.resume)


class AsyncCalls(AsyncTransport):
    """The calls of `AsyncClient` itself."""

    volumes = awaited(StorageCalls.volumes)
    volume = awaited(StorageCalls.volume)
    create_volume = awaited(StorageCalls.create_volume)
    remove_volume = awaited(StorageCalls.remove_volume)
    storage = awaited(StorageCalls.storage)
    storage_rules = awaited(StorageCalls.storage_rules)
    add_storage_rules = awaited(StorageCalls.add_storage_rules)
    remove_storage_rule = awaited(StorageCalls.remove_storage_rule)
    restore_storage_rule = awaited(StorageCalls.restore_storage_rule)
    move_storage_rule = awaited(StorageCalls.move_storage_rule)
    try_storage_rules = awaited(StorageCalls.try_storage_rules)
    storage_metrics = awaited(StorageCalls.storage_metrics)
    add_storage_metric = awaited(StorageCalls.add_storage_metric)
    remove_storage_metric = awaited(StorageCalls.remove_storage_metric)
    storage_controllers = awaited(StorageCalls.storage_controllers)
    storage_controller = awaited(StorageCalls.storage_controller)
    set_storage_controller = awaited(StorageCalls.set_storage_controller)
    storage_nodes = awaited(StorageCalls.storage_nodes)
    restart_storage_node = awaited(StorageCalls.restart_storage_node)
    storage_filters = awaited(StorageCalls.storage_filters)
    upload_storage_filter = awaited(StorageCalls.upload_storage_filter)
    remove_storage_filter = awaited(StorageCalls.remove_storage_filter)
    remove_storage_filter_version = awaited(StorageCalls.remove_storage_filter_version)
    why_stored = awaited(StorageCalls.why_stored)
    storage_slos = awaited(StorageCalls.storage_slos)
    set_storage_slo = awaited(StorageCalls.set_storage_slo)
    remove_storage_slo = awaited(StorageCalls.remove_storage_slo)
    storage_cores = awaited(StorageCalls.storage_cores)
    set_storage_cores = awaited(StorageCalls.set_storage_cores)
    remove_storage_cores = awaited(StorageCalls.remove_storage_cores)
    storage_rewrites = awaited(StorageCalls.storage_rewrites)
    begin_storage_rewrite = awaited(StorageCalls.begin_storage_rewrite)
    resume_storage_rewrite = awaited(StorageCalls.resume_storage_rewrite)
    cancel_storage_rewrite = awaited(StorageCalls.cancel_storage_rewrite)
    execution_storage = awaited(StorageCalls.execution_storage)
    storage_history = awaited(StorageCalls.storage_history)
    storage_traffic = awaited(StorageCalls.storage_traffic)
    storage_credentials = awaited(StorageCalls.storage_credentials)
    set_storage_credential = awaited(StorageCalls.set_storage_credential)
    remove_storage_credential = awaited(StorageCalls.remove_storage_credential)
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
    try_loss = awaited(Calls.try_loss)
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
    wait = awaited(Waiting.wait)
    wait_for_workflow = awaited(Waiting.wait_for_workflow)
    notebook = awaited(Waiting.notebook)
    open_when_ready = awaited(Waiting.open_when_ready)
    next_attempt = awaited(Waiting.next_attempt)
    follow = iterated(Waiting.follow)
    follow_events = iterated(Waiting.follow_events)
    follow_logs = iterated(Waiting.follow_logs)
