"""Check that the progress of a component can be read."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import Platform


def check_progress_file(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for progress in a file on a back-end that reads no files of services."""
    why = platform.capabilities.why_no_progress_files
    if component.progress is not None and component.progress.file is not None and why:
        message = f"component {component.name} reports its progress in a file, but {why}"
        yield Finding(
            ("progress", "file"), "no_progress_files", message, "report it at an http port: `progress` with `port`"
        )
