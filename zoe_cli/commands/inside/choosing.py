"""Choose a running service by its name."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from zoe_cli.exits import Exit
from zoe_cli.output import note
from zoe_client.documents.shortening import shortened_list
from zoe_client.vocabulary import TERMINAL_STATES
from zoe_client.wire import ExecutionView, ServiceView

_NAMED_MAX = 6


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
        for line in _why_none(execution, wanted):
            note(line)
        raise typer.Exit(Exit.NOT_FOUND)
    return running[0]


def _why_none(execution: ExecutionView, wanted: str | None) -> Iterator[str]:
    """Yield why no service can be chosen, and what to do."""
    if execution.state in TERMINAL_STATES:
        yield f"zoe: execution {execution.id} has ended ({execution.state.value}), so that none of its services runs"
        yield f"hint: `zoe show {execution.id}` says how it ended, `zoe logs {execution.id}` prints its output"
        return
    yield f"zoe: execution {execution.id} has no running service{'' if wanted is None else f' {wanted}'}"
    running = [service.name for service in execution.services if service.state in ("starting", "ready")]
    if running:
        yield f"hint: these run: {shortened_list(running, _NAMED_MAX)}"
    if execution.reason is not None:
        yield f"{execution.name} waits: {execution.reason.sentence}"


def _has_name(service: ServiceView, wanted: str) -> bool:
    component, index = service.component, service.index
    return wanted in (service.id, component, f"{component}/{index}", f"{component}-{index}")
