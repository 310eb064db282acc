"""Controllers of an object store: their modes, the last action of each, and the switches of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from storage_controller.answers import RequestRefusedError
from storage_controller.database.controller_ledger import (
    BANDWIDTH_CONTROLLER,
    HEALTH_CONTROLLER,
    REPLICATION_CONTROLLER,
    ControllerLedger,
    caveats_of_mode,
    rule_controller,
)
from storage_controller.database.supervision import Active, ControllerState, Mode, Supervisor
from storage_controller.metrics.metric_store import MetricLedger, MetricSource
from storage_controller.rules.rule_store import RuleLedger
from storage_filters.rules.rules import metrics_of
from zoe_client.wire.storage.controllers import StorageControllerView, StorageSwitchView

_SHARES = "divides bandwidth among active tenants: a minimum for each, then the guarantees, then equal shares"


class Controllers:
    """All controllers, from their ledgers. nodes: number of checked nodes of the store; replication_bytes_per_s: limit
    of replication, if there is one; health_set: is called with the mode of `health`.
    """

    def __init__(
        self,
        kept: ControllerLedger,
        rules: RuleLedger,
        metrics: MetricLedger,
        supervisor: Supervisor,
        active: Active,
        nodes: int = 0,
        replication_bytes_per_s: int | None = None,
        health_set: Callable[[Mode], None] = lambda _: None,
    ) -> None:
        self.kept = kept
        self._rules = rules
        self._metrics = metrics
        self._supervisor = supervisor
        self._active = active
        self._nodes = nodes
        self._replication_bytes_per_s = replication_bytes_per_s
        self._health_set = health_set

    def controllers(self) -> list[StorageControllerView]:
        """Return all controllers."""
        states = {state.name: state for state in self._supervisor.states()}
        active = self._active()
        return [
            _view(
                states.get(name) or ControllerState(name),
                kind=kind,
                what=what,
                mode=mode.value,
                active=active.get(name) if mode is not Mode.OFF else None,
                warning="; ".join(caveats_of_mode(mode)) if name == BANDWIDTH_CONTROLLER else "",
            )
            for name, kind, what, mode in self._names_and_modes()
        ]

    def controller(self, name: str) -> StorageControllerView:
        """Return a controller with its last switches. Raises RequestRefusedError."""
        found = next((controller for controller in self.controllers() if controller.name == name), None)
        if found is None:
            raise RequestRefusedError(404, f"controller {name} does not exist")
        found.switches = [
            StorageSwitchView(at_s=switch.at_s, active=switch.active, dry=switch.dry, metrics=dict(switch.metrics))
            for switch in self.kept.switches(name)
        ]
        return found

    def set_mode(self, name: str, mode: Mode) -> None:
        """Set the mode of a controller. Raises RequestRefusedError."""
        self.controller(name)  # a rule without metrics has no controller
        self.kept.set_mode(name, mode)
        if name == HEALTH_CONTROLLER:
            self._health_set(mode)

    def _names_and_modes(self) -> Iterator[tuple[str, str, str, Mode]]:
        yield BANDWIDTH_CONTROLLER, "bandwidth", _SHARES, self.kept.mode(BANDWIDTH_CONTROLLER)
        if self._nodes:
            what = f"checks the health of {self._nodes} nodes of the store"
            yield HEALTH_CONTROLLER, "health", what, self.kept.mode(HEALTH_CONTROLLER)
        if self._replication_bytes_per_s is not None:
            what = f"holds replication at {self._replication_bytes_per_s / 1e6:g} MB/s at each object server"
            yield REPLICATION_CONTROLLER, "replication", what, self.kept.mode(REPLICATION_CONTROLLER)
        for metric in self._metrics.metrics():
            if metric.source is not MetricSource.NONE:
                yield metric.controller, "metric", f"measures by {metric.source}", metric.mode
        for rule in self._rules.rules():
            if rule.rule is not None and metrics_of(rule.rule):
                yield rule_controller(rule.id), "rule", rule.text, rule.mode


def _view(state: ControllerState, **known: Any) -> StorageControllerView:
    told = {name: entry for name, entry in asdict(state).items() if name in StorageControllerView.model_fields}
    return StorageControllerView(**told, **known)
