"""What a check finds, and against what an application is checked."""

from __future__ import annotations

from zoe_lib.domain.applications.secrets import TenantSecrets
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.storage import StoreAccess


@value(frozen=True, slots=True)
class Finding:
    """Something that cannot run, or may not be able to.

    `place`: keys and indexes into the expanded description; a check of one component begins within it. `code`: a stable
    name. `certain`: it cannot run until an admin changes something; otherwise it is what was seen last, and may be
    otherwise when it starts.
    """

    place: tuple[str | int, ...]
    code: str
    message: str
    hint: str = ""
    certain: bool = True


@value(frozen=True, slots=True)
class Target:
    """Where an application is to run: the platform, and which services of the store and secrets its owner has."""

    platform: Platform = Platform()
    access: StoreAccess = StoreAccess()
    secrets: TenantSecrets = TenantSecrets()
