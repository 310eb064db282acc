"""Turn a ServiceStart into the supervisor's specification: templates filled, paths of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.application import Component, Volume
from zoe_lib.domain.applications.templates import Template, TemplateError, TemplateKind, fill
from zoe_master.backends.base import PeerService, ServiceStart, joined_modules
from zoe_master.backends.local.environments.environments import Environment, base_of, environment_of, prepare_spec
from zoe_master.backends.local.files.directories import ComponentUser, make_owned, write_owned, write_tree
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.files.volumes import (
    variable_of,
    volume_directories,
    volume_specs,
    working_directory,
)
from zoe_master.backends.local.files.workspaces import workspaces
from zoe_master.backends.local.machine.cgroups import CgroupParent
from zoe_master.backends.local.machine.images import runtime_of
from zoe_master.backends.local.machine.ports import PortBook
from zoe_master.backends.local.settings import LocalSettings, Runtime
from zoe_master.backends.local.sources.sources import clone_spec
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.local.supervisor.spec import PrepareProcess, ProbeSpec, ProcessSpec
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.services.peers import referenced_data, referenced_instances, referenced_peer
from zoe_master.backends.services.secret_files import api_variables, secret_files, source_secrets, variable_files

HOST = "127.0.0.1"
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
# Below the scratch directory, and removed with it.
_CONFIGURATION = "zoe-storage"
_SIGN_IN = "zoe-sign-in"
_FILES = "zoe-files"
_SECRETS = "zoe-secrets"
_SOURCE_SECRETS = "zoe-source-secrets"
_SECRET_FILE = "secret"  # noqa: S105 - its name
# Set for every component. They identify the processes of a service, so they override all others.
SERVICE_VARIABLE = "ZOE_SERVICE_ID"
BACKEND_VARIABLE = "ZOE_BACKEND"


@dataclass(frozen=True, slots=True)
class BackendContext:
    """Shared state of all services of this back-end."""

    settings: LocalSettings
    ports: PortBook
    users: ComponentUsers
    cgroups: CgroupParent | None
    hint: str


@dataclass(frozen=True, slots=True)
class _Places:
    """The directories of one service."""

    scratch: Path
    configuration: Path
    workspace: Path
    shared: Path
    volumes: Mapping[Volume, Path]
    environments: Path

    @property
    def by_template(self) -> Mapping[TemplateKind, Path]:
        """Return the directories by the names in templates."""
        return {
            TemplateKind.SCRATCH: self.scratch,
            TemplateKind.FILES: self.scratch / _FILES,
            TemplateKind.WORKSPACE: self.workspace,
            TemplateKind.SHARED: self.shared,
        }


def specify(start: ServiceStart, around: BackendContext, clock: Clock = SYSTEM_CLOCK) -> ProcessSpec:
    """Return the specification for the supervisor; creates directories and allocates ports. Raises CannotStartError."""
    component, settings = start.component, around.settings
    if all(node.name != start.node for node in settings.nodes):
        raise CannotStartError(f"node {start.node} does not exist")
    runtime = runtime_of(component.image, settings.images)
    ports = around.ports.allocate(start.execution_id, start.service_id, (port.name for port in component.ports))
    owner = around.users.user_for(start.system_user)
    places = _make_places(start, settings, owner)
    filled = _Filler(start, around.ports, places)
    python = environment_of(component, _path_of(runtime), places.environments, settings)
    marks = {BACKEND_VARIABLE: around.hint, SERVICE_VARIABLE: start.service_id}
    try:
        argv = _command(component, runtime, filled)
        environment = _environment(start, runtime, places, filled, python)
        work_dir, make = _work_directory(component, places, filled)
    except TemplateError as error:
        raise CannotStartError(f"component {component.name}: {error}") from error
    spec: ProcessSpec = {
        "service_id": start.service_id,
        "execution_id": start.execution_id,
        "node": start.node,
        "boot_id": files.boot_id(),
        "created_at_s": clock.now_s(),
        "owner": [start.tenant, start.user],
        "cause_id": start.cause_id,
        "argv": argv,
        "secret_variables": dict(variable_files(start, str(places.scratch / _SECRETS))),
        "environment": environment | marks,
        "read_only": [str(places.environments)],
        "work_dir": str(work_dir),
        "make_work_dir": make,
        "scratch": str(places.scratch),
        "user": around.users.spec(owner),
        "memory_limit_bytes": _memory_limit(component),
        "cores_limit_milli": component.cores_limit_milli,
        "cores_milli": component.reservation.cores_milli,
        "promised": start.promised,
        "cgroup": around.cgroups.spec(start.service_id) if around.cgroups else None,
        "ports": ports,
        "probe": _probe(component, ports),
        "stop_grace_s": component.stop_grace_s,
        "output_bytes_max": settings.output_bytes_max,
        "hint": around.hint,
        "volumes": volume_specs(start, settings, owner),
        "volumes_base": str(settings.blocks_dir),
    }
    if python is not None:
        spec["python_environment"] = str(python.directory)
    if steps := _preparations(component, places, python, _basic_environment(runtime, places) | marks, settings):
        spec["prepare"] = steps
    return spec


def _command(component: Component, runtime: Runtime, filled: _Filler) -> list[str]:
    words = [filled(word) for word in component.command or runtime.command]
    if not words:
        raise CannotStartError(
            f"component {component.name} has no command, and the runtime of {component.image} defines none"
        )
    return words


def _work_directory(component: Component, places: _Places, filled: _Filler) -> tuple[Path, bool]:
    """Return the working directory of the component, and whether it must be created first."""
    asked = filled(component.work_dir) if component.work_dir is not None else None
    return working_directory(asked, places.scratch, places.workspace, places.shared, places.volumes)


def _preparations(
    component: Component,
    places: _Places,
    python: Environment | None,
    basic: dict[str, str],
    settings: LocalSettings,
) -> list[PrepareProcess]:
    """Return the processes that run before the component: cloning repositories, then installing packages."""
    withheld = [str(places.scratch / name) for name in (_CONFIGURATION, _SIGN_IN, _SECRETS)]
    steps: list[PrepareProcess] = []
    if component.sources:
        secrets = places.scratch / _SOURCE_SECRETS
        steps.append(clone_spec(component, basic, places.workspace, secrets, withheld, settings))
    if python is not None:
        steps.append(prepare_spec(python, basic, withheld, settings))
    return steps


class _Filler:
    """Fills the templates of one service's texts."""

    def __init__(self, start: ServiceStart, ports: PortBook, places: _Places) -> None:
        self._start = start
        self._ports = ports
        self._places = places

    def __call__(self, text: str) -> str:
        return fill(text, self._resolve)

    def _resolve(self, template: Template) -> str:
        match template.kind:
            case TemplateKind.HOST:
                referenced_peer(self._start, template)
                text = HOST
            case TemplateKind.HOSTS:
                text = ",".join(HOST for peer in referenced_instances(self._start, template) if peer.node is not None)
            case TemplateKind.ADDRESSES:
                text = ",".join(self._addresses(template))
            case TemplateKind.PORT:
                text = str(self._port(template))
            case TemplateKind.SCRATCH | TemplateKind.FILES | TemplateKind.WORKSPACE | TemplateKind.SHARED:
                text = str(self._places.by_template[template.kind])
            case TemplateKind.INDEX | TemplateKind.INSTANCE:
                text = str(self._start.index)
            case TemplateKind.EXECUTION | TemplateKind.ATTEMPT:
                attempts = template.kind is TemplateKind.ATTEMPT
                text = str(self._start.attempt) if attempts else self._start.execution_id
            case TemplateKind.USER:
                text = self._start.user
            case TemplateKind.SECRETS:
                text = str(self._places.scratch / _SECRETS)
            case TemplateKind.SECRET_FILE:
                text = str(self._places.scratch / _SIGN_IN / _SECRET_FILE)
            case TemplateKind.COLUMNS | TemplateKind.EACH:
                text = referenced_data(self._start, template)
            case TemplateKind.INPUT | TemplateKind.OUTPUT:
                text = self(referenced_data(self._start, template))
        return text

    def _addresses(self, template: Template) -> Iterator[str]:
        for peer in referenced_instances(self._start, template):
            if peer.node is not None:
                yield f"{HOST}:{self._port_of(peer, template)}"

    def _port(self, template: Template) -> int:
        return self._port_of(referenced_peer(self._start, template), template)

    def _port_of(self, peer: PeerService, template: Template) -> int:
        assert template.port is not None
        return self._ports.allocate(self._start.execution_id, peer.service_id, (template.port,))[template.port]


