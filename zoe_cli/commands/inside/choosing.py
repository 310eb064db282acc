"""Choose a running service by its name."""

from __future__ import annotations

import typer

from zoe_cli.exits import Exit
from zoe_cli.output import note
from zoe_client.wire import ExecutionView, ServiceView


def service_and_words(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the service, and the command after `--`."""
    if not words or words[0] == "--":
        return None, words[1:]
    if len(words) > 1 and words[1] != "--":
        raise typer.BadParameter(f"write -- before the command {words[1]!r}, as in: {words[0]} -- {words[1]}")
    return words[0], words[2:]


def chosen_service(execution: ExecutionView, wanted: str | None) -> ServiceView:
    """Return a running service; exit with NOT_FOUND if there is none."""
    running = [service for service in execution.services if service.state in ("starting", "ready")]
    if wanted is not None:
        running = [service for service in running if _has_name(service, wanted)]
    ends = {component["name"] for component in execution.description["components"] if component.get("ends_application")}
    running.sort(key=lambda service: (service.state != "ready", service.component not in ends))
    if not running:
        which = "" if wanted is None else f" {wanted}"
        note(f"zoe: execution {execution.id} has no running service{which}")
        if execution.reason is not None:
            note(f"{execution.name} waits: {execution.reason.sentence}")
        raise typer.Exit(Exit.NOT_FOUND)
    return running[0]


def _has_name(service: ServiceView, wanted: str) -> bool:
    component, index = service.component, service.index
    return wanted in (service.id, component, f"{component}/{index}", f"{component}-{index}")
