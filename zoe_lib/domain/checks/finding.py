"""The findings of checks, and the target that they check an application against."""

from __future__ import annotations

from dataclasses import field

from zoe_lib.domain.applications.secrets import TenantSecrets
from zoe_lib.domain.cluster.platform import Platform
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.storage import StoreAccess
from zoe_lib.domain.values.volumes import UserVolumes


@value(frozen=True, slots=True)
class Finding:
    """A part that cannot run, or may not be able to run.

    `place`: keys and indexes into the expanded description; a check of one component counts from there. `code`: a
    stable name. `certain`: it cannot run until an admin changes something; otherwise the finding rests on the last
    observation, which may have changed at the start.
    """

    place: tuple[str | int, ...]
    code: str
    message: str
    hint: str = ""
    certain: bool = True


@value(frozen=True, slots=True)
class Target:
    """The target of an application: the platform, the services of the store, and secrets and volumes of its owner."""

    platform: Platform = Platform()
    access: StoreAccess = StoreAccess()
    secrets: TenantSecrets = TenantSecrets()
    volumes: UserVolumes = field(default_factory=UserVolumes)
