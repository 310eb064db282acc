"""Create and start the containers of services."""

from __future__ import annotations

import re
from typing import Any

from docker.errors import APIError

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.images import full_name
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.docker.connection import EngineHost
from zoe_master.backends.docker.networks import AttemptNetworks
from zoe_master.backends.docker.places import prepare_places
from zoe_master.backends.docker.secret_files import DIRECTORY, archive_of, files_of
from zoe_master.backends.docker.settings import DockerSettings
from zoe_master.backends.docker.specification import ContainerContext, container_config, inner_user
from zoe_master.backends.engine.daemon.container_facts import container_facts
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.files.volume_owners import VolumeOwners
from zoe_master.backends.engine.daemon.image_facts import ImageCommand
from zoe_master.backends.engine.errors import UNREACHABLE, ErrorText, cannot_serve, error_text_of, status_of, words_of
from zoe_master.backends.engine.services.observation import why_never
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.engine.services.service_registry import ServiceRegistry
from zoe_master.backends.engine.spec.attempt_secrets import AttemptSecrets
from zoe_master.backends.engine.spec.environments import comes_first
from zoe_master.backends.engine.spec.mounts.work_dirs import StartPath
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import group_name
from zoe_master.backends.engine.spec.rendering import RenderedService, render
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError

_NO_NETWORK = re.compile(r"network \S+ not found")


class ContainerLauncher:
    """Turns a ServiceStart into a running container. Thread-safe: several services start at the same time."""

    def __init__(
        self,
        engine: Engine,
        host: EngineHost,
        registry: ServiceRegistry[Record],
        watches: EngineWatches,
        volumes: VolumeOwners,
        networks: AttemptNetworks,
        users: ComponentUsers,
        settings: DockerSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._engine = engine
        self._host = host
        self._registry = registry
        self._watches = watches
        self._volumes = volumes
        self._networks = networks
        self._users = users
        self._settings = settings
        self._secrets = AttemptSecrets(settings.state_dir / "attempts.key")
        self._clock = clock

    def launch(self, start: ServiceStart) -> bool:
        """Start a service; return whether to try again: its engine does not answer now."""
        record = self._registry.get(start.service_id)
        if record is None or record.final:
            return False
        if record.mark.stop_cause is not None:
            self._registry.end_unstarted(start.service_id, record.mark.stop_cause)
            return False
        try:
            self._begin(start, record)
        except CannotStartError as error:
            if isinstance(error, CannotStartYetError) and self._may_wait(record):
                return self._hold_up(start, ErrorText(str(error), error.detail))
            self._registry.end_unstarted(start.service_id, error.cause, str(error), error.detail)
        except UNREACHABLE as error:
            if status_of(error) is None or (cannot_serve(error) and self._may_wait(record)):
                return self._hold_up(start, error_text_of("the engine does not start it; Zoe tries again", error))
            cause = Cause.ENGINE_FAULT if cannot_serve(error) else why_never(words_of(error))
            self._registry.end_unstarted(start.service_id, cause, *error_text_of("the engine refuses it", error))
        return False

    def _hold_up(self, start: ServiceStart, why: ErrorText) -> bool:
        """Record why it waits, and return True: it is tried again."""
        self._registry.hold_up([start.service_id], why)
        return True

    def _begin(self, start: ServiceStart, record: Record) -> None:
        if start.node != self._host.name:
            raise CannotStartError(f"node {start.node} does not exist")
        service = render(start, self._settings)
        prepare_places(start, service.made_dir, self._users, self._settings)
        if not self._settings.rootless:  # there, new volumes belong to the user inside
            self._volumes.check_now(start, _volume_of(service.made_dir))
        container = self._create(service)
        if container is None:
            return
        if record.mark.stop_cause is not None:
            self._remove(container)
            self._registry.end_unstarted(start.service_id, record.mark.stop_cause)
            return
        self._start(container, start)

    def _create(self, service: RenderedService) -> str | None:
        """Return the id of a new container with its files; None if an earlier call has started it already."""
        start, api = service.start, self._api
        files = files_of(start, self._secrets.secret_for(Attempt(start.execution_id, start.attempt)))
        config = container_config(service, self._around(start, bool(files)), self._settings)
        name = group_name(self._settings.installation, start.component.name, [start.service_id])
        try:
            made = api.create_container_from_config(config, name)["Id"]
        except APIError as error:
            if status_of(error) != 409:
                raise
            if not self._take_over(name, start):
                return None
            made = api.create_container_from_config(config, name)["Id"]
        if files:
            api.put_archive(made, DIRECTORY, archive_of(files, inner_user(start, self._settings)))
        return str(made)

    def _around(self, start: ServiceStart, has_files: bool) -> ContainerContext:
        network = self._networks.ensure_for(start)
        command = self._image_command(start) if comes_first(start.component) else ((), ())
        return ContainerContext(network, has_files, self._host.total.cores_milli, command)

    def _image_command(self, start: ServiceStart) -> ImageCommand:
        watch = self._watches.get(self._host.name)
        found = None if watch is None else watch.command_of(full_name(start.component.image))
        if found is None:
            raise CannotStartYetError(f"the engine has not reported the command of {start.component.image} yet")
        return found

    def _take_over(self, name: str, start: ServiceStart) -> bool:
        """Remove a container of that name that was never started; return False if it was, by an earlier call."""
        try:
            found = self._api.inspect_container(name)
        except APIError as error:
            if status_of(error) == 404:
                return True
            raise
        tags = found["Config"].get("Labels") or {}
        ours = (tags.get(labels.INSTALLATION), tags.get(labels.SERVICES))
        if ours != (self._settings.installation, start.service_id):
            raise CannotStartError(f"another container has the name {name}; ask the admin to remove it")
        if found["State"]["Status"] != "created":
            if (facts := container_facts(found)) is not None:
                self._registry.container_seen(facts, after_gap=False)
            return False
        self._remove(found["Id"])
        return True

    def _start(self, container: str, start: ServiceStart) -> None:
        try:
            self._api.start(container)
        except APIError as error:
            if _NO_NETWORK.search(words_of(error)):
                self._remove(container)
                self._networks.forget(start)
                raise CannotStartYetError("its network was removed from outside", Cause.ENGINE_FAULT) from error
            facts = container_facts(self._api.inspect_container(container))
            if facts is None or facts.finished_at_s is None:
                self._remove(container)
                raise
            self._registry.container_seen(facts, after_gap=False)

    def _remove(self, container: str) -> None:
        self._api.remove_container(container, v=True, force=True)

    @property
    def _api(self) -> Any:
        return self._engine.api

    def _may_wait(self, record: Record) -> bool:
        return self._clock.now_s() <= record.created_at_s + self._settings.start_timeout_s


def _volume_of(work_dir: StartPath | None) -> StartPath | None:
    """Return the working directory if it is in a volume of the engine; others are made already."""
    return None if work_dir is None or work_dir.source.startswith("/") else work_dir
