"""Check S3 requests against their signatures, before Swift's filter for S3.

Swift's `proxy.conf` names `storage_filters.s3_signed:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return the factory of the filter, for paste."""
    # Imported only where the filter runs: other users of this folder do not need Swift.
    from storage_filters.s3_signed.middleware import filter_factory as made

    return made(global_conf, **local_conf)
