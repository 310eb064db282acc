"""Latency of the database, for the metrics of every process that queries it."""

from __future__ import annotations

from prometheus_client import Histogram

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

STORE = Histogram("zoe_store_seconds", "Time of one transaction with the database.", ["work"], buckets=_SECONDS)
