"""Inputs of scaling rules: use of cores, an instance's response, a Spark driver, or Prometheus.

A driver publishes its wanted executors as gauges
(https://spark.apache.org/docs/3.5.9/monitoring.html#component-instance--driver): the target, which it lowers for a
moment between two stages, and the maximum that its tasks need. The larger one counts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import httpx

from zoe_lib.domain.executions.execution import Service, ServiceId
from zoe_lib.domain.values.scaling import ScalingRule
from zoe_master.backends.base import PortAddress, Usage
from zoe_master.background.probe_answers import TIMEOUT_S, NoReading, ProbeAnswers

_EXECUTORS = ".ExecutorAllocationManager.executors."
# Some 4 KB without sources of the program's own.
_GAUGES_BYTES_MAX = 1 << 20


class NoUsageSample(NoReading):
    """There is no newer sample of the use of cores yet: samples may be rarer than measurements."""


class ScalingCores:
    """The used share of each component's reserved cores, from samples of its services."""

    def __init__(self) -> None:
        self._latest: Mapping[ServiceId, Usage] = {}
        self._before: dict[ServiceId, Usage] = {}

    def note(self, usage: Sequence[Usage]) -> None:
        """Take the newest samples of all services."""
        self._latest = {sample.service_id: sample for sample in usage}

    def share(self, services: Iterable[Service], reserved_milli: int) -> float:
        """Return the average since the last call for these running services; NoReading before there are two samples of
        one of them.
        """
        shares = [share for service in services if (share := self._share(service.id, reserved_milli)) is not None]
        if not shares:
            raise NoUsageSample("its use of cores is not known yet")
        return sum(shares) / len(shares)

    def forget(self, alive: Iterable[ServiceId]) -> None:
        """Keep only samples of these services."""
        kept = set(alive)
        self._before = {text: usage for text, usage in self._before.items() if text in kept}

    def _share(self, service_id: ServiceId, reserved_milli: int) -> float | None:
        now = self._latest.get(service_id)
        if now is None or reserved_milli <= 0:
            return None
        then = self._before.get(service_id)
        if then is not None and now.at_s <= then.at_s:
            return None
        self._before[service_id] = now
        if then is None or now.cpu_s < then.cpu_s:  # it was restarted
            return None
        return (now.cpu_s - then.cpu_s) / (now.at_s - then.at_s) * 1000 / reserved_milli


class ScalingAmounts:
    """Amounts from instances and Prometheus, each request with limits on time and bytes."""

    def __init__(
        self,
        prometheus_url: str | None,
        address: Callable[[ServiceId, str], PortAddress],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._prometheus_url = prometheus_url
        self._address = address
        self._answers = ProbeAnswers(timeout_s, prometheus_url or "http://")

    def instance_amount(self, rule: ScalingRule, services: Sequence[Service]) -> float:
        """Return the number in the first instance's response; NoReading."""
        if not services:
            raise NoReading("no instance is running")
        return _number(self._answers.ask_port(self._address(services[0].id, rule.port or ""), rule.path))

    def spark_amount(self, rule: ScalingRule, driver: Service | None) -> float:
        """Return the number of executors that the Spark driver wants; NoReading."""
        if driver is None:
            raise NoReading("the component of the Spark driver is not ready")
        where = self._address(driver.id, rule.spark or "")
        return _wanted_executors(self._answers.ask_port(where, "/metrics/json/", _GAUGES_BYTES_MAX))

    def prometheus_amount(self, rule: ScalingRule) -> float:
        """Return the value of the expression in Prometheus, which must give one series; NoReading."""
        if self._prometheus_url is None:
            raise NoReading("an admin has to set prometheus_url first")
        url = httpx.URL(f"{self._prometheus_url.rstrip('/')}/api/v1/query", params={"query": rule.query or ""})
        return _single(self._answers.ask_url(str(url), {}))


def _number(content: bytes) -> float:
    """Return the number in a response: alone, or in JSON as `{"backlog": 7}`."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise NoReading("the answer is not a number") from None
    if isinstance(found, dict) and len(found) == 1:
        (found,) = found.values()
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NoReading("the answer is not a number")
    return _finite(found)


def _wanted_executors(content: bytes) -> float:
    """Return the wanted number from a driver's metrics, which are `APPLICATION.driver.SOURCE.NAME`."""
    try:
        gauges = json.loads(content)["gauges"]
        named = {name.rpartition(".")[2]: gauge["value"] for name, gauge in gauges.items() if _EXECUTORS in name}
        wanted = [float(named[name]) for name in ("numberTargetExecutors", "numberMaxNeededExecutors") if name in named]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise NoReading("the port does not answer as a Spark driver") from None
    if not wanted:
        raise NoReading("the Spark driver wants no number of executors: set spark.dynamicAllocation.enabled=true")
    return _finite(max(wanted))


def _single(content: bytes) -> float:
    try:
        data = json.loads(content)["data"]
        if data["resultType"] == "scalar":
            return _finite(float(data["result"][1]))
        series = [float(entry["value"][1]) for entry in data["result"]]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise NoReading("the answer of Prometheus cannot be read as a number") from None
    if not series:
        raise NoReading("Prometheus has no such series")
    if len(series) > 1:
        raise NoReading(f"the query gives {len(series)} series; make it give one, for example by sum(...)")
    return _finite(series[0])


def _finite(number: float) -> float:
    """Return an amount; an integer may be too large for a float."""
    try:
        amount = float(number)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount) or amount < 0:
        raise NoReading(f"{amount} is not an amount")
    return amount
