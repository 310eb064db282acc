"""Views: containers that a proxy fills from CSV objects.

Swift's `proxy.conf` names `storage_filters.views:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return what puts the filter before an application."""
    # Only where the filter runs: what else uses this folder does without Swift.
    from storage_filters.views.middleware import filter_factory as made

    return made(global_conf, **local_conf)
