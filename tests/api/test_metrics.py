"""Metrics: the reference lists all of them, and their values follow the events."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from storage_controller.database.supervision import Supervisor
from storage_controller.regulation.collector import ControllerCollector
from tests.support.api import Api
from tests.support.documents import document, job, part
from tests.support.waiting import until
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.background import metrics
from zoe_master.notifications import metrics as of_notifications

OF_CONTROLLERS = list(ControllerCollector(Supervisor(), dict, dict).collect())
# Metrics that the master registers when it imports them.
OF_THE_MASTER = (metrics, of_notifications)
REFERENCE = Path(__file__).parents[2] / "docs/reference/metrics.md"
METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
ROW = re.compile(r"^\| `(zoe_\w+)` \| (\w+) \| ([\w, ]*)\| (\w+) \| (.+) \|$", re.MULTILINE)


def values(text: str, name: str) -> dict[tuple[str, ...], float]:
    """The samples of a metric by the values of their labels."""
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return {tuple(s.labels.values()): s.value for s in samples if s.name == name}


def told(api: Api) -> str:
    return api.http(None).get("/metrics").text


def test_the_reference_lists_what_there_is() -> None:
    documented = {name: (kind, labels.strip()) for name, kind, labels, _, _ in ROW.findall(REFERENCE.read_text())}
    families = {family.name: family for family in REGISTRY.collect() if family.name.startswith("zoe_")}
    families |= {family.name: family for family in OF_CONTROLLERS}
    assert documented.keys() == families.keys()
    for name, (kind, _) in documented.items():
        assert families[name].type == kind, name


def test_labels_are_those_of_the_reference(api: Api) -> None:
    api.start_master()
    execution = api.client().submit(job())
    until(lambda: api.client().execution(execution.id).state is ExecutionState.RUNNING)
    until(lambda: values(told(api), "zoe_used_memory_bytes"))
    documented = {
        name: set(labels.replace(" ", "").split(",")) - {""}
        for name, _, labels, _, _ in ROW.findall(REFERENCE.read_text())
    }
    for family in text_string_to_metric_families(told(api)):
        if family.name in documented:
            # There is no storage controller here, and so no tenant of it.
            assert family.samples or family.name.startswith("zoe_storage_"), family.name
            for sample in family.samples:
                assert set(sample.labels) - {"le"} == documented[family.name], family.name


def test_requests_are_counted_by_route_template(api: Api) -> None:
    http = api.http()
    before = values(told(api), "zoe_api_requests_total")
    key = ("GET", "/api/v1/executions/{execution_id}", "404")
    for number in range(3):
        http.get(f"/api/v1/executions/x{number}")
    http.request("BREW", "/api/v1/executions")
    for path in ("/api/never/heard/of", "/", "/executions/x1", "/api/docs"):
        http.get(path)
    after = values(told(api), "zoe_api_requests_total")
    assert after[key] - before.get(key, 0) == 3
    assert {method for method, _, _ in after} <= {*METHODS, "other"}
    assert ("GET", "unknown", "404") in after
    assert after[("GET", "web", "200")] - before.get(("GET", "web", "200"), 0) == 3
    templates = {route for _, route, _ in after} - {"unknown", "web"}
    known = ("/api/v1/", "/healthz", "/readyz", "/metrics", "/teapot")
    assert [route for route in templates if not route.startswith(known)] == []


def test_streams_are_counted(api: Api) -> None:
    with api.http().stream("GET", "/api/v1/events"):
        until(lambda: values(told(api), "zoe_api_streams")[()] == 1)
    until(lambda: values(told(api), "zoe_api_streams")[()] == 0)


def test_the_master_tells_what_waits_and_what_runs(api: Api) -> None:
    api.start_master()
    client = api.client()
    big = document(part(resources={"memory": "6GiB", "cores": 4}, essential_count=2, total_count=2))
    first = client.submit(big)
    until(lambda: client.execution(first.id).state is ExecutionState.RUNNING)
    client.submit(big)
    until(lambda: values(told(api), "zoe_pending_executions").get(("no_resources",)) == 1)
    text = told(api)
    assert values(text, "zoe_active_executions")[("running",)] == 1
    assert values(text, "zoe_oldest_pending_seconds")[()] > 0
    assert values(text, "zoe_admission_wait_seconds_count")[()] >= 1
    assert values(text, "zoe_tick_seconds_count")[()] >= values(text, "zoe_leader")[()]
    assert values(text, "zoe_node_usable_cores") == {("n1",): 4, ("n2",): 4}
    assert set(values(text, "zoe_store_seconds_count")) == {("read",), ("write",), ("submit",)}
    assert values(text, "zoe_reconcile_lag_seconds")[()] < 60


def test_metrics_of_ended_executions_and_leaders_disappear(api: Api) -> None:
    api.start_master()
    client = api.client()
    execution = client.submit(job())
    until(lambda: values(told(api), "zoe_used_memory_bytes"))
    client.cancel(execution.id)
    until(lambda: not values(told(api), "zoe_used_memory_bytes"))
    api.stop_master()
    metrics.stop_leading()
    text = told(api)
    assert values(text, "zoe_node_usable_cores") == {}
    assert set(values(text, "zoe_pending_executions").values()) == {0}
    assert values(text, "zoe_leader") == {(): 0}
