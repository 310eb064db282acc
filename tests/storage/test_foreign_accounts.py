"""A credential of another account opens that account only: errors reveal nothing about the tenant's account."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from storage_bridge.model import StorageUnavailableError, View
from tests.storage.test_views import meters
from tests.support.object_store import Person, logged_in
from tests.support.whole_storage import Whole
from zoe_lib.domain.values.storage import Credential, object_of
from zoe_master.state.crash_points import never_crash
from zoe_master.storage.input_places import PlaceFinder
from zoe_master.storage.tenant_tokens import OTHER_ACCOUNT, TenantTokens
from zoe_master.storage.view_reconciler import ViewReconciler

SOURCE = "swift2d://meters.zoe/2015"
SECRET = "kwh_of_bob"
HOSTILE = (
    "swift2d://../AUTH_beta/meters.zoe/2015",
    "swift2d://..%2FAUTH_beta%2Fmeters.zoe/2015",
    "swift2d://meters.zoe/../../AUTH_beta/meters/2015",
    "swift2d://meters.zoe/2015?prefix=/../../AUTH_beta/meters",
    "swift2d://AUTH_beta/meters.zoe/2015",
    "s3a://../AUTH_beta/meters/2015",
)


@pytest.fixture
def whole(shared: Whole) -> Whole:
    return shared


def fill(person: Person, header: str, **acl: str) -> None:
    person.put("meters", **acl)
    person.put("meters/2015/a.csv", f"{header},city,kwh,note\n".encode() + meters(1, 500)[0].partition(b"\n")[2])


def tokens(whole: Whole, login: str) -> TenantTokens:
    """A master whose tenant acme has stored this user's credential."""
    known = {"zoe": Credential(login, whole.store.user(login).key)}
    return TenantTokens({"zoe": whole.store.auth_url}, lambda tenant: known if tenant == "acme" else {})


def answer(ask: Callable[[], object]) -> str:
    try:
        return str(ask())
    except StorageUnavailableError as error:
        return str(error)


@pytest.mark.parametrize("acl", [{}, {"X-Container-Read": "beta:bob"}, {"X-Container-Read": ".r:*,.rlistings"}])
def test_a_credential_of_another_account_has_no_views_and_no_places_and_the_reason_says_so(
    whole: Whole, acl: dict[str, str]
) -> None:
    """Also where it may read a container of that name in the tenant's account: programs read another one by it."""
    with logged_in(whole.store, "acme:ann") as ann, logged_in(whole.store, "beta:bob") as bob:
        fill(ann, "id", **acl)
        fill(bob, SECRET)
    guesses = (View("e1", "acme", SOURCE, ("id",)), View("e2", "acme", SOURCE, (SECRET,)), View("e3", "acme", SOURCE))
    looks = ViewReconciler(whole.controller, never_crash, tokens(whole, "beta:bob"))
    found = looks.look(guesses, frozenset(guess.id for guess in guesses))
    assert {verdict.why for verdict in found.values()} == {f"plainly: there is no view ({OTHER_ACCOUNT})"}
    assert not any(verdict.columns for verdict in found.values())
    assert list(whole.controller.views()) == []
    one = object_of("acme", SOURCE)
    assert PlaceFinder(whole.controller, tokens(whole, "beta:bob")).look(frozenset({one})) == {one: None}


@pytest.mark.parametrize("source", HOSTILE)
def test_no_source_leads_into_another_account(whole: Whole, source: str) -> None:
    """Neither to content nor to a header, though the controller itself may read all accounts."""
    with logged_in(whole.store, "acme:ann") as ann, logged_in(whole.store, "beta:bob") as bob:
        fill(ann, "id")
        fill(bob, SECRET)
        view = View("e1", "acme", source, token=ann.token)
        for ask in (
            lambda: whole.controller.create_view(view),
            lambda: whole.controller.sample("e1", ann.token),
            lambda: whole.controller.locality("acme", source, ann.token),
        ):
            said = answer(ask)
            assert SECRET not in said
            assert "objects=1" not in said
        whole.controller.drop_view("e1")
