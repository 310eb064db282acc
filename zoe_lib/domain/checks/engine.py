"""Check reservations and limits of a component against the container engine's minimums."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_client.words.amounts import cores, size
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import EngineLimits, Platform


def check_amounts(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for each amount below the engine's minimum."""
    for key, code, message, least in engine_refusals(component, platform.capabilities.engine):
        yield Finding(("resources", *key), code, f"component {component.name}: {message}", f"use {least} or more")


def engine_refusals(
    component: Component, engine: EngineLimits | None
) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    """Yield the amounts below the engine's minimum: the key in `resources`, a code, a sentence and the minimum."""
    if engine is None:
        return
    reserved, limit = component.reservation.memory_bytes, component.memory_limit_bytes
    least = engine.memory_limit_min_bytes if limit is None else engine.memory_min_bytes
    if reserved < least:
        needs = "a container needs at least" if limit is None else "the smallest reservation is"
        message = f"{size(reserved)} of memory is too little: {needs} {size(least)}"
        yield ("memory",), "memory_too_small", message, size(least)
    if limit is not None and limit < engine.memory_limit_min_bytes:
        least = engine.memory_limit_min_bytes
        message = f"a memory limit of {size(limit)} is too low: a container needs at least {size(least)}"
        yield ("limits", "memory"), "memory_too_small", message, size(least)
    milli = component.cores_limit_milli
    if milli and milli < engine.cores_limit_min_milli:
        number = cores(engine.cores_limit_min_milli).partition(" ")[0]
        message = f"a limit of {cores(milli)} is too low: the container engine accepts {number} or more"
        yield ("limits", "cores"), "cores_limit_too_small", message, number
