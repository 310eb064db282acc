"""Decide what of an application cannot run on this platform, before anything is started. Pure.

Submission, `validate`, `plan` and forms ask it, and back-ends refuse by the same rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zoe_client.words.amounts import cores, counted, size
from zoe_lib.domain.applications.application import Application, Component, Volume
from zoe_lib.domain.applications.images import full_name, image_matches, is_reference, spellings
from zoe_lib.domain.applications.paths import is_below, plain_path
from zoe_lib.domain.applications.secrets import TenantSecrets, how_to_set, no_secrets
from zoe_lib.domain.applications.templates import TemplateKind, references
from zoe_lib.domain.cluster.cluster import elastic_never_fits, gateway_reservation, lacks_labels
from zoe_lib.domain.cluster.platform import BackendCapabilities, EngineLimits, MountPath, Platform
from zoe_lib.domain.executions.gateway import NO_GATEWAY, bearing_component
from zoe_lib.domain.executions.promises import no_service
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.storage import StorageDemand, StoreAccess, service_of

IMAGE_ABSENT = "image_absent"
IMAGE_NOT_ALLOWED = "image_not_allowed"


@value(frozen=True, slots=True)
class Finding:
    """Something that cannot run, or may not be able to.

    `place`: keys and indexes into the expanded description. `code`: a stable name. `certain`: it cannot run until an
    admin changes something; otherwise it is what was seen last, and may be otherwise when it starts.
    """

    place: tuple[str | int, ...]
    code: str
    message: str
    hint: str = ""
    certain: bool = True


def findings(
    application: Application,
    platform: Platform,
    access: StoreAccess | None = None,
    secrets: TenantSecrets | None = None,
) -> list[Finding]:
    """Return all findings, by component; unknown facts cause none."""
    found = [
        finding
        for index, component in enumerate(application.components)
        for finding in _of_component(("components", index), component, platform)
    ]
    return [
        *found,
        *_of_devices(application, platform.capabilities),
        *_of_addresses(application, platform),
        *_of_storage(application, access or StoreAccess()),
        *_of_secrets(application, platform.capabilities, secrets or TenantSecrets()),
    ]


def _of_secrets(application: Application, able: BackendCapabilities, access: TenantSecrets) -> Iterator[Finding]:
    for index, component in enumerate(application.components):
        for number, secret in enumerate(component.secrets):
            place = ("components", index, "secrets", number)
            if access.names is not None and secret.name not in access.names:
                message = f"component {component.name}: {no_secrets([secret.name], access.user, access.tenant)}"
                yield Finding((*place, "name"), "no_secret", message, how_to_set([secret.name]))
            if secret.variable and not able.secret_variables:
                message = f"component {component.name} asks for secret {secret.name} as a variable"
                hint = "use `file`: here the environment of a container is shown to everybody who may inspect it"
                yield Finding((*place, "variable"), "secret_as_variable", message, hint)
        for number, source in enumerate(component.sources):
            if source.secret and access.names is not None and source.secret not in access.names:
                message = f"component {component.name}: {no_secrets([source.secret], access.user, access.tenant)}"
                at = ("components", index, "sources", number, "secret")
                yield Finding(at, "no_secret", message, how_to_set([source.secret]))


def _of_storage(application: Application, access: StoreAccess) -> Iterator[Finding]:
    """Yield notes: a program may authenticate to the store itself, and anyone may read a public container."""
    storage = application.storage or StorageDemand()
    for kind, ones in (("input", storage.inputs), ("output", storage.outputs)):
        for index, one in enumerate(ones):
            place, service = ("storage", f"{kind}s", index, "uri"), service_of(one.uri)
            if why := no_service(one, access.services):
                hint = f"services of this installation: {', '.join(sorted(access.services or ())) or 'none'}"
                yield Finding(place, "no_such_service", f"{kind} {one.name}: {why}", hint, certain=False)
            elif service and access.credentials is not None and service not in access.credentials:
                message = f"{kind} {one.name}: tenant {access.tenant} has no credential for the service {service}"
                hint = f"store one: zoe storage credentials set {service}"
                yield Finding(place, "no_storage_credential", message, hint, certain=False)


def _of_component(place: tuple[str | int, ...], component: Component, platform: Platform) -> Iterator[Finding]:
    able = platform.capabilities
    yield from _of_image((*place, "image"), component, able)
    yield from _of_command((*place, "command"), component, able)
    if component.requirements and able.why_no_packages:
        message = f"component {component.name} has requirements, but {able.why_no_packages}"
        hint = "use an image that has the packages"
        yield Finding((*place, "requirements"), "no_packages", message, hint)
    if component.sources and able.why_no_sources:
        message = f"component {component.name} has sources, but {able.why_no_sources}"
        hint = "upload the files (`zoe cp`), or clone in the command with an image that has git"
        yield Finding((*place, "sources"), "no_sources", message, hint)
    if component.progress is not None and component.progress.file is not None and able.why_no_progress_files:
        message = f"component {component.name} tells its progress in a file, but {able.why_no_progress_files}"
        hint = "tell it at an http port: `progress` with `port`"
        yield Finding((*place, "progress", "file"), "no_progress_files", message, hint)
    if component.build_requirements and not able.package_builds:
        message = f"component {component.name} has build_requirements, but only wheels are taken here"
        hint = "name versions that have wheels, or use an image that has the packages"
        yield Finding((*place, "build_requirements"), "no_package_builds", message, hint)
    for number, volume in enumerate(component.volumes):
        yield from _of_volume((*place, "volumes", number), component, volume, able)
    yield from _of_workspace(place, component, able)
    yield from _of_engine((*place, "resources"), component, able.engine)
    if able.engine is not None:
        yield from _of_cores_limit((*place, "resources", "limits", "cores"), component, platform)
    too_large = elastic_never_fits(component, platform.nodes)
    if too_large is not None:
        where = (*place, "resources")
        yield Finding(where, "elastic_never_fits", too_large.sentence, too_large.hint, certain=False)


def _of_devices(application: Application, able: BackendCapabilities) -> Iterator[Finding]:
    for index, component in enumerate(application.components):
        if able.devices_alone and component.reservation.devices and needs_peers(application, component):
            yield Finding(
                ("components", index, "resources", "devices"),
                "devices_with_network",
                f"component {component.name} has devices and joins a network: Swarm may reject it while "
                "its node joins the network, and Zoe then retries up to the policy's start_attempts_max",
                "an application of one component without ports needs no network",
                certain=False,
            )


def needs_peers(application: Application, component: Component) -> bool:
    """Return whether its services talk to each other or to users."""
    return bool(component.ports) or len(application.components) > 1


def _of_image(place: tuple[str | int, ...], component: Component, able: BackendCapabilities) -> Iterator[Finding]:
    image, name = component.image, full_name(component.image)
    if (refused := image_refusal(image, able)) is not None:
        yield Finding(place, *refused)
        return
    if able.images_there is None:
        return
    facts = able.images_there.get(name)
    if facts is None and (not able.pulls or name in able.unavailable):
        message = f"no node has image {image}" + (", and no node could pull it" if able.pulls else "")
        yield Finding(
            place,
            IMAGE_ABSENT,
            message,
            "ask the admin to load it on every node (`make images` builds those of the catalogue)",
            certain=False,
        )
    elif facts is not None and facts.made_for:
        message = f"image {image} is built for {facts.made_for}, and no node that has it is of that kind"
        hint = "use an image that is also built for the nodes"
        yield Finding(place, "image_of_other_platform", message, hint, certain=False)


def image_refusal(image: str, able: BackendCapabilities) -> tuple[str, str, str] | None:
    """Return why an image may not run (a code and a sentence), and what may; None if it may."""
    if able.engine is not None and not is_reference(image):
        hint = "write a name such as zoe/spark or registry.example.org/team/tool:1.2"
        return "image_name_invalid", f"{image} is not a valid image name", hint
    if able.images is None or image_matches(image, able.images):
        return None
    hints = (able.image_hints[name] for name in spellings(image) if name in able.image_hints)
    return (
        IMAGE_NOT_ALLOWED,
        f"image {image} cannot run on this back-end: {able.why_no_image}",
        next(hints, f"allowed images: {', '.join(sorted(able.images)) or 'none'}"),
    )


def _of_command(place: tuple[str | int, ...], component: Component, able: BackendCapabilities) -> Iterator[Finding]:
    if component.command:
        return
    message = f"component {component.name} has no command, and image {component.image} defines none"
    hint = "set `command`"
    facts = (able.images_there or {}).get(full_name(component.image))
    if image_matches(component.image, able.commandless):
        yield Finding(place, "no_command", message, hint)
    elif facts is not None and not facts.has_command:
        yield Finding(place, "no_command", message, hint, certain=False)


def _of_volume(
    place: tuple[str | int, ...], component: Component, volume: Volume, able: BackendCapabilities
) -> Iterator[Finding]:
    path = volume.host_path
    if path is not None and able.host_paths is not None and not is_below(path, able.host_paths):
        message = f"host path {path} is not on the admin's list of allowed host paths"
        yield Finding((*place, "host_path"), "host_path_not_allowed", message, "use a named volume, or ask the admin")
    if (refused := mount_refusal(component, volume, able.mount_points)) is not None:
        yield Finding((*place, "target"), "mount_point_taken", *refused)


def mount_refusal(component: Component, volume: Volume, taken: Iterable[MountPath]) -> tuple[str, str] | None:
    """Return why nothing can be mounted at the volume's target, and what to do about it; None if it can."""
    target = plain_path(volume.target)
    for point in taken:
        if target != point.path and not (point.below and is_below(target, [point.path])):
            continue
        if point.only_read_only and not component.read_only_root:
            continue
        if point.only_named and volume.name is None and target == point.path:
            continue
        return f"no volume can be mounted at {volume.target}, the place of {point.use}", "use another target"
    return None


