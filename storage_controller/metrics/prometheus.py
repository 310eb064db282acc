"""Asks a Prometheus for the present values of an expression, within a bound of time and bytes."""

from __future__ import annotations

import json

import httpx

from storage_controller.metrics.values import MetricFault, Series, read_prometheus
from zoe_client.words.connections import failure_words
from zoe_lib.clock import SYSTEM_CLOCK, Clock

ANSWER_S = 3.0
_ANSWER_BYTES_MAX = 2 * 2**20
NO_PROMETHEUS = "no Prometheus is configured: give the controller its URL by the setting prometheus_url"


def ask(
    url: str | None,
    expression: str,
    tenant_label: str,
    container_label: str,
    seconds: float = ANSWER_S,
    clock: Clock = SYSTEM_CLOCK,
) -> Series:
    """Return the present values of an expression. Raises MetricFault."""
    if url is None:
        raise MetricFault(NO_PROMETHEUS)
    until_s = clock.monotonic_s() + seconds
    form = {"query": expression, "timeout": f"{seconds:g}s"}
    found = bytearray()
    try:
        with (
            httpx.Client(timeout=seconds, trust_env=False) as http,
            http.stream("POST", f"{url.rstrip('/')}/api/v1/query", data=form) as answer,
        ):
            for piece in answer.iter_bytes():
                found += piece
                if len(found) > _ANSWER_BYTES_MAX:
                    raise MetricFault(
                        f"the answer of Prometheus exceeds {_ANSWER_BYTES_MAX} bytes; aggregate the series"
                    )
                if clock.monotonic_s() > until_s:  # the client's timeout applies to each chunk
                    raise MetricFault(f"Prometheus did not answer within {seconds:g} s")
    except httpx.TimeoutException:
        raise MetricFault(f"Prometheus did not answer within {seconds:g} s") from None
    except httpx.InvalidURL:
        raise MetricFault("cannot query Prometheus: its URL is not valid") from None
    except httpx.HTTPError as error:
        raise MetricFault(f"cannot query Prometheus: {failure_words(error)}") from None
    try:
        document = json.loads(found)
    except (ValueError, RecursionError):
        raise MetricFault(
            f"the answer is not from a Prometheus: it has status {answer.status_code} and is not JSON"
        ) from None
    return read_prometheus(document, tenant_label, container_label)
