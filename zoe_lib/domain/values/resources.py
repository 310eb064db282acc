"""Resources of nodes and services, in whole units so that sums never drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import reduce
from operator import add
from types import MappingProxyType

from zoe_lib.domain.values.frozen import value

MEMORY_BYTES_MAX = 64 << 40
"""Maximum reservation or limit of a component."""
_NO_DEVICES: Mapping[str, int] = MappingProxyType({})


@value(frozen=True, slots=True)
class Resources:
    """An amount of cores (thousandths), memory (bytes) and devices (whole pieces by kind)."""

    cores_milli: int = 0
    memory_bytes: int = 0
    devices: Mapping[str, int] = field(default_factory=lambda: _NO_DEVICES)

    def __add__(self, other: Resources) -> Resources:
        if self is NOTHING:
            return other
        return Resources(
            self.cores_milli + other.cores_milli,
            self.memory_bytes + other.memory_bytes,
            _merge(self.devices, other.devices, 1),
        )

    def __sub__(self, other: Resources) -> Resources:
        return Resources(
            self.cores_milli - other.cores_milli,
            self.memory_bytes - other.memory_bytes,
            _merge(self.devices, other.devices, -1),
        )

    def __mul__(self, count: int) -> Resources:
        if count == 1:
            return self
        return Resources(
            self.cores_milli * count,
            self.memory_bytes * count,
            {kind: amount * count for kind, amount in self.devices.items()},
        )

    def fits_in(self, free: Resources) -> bool:
        """Return whether every requested amount is free; an exact fit is a fit."""
        return (
            self.cores_milli <= free.cores_milli
            and self.memory_bytes <= free.memory_bytes
            and all(free.devices.get(kind, 0) >= amount for kind, amount in self.devices.items())
        )


NOTHING = Resources()


def total(amounts: Iterable[Resources]) -> Resources:
    """Return the sum of all amounts; zero for none."""
    return reduce(add, amounts, NOTHING)


def _merge(left: Mapping[str, int], right: Mapping[str, int], sign: int) -> Mapping[str, int]:
    if not left and not right:
        return _NO_DEVICES
    kinds = {**left, **right}
    return {kind: left.get(kind, 0) + sign * right.get(kind, 0) for kind in kinds}


MANY = 10**9
"""The number of services that fit if they need nothing."""


def services_that_fit(amount: Resources, free: Resources) -> int:
    """Return how many services of this size fit into a free amount; MANY if they need nothing."""
    if free.cores_milli < 0 or free.memory_bytes < 0:
        return 0
    fits = free.cores_milli // amount.cores_milli if amount.cores_milli else MANY
    if amount.memory_bytes:
        fits = min(fits, free.memory_bytes // amount.memory_bytes)
    for kind, pieces in amount.devices.items():
        fits = min(fits, max(free.devices.get(kind, 0), 0) // pieces)
    return fits
