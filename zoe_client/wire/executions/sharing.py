"""Shares of executions."""

from __future__ import annotations

from pydantic import Field

from zoe_client.vocabulary import ShareLevel
from zoe_client.wire.base import Wire

_WARNING = (
    "through the application, {whom} can run programs as its owner, and read and change the owner's files and secrets; "
    "the token of a notebook for Zoe has ended for good"
)


class ShareRequest(Wire):
    """The level to share, and the user to share with."""

    user: str | None = Field(
        default=None, min_length=1, max_length=128, description="A user of the tenant; null: all members of the tenant."
    )
    level: ShareLevel = Field(
        description="`look`: state, description without values of the environment, output, events and reasons. "
        "`open`: the application, too. `control`: a terminal as the owner, hold, modify, requeue and cancel, too."
    )


class ShareView(Wire):
    """A share of an execution; `user` is null for a share with all members of the tenant."""

    user: str | None
    level: ShareLevel
    at_s: float
    warning: str = Field(default="", description="Rights that the share gives beyond the execution itself.")

    @classmethod
    def with_warning(cls, user: str | None, level: ShareLevel, at_s: float) -> ShareView:
        """Return the wire form of a share."""
        whom = "every member of the tenant" if user is None else user
        opens = level.includes(ShareLevel.OPEN)
        return cls(user=user, level=level, at_s=at_s, warning=_WARNING.format(whom=whom) if opens else "")


class ShareList(Wire):
    """The shares of an execution: with the tenant first, then by user."""

    shares: list[ShareView]
