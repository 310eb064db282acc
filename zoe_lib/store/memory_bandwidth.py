"""What looks at the storage controller found, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.promises import Rates, TenantBandwidth
from zoe_lib.store.base import BandwidthPoint

_NOTHING, _UNKNOWN = TenantBandwidth(), TenantBandwidth(achieved=None, missed=None)
_Look = tuple[Mapping[str, TenantBandwidth], bool]


class Looks:
    """By time, each with the tenants that had something of the store."""

    def __init__(self) -> None:
        self._found: dict[float, _Look] = {}

    def add(self, at_s: float, tenants: Mapping[str, TenantBandwidth], measured: bool) -> None:
        """Keep a look, unless it is kept already."""
        if not measured:
            tenants = {name: replace(_UNKNOWN, granted=one.granted) for name, one in tenants.items()}
        self._found.setdefault(at_s, (dict(tenants), measured))

    def over_time(self, from_s: float, to_s: float, stretch_s: float, tenant: str | None) -> Sequence[BandwidthPoint]:
        """Means over the looks of each stretch."""
        stretches: dict[float, list[_Look]] = defaultdict(list)
        for at_s, look in self._found.items():
            if from_s <= at_s < to_s:
                stretches[at_s // stretch_s].append(look)
        looks = [found for together in stretches.values() for found, _ in together]
        names = sorted({name for found in looks for name in found if tenant in (None, name)})
        return [
            BandwidthPoint(stretch_s * at, name, _means([_of(name, look) for look in stretches[at]]))
            for at in sorted(stretches)
            for name in names
        ]

    def prune(self, before_s: float) -> None:
        """Forget older ones."""
        self._found = {at_s: found for at_s, found in self._found.items() if at_s >= before_s}


def _of(name: str, look: _Look) -> TenantBandwidth:
    found, measured = look
    return found.get(name, _NOTHING if measured else _UNKNOWN)


def _means(found: Sequence[TenantBandwidth]) -> TenantBandwidth:
    return TenantBandwidth(
        granted=_mean([one.granted for one in found]) or Rates(),
        achieved=_mean([one.achieved for one in found]),
        missed=_mean([one.missed for one in found]),
    )


def _mean(rates: Sequence[Rates | None]) -> Rates | None:
    """Of those that are known; None of none."""
    known = [one for one in rates if one is not None]
    total = sum(known, Rates())
    return Rates(total.read // len(known), total.write // len(known)) if known else None
