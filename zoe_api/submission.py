"""What is decided about a description before it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zoe_api.codes import Code
from zoe_api.dependencies import Services
from zoe_api.problems import ApiProblem, from_description
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.domain.application import Application, Component
from zoe_lib.domain.cluster import Node, never_fits
from zoe_lib.domain.promises import Rates, never_granted, never_promised, pushed_down, why_no_view, wished
from zoe_lib.domain.storage import Guarantee
from zoe_lib.wire import Diagnostic

_NOT_ON_LOCAL: dict[str, Callable[[Component], bool]] = {
    "shm": lambda component: component.shm_bytes is not None,
    "read_only_root": lambda component: component.read_only_root,
}


def parsed(document: dict[str, Any]) -> Application:
    """The application of a description; 422 with every diagnostic."""
    try:
        return parse(document)
    except DescriptionError as error:
        raise from_description(error) from None


def storage_capacity(application: Application, its: Services) -> Rates | None:
    """What the object store can promise in all; None where that is not known, or does not matter."""
    if its.settings.storage_url is None or wished(application) is None:
        return None
    return its.store.storage_capacity()


def checked(
    application: Application, platform: Sequence[Node], storage: bool, capacity: Rates | None = None
) -> Application:
    """The application, unless it can never run here; 422 says what would.

    `storage`: there is a controller; `capacity`: what it can promise in all, None where that is not known.
    """
    bandwidth = application.storage.bandwidth if application.storage is not None else None
    if not storage and bandwidth is not None and bandwidth.guarantee is Guarantee.REQUIRED:
        raise ApiProblem(
            Code.STORAGE_GUARANTEE_UNAVAILABLE,
            hint="use guarantee: preferred to run without it",
            errors=[Diagnostic(pointer="/storage/bandwidth/guarantee", code="unavailable", message="no controller")],
        )
    reason = never_fits(application, platform)
    if reason is not None:
        raise ApiProblem(Code.NEVER_FITS, reason.sentence, reason.hint)
    reason = never_promised(application, capacity) if capacity is not None else None
    if reason is not None:
        error = Diagnostic(pointer="/storage/bandwidth", code="unavailable", message=reason.hint)
        raise ApiProblem(Code.NEVER_FITS, reason.sentence, reason.hint, [error])
    return application


def notes_of(application: Application, backend: str, storage: bool, capacity: Rates | None = None) -> Iterator[str]:
    """What the user should know of how it will run on this back-end."""
    if backend == "local":
        for key, asked in _NOT_ON_LOCAL.items():
            names = ", ".join(component.name for component in application.components if asked(component))
            if names:
                yield f"the local back-end does nothing about {key}, which is asked for by: {names}"
    if not storage and application.storage is not None and application.storage.bandwidth is not None:
        yield "no storage controller is configured: it runs without the bandwidth it prefers"
    if capacity is not None and (beyond := never_granted(application, capacity)):
        yield beyond
    if not storage and pushed_down(application):
        yield "no storage controller is configured: it reads the plain objects, without pushdown"
    for one in pushed_down(application) if storage else ():
        if why := why_no_view(one):
            yield f"input {one.name} is read plainly: {why}"
