"""The first message of a terminal."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, field_validator

from zoe_client.wire.base import Numbers

_LINES_MAX = 10_000


class TerminalOpening(Numbers):
    """The command of a terminal, and its window."""

    command: Annotated[list[str], Field(min_length=1, max_length=512, description="Program and arguments.")]
    tty: bool = Field(default=False, description="Whether it runs in a pseudo-terminal.")
    rows: int = Field(default=24, ge=1, le=_LINES_MAX, description="Rows of the window.")
    columns: int = Field(default=80, ge=1, le=_LINES_MAX, description="Columns of the window.")
    term: str = Field(default="xterm-256color", pattern=r"^[A-Za-z0-9._+-]{0,64}$", description="TERM of the program.")

    @field_validator("command")
    @classmethod
    def _can_run(cls, command: list[str]) -> list[str]:
        if not command[0] or any("\0" in word for word in command):
            raise ValueError("a command begins with a program and contains no NUL character")
        return command
