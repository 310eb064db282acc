"""The Grafana dashboard asks for metrics and labels that our processes tell, and for no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY, Counter, Gauge, Histogram, Metric
from prometheus_client.core import CounterMetricFamily

import zoe_api.http.metrics
import zoe_lib.store.sql.connection.latency
import zoe_master.background.metrics
import zoe_master.notifications.metrics
from scripts.deploy_site import METRICS_TOKEN
from storage_controller.database.supervision import Supervisor
from storage_controller.regulation.collector import ControllerCollector
from storage_controller.settings import ControllerSettings
from storage_controller.traffic.collectors import TrafficCollector
from storage_controller.traffic.traffic import Traffic

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboards" / "zoe.json").read_text())
SUFFIXES: dict[type, tuple[str, ...]] = {Counter: ("_total",), Gauge: ("",), Histogram: ("_bucket", "_sum", "_count")}
MODULES = (
    zoe_api.http.metrics,
    zoe_lib.store.sql.connection.latency,
    zoe_master.background.metrics,
    zoe_master.notifications.metrics,
)
OF_CONTROLLERS = list(ControllerCollector(Supervisor(), dict, dict).collect())
"""Families that zoe-storage makes anew whenever it is asked."""
EVERYWHERE = {"job", "instance"}
FUNCTIONS = {"sum", "max", "by", "increase", "rate", "deriv", "histogram_quantile", "clamp_min"}


def told() -> dict[str, set[str]]:
    """Each series that a process tells, with its labels."""
    found = {}
    for module in MODULES:
        for metric in vars(module).values():
            for suffix in SUFFIXES.get(type(metric), ()):
                labels = {*metric._labelnames, *EVERYWHERE, *({"le"} if suffix == "_bucket" else ())}
                found[metric._name + suffix] = labels
    suffixes = {"counter": "_total", "gauge": ""}
    found |= {metric.name + suffixes[metric.type]: {*_labels(metric), *EVERYWHERE} for metric in OF_CONTROLLERS}
    for family in TrafficCollector(Traffic(str)).collect():  # the storage controller makes its own at each question
        if isinstance(family, CounterMetricFamily):
            found[f"{family.name}_total"] = {*_labels(family), *EVERYWHERE}
    return found


def _labels(family: Metric) -> tuple[str, ...]:
    labels: tuple[str, ...] = family._labelnames  # type: ignore[attr-defined]
    return labels


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions() -> list[tuple[str, str]]:
    return [(target["expr"], target["legendFormat"]) for panel in panels() for target in panel["targets"]]


def unknown(expression: str, legend: str) -> set[str]:
    """Words that are neither functions, nor our metrics, nor labels that those have."""
    bare = re.sub(r'"[^"]*"|\[\w+\]', "", expression)
    words = set(re.findall(r"[a-zA-Z_]\w*", bare)) - FUNCTIONS
    metrics = words & set(told())
    labels = set.intersection(*(told()[name] for name in metrics)) if metrics else set()
    return (words - metrics - labels) | (set(re.findall(r"{{(\w+)}}", legend)) - labels)


@pytest.mark.parametrize(("expression", "legend"), expressions())
def test_every_expression_asks_for_what_is_told(expression: str, legend: str) -> None:
    assert "zoe_" in expression
    assert unknown(expression, legend) == set()


ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"][0]["rules"]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_every_alert_asks_for_what_is_told_and_has_its_advice(alert: dict[str, Any]) -> None:
    bare = re.sub(r'"[^"]*"|\[\w+\]', "", alert["expr"])
    assert set(re.findall(r"zoe_\w+", bare)) <= set(told())
    assert f"| `{alert['alert']}` |" in (DEPLOY.parent / "docs/operate" / "watching.md").read_text()


def test_the_check_sees_wrong_names_and_labels() -> None:
    assert unknown("sum(zoe_no_such_thing)", "") == {"zoe_no_such_thing"}
    assert unknown("sum by (color) (zoe_pending_executions)", "") == {"color"}
    assert unknown("sum(zoe_leader)", "{{node}}") == {"node"}
    assert unknown("rate(zoe_api_requests[5m])", "") == {"zoe_api_requests"}


def test_all_of_our_metrics_are_shown() -> None:
    shown = " ".join(expression for expression, _ in expressions())
    families = {metric.name for metric in REGISTRY.collect() if metric.name.startswith("zoe_")}
    families |= {metric.name for metric in OF_CONTROLLERS}
    assert families
    assert {name for name in families if name not in shown} == set()


def test_panels_do_not_overlap_and_have_numbers_of_their_own() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [(p["x"] + x, p["y"] + y) for p in places for x in range(p["w"]) for y in range(p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(numbers) == len(set(numbers))


def test_the_provisioned_source_is_the_one_that_panels_ask() -> None:
    (source,) = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/zoe.yml").read_text())["datasources"]
    assert {panel["datasource"]["uid"] for panel in panels()} == {source["uid"]}
    compose = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())["services"]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = yaml.safe_load((DEPLOY / "grafana/provisioning/dashboards/zoe.yml").read_text())["providers"]
    assert f"./deploy/grafana/dashboards:{provider['options']['path']}:ro" in compose["grafana"]["volumes"]


def test_prometheus_asks_the_ports_of_the_compose_file() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    targets = {target for job in jobs for config in job["static_configs"] for target in config["targets"]}
    compose = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())["services"]
    environment = {name: service.get("environment", {}) for name, service in compose.items()}
    assert targets == {
        f"api:{environment['api']['ZOE_API_PORT']}",
        f"master:{environment['master']['ZOE_MASTER_METRICS_PORT']}",
        f"storage:{ControllerSettings.model_fields['port'].default}",
    }


def test_prometheus_has_the_token_that_opens_metrics_alone() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    whole = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())
    (secret,) = whole["services"]["prometheus"]["secrets"]
    named = {job["job_name"]: job.get("authorization") for job in jobs}
    assert named == {"zoe-api": None, "zoe-master": None, "zoe-storage": {"credentials_file": f"/run/secrets/{secret}"}}
    storage = whole["services"]["storage"]
    assert secret in storage["secrets"]
    assert storage["environment"]["ZOE_SDS_METRICS_TOKEN_FILE"] == f"/run/secrets/{secret}"
    assert storage["environment"]["ZOE_SDS_TOKEN_FILE"] != f"/run/secrets/{secret}"
    assert whole["secrets"][secret] == {"file": f"${{ZOE_SITE:-./deploy/site}}/secrets/{METRICS_TOKEN}"}
