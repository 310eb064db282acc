"""The typed client of Zoe's HTTP API, for scripts and for the command line."""

from zoe_lib.sdk.client import Client
from zoe_lib.sdk.errors import (
    Conflict,
    InvalidDescription,
    NeverFits,
    NotAllowed,
    NotFound,
    QuotaExceeded,
    Refused,
    TimedOut,
    Unreachable,
    ZoeError,
)

__all__ = [
    "Client",
    "Conflict",
    "InvalidDescription",
    "NeverFits",
    "NotAllowed",
    "NotFound",
    "QuotaExceeded",
    "Refused",
    "TimedOut",
    "Unreachable",
    "ZoeError",
]
