"""Quotas of accounts and keys, for a store without them.

The gateway's `proxy-server.conf` names `storage_gateway.quotas:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return the factory of the filter, for paste."""
    # Imported only where the filter runs: the ledger does not need Swift.
    from storage_gateway.quotas.middleware import filter_factory as made

    return made(global_conf, **local_conf)
