"""Metrics and words that are registered at run time, and controllers, at our storage controller."""

from __future__ import annotations

import math
from collections.abc import Iterator

import httpx
import pytest

from storage_bridge.connect import connect
from storage_controller.database.controller_ledger import SWITCHES_MAX, ControllerLedger, Switch
from storage_controller.metrics.metric_store import METRICS_MAX
from storage_controller.rules.rule_store import RuleLedger
from tests.support.prometheus import Expressions, prometheus
from tests.support.storage_controller import MB, Served, served_controller

PROGRAM = b"class Metric:\n    def evaluate(self, counters):\n        return 7\n"


@pytest.fixture
def expressions() -> Iterator[Expressions]:
    with prometheus() as found:
        yield found


@pytest.fixture
def served(postgres_url: str, expressions: Expressions) -> Iterator[Served]:
    with served_controller(postgres_url, prometheus_url=expressions.url) as controller:
        yield controller


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    with served.http() as client:
        yield client


def refused(answer: httpx.Response, status: int, sentence: str) -> None:
    assert (answer.status_code, sentence in answer.json()["error"]) == (status, True), answer.text


def test_an_expression_is_a_metric_of_rules(served: Served, http: httpx.Client, expressions: Expressions) -> None:
    expressions.answers["up"] = {("acme", ""): 1.0}
    refused(http.post("/v1/rules", json={"text": "FOR TENANT acme WHEN load > 5 DO SET NOOP"}), 400, "not measured")
    made = http.post("/v1/metrics", json={"name": "load", "expression": "up"}, headers={"X-Zoe-Author": "ann"})
    assert made.status_code == 201, made.text
    assert "Warning" not in made.headers
    found = http.get("/v1/metrics").json()
    assert [(entry["name"], entry["source"], entry["text"], entry["author"]) for entry in found] == [
        ("LOAD", "prometheus", "up", "ann")
    ]
    rule = http.post("/v1/rules", json={"text": "FOR TENANT acme WHEN load > 5 DO SET NOOP"}).json()[0]["id"]
    assert http.get("/v1/metrics").json()[0]["rules"] == [rule]
    refused(http.delete("/v1/metrics/load"), 409, f"rule {rule} uses load: remove it first")
    assert http.delete(f"/v1/rules/{rule}").status_code == 204
    assert http.delete("/v1/metrics/load").status_code == 204
    refused(http.delete("/v1/metrics/load"), 404, "metric load does not exist")


def test_invalid_metric_is_refused_with_a_sentence(http: httpx.Client, expressions: Expressions) -> None:
    for body, status, sentence in (
        ({"name": "load", "expression": "sum("}, 400, "Prometheus refuses the expression"),
        ({"name": "load"}, 400, "an expression or a program"),
        ({"name": "load", "expression": "up", "program": "x"}, 400, "an expression or a program"),
        ({"name": "load", "program": "x"}, 400, "NameError"),
        ({"name": "gets_sec", "expression": "up"}, 409, "GETS_SEC already exists"),
        ({"name": "object_size", "expression": "up"}, 409, "already exists"),
        ({"name": "when", "expression": "up"}, 409, "a keyword of the rule language"),
        ({"name": "a b", "expression": "up"}, 400, "name"),
        ({"name": "a" * 65, "expression": "up"}, 400, "name"),
        ({"name": "load", "expression": "x" * 5000}, 400, "expression"),
    ):
        refused(http.post("/v1/metrics", json=body), status, sentence)
    assert http.get("/v1/metrics").json() == []


def test_a_prometheus_that_is_away_is_told_and_none_is_refused(
    postgres_url: str, http: httpx.Client, expressions: Expressions
) -> None:
    expressions.away = True
    made = http.post("/v1/metrics", json={"name": "load", "expression": "up"})
    assert (made.status_code, "not measured now" in made.headers["Warning"]) == (201, True)
    with served_controller(postgres_url) as other, other.http() as without:
        refused(
            without.post("/v1/metrics", json={"name": "two", "expression": "up"}), 409, "no Prometheus is configured"
        )


