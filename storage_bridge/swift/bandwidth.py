"""The former name of `storage_filters.bandwidth`, for Swift configurations made before 0.2; to be removed in 1.0."""

from __future__ import annotations

from storage_filters.bandwidth import filter_factory

__all__ = ["filter_factory"]
