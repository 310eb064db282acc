"""Signatures of S3, before Swift's own filter for S3.

Swift's `proxy.conf` names `storage_filters.s3_signed:filter_factory`.
"""

from __future__ import annotations

from typing import Any


def filter_factory(global_conf: Any, **local_conf: Any) -> Any:
    """Return what puts the filter before an application."""
    # Only where the filter runs: what else uses this folder does without Swift.
    from storage_filters.s3_signed.middleware import filter_factory as made

    return made(global_conf, **local_conf)
