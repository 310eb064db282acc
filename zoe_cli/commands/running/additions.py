"""Options of `run`, `spark-submit` and `sbatch` for variables, secrets and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from zoe_cli.output import note
from zoe_client.documents.additions import with_additions

Environment = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="NAME=VALUE",
        help="Environment variable; may be repeated. Its value is visible in `zoe show`: use --secret for passwords.",
    ),
]
SecretNames = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME[=VARIABLE]",
        help="Secret of `zoe secret set` as a variable; without =VARIABLE as the file $ZOE_SECRETS/NAME. May be "
        "repeated.",
    ),
]
Results = Annotated[
    list[str] | None,
    typer.Option(
        "--result",
        metavar="PATH",
        help="File or folder that it leaves in its workspace, for `zoe fetch`; patterns such as out/*.csv, too. May be "
        "repeated.",
    ),
]
Fetch = Annotated[
    bool, typer.Option("--fetch", help="Wait until it has ended, and copy its results to this directory.")
]


@dataclass(frozen=True, slots=True)
class Additions:
    """These options, as given."""

    environment: Sequence[str] | None = None
    secrets: Sequence[str] | None = None
    results: Sequence[str] | None = None
    fetch: bool = False

    def put_in(self, document: dict[str, Any], *, in_array: bool = False, everywhere: bool = False) -> dict[str, Any]:
        """Return the description with these options; BadParameter.

        `in_array`: {index} in values is the index. `everywhere`: as in `with_additions`.
        """
        environment = dict(_variable(text) for text in self.environment or ())
        try:
            changed = with_additions(
                document,
                environment,
                self.secrets or (),
                self.results or (),
                template="{index}" if in_array else None,
                everywhere=everywhere,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if self.fetch and not changed.get("results"):
            raise typer.BadParameter("--fetch copies results: name them with --result PATH")
        return changed


def _variable(text: str) -> tuple[str, str]:
    from zoe_job.commands.exported import MAY_BE_SECRET  # few commands need it

    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f'--env {text}: write NAME=VALUE, such as --env {text}="${text}" for your own')
    if MAY_BE_SECRET.search(name):
        note(f"note: the value of {name} is visible in `zoe show`; for a password: zoe secret set {name}")
    return name, value
