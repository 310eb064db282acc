"""Metrics of the API for Prometheus. Labels are bounded: methods, route templates, status codes."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter("zoe_api_requests_total", "Requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram("zoe_api_request_seconds", "Time to the head of an answer.", ["method", "route"])
BUDGET_CHECKS = Counter("zoe_api_budget_checks_total", "Submissions that a budget warned of or refused.", ["result"])
BUDGET_WARNED, BUDGET_REFUSED = (BUDGET_CHECKS.labels(result) for result in ("warned", "refused"))
STREAMS = Gauge("zoe_api_streams", "Streams of events and logs that are open now.")

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def known_method(method: str) -> str:
    """Return the method if it is one of HTTP's own: clients can invent others, and each would add a time series."""
    return method if method in _METHODS else "other"


def observe_request(method: str, route: str, status: int, took_s: float) -> None:
    """Count one request."""
    REQUESTS.labels(method, route, str(status)).inc()
    REQUEST_SECONDS.labels(method, route).observe(took_s)