def _of_workspace(place: tuple[str | int, ...], component: Component, able: BackendCapabilities) -> Iterator[Finding]:
    if able.workspaces:
        return
    texts: list[tuple[tuple[str | int, ...], str]] = [
        *(((*place, "command", number), word) for number, word in enumerate(component.command)),
        *(((*place, "environment", name), text) for name, text in component.environment),
        ((*place, "work_dir"), component.work_dir or ""),
    ]
    for where, text in texts:
        kinds = {template.kind for template in references(text)}
        for kind in (one for one in (TemplateKind.WORKSPACE, TemplateKind.SHARED) if one in kinds):
            message = f"{{{kind}}}: this installation has no workspaces"
            yield Finding(where, "no_workspaces", message, "use a named volume or {scratch}")


def _of_engine(place: tuple[str | int, ...], component: Component, engine: EngineLimits | None) -> Iterator[Finding]:
    for key, code, message, least in engine_refusals(component, engine):
        yield Finding((*place, *key), code, f"component {component.name}: {message}", f"use {least} or more")


def engine_refusals(
    component: Component, engine: EngineLimits | None
) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    """Yield what the engine refuses as too little: the key in `resources`, a code, a sentence and the least."""
    if engine is None:
        return
    reserved, limit = component.reservation.memory_bytes, component.memory_limit_bytes
    least = engine.memory_limit_min_bytes if limit is None else engine.memory_min_bytes
    if reserved < least:
        needs = "a container needs at least" if limit is None else "the smallest reservation is"
        message = f"{size(reserved)} of memory is too little: {needs} {size(least)}"
        yield ("memory",), "memory_too_small", message, size(least)
    if limit is not None and limit < engine.memory_limit_min_bytes:
        least = engine.memory_limit_min_bytes
        message = f"a memory limit of {size(limit)} is too low: a container needs at least {size(least)}"
        yield ("limits", "memory"), "memory_too_small", message, size(least)
    milli = component.cores_limit_milli
    if milli and milli < engine.cores_limit_min_milli:
        number = cores(engine.cores_limit_min_milli).partition(" ")[0]
        message = f"a limit of {cores(milli)} is too low: the container engine accepts {number} or more"
        yield ("limits", "cores"), "cores_limit_too_small", message, number


