"""Mount a component's working directory if no other mount has it; the engine would create it owned by root."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from zoe_lib.domain.applications.paths import is_below, plain_path
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import workspaces_of
from zoe_master.backends.engine.spec.naming.names import scratch_name, volume_name
from zoe_master.backends.engine.spec.template_values import SCRATCH


@dataclass(frozen=True, slots=True)
class StartPath:
    """A directory `below` the mount at `target`; empty: the mount itself.

    source: a volume's name, or a directory of the node. own: the volume belongs to this service only, and is removed
    with it.
    """

    source: str
    target: str
    below: str
    own: bool = False


def work_dir_of(start: ServiceStart, path: str | None, settings: EngineSettings) -> StartPath | None:
    """Return the directory to create for a component that starts in `path`; None if the image provides it, or if it is
    read-only.

    If the component mounts a directory of the node, its admin has to create it.
    """
    if path is None:
        return None
    plain = plain_path(path)
    around = max(
        (target for target in _mount_targets(start, settings) if is_below(plain, [target])), key=len, default=None
    )
    if around is not None:
        source = dict(_writable(start, settings)).get(around)
        return None if source is None else StartPath(source, around, _relative(plain, around))
    if plain == SCRATCH or not is_below(plain, [SCRATCH]):
        return None
    first, _, rest = _relative(plain, SCRATCH).partition("/")
    return StartPath(scratch_name(settings.installation, start.service_id), f"{SCRATCH}/{first}", rest, own=True)


def _mount_targets(start: ServiceStart, settings: EngineSettings) -> Iterator[str]:
    yield from workspaces_of(start, settings)
    yield from (plain_path(volume.target) for volume in start.component.volumes)


def _writable(start: ServiceStart, settings: EngineSettings) -> Iterator[tuple[str, str]]:
    """Yield target and source."""
    yield from ((target, workspace.path) for target, workspace in workspaces_of(start, settings).items())
    for volume in start.component.volumes:
        if volume.name is not None and not volume.read_only:
            yield plain_path(volume.target), volume_name(settings.installation, start.tenant, volume.name)


def _relative(path: str, base: str) -> str:
    found = posixpath.relpath(path, base)
    return "" if found == "." else found
