from __future__ import annotations

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import StorageRefusedError, StorageUnavailableError, View
from storage_bridge.simulated import SimulatedController
from tests.support.manual_clock import ManualClock
from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.storage import object_of
from zoe_master.storage.input_places import PlaceFinder, Told
from zoe_master.storage.tenant_tokens import NO_CREDENTIAL, NoAccessError

KNOWN = Places(InputObjects(1, 9), InputObjects(1, 9), {"n1": InputObjects(1, 9)})
X, Y, SECRET = (object_of("acme", f"swift2d://c.s/{name}") for name in ("x", "y", "secret"))


class Store(SimulatedController):
    """Reports on x; `asked`: the requested URIs, with the tokens."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}), places={("acme", "swift2d://c.s/x"): KNOWN})
        self.asked: list[tuple[str, str]] = []
        self.clock = ManualClock(0.0)
        self.takes_s = 0.01
        self.slow: set[str] = set()

    def locality(self, tenant: str, uri: str, token: str = "") -> Places | None:
        self.asked.append((uri.rpartition("/")[2], token))
        self.clock.advance(self.takes_s)
        if uri.endswith("secret"):
            raise StorageRefusedError("GET answers 403", "the source cannot be read")
        if tenant in self.slow:
            self.clock.advance(3.0)
        if self.down or tenant in self.slow:
            raise StorageUnavailableError("it does not answer")
        return super().locality(tenant, uri, token)

    def looks(self) -> PlaceFinder:
        return PlaceFinder(self, lambda view: f"token of {view.tenant}", self.clock)


def test_places_are_asked_for_once_with_the_tenants_token_and_forgotten_when_nobody_wants_to_know() -> None:
    store = Store()
    looks = store.looks()
    for _ in range(3):
        assert looks.look(frozenset({X, Y, SECRET})) == {X: KNOWN, Y: None, SECRET: None}
    assert sorted(store.asked) == [(name, "token of acme") for name in ("secret", "x", "y")]
    assert looks.look(frozenset()) == {}
    assert looks.look(frozenset({X})) == {X: KNOWN}
    assert len(store.asked) == 4


def test_whatever_was_told_is_asked_again_after_half_a_minute() -> None:
    """Objects, and credentials for listing them, may be gone."""
    store = Store()
    looks = store.looks()
    looks.look(frozenset({X, Y}))
    store.clock.set(25.0)
    looks.look(frozenset({X, Y}))
    assert [name for name, _ in store.asked] == ["x", "y"]
    store.clock.set(40.0)
    looks.look(frozenset({X, Y}))
    assert [name for name, _ in store.asked] == ["x", "y", "x", "y"]


def test_one_that_does_not_answer_is_left_alone_and_all_else_is_not_known() -> None:
    """One timeout for all wanted inputs, and none for later ones."""
    store = Store()
    looks = store.looks()
    assert looks.look(frozenset({X})) == {X: KNOWN}
    store.down = True
    store.clock.set(400.0)
    others = frozenset(object_of("acme", f"swift2d://c.s/{n}") for n in range(50))
    assert looks.look(others | {X}) == {X: KNOWN, **dict.fromkeys(others)}
    assert len(store.asked) == 2
    assert looks.look(frozenset({Y})) == {Y: None}
    assert len(store.asked) == 2
    store.down = False
    store.clock.advance(60.0)
    assert looks.look(frozenset({X})) == {X: KNOWN}


def test_a_look_ends_in_time_and_goes_on_with_the_next() -> None:
    store = Store()
    store.takes_s = 0.4
    looks = store.looks()
    wanted = frozenset(object_of("acme", f"swift2d://c.s/{n}") for n in range(8))
    answered = [len(looks.look(wanted)) for _ in range(4)]
    assert answered == [3, 6, 8, 8]


def test_each_answer_is_told_as_it_comes() -> None:
    store = Store()
    told: list[Told] = []
    store.looks().look(frozenset({X, Y}), told.append)
    assert told == [{X: KNOWN}, {X: KNOWN, Y: None}]


def test_a_tenant_whose_listing_is_slow_is_left_alone_and_others_are_asked() -> None:
    """Also in the poll in which it is slow, and though it has many inputs."""
    store = Store()
    store.slow = {"aaa"}
    looks = store.looks()
    slow = frozenset(object_of("aaa", f"swift2d://c.s/{n}") for n in range(50))
    assert looks.look(slow | {X}) == {X: KNOWN, **dict.fromkeys(slow)}
    assert len(store.asked) == 2
    assert looks.look(frozenset({Y, min(slow)})) == {Y: None, min(slow): None}
    assert len(store.asked) == 3
    store.slow = set()
    store.clock.advance(60.0)
    looks.look(frozenset({min(slow)}))
    assert len(store.asked) == 4


def test_a_look_ends_though_every_tenant_is_slow() -> None:
    store = Store()
    tenants = [f"t{n}" for n in range(30)]
    store.slow = set(tenants)
    looks = store.looks()
    wanted = frozenset(object_of(tenant, "swift2d://c.s/x") for tenant in tenants)
    looks.look(wanted)
    assert store.clock.now_s() < 10.0


def test_a_credential_that_is_refused_costs_one_sign_in_and_no_other_tenants_places() -> None:
    store, signed_in = Store(), []

    def sign_in(view: View) -> str:
        signed_in.append(view.tenant)
        if view.tenant == "bad":
            raise NoAccessError("no")
        return ""

    bad = frozenset(object_of("bad", f"swift2d://c.s/{n}") for n in range(5))
    looks = PlaceFinder(store, sign_in, store.clock)
    assert looks.look(bad | {X}) == {X: KNOWN, **dict.fromkeys(bad)}
    assert sorted(signed_in) == ["acme", "bad"]


def test_without_a_credential_nothing_is_asked() -> None:
    store = Store()

    def no_credential(_: View) -> str:
        raise NoAccessError(NO_CREDENTIAL)

    assert PlaceFinder(store, no_credential).look(frozenset({X})) == {X: None}
    assert store.asked == []
