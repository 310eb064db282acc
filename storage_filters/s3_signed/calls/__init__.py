"""Conditions and checksums of S3 that Swift's filter for S3 does not have.

Swift's `proxy.conf` names `storage_filters.s3_signed.calls:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return the factory of the filter, for paste."""
    # Imported only where the filter runs: other users of this folder do not need Swift.
    from storage_filters.s3_signed.calls.middleware import filter_factory as made

    return made(global_conf, **local_conf)
