"""Volumes in the database: epochs that only grow, one execution at a time, and the bytes of a tenant."""

from __future__ import annotations

import pytest

from tests.support.applications import execution
from zoe_lib.domain.values.volumes import BlockVolume, VolumeState
from zoe_lib.store.errors import NameTaken, NotFound, TooManyVolumes, VolumeAttached
from zoe_lib.store.postgres.store import PostgresStore

READY = VolumeState.READY.value
NOW_S = 1000.0


def made(store: PostgresStore, name: str = "data", user: str = "ada", **changes: object) -> BlockVolume:
    store.accounts.ensure_member(user, "red", "user")
    given = {"size_bytes": 16, "policy": "plain", "filters": ("luks",), "made_at_s": 1.0, "state": READY} | changes
    volume = BlockVolume(f"v-{user}-{name}", "red", user, name, **given)  # type: ignore[arg-type]
    store.accounts.add_volume(volume, 40)
    return volume


def test_each_service_gets_a_higher_epoch_and_the_same_one_again(store: PostgresStore) -> None:
    volume, attach = made(store), store.accounts.attach_volume
    assert attach(volume.id, "x1", "x1.a.0.1", NOW_S).epoch == 1000
    assert attach(volume.id, "x1", "x1.a.0.1", NOW_S + 5).epoch == 1000
    assert attach(volume.id, "x1", "x1.a.0.2", NOW_S).epoch == 1001
    later = attach(volume.id, "x2", "x2.a.0.1", NOW_S + 60)
    assert (later.epoch, later.execution_id, later.filters) == (1060, "x2", ("luks",))


def test_a_volume_has_one_unfinished_execution(store: PostgresStore) -> None:
    volume = made(store)
    running = execution(tenant="red", user="ada")
    store.submit(running, "r")
    store.accounts.attach_volume(volume.id, running.id, "s1", NOW_S)
    present = store.accounts.volume("red", "ada", "data")
    assert store.accounts.volumes_attached([present]) == {volume.id: running.id}
    with pytest.raises(VolumeAttached, match=f"volume data is attached to execution {running.id}"):
        store.accounts.attach_volume(volume.id, "x2", "s2", NOW_S)
    with pytest.raises(VolumeAttached):
        store.accounts.set_volume_state(volume.id, VolumeState.REMOVING)
    assert store.accounts.attach_volume(volume.id, running.id, "s3", NOW_S).epoch == 1001


@pytest.mark.parametrize("state", [VolumeState.MAKING, VolumeState.REMOVING])
def test_a_volume_that_is_not_ready_is_not_attached(store: PostgresStore, state: VolumeState) -> None:
    volume = made(store, state=state.value)
    with pytest.raises(NotFound):
        store.accounts.attach_volume(volume.id, "x1", "s1", NOW_S)


def test_names_are_those_of_a_user_and_bytes_those_of_a_tenant(store: PostgresStore) -> None:
    made(store)
    with pytest.raises(NameTaken):
        made(store)
    made(store, user="ben")
    with pytest.raises(TooManyVolumes):
        made(store, "more")
    assert [volume.user for volume in store.accounts.volumes("red", None)] == ["ada", "ben"]
    assert [volume.user for volume in store.accounts.volumes_named("red", "ben", {"data", "x"})] == ["ben"]
    with pytest.raises(NotFound):
        store.accounts.volume("red", "ada", "more")


def test_volumes_move_with_their_owner_under_free_names(store: PostgresStore) -> None:
    made(store, size_bytes=1)
    made(store, "only", size_bytes=1)
    made(store, user="ben", size_bytes=1)
    store.accounts.hand_over_volumes("red", "ada", "ben")
    assert [volume.name for volume in store.accounts.volumes("red", "ben")] == ["data", "data-v-ada-data", "only"]
