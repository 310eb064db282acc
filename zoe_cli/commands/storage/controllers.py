"""storage controllers: last actions of the store's controllers, and their modes: on, off or dry run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import Format, emit, note, table, write
from zoe_cli.rows import Rows
from zoe_cli.units import clock, duration
from zoe_client.wire import StorageControllerView, StorageProxyView, StorageSwitchView


class Mode(StrEnum):
    """The mode of a controller."""

    ON = "on"
    DRY = "dry"
    OFF = "off"


def controllers(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Show only this controller, with the time of its last switch."),
    ] = None,
    mode: Annotated[
        Mode | None, typer.Option(help="Set it on, off, or to a dry run, in which it decides but applies nothing.")
    ] = None,
) -> None:
    """Show the controllers and the last action of each, or what it would have done in a dry run; for admins."""
    if mode is not None and name is None:
        raise typer.BadParameter("--mode needs the name of a controller")
    form = options(context).output
    with options(context).client() as client:
        if name is None:
            answer = client.storage_controllers()
            _warn(answer.controllers)
            emit(answer, form, _rows(answer.controllers))
            if form is Format.TABLE and answer.proxies:
                write("\n" + table(_proxies(answer.proxies)))
            return
        one = client.storage_controller(name) if mode is None else client.set_storage_controller(name, mode)
    _warn([one])
    if form is not Format.TABLE:
        emit(one, form, _switches(one.switches))
        return
    write(table(_rows([one])))
    if one.switches:
        write("\n" + table(_switches(one.switches)))


def _rows(found: list[StorageControllerView]) -> Rows:
    rows = [
        (
            controller.name,
            controller.mode,
            {True: "yes", False: "no", None: ""}[controller.active],
            controller.last,
            "" if controller.last_s is None else clock(controller.last_s),
            str(controller.failures),
            f"{controller.problem}; again in {duration(controller.waits_s)}"
            if controller.waits_s
            else controller.problem,
        )
        for controller in found
    ]
    return Rows(("name", "mode", "active", "last", "at", "failures", "problem"), rows)


def _warn(controllers: list[StorageControllerView]) -> None:
    for controller in controllers:
        if controller.warning:
            note(f"warning: {controller.warning}")


def _proxies(proxies: list[StorageProxyView]) -> Rows:
    rows = [
        (proxy.name, "never" if proxy.silent_s is None else f"{duration(proxy.silent_s)} ago", ", ".join(proxy.filters))
        for proxy in proxies
    ]
    return Rows(("proxy", "reported", "filters"), rows)


def _switches(switches: list[StorageSwitchView]) -> Rows:
    rows = [
        (
            clock(switch.at_s),
            f"{'would be ' if switch.dry else ''}{'on' if switch.active else 'off'}",
            ", ".join(f"{name} {value:g}" for name, value in sorted(switch.metrics.items())),
        )
        for switch in switches
    ]
    return Rows(("at", "switched", "metrics"), rows)
