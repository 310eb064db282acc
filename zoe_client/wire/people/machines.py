"""Sign-in of machines, such as laptops with `zoe login`: a user allows a terminal's request in a browser."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from zoe_client.vocabulary import Scope
from zoe_client.wire.base import Numbers, Wire

# A page shows these texts; only printable ASCII, so that they cannot imitate other texts.
MachineName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,62}$")]


class MachineRequest(Numbers):
    """A machine's request: its name, its scopes, and the lifetime of the token."""

    machine: MachineName
    scopes: list[Scope] = Field(default=[Scope.READ, Scope.SUBMIT], min_length=1, max_length=8)
    lifetime_s: float | None = Field(default=None, gt=0, le=10 * 366 * 86400, allow_inf_nan=False)


class MachineAsked(Wire):
    """The machine shows `code` and keeps `secret`, with which it polls every `interval_s` for the decision."""

    code: str
    secret: str = Field(repr=False)
    path: str
    expires_in_s: float
    interval_s: float


class MachineSecret(Wire):
    """The secret of a machine that has requested a token."""

    secret: str = Field(min_length=1, max_length=128, repr=False)


class MachineAnswer(Wire):
    """`waiting`, `refused`, or `allowed` with the token, which is shown once."""

    state: Literal["waiting", "refused", "allowed"]
    token: str | None = Field(default=None, repr=False)


class MachineView(Wire):
    """A machine that requests a token: its self-reported name, its address, the scopes and lifetime of the token, and
    the time limit of the request.
    """

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
