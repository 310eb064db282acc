"""Volumes of blocks, and which service each is attached to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from zoe_client.vocabulary import TERMINAL_STATES
from zoe_lib.domain.values.frozen import changed
from zoe_lib.domain.values.volumes import BlockVolume, VolumeState
from zoe_lib.store.documents.rows import from_row, row_of
from zoe_lib.store.documents.text import check_names, storable
from zoe_lib.store.errors import NameTaken, NotFound, TooManyVolumes, VolumeAttached
from zoe_lib.store.sql.visible.people import check_member
from zoe_lib.store.tables.accounts import tenants
from zoe_lib.store.tables.executions import executions
from zoe_lib.store.tables.volumes import volumes

_V = volumes.c
_ENDED = sorted(state.value for state in TERMINAL_STATES)


def add(connection: Connection, volume: BlockVolume, tenant_bytes_max: int) -> None:
    """Store a new volume; NotFound without a membership, NameTaken, and TooManyVolumes beyond the tenant's bytes."""
    check_names(volume.tenant, volume.user, volume.name)
    # Locked, so that no two calls take the last room.
    connection.execute(select(tenants.c.name).where(tenants.c.name == volume.tenant).with_for_update(key_share=True))
    check_member(connection, volume.user, volume.tenant)
    used = connection.execute(
        select(func.coalesce(func.sum(_V.size_bytes), 0)).where(_V.tenant == volume.tenant)
    ).scalar_one()
    if used + volume.size_bytes > tenant_bytes_max:
        free_gib = max(tenant_bytes_max - int(used), 0) / 2**30
        raise TooManyVolumes(
            f"volumes of {volume.tenant} may have {tenant_bytes_max / 2**30:.6g} GiB together, and {free_gib:.6g} GiB "
            "are left"
        )
    row = row_of(volume) | {"sealed": volume.sealed}
    if connection.execute(insert(volumes).values(row).on_conflict_do_nothing()).rowcount != 1:
        raise NameTaken(f"volume {volume.name} already exists")


def read(connection: Connection, tenant: str, user: str | None) -> Sequence[BlockVolume]:
    """Return the volumes of a user in a tenant (None: of all users), by user and name."""
    if not storable(tenant, user):
        return ()
    whose = _V.tenant == tenant if user is None else and_(_V.tenant == tenant, _V.user_name == user)
    return [_volume(row) for row in connection.execute(select(volumes).where(whose).order_by(_V.user_name, _V.name))]


def read_named(connection: Connection, tenant: str, user: str, names: Collection[str]) -> Sequence[BlockVolume]:
    """Return those volumes of a user with these names."""
    if not storable(tenant, user, *names):
        return ()
    wanted = and_(_V.tenant == tenant, _V.user_name == user, _V.name.in_(sorted(names)))
    return [_volume(row) for row in connection.execute(select(volumes).where(wanted))]


def read_volume(connection: Connection, tenant: str, user: str, name: str) -> BlockVolume:
    """Return one volume of a user; NotFound."""
    found = read_named(connection, tenant, user, [name])
    if not found:
        raise NotFound(f"{user} has no volume {name[:64]!r} in {tenant}")
    return found[0]


def attached_to(connection: Connection, of: Collection[BlockVolume]) -> dict[str, str]:
    """Return the unfinished executions that volumes are attached to, by the volume's id."""
    wanted = {volume.execution_id for volume in of if volume.execution_id is not None}
    alive = select(executions.c.id).where(executions.c.id.in_(sorted(wanted)), executions.c.state.not_in(_ENDED))
    living = set(connection.execute(alive).scalars()) if wanted else set()
    return {volume.id: volume.execution_id for volume in of if volume.execution_id in living and volume.execution_id}


def set_state(connection: Connection, volume_id: str, state: VolumeState) -> None:
    """Store that a step of a volume is done; `removing` is refused while it is attached: VolumeAttached, NotFound."""
    row = connection.execute(select(volumes).where(_V.id == volume_id).with_for_update()).first()
    if row is None:
        raise NotFound("the volume was removed")
    if state is VolumeState.REMOVING:
        _refuse_attached(connection, _volume(row))
    connection.execute(update(volumes).where(_V.id == volume_id).values(state=state.value))


def remove(connection: Connection, volume_id: str) -> None:
    """Forget a volume whose backing is removed."""
    connection.execute(delete(volumes).where(_V.id == volume_id))


def attach(connection: Connection, volume_id: str, execution_id: str, service_id: str, now_s: float) -> BlockVolume:
    """Attach a volume to a service, with a higher epoch, or the same one if it is this service's already.

    An epoch is at least the time, so that it is the highest even after the database was restored from a backup.
    NotFound if it is not ready, and VolumeAttached while another unfinished execution has it.
    """
    row = connection.execute(select(volumes).where(_V.id == volume_id).with_for_update()).first()
    if row is None or row.state != VolumeState.READY.value:
        raise NotFound("the volume was removed")
    volume = _volume(row)
    if volume.service_id == service_id:
        return volume
    if volume.execution_id != execution_id:
        _refuse_attached(connection, volume)
    values = {"epoch": max(volume.epoch + 1, int(now_s)), "execution_id": execution_id, "service_id": service_id}
    attaching = update(volumes).where(_V.id == volume_id).values(values).returning(volumes)
    return _volume(connection.execute(attaching).one())


def reseal(connection: Connection, was: BlockVolume, sealed: bytes) -> bool:
    """Store the same key sealed with another one; False, without a change, if it was changed in between."""
    same: ColumnElement[bool] = and_(_V.id == was.id, _V.sealed == was.sealed)
    return connection.execute(update(volumes).where(same).values(sealed=sealed)).rowcount == 1


def hand_over(connection: Connection, tenant: str, user: str, to: str) -> None:
    """Give a user's volumes to another user; those whose names are taken there get their ids, too."""
    taken = {volume.name for volume in read(connection, tenant, to)}
    for volume in read(connection, tenant, user):
        name = volume.name if volume.name not in taken else f"{volume.name}-{volume.id}"
        connection.execute(update(volumes).where(_V.id == volume.id).values(user_name=to, name=name))


def _refuse_attached(connection: Connection, volume: BlockVolume) -> None:
    if (execution := attached_to(connection, [volume]).get(volume.id)) is not None:
        raise VolumeAttached(volume.name, execution)


def _volume(row: Row[tuple[object, ...]]) -> BlockVolume:
    found = from_row(BlockVolume, row)
    return changed(found, filters=tuple(found.filters))
