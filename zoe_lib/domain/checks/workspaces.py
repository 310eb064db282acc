"""Check that the workspaces of templates exist."""

from __future__ import annotations

from collections.abc import Iterator

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.templates import TemplateKind, references
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import Platform


def check_workspaces(component: Component, platform: Platform) -> Iterator[Finding]:
    """Yield a finding for each text with `{workspace}` or `{shared}` if tenants have no workspaces."""
    if platform.capabilities.workspaces:
        return
    texts: list[tuple[tuple[str | int, ...], str]] = [
        *((("command", number), word) for number, word in enumerate(component.command)),
        *((("environment", name), text) for name, text in component.environment),
        (("work_dir",), component.work_dir or ""),
    ]
    for where, text in texts:
        kinds = {template.kind for template in references(text)}
        for kind in (entry for entry in (TemplateKind.WORKSPACE, TemplateKind.SHARED) if entry in kinds):
            message = f"{{{kind}}}: this installation has no workspaces"
            yield Finding(where, "no_workspaces", message, "use a named volume or {scratch}")
