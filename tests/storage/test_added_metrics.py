"""Metrics that an admin adds switch rules at a real Swift: by PromQL, by a program in Python, and in a dry run."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.object_store import Person, logged_in
from tests.support.people import make_token
from tests.support.postgres import PostgresServer
from tests.support.prometheus import Expressions, prometheus
from tests.support.typed_storage import typed_storage
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, whole_storage

BODY = b"all work and no play makes jack a dull boy\n" * 100
EXPRESSION = "sum by (tenant, container) (rate(zoe_object_store_requests_total[1m]))"
PROGRAM = """
class Metric:
    def evaluate(self, counters):
        found = {}
        for row in counters["rows"]:
            if row["method"] == "PUT":
                place = f"{row['tenant']}/{row['container']}"
                found[place] = found.get(place, 0) + row["answered"]
        return found
"""


@pytest.fixture(scope="module")
def expressions() -> Iterator[Expressions]:
    with prometheus() as found:
        yield found


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def whole(database: str, expressions: Expressions) -> Iterator[Whole]:
    further = {"prometheus_url": expressions.url, "metrics_interval_s": 1.0}
    with whole_storage(database, further=further) as made:
        yield made


@pytest.fixture
def ann(whole: Whole) -> Iterator[Person]:
    with logged_in(whole.store, "acme:ann") as person:
        yield person


@pytest.fixture
def controller(whole: Whole) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}, timeout=60) as http:
        yield http


def added(controller: httpx.Client, path: str, **body: Any) -> Any:
    answer = controller.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def done_with(ann: Person, controller: httpx.Client, place: str) -> list[str]:
    """Store an object; return the filters applied to it."""
    ann.put(place, BODY)
    container, _, name = place.partition("/")
    why = controller.get("/v1/rules/why", params={"tenant": "acme", "container": container, "object": name})
    return [entry["filter"] for entry in why.json()["done"]]


def follows(ann: Person, controller: httpx.Client, container: str, filters: list[str]) -> None:
    ann.put(container)
    until(lambda: done_with(ann, controller, f"{container}/a") == filters)


def test_an_expression_turns_a_rule_on_and_off_again(
    whole: Whole, ann: Person, controller: httpx.Client, expressions: Expressions
) -> None:
    expressions.answers[EXPRESSION] = {("acme", "hot"): 9.0, ("acme", "cold"): 1.0}
    added(controller, "/v1/metrics", name="my_metric", expression=EXPRESSION)
    [rule] = added(controller, "/v1/rules", text="FOR CONTAINER acme/hot WHEN my_metric > 5 DO SET COMPRESSION")
    [other] = added(controller, "/v1/rules", text="FOR CONTAINER acme/cold WHEN my_metric > 5 DO SET COMPRESSION")
    follows(ann, controller, "hot", ["COMPRESSION"])
    ann.put("cold")
    assert done_with(ann, controller, "cold/a") == []
    rows = {entry["id"]: entry["metrics"] for entry in controller.get("/v1/rules").json()}
    assert (rows[rule["id"]]["MY_METRIC"], rows[other["id"]]["MY_METRIC"]) == (9.0, 1.0)
    tried = added_try(controller, "hot")
    assert tried["filters"] == ["COMPRESSION"]
    expressions.answers[EXPRESSION] = {("acme", "hot"): 2.0}
    follows(ann, controller, "hot", [])
    assert "my_metric > 5: it is 2" in added_try(controller, "hot")["verdicts"][0]["sentence"]
    shown = controller.get(f"/v1/controllers/rule-{rule['id']}").json()
    assert [(entry["active"], entry["dry"], entry["metrics"]) for entry in shown["switches"]] == [
        (False, False, {"MY_METRIC": 2.0}),
        (True, False, {"MY_METRIC": 9.0}),
    ]
    assert shown["last"] == "switched off: MY_METRIC is 2"
    # While Prometheus is away, the last value holds for a while, and then it is unknown.
    expressions.answers[EXPRESSION] = {("acme", "hot"): 7.0}
    follows(ann, controller, "hot", ["COMPRESSION"])
    expressions.away = True
    follows(ann, controller, "hot", [])
    assert "my_metric > 5: not known" in added_try(controller, "hot")["verdicts"][0]["sentence"]
    [metric] = controller.get("/v1/metrics").json()
    assert "is not JSON" in metric["problem"], metric
    state = controller.get("/v1/controllers/metric-MY_METRIC").json()
    assert (state["failures"] > 0, state["problem"] != "") == (True, True)
    expressions.away = False
    follows(ann, controller, "hot", ["COMPRESSION"])
    assert controller.get("/v1/metrics").json()[0]["problem"] == ""
    told = controller.get("/metrics").text
    assert f'zoe_storage_rule_active{{name="rule-{rule["id"]}"}} 1.0' in told
    assert 'zoe_storage_metric_values{metric="MY_METRIC"} 1.0' in told
    for number in (rule["id"], other["id"]):
        controller.delete(f"/v1/rules/{number}")
    assert controller.delete("/v1/metrics/my_metric").status_code == 204


def test_compressible_content_turns_a_rule_on(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    text = "FOR CONTAINER acme/{} WHEN COMPRESSIBILITY > 20 DO SET COMPRESSION"
    [texts] = added(controller, "/v1/rules", text=text.format("texts"))
    [noise] = added(controller, "/v1/rules", text=text.format("noise"))
    follows(ann, controller, "texts", ["COMPRESSION"])
    ann.put("noise")
    ann.put("noise/a", secrets.token_bytes(200_000))

    def known() -> bool:
        rows = {entry["id"]: entry["metrics"] for entry in controller.get("/v1/rules").json()}
        return "COMPRESSIBILITY" in rows[noise["id"]]

    until(known)
    judged = added_try(controller, "noise")
    assert (judged["filters"], "COMPRESSIBILITY > 20: it is" in judged["verdicts"][0]["sentence"]) == ([], True)
    assert (
        'zoe_object_store_content_sampled_bytes_total{container="texts",tenant="acme"}'
        in controller.get("/metrics").text
    )
    for rule in (texts, noise):
        controller.delete(f"/v1/rules/{rule['id']}")


def added_try(controller: httpx.Client, container: str) -> dict[str, Any]:
    answer = controller.post("/v1/rules/try", json={"tenant": "acme", "container": container, "object": "a"})
    found: dict[str, Any] = answer.json()["now"]
    return found


def test_a_program_turns_a_rule_on_and_off_again(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    """Uploaded in the appendix dialect; it counts requests of the proxies in the last second."""
    file = {"file": ("busy.py", PROGRAM.encode())}
    made = controller.post("/registry/metric_module/data", files=file, data={"metadata": '{"enabled": "True"}'})
    assert made.status_code == 201, made.text
    [rule] = added(controller, "/v1/rules", text="FOR CONTAINER acme/busy WHEN BUSY >= 2 DO SET COMPRESSION")
    [dry] = added(controller, "/v1/rules", text="FOR CONTAINER acme/busy WHEN BUSY >= 2 DO SET NOOP", dry_run=True)
    ann.put("busy")
    name = f"rule-{rule['id']}"

    def active(of: str) -> bool | None:
        found: bool | None = controller.get(f"/v1/controllers/{of}").json()["active"]
        return found

    def busy() -> bool:
        for number in range(6):
            ann.put(f"busy/{number}", BODY)
        return active(name) is True

    until(lambda: active(name) is False)
    until(busy)
    until(lambda: active(name) is False)  # no more PUTs
    would = controller.get(f"/v1/controllers/rule-{dry['id']}").json()
    assert (would["mode"], [entry["dry"] for entry in would["switches"][-2:]]) == ("dry", [True, True])
    assert would["switches"][-1]["active"]
    assert would["last"].startswith("would have switched off")
    path = whole.store.directory / "rates.rules"
    at_proxies = {load["id"] for load in json.loads(path.read_text())["rules"]}
    assert (rule["id"] in at_proxies, dry["id"] in at_proxies) == (True, False)
    controller.delete(f"/v1/rules/{dry['id']}")
    controller.delete(f"/v1/rules/{rule['id']}")
    assert controller.delete(f"/registry/metric_module/{made.json()['id']}").status_code == 204


def test_a_dry_run_counts_operations_without_the_proxies(whole: Whole, ann: Person, controller: httpx.Client) -> None:
    text = "FOR CONTAINER acme/counted WHEN PUTS_SEC > 0.5 DO SET COMPRESSION"
    [dry] = added(controller, "/v1/rules", text=text, dry_run=True)
    ann.put("counted")

    def active() -> bool:
        for number in range(10):
            ann.put(f"counted/{number}", BODY)
        return controller.get(f"/v1/controllers/rule-{dry['id']}").json()["active"] is True

    until(active)
    assert done_with(ann, controller, "counted/a") == []
    [row] = [entry for entry in controller.get("/v1/rules").json() if entry["id"] == dry["id"]]
    assert (row["mode"], row["enforced"], row["metrics"]["PUTS_SEC"] > 0.5) == ("dry", False, True)
    controller.delete(f"/v1/rules/{dry['id']}")


def test_a_program_that_misbehaves_holds_up_no_other(whole: Whole, controller: httpx.Client) -> None:
    evaluate = "class Metric:\n    def evaluate(self, counters):\n        {}\n"
    bodies = {
        "crashes": ("return 1 / 0", "ZeroDivisionError"),
        "hangs": ("\n        while True: pass", "did not answer within|the program ended"),
        "floods": ("return {str(n): n for n in range(2000)}", "the maximum is 1000"),
        "lies": ("return {'acme': 'many'}", "is not a number"),
        "works": ("return 1", ""),
    }
    for name, (body, _) in bodies.items():
        added(controller, "/v1/metrics", name=name, program=evaluate.format(body))

    def told() -> dict[str, str]:
        return {entry["name"].lower(): entry["problem"] for entry in controller.get("/v1/metrics").json()}

    until(lambda: all(told()[name] for name in bodies if name != "works"))
    problems = told()
    for name, (_, sentence) in bodies.items():
        assert any(part in problems[name] for part in sentence.split("|")), problems
    until(lambda: next(entry for entry in controller.get("/v1/metrics").json() if entry["name"] == "WORKS")["values"])
    crashed = controller.get("/v1/controllers/metric-CRASHES").json
    until(lambda: crashed()["failures"] >= 2)
    assert crashed()["waits_s"] <= 60
    for name in bodies:
        assert controller.delete(f"/v1/metrics/{name}").status_code == 204


def test_the_bandwidth_algorithm_may_be_tried_or_off(whole: Whole, controller: httpx.Client) -> None:
    def mode(wanted: str) -> None:
        assert controller.put("/v1/controllers/bandwidth", json={"mode": wanted}).status_code == 200

    def last() -> str:
        found: str = controller.get("/v1/controllers/bandwidth").json()["last"]
        return found

    until(lambda: last().startswith("set "))
    mode("dry")
    until(lambda: last().startswith("would have set "))
    mode("on")
    until(lambda: last().startswith("set "))


def test_the_command_line_adds_lists_tries_and_removes(
    whole: Whole, database: str, tmp_path: Path, expressions: Expressions
) -> None:
    expressions.answers["up"] = {("acme", ""): 3.0}
    program = tmp_path / "seven.py"
    program.write_text("class Metric:\n    def evaluate(self, counters):\n        return 7\n")
    with typed_storage(whole, database, tmp_path) as (zoe, api):

        def ok(*arguments: str) -> str:
            code, printed = zoe(*arguments)
            assert code == 0, printed
            return printed

        anns = make_token(api.store, "ann", "acme")
        assert zoe("metric", "ls", token=anns)[0] == zoe("controllers", token=anns)[0] == 4
        assert zoe("metric", "add", "load")[0] == 2
        code, printed = zoe("metric", "add", "load", "--promql", "sum(")
        assert (code != 0, "unclosed left parenthesis" in printed) == (True, True), printed
        assert "LOAD" in ok("metric", "add", "load", "--promql", "up")
        assert "python" in ok("metric", "add", "seven", "--python", str(program))
        until(lambda: "acme 3" in (listed := ok("metric", "ls")) and "all 7" in listed)
        rule = "FOR TENANT acme WHEN load > 2 AND seven = 7 DO SET CACHING"
        [made] = json.loads(ok("policy", "add", rule, "--dry-run", "-o", "json"))["rules"]
        name = f"rule-{made['id']}"
        assert "dry run" in ok("policy", "ls")
        until(lambda: "would be on" in ok("controllers", name))
        assert "LOAD 3, SEVEN 7" in ok("controllers", name)
        assert "divides bandwidth" in ok("controllers", "-o", "json")
        assert " on " in ok("controllers", name, "--mode", "on")
        assert zoe("controllers", "rule-999999")[0] != 0
        code, printed = zoe("metric", "rm", "load")
        assert (code != 0, f"rule {made['id']} uses load" in printed) == (True, True), printed
        ok("policy", "rm", str(made["id"]))
        ok("metric", "rm", "load")
        ok("metric", "rm", "seven")
