"""Reports of proxies for a storage controller without proxies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from storage_bridge.model import AchievedBandwidth, MissedBandwidth
from storage_controller.traffic.contents import Contents
from storage_controller.traffic.traffic import Traffic
from storage_filters.filter_host.records import KINDS


def _traffic() -> Traffic:
    return Traffic(str)


@dataclass
class GivenReports:
    """`Reports` whose answers tests set. rates: of tenants and executions alike."""

    traffic: Traffic = field(default_factory=_traffic)
    of_signers: Traffic = field(default_factory=_traffic)
    of_nodes: Traffic = field(default_factory=_traffic)
    contents: Contents = field(default_factory=lambda: Contents(str))
    rates: dict[str, AchievedBandwidth] = field(default_factory=dict)
    missing: dict[str, MissedBandwidth] = field(default_factory=dict)
    filters: dict[str, frozenset[str]] = field(default_factory=dict)
    silence_s: dict[str, float] = field(default_factory=dict)
    values: dict[int, dict[str, float]] = field(default_factory=dict)
    holding: dict[str, bool] = field(default_factory=dict)
    counting: Callable[[], bool] = lambda: False
    """Return whether all proxies report transfers of executions."""

    def achieved_by_tenant(self) -> Mapping[str, AchievedBandwidth]:
        return self.rates

    def achieved_by_execution(self) -> Mapping[str, AchievedBandwidth]:
        return self.rates

    def clients(self) -> Mapping[str, AchievedBandwidth]:
        return {}

    def missed_by_tenant(self) -> Mapping[str, MissedBandwidth]:
        return self.missing

    def counts_transfers(self) -> bool:
        return self.counting()

    def hosted_filters(self) -> Collection[str]:
        return KINDS

    def hosted_by(self) -> Mapping[str, Collection[str]]:
        return self.filters

    def caches(self) -> Mapping[str, Mapping[str, tuple[int, int]]]:
        return {}

    def silent_s(self) -> Mapping[str, float]:
        return self.silence_s

    def silent_nodes_s(self) -> Mapping[str, float]:
        return {}

    def metrics(self) -> Mapping[int, Mapping[str, float]]:
        return self.values

    def active(self) -> Mapping[str, bool]:
        return self.holding
