"""Volumes of blocks: what the store keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from zoe_lib.domain.values.frozen import TextEnum, value

ENCRYPTION = "luks"


class VolumeState(TextEnum):
    """Whether a volume can be attached: `making` and `removing` are interrupted steps, which `rm` ends."""

    MAKING = "making"
    READY = "ready"
    REMOVING = "removing"


@value(frozen=True, slots=True)
class BlockVolume:
    """A volume of a user in a tenant.

    filters: of its policy when it was made, the first nearest to the service. epoch: of its newest attachment, which
    is that of the service `service_id`; it only grows. sealed: the key of its encryption (`zoe_lib.sealing`).
    """

    id: str
    tenant: str
    user: str
    name: str
    size_bytes: int
    policy: str
    filters: tuple[str, ...]
    made_at_s: float
    state: str = VolumeState.MAKING.value
    epoch: int = 0
    execution_id: str | None = None
    service_id: str | None = None
    sealed: bytes = field(default=b"", repr=False)

    @property
    def belongs_to(self) -> tuple[str, ...]:
        """Return the owner for whom its key is sealed; the name of its user may change by a hand-over."""
        return ("volume", self.tenant, self.id)


@value(frozen=True, slots=True)
class UserVolumes:
    """The volumes of a user in a tenant that an application names, by name, and the unfinished executions that they are
    attached to.
    """

    values: Mapping[str, BlockVolume] = field(default_factory=dict)
    attached: Mapping[str, str] = field(default_factory=dict)
