"""Client of Zoe's controller, by its extensions under `/v1/`. Each poll renews the lease that holds all of Zoe's
objects there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from storage_bridge.http import ControllerHttp, ControllerSettings, convert_answer
from storage_bridge.model import (
    TOKEN_HEADER,
    AchievedBandwidth,
    BandwidthDemand,
    BandwidthSlo,
    DemandFeasibility,
    EndedTransfers,
    ExecutionBandwidth,
    MissedBandwidth,
    StorageCapacity,
    StoreExecution,
    TransferTotals,
    View,
    ViewSample,
)
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.storage import Credential


class ZoeController:
    """Client of Zoe's controller, by its extensions: exact rates, leases, views."""

    def __init__(self, line: ControllerHttp, settings: ControllerSettings) -> None:
        self._http = line
        self._lease = {"lease_s": settings.lease_s}
        self._mine = f"/v1/owners/{quote(settings.owner, safe='')}"

    def capacity(self) -> StorageCapacity:
        """Return its capacity, and the guaranteed part."""
        capacity = convert_answer(lambda: dict(self._http.ask("GET", "/v1/capacity")))
        # A controller without these routes reports neither its proxies nor caveats.
        capacity |= convert_answer(lambda: dict(self._http.ask("GET", "/v1/proxies", absent={})))
        unkept = convert_answer(lambda: tuple(map(str, self._http.ask("GET", "/v1/unkept", absent=[]))))
        now = convert_answer(lambda: dict(self._http.ask("GET", "/v1/available", absent={})))
        away = convert_answer(lambda: tuple(map(str, now.pop("why", ()))))
        return convert_answer(
            lambda: StorageCapacity(
                **capacity, unkept=unkept, available=BandwidthSlo(**now) if now else None, away=away
            )
        )

    def feasible(self, demand: BandwidthDemand) -> DemandFeasibility:
        """Return whether the demand would fit."""
        return convert_answer(lambda: DemandFeasibility(**self._http.ask("POST", "/v1/feasible", asdict(demand.slo))))

    def slos(self) -> Mapping[str, BandwidthSlo]:
        """Return Zoe's SLOs; this renews the lease of all of Zoe's objects."""
        self._http.ask("PUT", f"{self._mine}/lease", self._lease)
        slos = self._http.ask("GET", f"{self._mine}/slos")
        return convert_answer(lambda: {tenant: BandwidthSlo(**rates) for tenant, rates in slos.items()})

    def guarantees(self) -> Mapping[str, BandwidthSlo]:
        """Return all guarantees of each tenant; empty for an older controller."""
        slos = self._http.ask("GET", "/v1/promised", absent={})
        return convert_answer(lambda: {tenant: BandwidthSlo(**rates) for tenant, rates in slos.items()})

    def set_slo(self, tenant: str, slo: BandwidthSlo) -> None:
        """Put a tenant's SLO in force."""
        self._http.ask("PUT", f"{self._mine}/slos/{quote(tenant, safe='')}", asdict(slo) | self._lease)

    def clear_slo(self, tenant: str) -> None:
        """Remove a tenant's SLO."""
        self._http.ask("DELETE", f"{self._mine}/slos/{quote(tenant, safe='')}")

    def views(self) -> Sequence[View]:
        """Return Zoe's views."""
        rows = self._http.ask("GET", f"{self._mine}/views")
        return convert_answer(lambda: [_view(row) for row in rows])

    def create_view(self, view: View) -> None:
        """Create a view."""
        wanted = {"tenant": view.tenant, "source": view.source, "columns": list(view.columns), "where": view.where}
        wanted |= view.reading()
        self._http.ask(
            "PUT",
            f"{self._mine}/views/{quote(view.id, safe='')}",
            wanted | self._lease,
            headers=_with_token(view.token),
        )

    def sample(self, view_id: str, token: str = "") -> ViewSample:
        """Return new measurements of reading part of a view's source."""
        path = f"{self._mine}/views/{quote(view_id, safe='')}/sample"
        sample = self._http.ask("POST", path, headers=_with_token(token))
        return convert_answer(lambda: _sample(sample))

    def drop_view(self, view_id: str) -> None:
        """Remove a view."""
        self._http.ask("DELETE", f"{self._mine}/views/{quote(view_id, safe='')}")

    def achieved_bandwidth(self) -> Mapping[str, AchievedBandwidth]:
        """Return the recent bandwidth of each tenant."""
        achieved = self._http.ask("GET", "/v1/achieved")
        return convert_answer(lambda: {tenant: AchievedBandwidth(**rates) for tenant, rates in achieved.items()})

    def missed_bandwidth(self) -> Mapping[str, MissedBandwidth]:
        """Return the shortfall of SLOs."""
        missed = self._http.ask("GET", "/v1/missed")
        return convert_answer(lambda: {tenant: MissedBandwidth(**rates) for tenant, rates in missed.items()})

    def clients(self) -> Mapping[str, AchievedBandwidth] | None:
        """Return the recent bandwidth of each client address; None for an older controller."""
        clients = self._http.ask("GET", "/v1/clients", absent=None)
        return (
            None
            if clients is None
            else convert_answer(lambda: {a: AchievedBandwidth(**rates) for a, rates in clients.items()})
        )

    def executions(self) -> Mapping[str, ExecutionBandwidth] | None:
        """Return Zoe's executions with credentials; None for a controller without them."""
        rows = self._http.ask("GET", f"{self._mine}/executions", absent=None)
        return None if rows is None else convert_answer(lambda: {entry: _bandwidth(row) for entry, row in rows.items()})

    def set_execution(self, execution: StoreExecution) -> Credential:
        """Create an execution's credential, or change its guarantee."""
        wanted = {"tenant": execution.tenant, **asdict(execution.slo), **self._lease}
        answer = self._http.ask("PUT", f"{self._mine}/executions/{quote(execution.id, safe='')}", wanted)
        return convert_answer(lambda: Credential(str(answer["user"]), str(answer["key"])))

    def drop_execution(self, execution_id: str) -> None:
        """End an execution's credential."""
        self._http.ask("DELETE", f"{self._mine}/executions/{quote(execution_id, safe='')}")

    def ended_transfers(self) -> Sequence[EndedTransfers]:
        """Return the transfers with ended credentials; empty for an older controller."""
        rows = self._http.ask("GET", f"{self._mine}/transfers", absent=[])
        return convert_answer(lambda: [_ended_transfers(row) for row in rows])

    def forget_transfers(self, generation: int) -> None:
        """Forget the transfers of an ended credential."""
        self._http.ask("DELETE", f"{self._mine}/transfers/{generation}")

    def circuit_open(self) -> bool:
        """Return whether requests pause after several failures."""
        return self._http.circuit_open

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        """Return Swift's present report; None for an older controller without such a route, and for a missing
        source.
        """
        path = f"/v1/locality?tenant={quote(tenant, safe='')}&source={quote(uri, safe='')}"
        places = self._http.ask("GET", path, absent=None, headers=_with_token(token))
        return None if places is None else convert_answer(lambda: _places(places))


