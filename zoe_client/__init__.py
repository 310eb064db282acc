"""The typed client of Zoe's HTTP API, for scripts and for the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zoe_client.lazy_names import lazy_names

if TYPE_CHECKING:
    from zoe_client.asynchronous import *  # noqa: F403
    from zoe_client.client import *  # noqa: F403
    from zoe_client.contexts import *  # noqa: F403
    from zoe_client.errors import *  # noqa: F403
    from zoe_client.running.carried import *  # noqa: F403
    from zoe_client.running.mapping import *  # noqa: F403

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "client": ("Client",),
        "contexts": ("ContextError",),
        "asynchronous": ("AsyncClient",),
        "running.carried": ("CannotCarry",),
        "running.mapping": ("CallFailed",),
        "errors": (
            "Busy",
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
        ),
    },
)