def _of_cores_limit(place: tuple[str | int, ...], component: Component, platform: Platform) -> Iterator[Finding]:
    """Return a note: on a node with fewer cores, the limit is all that the node has."""
    there = [node.total.cores_milli for node in platform.nodes if lacks_labels(component, node) is None]
    limit = component.cores_limit_milli
    if limit and there and limit > max(there):
        message = (
            f"component {component.name}: a limit of {cores(limit)} has no effect, since the largest "
            f"node for it has only {cores(max(there))}"
        )
        yield Finding(place, "cores_limit_above_nodes", message, "remove the limit, or lower it", certain=False)


def _of_addresses(application: Application, platform: Platform) -> Iterator[Finding]:
    """Return a finding where an execution's network has fewer addresses than its services and their nodes need."""
    there = platform.capabilities.network_addresses
    if there is None:
        return
    services = sum(component.total_count for component in application.components)
    gateway = gateway_reservation(platform.nodes) != NO_GATEWAY and bearing_component(application) is not None
    nodes = min(max(len(platform.nodes), 1), services)
    if services + gateway + nodes <= there:
        return
    certain = services + gateway + 1 > there  # however few nodes it takes
    message = (
        f"{services} services{' with their gateway' if gateway else ''} need one address each in "
        f"the execution's network, and {counted(nodes, 'node')} one each; the network has only "
        f"{there}"
    )
    hint = f"ask for {there - gateway - nodes} services or fewer, or ask the admin for larger networks"
    yield Finding(("components",), "network_too_small", message, hint, certain)
