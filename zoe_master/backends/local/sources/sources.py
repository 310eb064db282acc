"""Processes that clone the sources of a component, and checks whether they can run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from zoe_lib.domain.applications.application import Component
from zoe_master.backends.environments import source_clone
from zoe_master.backends.local.settings import LocalSettings
from zoe_master.backends.local.supervisor.spec import PrepareProcess
from zoe_master.backends.services.failures import CannotStartError

_SOURCE = Path(source_clone.__file__)


def why_no_sources() -> str:
    """Return why this machine cannot clone; empty if it can."""
    return "" if shutil.which("git") else "git is not installed on this machine"


def clone_spec(
    component: Component,
    environment: Mapping[str, str],
    workspace: Path,
    secrets: Path,
    withheld: Sequence[str],
    settings: LocalSettings,
) -> PrepareProcess:
    """Return the process that runs before the component; CannotStartError names a missing program."""
    task = {
        "git": _find_program("git", component, environment),
        "sources": [asdict(source) for source in component.sources],
        "workspace": str(workspace),
        "secrets": str(secrets),
        "bytes_max": settings.source_bytes_max,
    }
    python = _find_program("python3", component, environment)
    return {
        "argv": [python, "-I", "-c", _SOURCE.read_text(), json.dumps(task)],
        "environment": dict(environment),
        "message": f"cloning {', '.join(source.into for source in component.sources)}",
        "timeout_s": settings.source_s_max,
        "withheld": list(withheld),
        "disk_full": source_clone.DISK_FULL,
    }


def _find_program(program: str, component: Component, environment: Mapping[str, str]) -> str:
    path = shutil.which(program, path=environment["PATH"])
    if path is None:
        raise CannotStartError(f"component {component.name} has sources, but its image has no {program}")
    return path
