"""The values of the secrets that services request and the keys of their volumes, decrypted when a service starts and
stored nowhere.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from zoe_lib.domain.applications.application import Component
from zoe_lib.domain.applications.secrets import how_to_set, no_secrets
from zoe_lib.domain.executions.execution import Execution, Service
from zoe_lib.sealing import CannotOpen, Seal
from zoe_lib.store.errors import NotFound, VolumeAttached
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.tokens.job_tokens import OFFERED, JobToken, JobTokens
from zoe_master.backends.base import AttachedVolume, ServiceSecrets, ServiceToken, ServiceVolumes

_NOTHING, _NO_VOLUMES = ServiceSecrets(), ServiceVolumes()


class ExecutionSecrets:
    """Reads secrets of the owner of an execution, or else of the tenant. Without accounts there are none."""

    def __init__(
        self,
        accounts: AccountStore | None = None,
        keys_dir: Path = Path(),
        api_url: str | None = None,
        offers_tokens: bool = True,
    ) -> None:
        self._accounts = accounts
        self._keys_dir = keys_dir
        self._api_url = api_url
        self._offers_tokens = offers_tokens

    def api(self, execution: Execution, component: Component) -> ServiceToken | None:
        """Return how services of a component call the API; None if it does not request that, or they cannot."""
        if not component.api or self._api_url is None or (component.api == OFFERED and not self._offers_tokens):
            return None
        token = JobToken(execution.id, execution.attempt, execution.tenant, execution.user, component.api)
        return ServiceToken(self._api_url, JobTokens(self._keys_dir).text(token))

    def secrets_for(self, execution: Execution, names: Collection[str]) -> ServiceSecrets:
        """Return the secrets of these names, or why a service that requests them cannot start."""
        if not names:
            return _NOTHING
        # The tenant's come first, so that the owner's override them.
        stored = self._accounts.secrets(execution.tenant, execution.user) if self._accounts is not None else ()
        sealed = {secret.name: secret for secret in stored if secret.name in names}
        if absent := sorted(set(names) - sealed.keys()):
            why = f"{no_secrets(absent, execution.user, execution.tenant)}; {how_to_set(absent)}"
            return ServiceSecrets(refusal=why)
        seal = Seal.from_keys_dir(self._keys_dir)
        try:
            return ServiceSecrets(
                {secret.name: seal.decrypt(secret.sealed, *secret.belongs_to) for secret in sealed.values()}
            )
        except CannotOpen as error:
            return ServiceSecrets(refusal=f"{error}; set it again: zoe secret set")

    def volumes_for(self, execution: Execution, service: Service, now_s: float) -> ServiceVolumes:
        """Attach the owner's volumes that a service's component names, and return them with their epochs and keys, or
        why the service cannot start. The same service gets the same epochs again.
        """
        names = {volume.name for volume in execution.component_of(service).volumes if volume.name is not None}
        if not names or self._accounts is None:
            return _NO_VOLUMES
        seal, found = Seal.from_keys_dir(self._keys_dir), dict[str, AttachedVolume]()
        for volume in self._accounts.volumes_named(execution.tenant, execution.user, names):
            try:
                now = self._accounts.attach_volume(volume.id, execution.id, service.id, now_s)
                key = seal.decrypt(now.sealed, *now.belongs_to) if now.sealed else ""
            except VolumeAttached as error:
                return ServiceVolumes(refusal=str(error))
            except (NotFound, CannotOpen) as error:
                return ServiceVolumes(refusal=f"volume {volume.name}: {error}")
            found[volume.name] = AttachedVolume(now.id, now.epoch, now.filters, key)
        return ServiceVolumes(found)
