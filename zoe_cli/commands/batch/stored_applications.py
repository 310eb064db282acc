"""app: stored descriptions and workflows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoe_cli.commands.batch.workflows import check_no_script, read_document, refuse_with_places
from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.errors import NotFound, Refused

if TYPE_CHECKING:
    from zoe_client import Client
    from zoe_client.wire import StoredApplicationView

app = typer.Typer(help="Stored applications: run by name with parameters, and by schedules.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name: letters, digits, _ and -.")]
OfTenant = Annotated[
    bool, typer.Option("--tenant", help="The tenant's stored application; only operators and admins can change it.")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", help="Description or workflow in JSON or YAML; - reads standard input.")
]
Version = Annotated[int | None, typer.Option(min=1, help="Version (default: the newest).")]


def put(context: typer.Context, name: Name, file: File, of_tenant: OfTenant = False) -> None:
    """Store the next version of a description or a workflow; Zoe keeps the newest 20. {param:NAME} is replaced by the
    value of a parameter, declared in `params`.
    """
    check_no_script(str(file), "store")
    read = read_document(file)
    with options(context).client() as client:
        try:
            kept = client.applications.put(name, read.document, of_tenant)
        except Refused as error:
            refuse_with_places(error, file, read)
    emit(kept, options(context).output, _rows([kept]))


def show_list(context: typer.Context) -> None:
    """List your stored applications and the tenant's."""
    with options(context).client() as client:
        found = client.applications.all()
    emit(found, options(context).output, _rows(found.applications))


def show(context: typer.Context, name: Name, version: Version = None, of_tenant: OfTenant = False) -> None:
    """Show a stored application; -o json prints its document."""
    with options(context).client() as client:
        found = client.applications.one(name, version, of_tenant)
    emit(found, options(context).output, _rows([found]))


def remove(context: typer.Context, name: Name, of_tenant: OfTenant = False) -> None:
    """Remove all versions; active runs continue. The command names its schedules: their times are refused from then
    on.
    """
    with options(context).client() as client:
        client.applications.remove(name, of_tenant)
        for text in _orphans(client, name, of_tenant):
            note(text)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _orphans(client: Client, name: str, of_tenant: bool) -> Iterator[str]:
    """Yield a warning for each schedule that may lose its application: the tenant's replaces a user's of the same
    name.
    """
    if not of_tenant:
        with suppress(NotFound):
            client.applications.one(name)
            return
    for schedule in client.schedules.all(all_users=of_tenant).schedules:
        if schedule.application == name:
            owners = f"neither {schedule.user} nor the tenant has {name} stored"
            yield f"note: schedule {schedule.name} of {schedule.user} is refused while {owners}"


def _rows(found: Sequence[StoredApplicationView]) -> Rows:
    rows = [
        (
            application.name,
            application.user or "(tenant)",
            application.version,
            "workflow" if application.workflow else "application",
            ", ".join(application.parameters),
            clock(application.made_at_s),
        )
        for application in found
    ]
    return Rows(
        ("name", "of", "version", "kind", "parameters", "stored"),
        rows,
        "no stored applications yet: `zoe app put` stores one",
    )


add(app, "put", put, ("zoe app put report report.json", "zoe app put nightly nightly.yaml --tenant"))
add(app, "ls", show_list, ("zoe app ls",))
add(app, "show", show, ("zoe app show report -o json",))
add(app, "rm", remove, ("zoe app rm report",))
