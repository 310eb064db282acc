"""What is decided about a description before it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from zoe_api.codes import Code
from zoe_api.problems import ApiProblem, from_description
from zoe_lib.descriptions import DescriptionError, parse
from zoe_lib.domain.application import Application, Component
from zoe_lib.domain.cluster import Node, never_fits
from zoe_lib.domain.promises import pushed_down, why_no_view
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


def checked(application: Application, platform: Sequence[Node], storage: bool) -> Application:
    """The application, unless it can never run here; 422 says what would. `storage`: there is a controller."""
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
    return application


def notes_of(application: Application, backend: str, storage: bool) -> Iterator[str]:
    """What the user should know of how it will run on this back-end."""
    if backend == "local":
        for key, asked in _NOT_ON_LOCAL.items():
            names = ", ".join(component.name for component in application.components if asked(component))
            if names:
                yield f"the local back-end does nothing about {key}, which is asked for by: {names}"
    if not storage and application.storage is not None and application.storage.bandwidth is not None:
        yield "no storage controller is configured: it runs without the bandwidth it prefers"
    if not storage and pushed_down(application):
        yield "no storage controller is configured: it reads the plain objects, without pushdown"
    for one in pushed_down(application) if storage else ():
        if why := why_no_view(one):
            yield f"input {one.name} is read plainly: {why}"
