"""Quotas of accounts and keys, before a store that has none.

The gateway's `proxy-server.conf` names `storage_gateway.quotas:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return what puts the filter before an application."""
    # Only where the filter runs: the ledger does without Swift.
    from storage_gateway.quotas.middleware import filter_factory as made

    return made(global_conf, **local_conf)
