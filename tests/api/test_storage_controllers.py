"""Added metrics and controllers from command line and SDK to a storage controller: admins only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.api import Api, problem
from tests.support.asked_controller import asks
from tests.support.people import make_token
from tests.support.prometheus import Expressions, prometheus
from tests.support.storage_controller import served_controller
from zoe_cli.main import app
from zoe_client import Client
from zoe_client.wire import StorageMetricRequest

PROGRAM = "class Metric:\n    def evaluate(self, counters):\n        return 7\n"


@pytest.fixture
def expressions() -> Iterator[Expressions]:
    with prometheus() as found:
        yield found


@pytest.fixture
def admin(api: Api, postgres_url: str, expressions: Expressions) -> Iterator[Client]:
    """The API asks a controller."""
    with served_controller(postgres_url, prometheus_url=expressions.url) as controller:
        controller.silent_s["p1"] = 2.0
        controller.hosted_by["p1"] = frozenset({"NOOP"})
        asks(api, controller)
        yield api.client(api.admin)


def test_an_admin_adds_metrics_and_sets_controllers(api: Api, admin: Client) -> None:
    made = admin.add_storage_metric("load", StorageMetricRequest(expression="up", tenant_label="who"))
    assert (made.name, made.source, made.tenant_label, made.author) == ("LOAD", "prometheus", "who", "root")
    admin.add_storage_metric("seven", StorageMetricRequest(program=PROGRAM))
    assert [(metric.name, metric.source) for metric in admin.storage_metrics().metrics] == [
        ("LOAD", "prometheus"),
        ("SEVEN", "python"),
    ]
    [rule] = admin.add_storage_rules("FOR TENANT red WHEN load > 5 DO SET NOOP", dry_run=True).rules
    assert (rule.mode, rule.enforced) == ("dry", False)
    name = f"rule-{rule.id}"
    assert [(controller.name, controller.mode) for controller in admin.storage_controllers().controllers] == [
        ("bandwidth", "on"),
        ("metric-LOAD", "on"),
        ("metric-SEVEN", "on"),
        (name, "dry"),
    ]
    [proxy] = admin.storage_controllers().proxies
    assert (proxy.name, proxy.silent_s, proxy.filters) == ("p1", 2.0, ["NOOP"])
    assert admin.set_storage_controller(name, "on").mode == "on"
    assert admin.storage_controller(name).switches == []
    assert [(rule.mode, rule.enforced) for rule in admin.storage_rules().rules] == [("on", True)]
    admin.set_storage_controller(name, "dry")
    admin.remove_storage_rule(rule.id)
    assert [rule.mode for rule in admin.storage_rules(removed=True).rules] == ["dry"]
    admin.remove_storage_metric("load")
    assert [metric.name for metric in admin.storage_metrics().metrics] == ["SEVEN"]


def test_refusal_has_the_sentence_of_the_controller(api: Api, admin: Client) -> None:
    http = api.http(api.admin)
    for body, sentence in (
        ({"expression": "sum("}, "Prometheus refuses the expression"),
        ({}, "an expression or a program"),
        ({"program": "x"}, "NameError"),
    ):
        answer = http.post("/api/v1/storage/metrics/load", json=body)
        assert problem(answer)["code"] == "storage_rule_refused"
        assert sentence in answer.text
    for method, path in (("DELETE", "metrics/absent"), ("GET", "controllers/rule-9"), ("GET", "controllers/x")):
        answer = http.request(method, f"/api/v1/storage/{path}")
        assert "does not exist" in problem(answer)["detail"], answer.text
    assert http.put("/api/v1/storage/controllers/bandwidth", json={"mode": "perhaps"}).status_code == 422
    assert http.post("/api/v1/storage/metrics/a%20b", json={"expression": "up"}).status_code == 422


def test_others_than_admins_may_nothing_of_it(api: Api, admin: Client) -> None:
    operator = api.http(make_token(api.store, tenant="red", user="olga", scopes=("read", "submit", "operate")))
    for http in (api.http(), operator):
        for method, path in (
            ("GET", "metrics"),
            ("POST", "metrics/load"),
            ("DELETE", "metrics/load"),
            ("GET", "controllers"),
            ("GET", "controllers/bandwidth"),
            ("PUT", "controllers/bandwidth"),
        ):
            body = {"POST": {"expression": "up"}, "PUT": {"mode": "off"}}.get(method)
            assert http.request(method, f"/api/v1/storage/{path}", json=body).status_code == 403, (method, path)


def test_the_command_line(api: Api, admin: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_URL", api.url)
    monkeypatch.setenv("ZOE_TOKEN", api.admin)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "seven.py").write_text(PROGRAM)
    (tmp_path / "binary.py").write_bytes(b"\xff")
    run = CliRunner()
    rule = "FOR TENANT red WHEN seven > 5 DO SET NOOP"
    for arguments, said, code in (
        (["metric", "add", "seven", "--python", str(tmp_path / "seven.py")], "SEVEN", 0),
        (
            ["metric", "add", "both", "--python", str(tmp_path / "seven.py"), "--promql", "up"],
            "--promql or --python",
            2,
        ),
        (["metric", "add", "odd", "--python", str(tmp_path / "binary.py")], "not text in UTF-8", 2),
        (["metric", "ls"], "not known", 0),
        (["policy", "add", rule, "--dry-run"], "dry run", 0),
        (["controllers"], "metric-SEVEN", 0),
        (["policy", "rm", "1"], "1", 0),
        (["policy", "restore", "1"], "dry run", 0),
        (["controllers"], "2.0s ago", 0),
        (
            ["controllers", "bandwidth", "--mode", "off"],
            "warning: the controller bandwidth is off: limits and SLOs are not enforced",
            0,
        ),
        (
            ["slo", "set", "red", "--read", "1MB/s"],
            "note: the controller bandwidth is off: limits and SLOs are not enforced",
            0,
        ),
        (["controllers", "--mode", "off"], "needs the name", 2),
    ):
        done = run.invoke(app, ["storage", *arguments])
        assert (done.exit_code, said in done.output) == (code, True), (arguments, done.output)
