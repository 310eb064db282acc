"""Secrets of users and tenants: values go in and never come out, and only their owners' services get them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api import Api, problem
from tests.support.people import make_token
from tests.support.postgres import connect
from zoe_api.services.key_rotation import rotate_credentials_key
from zoe_client import Client, Conflict, NotAllowed, NotFound
from zoe_lib.sealing import Seal
from zoe_lib.store.people import SealedSecret

VALUE = "a-value-that-nobody-may-see"
PATH = "/api/v1/secrets"


def names(client: Client) -> list[tuple[str, str | None]]:
    return [(secret.name, secret.user) for secret in client.secrets().secrets]


def application(*secrets: dict[str, str]) -> dict[str, Any]:
    component = {
        "name": "c",
        "image": "shell",
        "command": ["true"],
        "resources": {"memory": "1MiB"},
        "ends_application": True,
        "secrets": list(secrets),
    }
    return {"version": 4, "name": "asks", "components": [component]}


def opened(api: Api, secret: SealedSecret) -> str:
    return Seal.from_keys_dir(api.settings.keys_dir).decrypt(secret.sealed, *secret.belongs_to)


def test_a_value_goes_in_sealed_and_does_not_come_out(api: Api, postgres_url: str) -> None:
    client = api.client()
    kept = client.set_secret("db", VALUE)
    assert (kept.name, kept.user, kept.size_bytes, kept.set_by) == ("db", "ada", len(VALUE), "ada")
    assert client.secrets().secrets == [kept]
    [stored] = api.store.accounts.secrets("red", "ada")
    assert opened(api, stored) == VALUE
    client.set_secret("db", "another")
    [stored] = api.store.accounts.secrets("red", "ada")
    assert opened(api, stored) == "another"
    assert VALUE not in api.http().get(PATH).text + repr(stored)
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', (f"%{VALUE}%",))
            assert cursor.fetchall() == [(0,)], table
    client.remove_secret("db")
    assert names(client) == []
    with pytest.raises(NotFound):
        client.remove_secret("db")


def test_users_are_apart_and_the_tenants_are_its_operators(api: Api) -> None:
    ada, bob = api.client(), api.client(make_token(api.store, "bob", "red"))
    eve = api.client(make_token(api.store, "eve", "blue"))
    operator = api.client(make_token(api.store, "olga", "red", "operator", ("read", "submit", "operate")))
    ada.set_secret("mine", VALUE)
    operator.set_secret("ours", VALUE, of_tenant=True)
    assert names(ada) == [("ours", None), ("mine", "ada")]
    assert names(bob) == names(operator) == [("ours", None)]
    assert names(eve) == []
    for forbidden in (
        lambda: bob.set_secret("ours", "x", of_tenant=True),
        lambda: bob.remove_secret("ours", of_tenant=True),
        lambda: api.client(make_token(api.store, "vic", "red", role="viewer")).set_secret("x", "x"),
    ):
        with pytest.raises(NotAllowed):
            forbidden()
    with pytest.raises(NotFound):
        bob.remove_secret("mine")
    api.store.accounts.remove_member("ada", "red")
    assert [secret.name for secret in api.store.accounts.secrets_of_tenant("red")] == ["ours"]


@pytest.mark.parametrize("value", ["", "a\0b", "x" * 65_537, "ö" * 32_769])
def test_a_value_that_cannot_be_given_is_refused_and_not_repeated(shared_api: Api, value: str) -> None:
    answer = shared_api.http().put(f"{PATH}/db", json={"value": value})
    assert problem(answer)["code"] in ("invalid_request", "invalid_json")
    assert not value or value not in answer.text
    assert shared_api.client().secrets().secrets == []


@pytest.mark.parametrize("name", ["-a", "a.b", "a b", "a" * 64, "ä", "%00", "a%2Fb"])
def test_names_that_are_no_file_names_are_refused(api: Api, name: str) -> None:
    assert api.http().put(f"{PATH}/{name}", json={"value": VALUE}).status_code in (404, 422)
    assert api.client().secrets().secrets == []


def test_there_are_only_so_many(postgres_url: str) -> None:
    api = Api(postgres_url, secrets_of_user_max=2, secrets_of_tenant_max=1)
    try:
        client = api.client()
        for name in ("a", "b", "a"):
            client.set_secret(name, VALUE)
        with pytest.raises(Conflict, match="2 secrets"):
            client.set_secret("c", VALUE)
        operator = api.client(make_token(api.store, "olga", "red", "operator", ("read", "submit", "operate")))
        operator.set_secret("a", VALUE, of_tenant=True)
        with pytest.raises(Conflict, match="1 secrets"):
            operator.set_secret("b", VALUE, of_tenant=True)
    finally:
        api.close()


def test_a_secret_that_is_missing_is_found_at_submission(api: Api) -> None:
    client = api.client()
    found = problem(api.http().post("/api/v1/executions", json={"application": application({"name": "db"})}))
    [error] = found["errors"]
    assert (error["code"], error["pointer"]) == ("no_secret", "/components/0/secrets/0/name")
    assert "neither ada nor tenant red has the secret db" in error["message"]
    assert "zoe secret set db" in error["hint"]
    client.set_secret("db", VALUE)
    shown = client.submit(application({"name": "db"}, {"name": "db", "variable": "DB"}))
    assert VALUE not in api.http().get(f"/api/v1/executions/{shown.id}").text


def test_values_are_encrypted_with_a_new_key(api: Api) -> None:
    api.client().set_secret("db", VALUE)
    old = Seal.from_keys_dir(api.settings.keys_dir)
    rotate_credentials_key(api.store.accounts, api.settings.keys_dir, 0)
    [stored] = api.store.accounts.secrets("red", "ada")
    assert opened(api, stored) == VALUE
    with pytest.raises(Exception, match="cannot decrypt"):
        old.decrypt(stored.sealed, *stored.belongs_to)


def test_a_row_that_was_moved_to_another_user_opens_nowhere(api: Api, postgres_url: str) -> None:
    make_token(api.store, "bob", "red")
    api.client().set_secret("db", VALUE)
    with connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE secrets SET user_name = 'bob'")
        connection.commit()
    [moved] = api.store.accounts.secrets("red", "bob")
    with pytest.raises(Exception, match="cannot decrypt"):
        opened(api, moved)


def test_secret_is_audited_without_its_value(api: Api) -> None:
    api.client().set_secret("db", VALUE)
    api.client().remove_secret("db")
    entries = api.store.accounts.audit(None, 100)
    acts = [(entry.action, entry.target, entry.user) for entry in entries if "secret" in entry.action]
    assert ("set_secret", f"{PATH}/db", "ada") in acts
    assert ("remove_secret", f"{PATH}/db", "ada") in acts
    assert VALUE not in str(entries)
