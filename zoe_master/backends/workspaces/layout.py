"""The directories of workspaces: `TENANT/USER` is a user's own, `TENANT/shared` belongs to all users of the tenant.

`TENANT` belongs to root, and all users may pass through it.
"""

from __future__ import annotations

SHARED = "shared"
HOLDER_MODE, OWN_MODE, SHARED_MODE = 0o711, 0o700, 0o2770
NO_NUMBER = "no system user is left for its owner: extend the setting user_ids_last"
"""Message for services whose owner has no number."""


def directory_of(user: str) -> str:
    """Return the name of a user's directory. No name of a user begins with `_`, so that `_shared` is free."""
    return f"_{user}" if user == SHARED else user
