"""Conditions under which the local back-end refuses to start."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection


def refuse_reason(api_host: str, tenants: Collection[str], insecure: bool) -> str | None:
    """Return why the local back-end will not start; None if it may.

    It is for one trusted user: components share one user, one loopback and one machine, so strangers at the API, or a
    second tenant, could read each other's data.
    """
    if insecure:
        return None
    if not _is_loopback(api_host):
        return (
            "the local back-end is for one trusted person, but the API listens on "
            f"{api_host or 'every address'}: listen on 127.0.0.1, use another back-end, or use "
            "--insecure"
        )
    if len(set(tenants)) > 1:
        return (
            f"the local back-end is for one trusted person, but there are {len(set(tenants))} tenants "
            f"({', '.join(sorted(set(tenants)))}): keep one, use another back-end, or use --insecure"
        )
    return None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
