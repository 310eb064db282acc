"""Refuse bandwidth that the object store cannot guarantee, and note inputs without views."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_client.wire import Diagnostic
from zoe_lib.domain.executions.promises import (
    StoreCapacity,
    never_granted,
    never_promised,
    not_always_kept,
    pushed_down,
    requested_rates,
    view_schemes,
    why_no_view,
)
from zoe_lib.domain.values.storage import Bandwidth, Guarantee
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.refusal import SubmissionRefused


def refuse_without_controller(examined: Examined) -> SubmissionRefused | None:
    """Return the refusal of required bandwidth, if no controller can guarantee any."""
    bandwidth = _bandwidth(examined)
    if _has_controller(examined) or bandwidth is None or bandwidth.guarantee is not Guarantee.REQUIRED:
        return None
    error = Diagnostic(pointer="/storage/bandwidth/guarantee", code="unavailable", message="no controller")
    hint = "use guarantee: preferred to run without it"
    return SubmissionRefused("storage_guarantee_unavailable", hint=hint, errors=[error])


def refuse_beyond_capacity(examined: Examined) -> SubmissionRefused | None:
    """Return the refusal of more bandwidth than the store can guarantee in total; None if that is unknown."""
    capacity = _capacity(examined)
    reason = never_promised(examined.application, capacity.rates) if capacity is not None else None
    if reason is None:
        return None
    error = Diagnostic(pointer="/storage/bandwidth", code="unavailable", message=reason.hint)
    return SubmissionRefused("never_fits", reason.sentence, reason.hint, [error])


def note_bandwidth(examined: Examined) -> Iterator[str]:
    """Yield notes on bandwidth that cannot be guaranteed, or that proxies cannot always deliver."""
    if not _has_controller(examined) and _bandwidth(examined) is not None:
        yield "no storage controller is configured: it runs without the bandwidth that it prefers"
    if (capacity := _capacity(examined)) is not None:
        application = examined.application
        found = never_granted(application, capacity.rates) or not_always_kept(application, capacity)
        yield from filter(None, [found])


def note_plain_inputs(examined: Examined) -> Iterator[str]:
    """Yield notes on inputs with a `pushdown` that are read as plain objects."""
    pushed = pushed_down(examined.application)
    if pushed and not _has_controller(examined):
        yield "no storage controller is configured: it reads the plain objects, without pushdown"
        return
    services = examined.settings.storage_services
    s3 = services.get("s3a")
    schemes = view_schemes(s3 is not None and bool(s3.swift_url))
    for entry in pushed:
        if why := why_no_view(entry, schemes, services):
            yield f"input {entry.name} is read plainly: {why}"


def _has_controller(examined: Examined) -> bool:
    """Return whether a storage controller is configured."""
    return examined.settings.storage_url is not None


def _bandwidth(examined: Examined) -> Bandwidth | None:
    return None if examined.application.storage is None else examined.application.storage.bandwidth


def _capacity(examined: Examined) -> StoreCapacity | None:
    """Return the total guarantees of the store; None if unknown, or if no bandwidth is requested."""
    asks = _has_controller(examined) and requested_rates(examined.application) is not None
    return examined.platform.storage if asks else None