def _make_places(start: ServiceStart, settings: LocalSettings, owner: ComponentUser | None) -> _Places:
    workspace, shared = workspaces(settings.workspaces_dir, start.tenant, start.user, owner)
    scratch = make_owned(settings.scratch_dir, (start.service_id,), owner)
    if start.storage.files:
        write_owned(settings.scratch_dir, (start.service_id, _CONFIGURATION), start.storage.files, owner)
    if start.secret:
        write_owned(settings.scratch_dir, (start.service_id, _SIGN_IN), {_SECRET_FILE: start.secret}, owner)
    if files := secret_files(start):
        write_owned(settings.scratch_dir, (start.service_id, _SECRETS), files, owner, 0o400)
    if keys := source_secrets(start):
        write_owned(settings.scratch_dir, (start.service_id, _SOURCE_SECRETS), keys, owner, 0o400)
    write_tree(settings.scratch_dir, (start.service_id, _FILES), start.component.files, owner)
    return _Places(
        scratch=scratch,
        configuration=scratch / _CONFIGURATION,
        workspace=workspace,
        shared=shared,
        volumes=volume_directories(start, settings, owner),
        environments=base_of(settings, start.user, owner),
    )


def _path_of(runtime: Runtime) -> str:
    return os.pathsep.join(dict.fromkeys((*runtime.path, *SYSTEM_PATH)))


