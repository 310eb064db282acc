"""Convert the storage plug-in of the IOStack branch: a policy named after a metal becomes a preferred bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoe_lib.descriptions.convert.notes import Notes

_RATES: Mapping[str, str] = {"platinum": "90MB/s", "gold": "80MB/s", "silver": "40MB/s", "bronze": "20MB/s"}
"""Bandwidth that the plug-in's controller gave each policy on a disk of 100 MB/s."""


def convert_plugins(plugins: object, notes: Notes) -> dict[str, Any] | None:
    """Return the storage section for `plugins.storage`, or None. The bandwidth is preferred, since the plug-in never
    waited for an answer.
    """
    if not isinstance(plugins, dict):
        return None
    for name in sorted(plugins.keys() - {"storage"}):
        notes.add("/plugins", f"plug-in {name[:64]!r} left out")
    storage = plugins.get("storage")
    policies = [entry for entry in (storage if isinstance(storage, list) else [storage]) if isinstance(entry, dict)]
    section = None
    for index, policy in enumerate(policies):
        place = f"/plugins/storage/{index}"
        rate = _RATES.get(str(policy.get("policy")).lower())
        if rate is None or section is not None:
            notes.add(place, f"storage policy {str(policy.get('policy'))[:64]!r} left out")
            continue
        section = {"bandwidth": {"read": rate, "write": rate, "guarantee": "preferred"}}
        notes.add(place, f"policy {str(policy['policy'])[:64]!r} became a preferred bandwidth of {rate}")
        notes.add(place, "tenant, controller and channel are settings of the installation; left out")
    return section
