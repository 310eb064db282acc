"""Volumes of blocks: create, list, show, remove. Executions attach them by name."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Response

from zoe_api.access.access import AsReader, AsSubmitter
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.http.routing import api_router
from zoe_api.services.dependencies import Caller, Services, ask
from zoe_client.wire import VolumeList, VolumePolicyView, VolumeRequest, VolumeView
from zoe_lib.domain.values.volumes import ENCRYPTION, BlockVolume, VolumeState
from zoe_lib.sealing import Seal
from zoe_lib.settings.volume_policies import parse_policies
from zoe_lib.store.errors import TooManyVolumes, VolumeAttached

router = api_router("/volumes", tag="storage")
Name = Annotated[str, Path(max_length=64, description="Name of the volume.")]
_ID_BYTES, _KEY_BYTES = 8, 32


@router.get("", response_model=VolumeList)
def list_volumes(caller: AsReader) -> VolumeList:
    """List your volumes in the tenant, and the policies for new ones."""
    accounts, settings = caller.services.accounts, caller.services.settings
    of_tenant = accounts.volumes(caller.tenant, None)
    found = [volume for volume in of_tenant if volume.user == caller.user]
    attached = accounts.volumes_attached(found)
    policies = parse_policies(settings.volume_policies).items()
    return VolumeList(
        volumes=[_view(volume, attached.get(volume.id)) for volume in found],
        policies=[VolumePolicyView(name=name, filters=list(filters)) for name, filters in policies],
        tenant_bytes=sum(volume.size_bytes for volume in of_tenant),
        tenant_bytes_max=settings.volumes_of_tenant_bytes_max,
    )


@router.get("/{name}", response_model=VolumeView)
def show_volume(name: Name, caller: AsReader) -> VolumeView:
    """Return one of your volumes."""
    volume = caller.services.accounts.volume(caller.tenant, caller.user, name)
    return _view(volume, caller.services.accounts.volumes_attached([volume]).get(volume.id))


@router.post("", status_code=201, response_model=VolumeView)
def create_volume(body: VolumeRequest, caller: AsSubmitter) -> VolumeView:
    """Create a volume: its whole space is reserved on the storage node, and encrypted if its policy says so."""
    services = caller.services
    if why := why_no_volumes(services):
        raise ApiProblem(Code.VOLUME_REFUSED, f"volumes of blocks cannot be attached here: {why}")
    policies = parse_policies(services.settings.volume_policies)
    if body.policy not in policies:
        raise ApiProblem(Code.VOLUME_REFUSED, f"there is no policy {body.policy!r}; there are {', '.join(policies)}")
    volume, key = _new_volume(body, policies[body.policy], caller)
    try:
        services.accounts.add_volume(volume, services.settings.volumes_of_tenant_bytes_max)
    except TooManyVolumes as refused:
        raise ApiProblem(Code.TOO_MANY_VOLUMES, str(refused)) from None
    order = {"volume": volume.id, "size_bytes": volume.size_bytes, "filters": list(volume.filters), "key": key}
    try:
        ask(services.master, "make_volume", order, caller.request, caller.user)
    except ApiProblem as problem:
        if problem.problem.code == Code.VOLUME_REFUSED:  # it left nothing
            services.accounts.remove_volume(volume.id)
        raise
    services.accounts.set_volume_state(volume.id, VolumeState.READY)
    return _view(replace(volume, state=VolumeState.READY.value), None)


@router.delete("/{name}", status_code=204)
def remove_volume(name: Name, caller: AsSubmitter) -> Response:
    """Remove a volume and its data for good; refused while it is attached. An interrupted removal can be repeated."""
    services = caller.services
    volume = services.accounts.volume(caller.tenant, caller.user, name)
    try:
        services.accounts.set_volume_state(volume.id, VolumeState.REMOVING)
    except VolumeAttached as refused:
        raise ApiProblem(Code.VOLUME_ATTACHED, str(refused), "wait for its end, or cancel it") from None
    ask(services.master, "remove_volume", {"volume": volume.id}, caller.request, caller.user)
    services.accounts.remove_volume(volume.id)
    return Response(status_code=204)


def why_no_volumes(services: Services) -> str:
    """Return why the back-end cannot attach volumes, as a part of a sentence; empty if it can."""
    return services.store.terms().platform.capabilities.why_no_volumes


def _new_volume(body: VolumeRequest, filters: tuple[str, ...], caller: Caller) -> tuple[BlockVolume, str]:
    """Return a new volume of the caller, and its key, which is empty without encryption."""
    services, volume_id = caller.services, f"v{secrets.token_hex(_ID_BYTES)}"
    volume = BlockVolume(
        volume_id, caller.tenant, caller.user, body.name, body.size_bytes, body.policy, filters, services.clock.now_s()
    )
    if ENCRYPTION not in filters:
        return volume, ""
    key = secrets.token_hex(_KEY_BYTES)
    sealed = Seal.from_keys_dir(services.settings.keys_dir).encrypt(key, *volume.belongs_to)
    return replace(volume, sealed=sealed), key


def _view(volume: BlockVolume, execution_id: str | None) -> VolumeView:
    return VolumeView(
        name=volume.name,
        user=volume.user,
        size_bytes=volume.size_bytes,
        policy=volume.policy,
        filters=list(volume.filters),
        state=volume.state,
        execution_id=execution_id,
        made_at_s=volume.made_at_s,
    )