def test_their_number_is_bounded(http: httpx.Client) -> None:
    for number in range(METRICS_MAX):
        assert http.post("/registry/metrics", json={"name": f"m{number}"}).status_code == 201
    refused(http.post("/registry/metrics", json={"name": "further"}), 409, f"at most {METRICS_MAX} are kept")


def test_metrics_are_words_of_the_appendix_dialect(http: httpx.Client, expressions: Expressions) -> None:
    expressions.answers["up"] = {}
    word = {"name": "put_active_requests", "network_location": "tcp://127.0.0.1:6899", "type": "integer"}
    made = http.post("/registry/metrics", json=word)
    assert (made.status_code, "not measured" in made.headers["Warning"]) == (201, True)
    refused(http.post("/registry/metrics", json=word), 409, "metric PUT_ACTIVE_REQUESTS already exists")
    shown = http.get("/registry/metrics/put_active_requests").json()
    assert (shown["type"], shown["network_location"], shown["source"]) == ("integer", "tcp://127.0.0.1:6899", "none")
    names = [entry["name"] for entry in http.get("/registry/metrics").json()]
    assert names == ["GETS_SEC", "PUTS_SEC", "OPS_SEC", "COMPRESSIBILITY", "PUT_ACTIVE_REQUESTS"]
    posted = http.post("/registry/dynamic_policy", content="FOR TENANT acme WHEN put_active_requests > 5 DO SET NOOP")
    assert posted.status_code == 201, posted.text
    refused(http.delete("/registry/metrics/put_active_requests"), 409, "uses put_active_requests: remove it first")
    changed = http.put("/registry/metrics/put_active_requests", json={"expression": "up", "type": "float"})
    assert (changed.status_code, changed.json()["expression"], changed.json()["type"]) == (201, "up", "float")
    refused(http.put("/registry/metrics/absent", json={}), 404, "metric absent does not exist")
    refused(http.delete("/registry/metrics/GETS_SEC"), 409, "counted by proxies")
    number = posted.json()[0].rpartition(":")[2]
    assert http.delete(f"/registry/dynamic_policy/{number}").status_code == 204
    assert http.delete("/registry/metrics/put_active_requests").status_code == 204


def test_a_module_of_the_appendix_dialect_is_a_metric(http: httpx.Client) -> None:
    metadata = '{"class_name": "Metric", "execution_server": "proxy", "out_flow": "False", "enabled": "True"}'
    path = "/registry/metric_module"
    made = http.post(f"{path}/data", files={"file": ("busy.py", PROGRAM)}, data={"metadata": metadata})
    assert made.status_code == 201, made.text
    number = made.json()["id"]
    assert made.json() == {
        "id": number,
        "metric_name": "BUSY",
        "enabled": True,
        "class_name": "Metric",
        "execution_server": "proxy",
        "out_flow": "False",
    }
    assert http.get(path).json() == [made.json()] == [http.get(f"{path}/{number}").json()]
    assert http.get(f"{path}/{number}/data").content == PROGRAM
    assert http.put(f"{path}/{number}", json={"enabled": "False"}).json()["enabled"] is False
    assert http.get("/v1/metrics").json()[0]["mode"] == "off"
    refused(http.put(f"{path}/{number}", json={"enabled": "perhaps"}), 400, "true or false")
    refused(http.put("/registry/metrics/busy", json={}), 409, "is a metric module")
    refused(http.get(f"{path}/999"), 404, "999")
    assert http.delete(f"{path}/{number}").status_code == 204
    assert http.get(path).json() == []
    for name, content, sent, sentence in (
        ("busy.py", b"\xff", "{}", "as UTF-8"),
        ("busy.py", b"x = (", "{}", "SyntaxError"),
        ("busy.py", PROGRAM, "[]", "metadata"),
        ("busy.py", PROGRAM, "{", "metadata"),
        ("a b.py", PROGRAM, "{}", "not the name of a metric"),
    ):
        refused(http.post(f"{path}/data", files={"file": (name, content)}, data={"metadata": sent}), 400, sentence)


