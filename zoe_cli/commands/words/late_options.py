"""Options that stand after a program or script, to which they go."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from zoe_cli.output import note
from zoe_cli.text import printable


def note_late_options(arguments: Sequence[str], options: Collection[str], what: str) -> None:
    """Note that arguments which look like options of the command go to the program. `options`: with their dashes."""
    late = next((name for text in arguments if (name := text.partition("=")[0]) in options), None)
    if late is not None:
        note(
            f"zoe: {printable(late)} is passed to the {what}, since it stands after it; write options of zoe before it"
        )
