"""The master as a process: it starts after submissions were accepted, refuses what it must not serve, tells metrics."""

from __future__ import annotations

import socket

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.support.documents import job
from tests.support.installation import Installation, free_port
from tests.support.people import make_token
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState


def told(port: int, name: str) -> dict[tuple[str, ...], float]:
    try:
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    except httpx.TransportError:
        return {}
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return {tuple(s.labels.values()): s.value for s in samples if s.name == name}


def test_executions_submitted_before_the_master_run(installation: Installation, client: Client) -> None:
    submitted = [client.submit(job("true")).id for _ in range(5)]
    assert client.status().master is None
    installation.start_master()
    assert [client.wait(text, 60).state for text in submitted] == [ExecutionState.SUCCEEDED] * 5
    assert client.status().master is not None


def test_it_tells_prometheus_what_it_does(installation: Installation, client: Client) -> None:
    port = free_port()
    installation.start_master(ZOE_MASTER_METRICS_PORT=str(port), ZOE_USAGE_INTERVAL_S="0.2")
    execution = client.submit(job("sleep", "600"))
    until(lambda: told(port, "zoe_leader") == {(): 1})
    until(lambda: told(port, "zoe_active_executions").get(("running",)) == 1)
    until(lambda: told(port, "zoe_used_memory_bytes").get(("n1",), 0) > 0)
    assert told(port, "zoe_node_usable_cores") == {("n1",): 64}
    client.cancel(execution.id)
    until(lambda: told(port, "zoe_used_memory_bytes") == {})
    for command in (["true"], ["true"], ["false"]):
        client.wait(client.submit(job(*command)).id, 60)
    ended = {("succeeded",): 2, ("failed",): 1, ("cancelled",): 1}
    until(lambda: told(port, "zoe_ended_executions_total") == ended)


def test_a_taken_port_is_told(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert installation.start_master(ZOE_MASTER_METRICS_PORT=str(port)).wait(30) == 2
    assert f"cannot serve metrics on port {port}" in installation.log("master")


def test_a_second_tenant_is_refused_on_the_local_backend(installation: Installation) -> None:
    make_token(installation.store, "bob", "blue")
    assert installation.start_master().wait(30) == 2
    assert "there are 2 tenants (blue, red)" in installation.log("master")


def test_told_to_stop_it_lets_services_run_and_adopts_them(installation: Installation, client: Client) -> None:
    installation.forked = False  # the program as it is executed
    master = installation.start_master()
    script = "echo main >> {workspace}/{execution}; sleep 2"
    execution = client.submit(job("sh", "-c", script))
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    assert installation.stop(master) == 0
    installation.start_master()
    assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
    assert installation.ran(execution.id) == ["main"]


def test_one_that_works_is_in_use_and_one_that_waits_is_ended(installation: Installation, client: Client) -> None:
    policy = client.policy().model_copy(update={"idle_after_s": 2.0, "idle_warning_s": 5.0, "idle_without_ports": True})
    client.set_policy(policy)
    installation.start_master(ZOE_USAGE_INTERVAL_S="0.2")
    # More than a tenth of a core counts as in use. This takes half of one, or two tenths where four want each core.
    computing = "while :; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.2; done"
    works = client.submit({**job("sh", "-c", computing), "kind": "interactive"})
    waits = client.submit({**job("sleep", "600"), "kind": "interactive"})
    until(lambda: works.id in installation.store.last_uses([works.id]))
    assert client.wait(waits.id, 60).cause == "idle"
    assert installation.store.last_uses([waits.id]) == {}
    client.cancel(works.id)