def _with_token(token: str) -> dict[str, str]:
    return {TOKEN_HEADER: token} if token else {}


def _view(row: Mapping[str, Any]) -> View:
    return View(row["id"], row["tenant"], row["source"], tuple(row["columns"]), row["where"], **View.read_as(row))


def _bandwidth(row: Mapping[str, Any]) -> ExecutionBandwidth:
    return ExecutionBandwidth(
        str(row["tenant"]),
        BandwidthSlo(row["read_bytes_per_s"], row["write_bytes_per_s"]),
        AchievedBandwidth(float(row["achieved_read_bytes_per_s"]), float(row["achieved_write_bytes_per_s"])),
        int(row.get("generation", 0)),
        _totals(row.get("totals")),
    )


def _ended_transfers(row: Mapping[str, Any]) -> EndedTransfers:
    return EndedTransfers(str(row["execution"]), int(row["generation"]), _totals(row["totals"]), bool(row["whole"]))


def _totals(row: Mapping[str, Any] | None) -> TransferTotals | None:
    if row is None:
        return None
    totals = TransferTotals(
        int(row["read_bytes"]), int(row["written_bytes"]), float(row["transferring_s"]), float(row["waiting_s"])
    )
    if min(totals.read_bytes, totals.written_bytes) < 0 or not 0 <= totals.transferring_s < math.inf:
        raise ValueError(f"{totals} has a negative number")
    return totals


def _sample(answer: Mapping[str, Any]) -> ViewSample:
    rate = answer["rate_bytes_per_s"]
    return ViewSample(
        source_bytes=int(answer["source_bytes"]),
        sampled_bytes=int(answer["sampled_bytes"]),
        delivered_bytes=int(answer["delivered_bytes"]),
        selected_bytes=int(answer["selected_bytes"]),
        plain_s=float(answer["plain_s"]),
        view_s=float(answer["view_s"]),
        rate_bytes_per_s=None if rate is None else int(rate),
        columns=tuple(str(name) for name in answer["columns"]),
        filters=tuple(str(name) for name in answer.get("filters", ())),
        stored_share=None if answer.get("stored_share") is None else float(answer["stored_share"]),
    )


def _places(answer: Mapping[str, Any]) -> Places:
    hosts = {str(host): _input_objects(held) for host, held in answer["hosts"].items()}
    return Places(
        _input_objects(answer["listed"]), _input_objects(answer["looked_at"]), hosts, bool(answer["complete"])
    )


def _input_objects(answer: Mapping[str, Any]) -> InputObjects:
    held = InputObjects(int(answer["objects"]), int(answer["bytes"]))
    if held.objects < 0 or held.bytes < 0:
        raise ValueError(f"{held} has a negative number")
    return held
