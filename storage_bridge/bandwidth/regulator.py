"""Turn measured transfers into limits, epoch by epoch: assign, send changes, and handle silent nodes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from storage_bridge.bandwidth.assignment import (
    Capacity,
    ClaimKey,
    TransferClaim,
    TransferKind,
    assign,
    execution_of,
    tenant_of,
)

# A tenant that uses less than this share of its limit has another bottleneck.
_USES_ITS_LIMIT = 0.9
# Margin above the use of a tenant, within which it can show that it needs more.
_ROOM_TO_GROW = 1.25


@dataclass(frozen=True, slots=True)
class Transfers:
    """Transfers of one tenant, or execution of one, through one node, as measured.

    rate: bytes per second, none for a new transfer. waits: whether its bytes waited for their turn at the last
    measurement.
    """

    tenant: str
    node: str
    rate: float | None = None
    traffic: TransferKind = TransferKind.READ
    waits: bool = False


@dataclass(frozen=True, slots=True)
class TransferReport:
    """All transfers of one node at one time; a report without transfers counts, too."""

    node: str
    at_s: float
    transfers: tuple[Transfers, ...] = ()


@dataclass(frozen=True, slots=True)
class RateSettings:
    """How limits are computed and sent.

    floor: bytes per second that keep a transfer alive. epsilon: a change of a smaller share is not sent.

    Everything is sent again every `resend_epochs`. A node that has not reported for `hold_s` seconds keeps its limits;
    then they fall to the shares of the SLOs within `decay_s`. After `lost_s`, if that is less, it counts as lost: its
    clients have moved to the other nodes, where they get all of their shares.

    A tenant below its limit counts as able to use as much as in the best of the last `memory_epochs` in which it moved
    bytes, so that one slow second does not cost its SLO. A tenant that moves nothing immediately reserves nothing, but
    keeps its limit for `linger_s`: writers that all wait for the disks resume at their former rates.
    """

    floor: int = 64 * 1024
    epsilon: float = 0.02
    resend_epochs: int = 30
    hold_s: float = 5.0
    decay_s: float = 30.0
    memory_epochs: int = 20
    linger_s: float = 10.0
    lost_s: float = math.inf


# Bytes per second by claim and node.
Limits = dict[tuple[ClaimKey, str], int]
# Changes to send; None lifts a limit.
News = dict[tuple[ClaimKey, str], int | None]


class RateRegulator:
    """Keeps the limits of all nodes, one epoch after the other; the caller passes the time."""

    def __init__(self, capacity: Capacity, settings: RateSettings | None = None) -> None:
        self.capacity = capacity
        self._settings = settings or RateSettings()
        self._reports: dict[str, TransferReport] = {}
        self._fresh: frozenset[str] = frozenset()
        self._limits: Limits = {}
        self._held: Limits = {}
        self._sent: Limits = {}
        self._demands: dict[ClaimKey, deque[int | None]] = {}
        self._active_s: dict[tuple[ClaimKey, str], float] = {}
        self._epoch = 0
        self._shared: tuple[Sequence[TransferClaim], Capacity] = ((), Capacity(0, {}))
        self.missed: Mapping[ClaimKey, int] = {}
        self.newcomers: dict[str, int] = {}
        self.standing: Mapping[tuple[ClaimKey, str], int] = {}

    @property
    def limits(self) -> Mapping[tuple[ClaimKey, str], int]:
        """Return bytes per second in force, by claim and node. For others, `standing` has the limit.

        A claim in neither is new: its limit through each node is in `newcomers`, until the next epoch.
        """
        return self._limits

    @property
    def claims(self) -> Sequence[TransferClaim] | None:
        """Return the use and guarantees of tenants in the last epoch; None while no node reports."""
        claims, capacity = self._shared
        return claims if capacity.nodes else None

    def attainable(self, key: ClaimKey, slo: int | None) -> int | None:
        """Return the bytes per second that a claim would get beside other tenants now, with unlimited demand.

        Its limit may be lower, since that follows its use. None while no node reports.
        """
        claims, capacity = self._shared
        wanting = TransferClaim(key[0], frozenset(capacity.nodes), slo, None, key[1])
        return sum(self._attainable_rates(claims, capacity, wanting).values()) if capacity.nodes else None

    def epoch(self, now_s: float, reports: Iterable[TransferReport], slos: Mapping[ClaimKey, int]) -> News:
        """Process measurements and guarantees; return the limits to send now."""
        for report in reports:
            self._reports[report.node] = report
        silent_s = min(self._settings.hold_s, self._settings.lost_s)
        fresh = frozenset(n for n, r in self._reports.items() if now_s - r.at_s <= silent_s)
        self._held |= {slot: limit for slot, limit in self._limits.items() if slot[1] in self._fresh - fresh}
        self._held = {slot: limit for slot, limit in self._held.items() if slot[1] not in fresh}
        stale = self._decayed_limits(now_s, slos)
        capacity, claims = self._capacity(fresh, stale), self._claims(fresh, slos)
        self._shared = claims, capacity
        assignment = assign(claims, capacity, self._settings.floor)
        self.missed = assignment.missed
        rates = {(k, node): rate for k, by_node in assignment.rates.items() for node, rate in by_node.items()}
        self._limits = stale | self._lingering(now_s, rates, fresh) | rates
        self.newcomers |= self._newcomers(claims, capacity)
        self.standing = self._standing(rates, fresh, slos)
        again = fresh - self._fresh
        self._fresh = fresh
        return self._news(again)

    def _capacity(self, fresh: frozenset[str], stale: Limits) -> Capacity:
        """Return the capacity of the reporting nodes, with the limits of the others subtracted from the proxies."""
        through = sum(limit for (key, _), limit in stale.items() if key[1] is not TransferKind.REPLICATION)
        nodes = {name: room for name, room in self.capacity.nodes.items() if name in fresh}
        return Capacity(max(self.capacity.proxy - through, 0), nodes)

    def _claims(self, fresh: frozenset[str], slos: Mapping[ClaimKey, int]) -> Sequence[TransferClaim]:
        """Return the claims of tenants with transfers through the reporting nodes."""
        measured: dict[ClaimKey, list[Transfers]] = {}
        for name in sorted(fresh & self.capacity.nodes.keys()):
            for transfer in self._reports[name].transfers:
                measured.setdefault((transfer.tenant, transfer.traffic), []).append(replace(transfer, node=name))
        known = measured.keys() | {key for key, _ in self._active_s}
        self._demands = {key: lately for key, lately in self._demands.items() if key in known}
        return [self._claim(key, transfers, slos.get(key)) for key, transfers in measured.items()]

    def _newcomers(self, claims: Sequence[TransferClaim], capacity: Capacity) -> Mapping[str, int]:
        """Return the bandwidth of one more tenant without an SLO at each node now."""
        if not capacity.nodes:
            return {}
        return self._attainable_rates(claims, capacity, TransferClaim("", frozenset(capacity.nodes)))

    def _attainable_rates(
        self, claims: Sequence[TransferClaim], capacity: Capacity, wanting: TransferClaim
    ) -> Mapping[str, int]:
        """Return the bandwidth of this claim at each node beside other tenants."""
        others = [claim for claim in claims if tenant_of(claim.tenant) != tenant_of(wanting.tenant)]
        return assign([*others, wanting], capacity, self._settings.floor).rates[wanting.key]

    def _standing(self, rates: Limits, fresh: frozenset[str], slos: Mapping[ClaimKey, int]) -> Limits:
        """Return limits for tenants with an SLO but no transfers, wherever one begins: the SLO and a newcomer's
        part.
        """
        return {
            (key, node): max(self._limits.get((key, node), 0), min(slo + part, self.capacity.nodes[node]))
            for key, slo in slos.items()
            for node, part in self.newcomers.items()
            if node in fresh and (key, node) not in rates
        }

    def _lingering(self, now_s: float, rates: Limits, fresh: frozenset[str]) -> Limits:
        """Return limits of tenants that recently moved bytes through reporting nodes."""
        self._active_s |= dict.fromkeys(rates, now_s)
        over_s = now_s - self._settings.linger_s
        self._active_s = {slot: at_s for slot, at_s in self._active_s.items() if at_s > over_s}
        return {slot: self._limits[slot] for slot in self._active_s if slot[1] in fresh and slot in self._limits}

    def _claim(self, key: ClaimKey, transfers: Sequence[Transfers], slo: int | None) -> TransferClaim:
        nodes = frozenset(transfer.node for transfer in transfers)
        lately = self._demands.setdefault(key, deque(maxlen=self._settings.memory_epochs))
        lately.append(self._demand(key, transfers, slo or 0))
        known = [entry for entry in lately if entry is not None]
        return TransferClaim(key[0], nodes, slo, max(known) if len(known) == len(lately) else None, key[1])

    def _demand(self, key: ClaimKey, transfers: Sequence[Transfers], slo: int) -> int | None:
        """Return the demand of the tenant: a little more than its use, unless its limits bound it.

        An execution that waits below its guarantee gets it back at once; by its average rate that would take seconds.
        """
        used, limit = 0.0, 0
        for transfer in transfers:
            its_limit = self._limits.get((key, transfer.node))
            if transfer.rate is None or its_limit is None:
                return None
            used += transfer.rate
            limit += its_limit
        if execution_of(key[0]) and limit < slo and any(transfer.waits for transfer in transfers):
            return None
        return None if used >= _USES_ITS_LIMIT * limit else max(int(used * _ROOM_TO_GROW), 2 * self._settings.floor)

    def _decayed_limits(self, now_s: float, slos: Mapping[ClaimKey, int]) -> Limits:
        """Return limits of silent nodes: held, then falling to the SLO's share; never above the former limits."""
        slots: dict[ClaimKey, int] = {}
        for key, _ in self._held:
            slots[key] = slots.get(key, 0) + 1
        result: Limits = {}
        for (key, node), limit in self._held.items():
            share = min(max(slos.get(key, 0) // slots[key], self._settings.floor), limit)
            over_s = now_s - self._reports[node].at_s - self._settings.hold_s
            left = min(max(1 - over_s / self._settings.decay_s, 0.0), 1.0) if self._settings.decay_s > 0 else 0.0
            result[key, node] = share + int((limit - share) * left)
        return result

    def _news(self, again: frozenset[str]) -> News:
        """Return the changes to send: significant ones, lifted limits, and everything at intervals and for nodes that
        return.
        """
        self._epoch += 1
        everything = self._epoch % self._settings.resend_epochs == 0
        lifted: News = dict.fromkeys(self._sent.keys() - self._limits.keys())
        changed = {
            slot: limit
            for slot, limit in self._limits.items()
            if everything or slot[1] in again or self._differs(slot, limit)
        }
        self._sent = {slot: limit for slot, limit in (self._sent | changed).items() if slot not in lifted}
        return lifted | changed

    def _differs(self, slot: tuple[ClaimKey, str], limit: int) -> bool:
        before = self._sent.get(slot)
        return before is None or abs(limit - before) > self._settings.epsilon * before
