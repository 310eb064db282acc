"""How much bandwidth the store can guarantee while some of its servers are away. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from storage_bridge.model import BandwidthSlo, MissedBandwidth
from storage_controller.promises.held_places import EnforcingServers
from storage_controller.promises.promisable import at_most
from storage_controller.settings import NodeKind

SILENT_S = 15.0
"""A server that has reported nothing for so long is away: it reports several times a second."""
_NOTHING = BandwidthSlo(0, 0)


@dataclass(frozen=True, slots=True)
class Availability:
    """Bandwidth that the store can guarantee at present, and a sentence for each reason why that is less than usual."""

    rates: BandwidthSlo
    why: tuple[str, ...] = ()


def availability(
    usual: BandwidthSlo,
    places: EnforcingServers,
    silent_s: Mapping[str, float],
    health: Sequence[tuple[str, NodeKind, bool]] = (),
) -> Availability:
    """Return the available bandwidth. usual: with all servers; silent_s: since the last report of each server that
    reports; health: name and kind of each checked server, and whether it is away.

    A single object server that is away takes nothing away unless it enforces bandwidth: others have the same objects.
    """
    away = {name for name, _, is_away in health if is_away}
    away |= {name for name, seconds in silent_s.items() if seconds > SILENT_S}
    if _all_away(NodeKind.PROXY, health) or (places.proxies and away >= places.proxies.keys()):
        return Availability(_NOTHING, ("no proxy of the object store answers",))
    if _all_away(NodeKind.OBJECT, health) or (places.nodes and away >= places.nodes.keys()):
        return Availability(_NOTHING, ("no object server of the store answers",))
    found, why = usual, []
    if lost := sorted(away & places.proxies.keys()):
        most = sum(rate for name, rate in places.proxies.items() if name not in away)
        found = at_most(found, most, most)
        why.append(f"proxies of the object store that are away: {', '.join(lost)}")
    if lost := sorted(away & places.nodes.keys()):
        disks = sum(rate for name, rate in places.nodes.items() if name not in away)
        found = at_most(found, disks, disks // places.copies)
        why.append(f"object servers that are away: {', '.join(lost)}")
    return Availability(found, tuple(why))


def with_undeliverable(
    measured: Mapping[str, MissedBandwidth], promised: Mapping[str, BandwidthSlo], available: BandwidthSlo | None
) -> Mapping[str, MissedBandwidth]:
    """Return what tenants miss: at least the part of their guarantees that the store cannot deliver, since nothing
    measures transfers that never begin. measured: shortfalls of transfers; available: None if it is unknown.
    """
    if available is None:
        return measured
    read = _missing_share([slo.read_bytes_per_s for slo in promised.values()], available.read_bytes_per_s)
    write = _missing_share([slo.write_bytes_per_s for slo in promised.values()], available.write_bytes_per_s)
    if not (read or write):
        return measured
    found = dict(measured)
    for tenant, slo in promised.items():
        known = measured.get(tenant, MissedBandwidth(0, 0))
        found[tenant] = MissedBandwidth(
            max(known.read_bytes_per_s, int((slo.read_bytes_per_s or 0) * read)),
            max(known.write_bytes_per_s, int((slo.write_bytes_per_s or 0) * write)),
        )
    return found


def _missing_share(promised: Collection[int | None], available: int | None) -> float:
    total = sum(rate or 0 for rate in promised)
    return 0.0 if available is None or total <= available else 1 - available / total


def _all_away(kind: NodeKind, health: Sequence[tuple[str, NodeKind, bool]]) -> bool:
    found = [is_away for _, its_kind, is_away in health if its_kind is kind]
    return bool(found) and all(found)
