"""Policies of volumes: names for stacks of filters, by an admin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zoe_client.documents.quantities import bytes_per_s_of
from zoe_lib.domain.values.volumes import ENCRYPTION

RATE = "rate"
RATE_MIN = 64 << 10
"""Bytes per second; a file system is hardly made with less."""


def parse_policies(policies: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return the filters of each policy, with amounts in bytes; ValueError names the policy and the filter."""
    found = {}
    for name, texts in policies.items():
        try:
            found[name] = parse_filters(texts)
        except ValueError as error:
            raise ValueError(f"policy {name}: {error}") from None
    return found


def parse_filters(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the filters of a policy: `luks`, and `rate=50MiB/s` as `rate=52428800`; ValueError."""
    found: list[str] = []
    for text in texts:
        name, _, amount = (word.strip() for word in text.partition("="))
        if name not in (ENCRYPTION, RATE):
            raise ValueError(f"filter {name!r} is unknown; use {ENCRYPTION} or {RATE}=50MiB/s")
        if any(other.partition("=")[0] == name for other in found):
            raise ValueError(f"filter {name} is there twice")
        if name == ENCRYPTION and amount:
            raise ValueError(f"filter {name} takes no amount, but has {amount!r}")
        found.append(name if name == ENCRYPTION else f"{RATE}={_rate(amount)}")
    return tuple(found)


def _rate(amount: str) -> int:
    found = bytes_per_s_of(amount)
    if found < RATE_MIN:
        raise ValueError(f"filter {RATE}: {amount} is too slow; use at least 64KiB/s")
    return found
