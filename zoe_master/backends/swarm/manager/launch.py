"""Create and remove Swarm services. Used by one thread only, so no other call interferes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from docker.errors import APIError

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.images import full_name
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.path_checks import PathChecks
from zoe_master.backends.engine.daemon.files.volume_owners import VolumeOwners
from zoe_master.backends.engine.daemon.image_facts import ImageCommand
from zoe_master.backends.engine.errors import UNREACHABLE, ErrorText, cannot_serve, error_text_of, status_of
from zoe_master.backends.engine.spec.environments import comes_first, entry_archive
from zoe_master.backends.engine.spec.naming import labels
from zoe_master.backends.engine.spec.naming.attempts import Attempt, attempt_labels
from zoe_master.backends.engine.spec.rendering import RenderedService, needs_secret, render
from zoe_master.backends.engine.spec.template_values import ENVIRONMENT_FILE
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError
from zoe_master.backends.services.secret_files import API_TOKEN_FILE, file_of, source_secrets
from zoe_master.backends.swarm.facts import NodeFacts
from zoe_master.backends.swarm.manager.infrastructure import AttemptInfrastructure
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.services.task_records import ServiceGroup
from zoe_master.backends.swarm.services.task_registry import TaskRegistry
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.grouping import group_services
from zoe_master.backends.swarm.spec.specification import AttemptContext, Json, needs_network, service_spec

_CHECKING = ErrorText("Zoe is checking its directories on the node")
_SILENT = (None, 503)
"""No answer, or a temporary error: the request is valid, however long it takes."""


class ServiceLauncher:
    """Turns Starts into Swarm services, one for each group of identical tasks."""

    def __init__(
        self,
        managers: Managers,
        registry: TaskRegistry,
        shared: AttemptInfrastructure,
        paths: PathChecks,
        volumes: VolumeOwners,
        watches: EngineWatches,
        settings: SwarmSettings,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._managers = managers
        self._registry = registry
        self._shared = shared
        self._paths = paths
        self._volumes = volumes
        self._watches = watches
        self._settings = settings

    def launch(self, starts: Sequence[ServiceStart], nodes: Mapping[str, NodeFacts]) -> list[ServiceStart]:
        """Start services; return those to retry: no manager takes them now, or their node is being checked."""
        rendered = [service for service in (self._render(start, nodes) for start in starts) if service is not None]
        again: list[ServiceStart] = []
        silent: ErrorText | None = None
        for group in group_services(rendered):
            if silent is not None:  # each call would take the timeout of all managers
                again += self._hold_up(group, silent)
                continue
            try:
                first = group[0]
                if not (self._paths.may_mount(first.start) and self._volumes.are_checked(first.start, first.made_dir)):
                    again += self._hold_up(group, _CHECKING)
                    continue
                self._create(group, nodes[first.start.node])
            except CannotStartError as error:
                if isinstance(error, CannotStartYetError) and self._may_wait(group):
                    again += self._hold_up(group, ErrorText(str(error), error.detail))
                else:
                    self._refuse(group, error)
            except UNREACHABLE as error:
                if not cannot_serve(error):
                    message, detail = error_text_of("Swarm refuses it", error)
                    self._refuse(group, CannotStartError(message, detail=detail))
                    continue
                why = error_text_of("no manager of the swarm accepts it; Zoe tries again", error)
                silent = why if status_of(error) in _SILENT else None
                if silent is not None or self._may_wait(group):
                    again += self._hold_up(group, why)
                else:
                    message, detail = why
                    self._refuse(group, CannotStartError(message, Cause.ENGINE_FAULT, detail))
        return again

    def _hold_up(self, group: Sequence[RenderedService], why: ErrorText) -> list[ServiceStart]:
        """Record why it waits, and return the starts to retry."""
        self._registry.hold_up([service.start.service_id for service in group], why)
        return [service.start for service in group]

    def remove(self, group: ServiceGroup) -> None:
        """Remove a Swarm service; its tasks follow."""
        try:
            self._managers.change(lambda api: api.remove_service(group.group_id))
        except UNREACHABLE as error:
            if status_of(error) != 404:
                return  # the next poll retries
        group.removed = True

    def _render(self, start: ServiceStart, nodes: Mapping[str, NodeFacts]) -> RenderedService | None:
        record = self._registry.get(start.service_id)
        if record is None or record.final:
            return None
        if record.mark.stop_cause is not None:
            self._registry.end_unstarted(start.service_id, record.mark.stop_cause)
            return None
        try:
            if start.node not in nodes:
                raise CannotStartError(f"node {start.node} does not exist")
            return render(start, self._settings)
        except CannotStartError as error:
            self._registry.end_unstarted(start.service_id, error.cause, str(error), error.detail)
            return None

    def _create(self, group: Sequence[RenderedService], node: NodeFacts) -> None:
        start = group[0].start
        try:
            made = self._call(group, node)
        except APIError as error:
            if status_of(error) != 404:
                raise
            self._shared.forget(Attempt(start.execution_id, start.attempt))  # an operator removed its network or secret
            made = self._call(group, node)
        members = tuple(service.start.service_id for service in group)
        self._registry.set_group(members, ServiceGroup(made, members))

    def _call(self, group: Sequence[RenderedService], node: NodeFacts) -> str:
        start = group[0].start
        attempt = Attempt(start.execution_id, start.attempt)
        tags = attempt_labels(attempt, start.tenant, self._settings.installation) | {labels.CAUSE: start.cause_id}
        network_id = self._shared.network(attempt, tags) if needs_network(start) else None
        secret = self._shared.secret(attempt, tags) if needs_secret(start) else None
        files = {
            name: self._shared.file(attempt, tags, name, text) for name, text in sorted(start.storage.files.items())
        }
        sign_in = self._shared.file(attempt, tags, "sign-in", start.secret) if start.secret else None
        own = {name: self._shared.content(attempt, tags, text) for name, text in start.component.files}
        values = start.secrets.values
        given = {
            file_of(use): self._shared.owner_secret(attempt, tags, use.name, values[use.name])
            for use in start.component.secrets
        }
        if start.api is not None:
            given[API_TOKEN_FILE] = self._shared.owner_secret(attempt, tags, API_TOKEN_FILE, start.api.token)
        around = AttemptContext(node.node_id, network_id, secret, files, sign_in, own, given, node.total.cores_milli)
        if comes_first(start.component):
            program = self._shared.program(attempt, tags, ENVIRONMENT_FILE, entry_archive())
            opening = {
                number: self._shared.owner_secret(attempt, tags, f"{start.component.name}/{number}", text)
                for number, text in source_secrets(start).items()
            }
            around = replace(around, environment=program, image_command=self._image_command(start), sources=opening)
        spec = service_spec(group, around, self._settings)
        try:
            return str(self._managers.change(lambda api: api.create_service(**spec))["ID"])
        except APIError as error:
            if status_of(error) != 409:
                raise
            return self._existing(spec)

    def _image_command(self, start: ServiceStart) -> ImageCommand:
        watch = self._watches.get(start.node)
        found = None if watch is None else watch.command_of(full_name(start.component.image))
        if found is None:
            raise CannotStartYetError(f"{start.node} has not reported the command of {start.component.image} yet")
        return found

    def _existing(self, spec: Json) -> str:
        """Return the service of that name if it is the one meant here, created before a crash lost the answer."""
        found = self._managers.ask(lambda api: api.services(filters={"name": spec["name"]}))
        for service in found:
            if service["Spec"]["Name"] != spec["name"]:
                continue
            if service["Spec"]["Labels"].get(labels.SERVICES) == spec["labels"][labels.SERVICES]:
                return str(service["ID"])
        raise CannotStartError(f"another Swarm service has the name {spec['name']}; ask the admin to remove it")

    def _may_wait(self, group: Sequence[RenderedService]) -> bool:
        """Return whether to wait: managers without a leader fail for a while, but an impossible request fails for
        ever.
        """
        record = self._registry.get(group[0].start.service_id)
        return record is not None and self._clock.now_s() <= record.created_at_s + self._settings.place_timeout_s

    def _refuse(self, group: Sequence[RenderedService], error: CannotStartError) -> None:
        for service in group:
            self._registry.end_unstarted(service.start.service_id, error.cause, str(error), error.detail)
