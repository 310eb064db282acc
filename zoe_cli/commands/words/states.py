"""Options that take lists of states, such as `queued,running`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import typer


def states_option(kind: type[StrEnum], text: str) -> Any:
    """Return the option `--state`, which may be repeated; its value is a list of states of this kind."""
    return typer.Option(
        "--state", "-s", metavar="STATES", help=text, callback=parser_of(kind), autocompletion=lambda: [*map(str, kind)]
    )


def parser_of(kind: type[StrEnum]) -> Callable[[list[str] | None], list[str]]:
    """Return a function from texts, each with states separated by commas, to the states, each once."""

    def states(given: list[str] | None) -> list[str]:
        names = [name.strip() for text in given or () for name in text.split(",")]
        if wrong := [name for name in names if name not in {state.value for state in kind}]:
            raise typer.BadParameter(f"{wrong[0]!r} is no state; states are {', '.join(kind)}")
        return [kind(name) for name in dict.fromkeys(names)]

    return states