def test_a_word_names_a_filter_with_parameters(served: Served, http: httpx.Client) -> None:
    word = {"name": "squeeze", "identifier": "compression", "parameters": {"TYPE": "LZ4"}, "activation_url": "http://x"}
    made = http.post("/registry/filters", json=word)
    assert (made.status_code, made.json()["identifier"]) == (201, "COMPRESSION"), made.text
    [one] = http.get("/registry/filters").json()
    assert one == http.get("/registry/filters/squeeze").json()
    assert one["activation_url"] == "http://x"
    [rule] = http.post("/v1/rules", json={"text": "FOR TENANT acme DO SET squeeze WITH LEVEL=3"}).json()
    assert (rule["rule"], rule["enforced"]) == ("FOR TENANT:acme DO SET squeeze WITH LEVEL=3", True)
    [held] = RuleLedger(served.ledger).book().rules
    assert (held.actions[0].kind, dict(held.actions[0].parameters)) == ("COMPRESSION", {"LEVEL": "3", "TYPE": "LZ4"})
    tried = {"tenant": "acme", "container": "c", "object": "o", "text": "FOR CONTAINER acme/c DO SET squeeze"}
    assert http.post("/v1/rules/try", json=tried).json()["then"]["filters"] == ["COMPRESSION"]
    refused(http.post("/v1/rules", json={"text": "FOR TENANT a DO SET squeeze WITH TYPE=RAR"}), 400, "TYPE is one of")
    refused(http.delete("/registry/filters/squeeze"), 409, f"rule {rule['id']} uses squeeze: remove it first")
    assert http.put("/registry/filters/squeeze", json={"parameters": {"TYPE": "GZIP"}}).status_code == 201
    [held] = RuleLedger(served.ledger).book().rules
    assert held.actions[0].parameter("TYPE") == "GZIP"
    http.delete(f"/v1/rules/{rule['id']}")
    assert http.delete("/registry/filters/squeeze").status_code == 204
    refused(http.get("/registry/filters/squeeze"), 404, "does not exist")


def test_a_filter_gets_default_parameters(served: Served, http: httpx.Client) -> None:
    assert http.post("/registry/filters", json={"name": "compression", "parameters": {"LEVEL": 5}}).status_code == 201
    http.post("/v1/rules", json={"text": "FOR TENANT acme DO SET COMPRESSION, SET ENCRYPTION"})
    [rule] = RuleLedger(served.ledger).book().rules
    assert rule.actions[0].parameter("LEVEL") == "5"


def test_invalid_word_is_refused_with_a_sentence(http: httpx.Client) -> None:
    for body, status, sentence in (
        ({"name": "caching", "identifier": "noop"}, 409, "the name of another filter"),
        ({"name": "fast", "identifier": "bandwidth", "parameters": {"MIN_BW": "1MBps"}}, 400, "cannot have aliases"),
        ({"name": "small", "identifier": "compression", "parameters": {"TYPE": "RAR"}}, 400, "TYPE is one of"),
        ({"name": "a b"}, 400, "name"),
    ):
        refused(http.post("/registry/filters", json=body), status, sentence)
    http.post("/registry/filters", json={"name": "one", "identifier": "noop"})
    refused(http.post("/registry/filters", json={"name": "two", "identifier": "one"}), 409, "an alias itself")
    refused(http.put("/registry/filters/one", json={"parameters": [1]}), 400, "parameters")
    refused(http.put("/registry/filters/absent", json={}), 404, "does not exist")


