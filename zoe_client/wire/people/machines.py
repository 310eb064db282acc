"""Sign-in of machines, such as laptops with `zoe login`: a browser allows what a terminal asks for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.vocabulary import Scope
from zoe_client.wire.base import Numbers, Wire

# What a page shows must not pretend to be something else: printable characters of ASCII only.
MachineName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,62}$")]


class MachineRequest(Numbers):
    """What a machine asks for: its name, scopes, and for how long."""

    machine: MachineName
    scopes: list[Scope] = Field(default=[Scope.READ, Scope.SUBMIT], min_length=1, max_length=8)
    lifetime_s: float | None = Field(default=None, gt=0, le=10 * 366 * 86400, allow_inf_nan=False)


class MachineAsked(Wire):
    """The machine shows `code` and keeps `secret`, with which it asks every `interval_s` whether it is allowed."""

    code: str
    secret: str = Field(repr=False)
    path: str
    expires_in_s: float
    interval_s: float


class MachineSecret(Wire):
    """The secret of a machine that has asked."""

    secret: str = Field(min_length=1, max_length=128, repr=False)


class MachineAnswer(Wire):
    """`waiting`, `refused`, or `allowed` with the token, which is shown once."""

    state: Literal["waiting", "refused", "allowed"]
    token: str | None = Field(default=None, repr=False)


class MachineView(Wire):
    """A machine that asks: its name as it says, its address, what it would get, and until when."""

    code: str
    machine: str
    address: str
    same_network: bool
    asked_at_s: float
    scopes: list[Scope]
    token_expires_at_s: float


class MachineDecision(Wire):
    """Whether the machine gets a token."""

    allow: bool
