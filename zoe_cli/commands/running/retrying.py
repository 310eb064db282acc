"""Options of `run` for retries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from zoe_cli.commands.words.dates import duration

Retries = Annotated[int | None, typer.Option(min=0, help="Maximum retries after a failure.")]
RetryPause = Annotated[
    str | None,
    typer.Option("--retry-pause", metavar="DURATION", help="Pause before the first retry, doubled each time (30s)."),
]
RetryExitCodes = Annotated[
    list[int] | None,
    typer.Option("--retry-exit-code", min=1, max=255, help="Retry only after this exit code; may be repeated."),
]
MemoryGrow = Annotated[
    str | None,
    typer.Option(
        "--memory-grow", metavar="2x", help="With --retries: each retry after out of memory has this times the memory."
    ),
]


@dataclass(frozen=True, slots=True)
class RetryOptions:
    """Retry options as given."""

    retries: int | None = None
    pause: str | None = None
    exit_codes: tuple[int, ...] = ()
    memory_grow: str | None = None

    def put_in(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the description with these options; options that are not given change nothing."""
        rule: dict[str, Any] = {}
        if self.pause is not None:
            rule["pause_s"] = duration(self.pause)
        if self.exit_codes:
            rule["exit_codes"] = list(self.exit_codes)
        if self.memory_grow is not None:
            rule["memory_factor"] = _factor(self.memory_grow)
        found = document if self.retries is None else {**document, "retries": self.retries}
        if not rule:
            return found
        if not found.get("retries"):
            raise typer.BadParameter("give the number of retries: --retries N")
        return {**found, "retry": {**(found.get("retry") or {}), **rule}}


def _factor(text: str) -> float:
    try:
        factor = float(text.removesuffix("x"))
    except ValueError:
        factor = 0.0
    if not factor > 1:
        raise typer.BadParameter(f"{text!r} is not a factor above 1; use 2x")
    return factor