def test_a_dry_run_is_for_rules_with_a_metric_and_proxies_do_not_get_it(served: Served, http: httpx.Client) -> None:
    text = "FOR CONTAINER acme/hot WHEN GETS_SEC > 5 DO SET NOOP"
    refused(http.post("/v1/rules", json={"text": "FOR TENANT a DO SET NOOP", "dry_run": True}), 400, "dry run")
    [made] = http.post("/v1/rules", json={"text": text, "dry_run": True}).json()
    assert (made["mode"], made["enforced"]) == ("dry", False)
    books = RuleLedger(served.ledger).books()
    assert (books.held.rules, [rule.id for rule in books.dry]) == ((), [made["id"]])
    name = f"rule-{made['id']}"
    listed = {entry["name"]: entry for entry in http.get("/v1/controllers").json()}
    assert (set(listed), listed[name]["mode"], listed[name]["kind"]) == ({"bandwidth", name}, "dry", "rule")
    assert http.put(f"/v1/controllers/{name}", json={"mode": "on"}).json()["mode"] == "on"
    assert [rule.id for rule in RuleLedger(served.ledger).book().rules] == [made["id"]]
    assert http.put(f"/v1/controllers/{name}", json={"mode": "off"}).json()["mode"] == "off"
    books = RuleLedger(served.ledger).books()
    assert (books.held.rules, books.dry) == ((), ())
    refused(http.put(f"/v1/controllers/{name}", json={"mode": "perhaps"}), 400, "mode")
    for absent in ("rule-999", "metric-none", "else", "rule-x"):
        refused(http.put(f"/v1/controllers/{absent}", json={"mode": "on"}), 404, "does not exist")
    assert http.put("/v1/controllers/bandwidth", json={"mode": "dry"}).json()["mode"] == "dry"


def test_while_bandwidth_is_not_shared_each_promise_and_the_controller_say_so(
    served: Served, http: httpx.Client
) -> None:
    assert http.get("/v1/controllers/bandwidth").json()["warning"] == ""
    for mode, how in (("off", "off"), ("dry", "in a dry run")):
        sentence = f"the controller bandwidth is {how}: limits and SLOs are not enforced"
        assert http.put("/v1/controllers/bandwidth", json={"mode": mode}).json()["warning"] == sentence
        assert http.put("/v1/slos/acme", json={"read_bytes_per_s": MB}).json()["notes"] == [sentence]
        promised = http.post("/bw/slas", json={"project_id": "beta", "policy_id": "gold", "bandwidth": 1})
        assert (promised.status_code, sentence in promised.headers["Warning"]) == (201, True)
        assert connect(served.settings()).capacity().unkept == (sentence,)
    assert http.put("/v1/controllers/bandwidth", json={"mode": "on"}).json()["warning"] == ""
    assert http.put("/v1/slos/acme", json={"read_bytes_per_s": MB}).json()["notes"] == []
    assert connect(served.settings()).capacity().unkept == ()


def test_the_filters_of_each_proxy_are_told(served: Served, http: httpx.Client) -> None:
    assert http.get("/v1/hosting").json() == {}
    served.silent_s |= {"p2": math.inf, "p1": 0.25}
    served.hosted_by["p1"] = frozenset({"NOOP", "ENCRYPTION"})
    assert http.get("/v1/hosting").json() == {
        "p1": {"silent_s": 0.25, "filters": ["ENCRYPTION", "NOOP"]},
        "p2": {"silent_s": None, "filters": []},
    }


def test_switches_are_kept_the_newest_of_each(served: Served, http: httpx.Client) -> None:
    ledger = ControllerLedger(served.ledger)
    [made] = http.post("/v1/rules", json={"text": "FOR TENANT a WHEN GETS_SEC > 5 DO SET NOOP"}).json()
    name = f"rule-{made['id']}"
    ledger.keep_switches([Switch("rule-0", 1.0, True, True, {})])
    for number in range(3):
        new = [Switch(name, float(number * 60 + n), n % 2 == 0, False, {"GETS_SEC": 6.0}) for n in range(60)]
        ledger.keep_switches(new)
    shown = http.get(f"/v1/controllers/{name}").json()["switches"]
    assert [entry["at_s"] for entry in shown] == [float(n) for n in range(179, 179 - SWITCHES_MAX, -1)]
    assert shown[0]["metrics"] == {"GETS_SEC": 6.0}
    assert len(ledger.switches("rule-0")) == 1
