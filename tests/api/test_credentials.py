"""Credentials for the object store: keys go in and never come out, and tenants are apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.api import Api, problem
from tests.support.people import make_token
from tests.support.postgres import connect
from zoe_client import NotAllowed, NotFound
from zoe_client.wire import CredentialRequest
from zoe_lib.sealing import Seal

KEY = "a-key-that-nobody-may-see"
WANTED = CredentialRequest(user="red:ann", key=KEY)
PATH = "/api/v1/storage/credentials"


@pytest.fixture
def api(postgres_url: str) -> Iterator[Api]:
    made = Api(postgres_url, storage_services={"zoe": {"url": "http://swift/auth/v1.0", "region": "R"}})
    yield made
    made.close()


def test_a_key_goes_in_sealed_and_does_not_come_out(api: Api) -> None:
    client = api.client()
    kept = client.set_storage_credential("zoe", WANTED)
    assert (kept.tenant, kept.service, kept.user, kept.set_by) == ("red", "zoe", "red:ann", "ada")
    listed = client.storage_credentials()
    assert listed.credentials == [kept]
    assert listed.services == ["zoe"]
    assert KEY not in api.http().get(PATH).text + repr(WANTED)
    [sealed] = api.store.accounts.storage_credentials("red")
    assert KEY.encode() not in sealed.sealed
    assert Seal.from_keys_dir(api.settings.keys_dir).decrypt(sealed.sealed, "red", "zoe", "red:ann") == KEY
    client.remove_storage_credential("zoe")
    assert client.storage_credentials().credentials == []
    with pytest.raises(NotFound):
        client.remove_storage_credential("zoe")


def test_tenants_are_apart_and_an_admin_may_act_for_each(api: Api) -> None:
    red, root = api.client(), api.client(api.admin)
    blue = api.client(make_token(api.store, "bob", "blue"))
    red.set_storage_credential("zoe", WANTED)
    assert blue.storage_credentials().credentials == []
    for forbidden in (
        lambda: blue.storage_credentials("red"),
        lambda: blue.set_storage_credential("zoe", WANTED, "red"),
        lambda: blue.remove_storage_credential("zoe", "red"),
    ):
        with pytest.raises(NotAllowed):
            forbidden()
    assert root.set_storage_credential("zoe", WANTED, "blue").tenant == "blue"
    assert [credential.set_by for credential in blue.storage_credentials().credentials] == ["root"]
    with pytest.raises(NotFound):
        root.set_storage_credential("zoe", WANTED, "nobody")
    reader = api.client(make_token(api.store, "eve", "red", scopes=("read",)))
    assert len(reader.storage_credentials().credentials) == 1
    with pytest.raises(NotAllowed):
        reader.set_storage_credential("zoe", WANTED)


def test_refusals_name_the_services_and_never_the_key(api: Api) -> None:
    with pytest.raises(NotFound, match="known: zoe"):
        api.client().set_storage_credential("nowhere", WANTED)
    for body in ({"user": "u", "key": KEY + "\n"}, {"user": "", "key": KEY}, {"key": KEY}, {"user": "u", "key": [KEY]}):
        answer = api.http().put(f"{PATH}/zoe", json=body)
        assert problem(answer)["code"] == "invalid_request"
        assert KEY not in answer.text
    assert api.client().storage_credentials().credentials == []


def test_a_row_that_was_moved_to_another_tenant_opens_nowhere(api: Api, postgres_url: str) -> None:
    make_token(api.store, "bob", "blue")
    api.client().set_storage_credential("zoe", WANTED)
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE storage_credentials SET tenant = 'blue'")
        connection.commit()
    [moved] = api.store.accounts.storage_credentials("blue")
    with pytest.raises(Exception, match="cannot decrypt"):
        Seal.from_keys_dir(api.settings.keys_dir).decrypt(moved.sealed, "blue", "zoe", moved.login)
