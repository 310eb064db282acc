"""Repositories and packages of a component: the first program of its container puts them into the user's workspace."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from zoe_lib.domain.applications.application import Component
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.template_values import ENVIRONMENT_FILE, SOURCE_SECRETS, WHEELS, WORKSPACE
from zoe_master.backends.environments import build, entry, source_clone
from zoe_master.backends.services.failures import CannotStartError

_PLACE = f"{WORKSPACE}/.zoe-environments"
_PACKAGES = ("zoe_master", "zoe_master/backends", "zoe_master/backends/environments")
_SOURCES = (
    ("__main__.py", entry),
    (f"{_PACKAGES[-1]}/build.py", build),
    (f"{_PACKAGES[-1]}/source_clone.py", source_clone),
)
# An engine's own error would only say that it cannot run python3.
_BEGIN = """what="$1"
shift
command -v python3 > /dev/null && exec python3 -I "$@"
echo "zoe: the image has no python3, which $what need"
exit 127
"""
_ANY_TIME = (1980, 1, 1, 0, 0, 0)


def wheels_mounted(component: Component, settings: EngineSettings) -> str | None:
    """Return the directory of wheels to mount for a component; None without one."""
    wheelhouse = settings.environments.wheelhouse
    return wheelhouse if component.requirements and wheelhouse.startswith("/") else None


def comes_first(component: Component) -> bool:
    """Return whether a program of Zoe runs before the component's command."""
    return bool(component.requirements or component.sources)


def entry_command(start: ServiceStart, settings: EngineSettings) -> list[str]:
    """Return the words before the component's command; CannotStartError if there is no place for its sources or
    packages.
    """
    component = start.component
    what = " and ".join(name for name in ("sources", "requirements") if getattr(component, name))
    if settings.workspaces_dir is None:
        raise CannotStartError(f"component {component.name} has {what}, but there are no workspaces")
    task = {}
    if component.sources:
        task["sources"] = _to_clone(component, settings)
    if component.requirements:
        task["environment"] = _to_build(start, settings)
    return ["/bin/sh", "-c", _BEGIN, "zoe", what, f"/run/secrets/{ENVIRONMENT_FILE}", json.dumps(task)]


def _to_clone(component: Component, settings: EngineSettings) -> dict[str, object]:
    return {
        "sources": [asdict(source) for source in component.sources],
        "workspace": WORKSPACE,
        "secrets": f"/run/secrets/{SOURCE_SECRETS}",
        "bytes_max": settings.sources.bytes_max,
        "seconds_max": settings.sources.seconds_max,
    }


def _to_build(start: ServiceStart, settings: EngineSettings) -> dict[str, object]:
    component, around = start.component, settings.environments
    if component.build_requirements:
        raise CannotStartError(
            f"component {component.name} has build_requirements, but this installation builds no packages: leave them "
            "out, and use packages with wheels"
        )
    return {
        "base": _PLACE,
        "user": start.user,
        "requirements": component.requirements,
        "build": False,
        "pip": None,
        "index_url": around.index_url,
        "wheelhouse": WHEELS if wheels_mounted(component, settings) else around.wheelhouse,
        "bytes_max": around.bytes_max,
        "seconds_max": around.seconds_max,
        "bytes_of_all_max": around.bytes_of_all_max,
        "age_s_max": around.age_s_max,
    }


def command_of_image(
    component: Component, arguments: Sequence[str], image: tuple[Sequence[str], Sequence[str]]
) -> list[str]:
    """Return the engine's command: the image's entry point, then the given arguments or those of the image."""
    entry_point, own = image
    words = [*entry_point, *(arguments or own)]
    if not words:
        raise CannotStartError(
            f"component {component.name} has no command, and the image {component.image} defines none"
        )
    return words


def with_time_to_build(start: ServiceStart, settings: EngineSettings) -> ServiceStart:
    """Return the component with a readiness probe that also waits for clones and environment: their end is not visible
    from outside.
    """
    component, probe = start.component, start.component.readiness
    more_s = settings.environments.seconds_max if component.requirements else 0.0
    more_s += settings.sources.seconds_max if component.sources else 0.0
    if probe is None or not more_s:
        return start
    longer = replace(probe, timeout_s=probe.timeout_s + more_s)
    return replace(start, component=replace(component, readiness=longer))


@cache
def entry_archive() -> bytes:
    """Return the program as an archive that Python runs."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            archive.writestr(zipfile.ZipInfo(f"{package}/__init__.py", _ANY_TIME), b"")
        for name, module in _SOURCES:
            assert module.__file__ is not None
            archive.writestr(zipfile.ZipInfo(name, _ANY_TIME), Path(module.__file__).read_bytes())
    return held.getvalue()
