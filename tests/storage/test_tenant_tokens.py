"""Users without access to a source learn nothing of it, neither by a `where` and a sample nor by a column."""

from __future__ import annotations

import pytest

from storage_bridge.base import StorageController
from storage_bridge.model import UNREADABLE, StorageUnavailableError, View
from tests.storage.test_views import meters
from tests.support.object_store import logged_in
from tests.support.whole_storage import Whole
from zoe_lib.domain.values.storage import Credential
from zoe_master.state.crash_points import never_crash
from zoe_master.storage.tenant_tokens import NO_CREDENTIAL, OTHER_ACCOUNT, TenantTokens
from zoe_master.storage.view_reconciler import ViewReconciler

GUESSES = (
    View("e1", "acme", "swift2d://meters.zoe/2015", ("id",), "city = 'Nice'"),
    View("e2", "acme", "swift2d://meters.zoe/2015", ("id",), "city = 'Atlantis'"),
    View("e3", "acme", "swift2d://meters.zoe/2015", ("price",)),
    View("e4", "acme", "swift2d://meters.zoe/2015", names=("only",)),
    View("e5", "acme", "swift2d://meters.zoe/1999"),
    View("e6", "acme", "swift2d://nothing.zoe/2015"),
    View("e7", "acme", "swift2d://meters.zoe/2015", ("id",), "id > 5", types=(("id", "long"),)),
)


@pytest.fixture
def whole(shared: Whole) -> Whole:
    return shared


def told(whole: Whole, credentials: dict[str, Credential]) -> set[str]:
    """Return the answers of a master with these credentials of the tenant acme to all guesses."""
    tokens = TenantTokens({"zoe": whole.store.auth_url}, lambda tenant: credentials if tenant == "acme" else {})
    looks = ViewReconciler(whole.controller, never_crash, tokens)
    found = looks.look(GUESSES, frozenset(view.id for view in GUESSES))
    looks.look((), frozenset())
    assert not any(verdict.used for verdict in found.values()) or "zoe" in credentials
    return {verdict.why for verdict in found.values()}


def test_caller_without_rights_gets_one_answer_for_every_source(whole: Whole) -> None:
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", meters(1, 5000)[0])
    assert told(whole, {}) == {f"plainly: there is no view ({NO_CREDENTIAL})"}
    wrong = Credential("acme:ann", "guessed")
    assert told(whole, {"zoe": wrong}) == {f"plainly: there is no view ({UNREADABLE})"}
    other = Credential("beta:bob", "bob-key")  # a valid user without rights here
    assert told(whole, {"zoe": other}) == {f"plainly: there is no view ({OTHER_ACCOUNT})"}
    sentences = told(whole, {"zoe": Credential("acme:ann", whole.store.user("acme:ann").key)})
    assert len(sentences) == len(GUESSES)
    assert any("there is no column price; the columns are id, city, kwh, note" in sentence for sentence in sentences)


@pytest.mark.parametrize("token", ["", "made-up"])
def test_the_controller_itself_reads_nothing_without_a_token_of_the_tenant(whole: Whole, token: str) -> None:
    controller: StorageController = whole.controller
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", meters(1, 50)[0])
        for view in GUESSES:
            with pytest.raises(StorageUnavailableError, match=UNREADABLE):
                controller.create_view(View(view.id, view.tenant, view.source, view.columns, token=token))
        assert list(controller.views()) == []
        controller.create_view(View("e1", "acme", "swift2d://meters.zoe/2015", token=ann.token))
        with pytest.raises(StorageUnavailableError, match=UNREADABLE):
            controller.sample("e1", token)
        controller.drop_view("e1")
