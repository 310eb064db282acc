"""What the API counts, for Prometheus. Labels are bounded: methods, route templates, status codes."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

REQUESTS = Counter("zoe_api_requests", "Requests answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram("zoe_api_request_seconds", "Time to the head of an answer.", ["method", "route"])


def observe_request(method: str, route: str, status: int, took_s: float) -> None:
    """Count one request."""
    REQUESTS.labels(method, route, str(status)).inc()
    REQUEST_SECONDS.labels(method, route).observe(took_s)
