"""Metrics of notifications for Prometheus."""

from __future__ import annotations

from prometheus_client import Counter

NOTIFICATIONS = Counter("zoe_notifications_total", "Tries to notify a target, by result.", ["result"])
TOLD, NOT_TOLD, STOPPED = (NOTIFICATIONS.labels(result) for result in ("told", "not told", "stopped"))
