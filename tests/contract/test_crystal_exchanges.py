"""Exchanges recorded at Crystal's controller, sent to ours; and the families of calls that they are a part of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.storage.crystal_exchanges import CAPACITY, read_exchanges, replay
from storage_controller.database.supervision import Mode
from storage_controller.settings import NodeKind, NodeSettings
from tests.support.storage_controller import TOKEN, Served, served_controller

DATA = Path(os.environ.get("ZOE_TEST_DATA", "")) / "crystal"
DIFFERENT = {
    "later": {
        *("filters_noslash", "filter_create_no_type", "project_enable_mgmt", "dynamic_dsl_01"),
        *("dependencies_list_shadowed_by_filter_detail", "dependencies_post_shadowed"),
        *("static_dsl_10", "static_dsl_13", "static_dsl_14", "static_dsl_19"),
    },
    "appendix": set(),
}
"""By design: see docs/reference/crystal-calls.md."""
PROGRAM = b"class Metric:\n    def evaluate(self, counters):\n        return 7\n"
CRYSTALS = b"class Busy(AbstractMetric):\n    pass\n"


@pytest.fixture
def served(postgres_url: str) -> Iterator[Served]:
    nodes = {"p1": NodeSettings(kind=NodeKind.PROXY, url="http://127.0.0.1:1", restart=["true"])}
    with served_controller(postgres_url, nodes=nodes) as controller:
        yield controller


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with served.http() as client:
        yield client


@pytest.mark.parametrize("name", sorted(DIFFERENT))
@pytest.mark.skipif(not DATA.is_dir(), reason="ZOE_TEST_DATA has no recordings")
def test_recorded_exchanges_have_the_recorded_status(postgres_url: str, name: str) -> None:
    with served_controller(postgres_url, capacity=CAPACITY) as controller:
        answers = list(replay(read_exchanges(DATA / f"{name}.jsonl"), controller.url, TOKEN))
    assert {answer.name for answer in answers if not answer.agrees} == DIFFERENT[name]


def test_controllers_and_instances_are_kept_and_never_run(http: httpx.Client) -> None:
    upload = {"files": {"file": ("c.py", b"class C: pass")}, "data": {"metadata": '{"class_name": "C"}'}}
    made = http.post("/controllers/data/", **upload)  # type: ignore[arg-type]
    assert (made.status_code, made.json()["id"], made.json()["controller_name"]) == (201, 1, "c.py")
    assert "not run" in made.headers["Warning"]
    assert http.post("/controllers/instance", json={"controller": "1", "parameters": "a=1"}).status_code == 201
    assert [one["controller"] for one in http.get("/controllers/instances/").json()] == ["c.py"]
    assert http.get("/controllers/").json()[0]["instances"] == 1
    assert http.put("/controllers/instance/1", json={"status": "Running"}).status_code == 409
    assert http.put("/controllers/instance/1", json={"parameters": "a=2"}).json()["parameters"] == "a=2"
    assert http.delete("/controllers/1").status_code == 400, "it has an instance"
    assert http.delete("/controllers/instance/1").status_code == 204
    assert http.put("/controllers/1/data", files={"file": ("d.py", b"x")}).json()["controller_name"] == "d.py"
    assert http.get("/controllers/1/data").content == b"x"
    assert (http.delete("/controllers/1").status_code, http.get("/controllers/1").status_code) == (204, 404)


def test_a_running_metric_module_gives_its_metrics_to_rules(http: httpx.Client) -> None:
    def upload(name: str, content: bytes, metadata: str) -> httpx.Response:
        return http.post("/metrics/data", files={"file": (name, content)}, data={"metadata": metadata})

    rule = "FOR TENANT:a WHEN get_busy > 5 DO SET NOOP"
    assert upload("busy.py", PROGRAM, '{"get": true, "put": false, "status": "Stopped"}').status_code == 201
    assert http.post("/policies/dynamic", content=rule).status_code == 401
    assert http.post("/metrics/1", json={"status": "Running"}).status_code == 200
    measured = {one["name"]: one["source"] for one in http.get("/metrics/activated").json()}
    assert (measured["GET_BUSY"], measured["GET_OPS"]) == ("python", "proxies")
    [made] = http.post("/policies/dynamic", content=rule).json()
    assert http.delete("/metrics/1").status_code == 409, "a rule uses it"
    assert http.delete(f"/policies/dynamic/{made.rpartition(':')[2]}").status_code == 204
    assert http.post("/metrics/1", json={"status": "Stopped"}).status_code == 200
    assert "GET_BUSY" not in {one["name"] for one in http.get("/metrics/activated").json()}
    assert "not measured" in upload("own.py", CRYSTALS, '{"put": "True", "status": "Running"}').headers["Warning"]
    assert [one["id"] for one in http.get("/metrics/").json()] == ["1", "2"]
    assert (http.delete("/metrics/1").status_code, http.get("/metrics/1").status_code) == (204, 404)
    module = http.post("/registry/metric_module/data", files={"file": ("own2.py", CRYSTALS)})
    assert (module.status_code, "not measured" in module.headers["Warning"]) == (201, True)
    assert http.get("/metrics").headers["Content-Type"].startswith("text/plain"), "Prometheus reads it"


def test_groups_have_numbers_and_names(http: httpx.Client) -> None:
    form = {"name": "those", "attached_projects": '["a", "b"]'}
    assert http.post("/projects/groups", json=form).status_code == 201
    assert http.get("/projects/groups/").json() == [{"name": "those", "attached_projects": ["a", "b"], "id": "1"}]
    assert http.get("/projects/groups/1").json() == http.get("/projects/groups/those").json()
    [made] = http.post("/policies/static", content="FOR G:1 DO SET NOOP").json()
    assert made.startswith("G:those:")
    assert http.delete("/projects/groups/1").status_code == 409
    assert http.put("/filters/group:1/undeploy/noop").status_code == 204, "deployed under another spelling"
    assert http.put("/projects/groups/1", json={**form, "attached_projects": ["a"]}).status_code == 201
    assert http.put("/projects/groups/1", json={**form, "name": "these"}).status_code == 400
    assert http.delete("/projects/groups/1/projects/a").status_code == 204
    assert http.delete(f"/policies/static/{made}").status_code == 204
    assert (http.delete("/projects/groups/1").status_code, http.get("/projects/groups").json()) == (204, [])


def test_once_a_project_is_enabled_rules_are_for_enabled_ones(http: httpx.Client) -> None:
    def added(tenant: str, path: str = "/policies/static") -> int:
        return http.post(path, content=f"FOR TENANT:{tenant} DO SET NOOP").status_code

    assert added("a") == 201, "no project is enabled"
    assert http.put("/projects/b").status_code == 201
    assert [added("a"), added("b"), added("a", "/registry/static_policy")] == [404, 201, 201]
    assert (http.get("/projects/").json(), http.post("/projects/b").json()) == (["b"], "b")
    assert http.get("/swift/tenants").json()["tenants"][0]["id"] == "b"
    assert (http.delete("/projects/b").status_code, http.post("/projects/b").status_code) == (201, 404)


def test_nodes_regions_and_zones(http: httpx.Client) -> None:
    [node] = http.get("/swift/nodes/").json()
    assert (node["name"], node["type"], node["region_id"]) == ("p1", "proxy", "1")
    changed = http.put("/swift/nodes/proxy/p1", json={"zone_id": "2", "ssh_username": "u", "ssh_password": "secret"})
    assert (changed.status_code, "not stored" in changed.headers["Warning"]) == (201, True)
    shown = http.get("/registry/nodes/p1")
    assert (shown.json()["zone_id"], "secret" in shown.text) == ("2", False)
    assert http.put("/swift/nodes/proxy/p1/restart").status_code == 200
    assert http.delete("/swift/nodes/proxy/p1").status_code == 409
    assert http.post("/swift/regions", json={"name": "north"}).json()["id"] == 1
    assert http.post("/swift/zones", json={"name": "z", "region": "1"}).status_code == 201
    assert [zone["region_name"] for zone in http.get("/swift/zones").json()] == ["north"]
    assert http.delete("/swift/regions/1").status_code == 400, "a zone is in it"
    assert http.put("/swift/zones/1", json={"zone_id": "1", "name": "y"}).status_code == 204
    assert http.get("/swift/zones/1").json() == {"name": "y", "region": "1"}
    assert [http.delete(f"/swift/{path}/1").status_code for path in ("zones", "regions")] == [204, 204]
    for path in ("/registry/snode", "/swift/sort_nodes", "/bw/controllers"):
        assert http.post(path, json={"name": "n"}).status_code == 201
        assert [one["name"] for one in http.get(path).json()] == ["n"]


def test_a_rule_keeps_its_number_when_its_fields_change(served: Served, http: httpx.Client) -> None:
    made = http.post("/policies/static", content="FOR CONTAINER:a/c DO SET compression").json()[0]
    number = made.rpartition(":")[2]
    changed = http.put(f"/policies/static/a:c:{number}", json={"execution_server": "object", "object_size": [">", "9"]})
    assert (changed.status_code, changed.json()) == (201, made), changed.text
    shown = http.get(f"/policies/static/a:c:{number}").json()
    assert (shown["execution_server"], shown["object_size"], shown["target_id"]) == ("object", [">", "9"], "a:c")
    assert [one["rule"] for one in http.get("/v1/rules", params={"removed": True}).json()] == [
        "FOR CONTAINER:a/c DO SET compression"
    ]
    ignored = http.put(f"/policies/static/{made}", json={"execution_order": "9"})
    assert "without effect: execution_order" in ignored.headers["Warning"]
    assert http.put(f"/policies/static/{made}", json={"colour": "red"}).status_code == 400
    form = {"project_id": "a", "filter_id": "caching", "workload_metric": "get_ops", "condition": "> 5.5e3"}
    [number] = [http.put("/policies/dynamic", json=form).json().rpartition(":")[2]]
    [dynamic] = http.get("/policies/dynamic").json()
    assert (dynamic["condition"], dynamic["status"], dynamic["filter"]) == ("GETS_SEC>5.5e3", "Alive", "caching")
    assert http.put(f"/policies/dynamic/{number}", json={"status": "Stopped"}).status_code == 201
    assert http.get("/v1/controllers").json()[-1]["mode"] == Mode.OFF
    assert http.put("/policies/dynamic", json={**form, "condition": "> 5 DO SET x"}).status_code == 400


def test_access_control_is_refused_and_the_way_on_is_told(http: httpx.Client) -> None:
    assert http.get("/policies/acl/").json() == []
    refused = http.post("/policies/acl", json={"project_id": "a"})
    assert (refused.status_code, "X-Container-Read" in refused.json()["error"]) == (409, True)


def test_filters_of_each_dialect_have_numbers(http: httpx.Client) -> None:
    appendix = dict.fromkeys(("interface_version", "main", "dependencies", "object_metadata", "has_reverse"), "")
    appendix |= dict.fromkeys(("is_pre_put", "is_post_put", "is_pre_get", "is_post_get"), False)
    appendix |= {"execution_server": "proxy", "execution_server_reverse": "proxy"}
    assert http.post("/filters", json={**appendix, "filter_type": "native"}).json()["id"] == 1
    assert http.put("/filters/1/data", files={"file": ("a.jar", b"x")}).status_code == 400
    assert http.put("/filters/1/data", files={"file": ("a.py", b"x")}).status_code == 201
    assert http.get("/filters/1/data").content == b"x"
    assert http.put("/filters/1", json={"main": "M"}).status_code == 400, "not all of its fields"
    word = http.post("/registry/filters", json={"name": "caching", "identifier": "1"})
    assert (word.status_code, "Zoe's own filter" in word.headers["Warning"]) == (201, True)
    http.post("/filters", json={"dsl_name": "old"})
    assert http.put("/filters/old", json={"dsl_name": "new"}).json()["dsl_name"] == "new"
    assert (http.get("/filters/old").status_code, http.get("/filters/new").status_code) == (404, 200)
    assert http.put("/filters/a/c/o/deploy/new", json={"object_size": [">", "5"]}).status_code == 201
    deployed = http.put("/filters/a/deploy/caching", json={"params": "a=1", "execution_server": "default"})
    assert (deployed.status_code, "no parameter a: ignored" in deployed.headers["Warning"]) == (201, True)
    assert http.get("/filters/a/deploy").json() == ["caching"]
    assert http.get("/filters/b/deploy").status_code == 404
    assert http.put("/filters/new", json={"dsl_name": "newer"}).status_code == 400, "a rule sets it"