def _basic_environment(runtime: Runtime, places: _Places) -> dict[str, str]:
    """Return the environment from the runtime, with no variables of the master."""
    return {
        "PATH": _path_of(runtime),
        "LANG": "C.UTF-8",
        "HOME": str(places.scratch),
        "TMPDIR": str(places.scratch),
        **runtime.environment,
    }


def _environment(
    start: ServiceStart, runtime: Runtime, places: _Places, filled: _Filler, python: Environment | None
) -> dict[str, str]:
    """Return the environment; the component's own values override the runtime's."""
    own = {name: filled(text) for name, text in start.component.environment}
    given = _basic_environment(runtime, places)
    if python is not None:
        given |= {**python.variables, "PATH": os.pathsep.join((python.bin, given["PATH"]))}
    given |= {
        **start.storage.variables(str(places.configuration)),
        **{variable_of(volume): str(directory) for volume, directory in places.volumes.items()},
    }
    own_api = api_variables(start, str(places.scratch / _SECRETS))
    return {**joined_modules(given, own), "ZOE_EXECUTION_ID": start.execution_id, **own_api}


def _memory_limit(component: Component) -> int | None:
    return component.memory_limit_bytes or component.reservation.memory_bytes or None


def _probe(component: Component, ports: Mapping[str, int]) -> ProbeSpec | None:
    probe = component.readiness
    if probe is None:
        return None
    if probe.port not in ports:
        raise CannotStartError(
            f"the readiness probe of component {component.name} uses the undeclared port {probe.port}"
        )
    return {
        "kind": str(probe.kind),
        "name": probe.port,
        "port": ports[probe.port],
        "path": probe.path,
        "interval_s": probe.interval_s,
        "timeout_s": probe.timeout_s,
    }
