"""Refusals of the back-end and its nodes, and settings that they ignore."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zoe_client.documents.diagnostics import pointer
from zoe_client.words.amounts import size
from zoe_lib.descriptions import Diagnostic, in_user_document
from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.images import spellings
from zoe_lib.domain.cluster.cluster import never_fits
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.refusal import SubmissionRefused, diagnostics_of

_NOT_ON_LOCAL: dict[str, Callable[[Component], bool]] = {
    "shm": lambda component: component.shm_bytes is not None,
    "read_only_root": lambda component: component.read_only_root,
}


def refuse_impossible(examined: Examined) -> SubmissionRefused | None:
    """Return the refusal of an application that cannot run here, or fits no nodes; with all reasons."""
    certain = [diagnostic for flag, diagnostic in _diagnostics(examined) if flag]
    reason = never_fits(examined.application, examined.platform.nodes)
    if certain:
        too_large = () if reason is None else (Diagnostic("/components", reason.code, reason.sentence, reason.hint),)
        return SubmissionRefused("never_fits", certain[0].message, errors=diagnostics_of([*certain, *too_large]))
    return None if reason is None else SubmissionRefused("never_fits", reason.sentence, reason.hint)


def note_ignored_settings(examined: Examined) -> Iterator[str]:
    """Yield notes on settings of components that the local back-end ignores."""
    if examined.settings.backend != "local":
        return
    for key, asks_for in _NOT_ON_LOCAL.items():
        names = ", ".join(component.name for component in examined.application.components if asks_for(component))
        if names:
            yield f"the local back-end ignores {key}, which these components set: {names}"


def note_unheld_limits(examined: Examined) -> Iterator[str]:
    """Yield a note on components with limits if the engine does not hold limits."""
    why = examined.platform.capabilities.why_unheld
    parts = examined.application.components
    names = [part.name for part in parts if part.cores_limit_milli is not None or part.memory_limit_bytes is not None]
    if why and names:
        yield f"{why}, and these components set limits: {', '.join(names)}"


def note_installations(examined: Examined) -> Iterator[str]:
    """Yield a note for each image that is installed at its first use."""
    installs = examined.platform.capabilities.installs
    for image in dict.fromkeys(component.image for component in examined.application.components):
        if what := next((installs[name] for name in spellings(image) if name in installs), None):
            yield f"the first use of image {image} installs {what}"


def note_volumes(examined: Examined) -> Iterator[str]:
    """Yield a note on each named volume: the user's volume of blocks, or else a directory of a node."""
    components = examined.application.components
    names = dict.fromkeys(v.name for component in components for v in component.volumes if v.name is not None)
    for name in names:
        if (volume := examined.volumes.values.get(name)) is not None:
            yield f"volume {name} is your volume of {size(volume.size_bytes)} with policy {volume.policy}"
        elif not examined.platform.capabilities.why_no_volumes:
            yield f"volume {name} is a directory of the tenant on the node, since you have no volume of this name"


def note_doubts(examined: Examined) -> Iterator[str]:
    """Yield findings that are not certain, each with its place in the description."""
    return (str(diagnostic) for certain, diagnostic in _diagnostics(examined) if not certain)


def _diagnostics(examined: Examined) -> Iterator[tuple[bool, Diagnostic]]:
    """Yield each finding with its place in the document, and whether it is certain."""
    for fault in examined.faults:
        found = Diagnostic(pointer(*fault.place), fault.code, fault.message, fault.hint)
        yield fault.certain, in_user_document(examined.document, found)
