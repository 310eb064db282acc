"""Names, slots and images: decisions before any request to Swarm."""

from __future__ import annotations

import re

import pytest

from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import ImageState
from zoe_master.backends.engine.spec.images import image_allowed, image_state
from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.engine.spec.naming.names import attempt_name, gateway_name, group_name, host_name, volume_name
from zoe_master.backends.swarm.spec.task_templates import by_slot, literal

DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@pytest.mark.parametrize("component", ["c", "spark-worker", "x" * 63])
def test_names_are_dns_labels(component: str) -> None:
    names = [host_name(component, 0), host_name(component, 12345), group_name("zoe", component, ["e.c.0.1"])]
    assert all(DNS_LABEL.fullmatch(name) for name in names)
    assert len(set(names)) == 3


def test_long_names_that_differ_at_their_end_stay_different() -> None:
    assert host_name("x" * 62 + "a", 0) != host_name("x" * 62 + "b", 0)


def test_installations_and_tenants_do_not_meet() -> None:
    names = [attempt_name("one", Attempt("e", 1)), attempt_name("two", Attempt("e", 1))]
    names += [attempt_name("one", Attempt("e", 2)), gateway_name("one", Attempt("e", 1), "k")]
    names += [gateway_name("one", Attempt("e", 1), "l"), gateway_name("one", Attempt("e", 2), "k")]
    assert len(set(names)) == len(names)
    assert volume_name("zoe", "ann", "data") != volume_name("zoe", "bob", "data")
    assert group_name("one", "c", ["e.c.0.1"]) != group_name("two", "c", ["e.c.0.1"])


def test_one_value_needs_no_template() -> None:
    assert by_slot(["same", "same"]) == "same"


def test_each_slot_has_its_value() -> None:
    assert by_slot(["a", "b", "c"]) == ('{{if eq .Task.Slot "1"}}a{{else if eq .Task.Slot "2"}}b{{else}}c{{end}}')


def test_templates_in_texts_are_made_plain() -> None:
    assert literal("{{.Node.ID}}") == '{{"{{"}}.Node.ID}}'


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("zoe/spark", "zoe/spark:latest"),
        ("zoe/spark:3", "zoe/spark:3"),
        ("registry:5000/spark", "registry:5000/spark:latest"),
        ("zoe/spark@sha256:ab", "zoe/spark@sha256:ab"),
    ],
)
def test_images_have_tags(image: str, full: str) -> None:
    assert full_name(image) == full


@pytest.mark.parametrize(
    ("image", "allowed", "state"),
    [
        ("zoe/spark", ["zoe/*"], ImageState.PRESENT),
        ("zoe/spark:3", ["zoe/spark"], ImageState.PRESENT),
        ("zoe/spark:3", ["zoe/spark:2"], ImageState.UNAVAILABLE),
        ("other/spark", ["zoe/*"], ImageState.UNAVAILABLE),
        ("registry:5000/spark", ["registry:5000/*"], ImageState.PRESENT),
        ("zoe/spark", [], ImageState.UNAVAILABLE),
        ("registry:5000/team/spark", ["registry:5000/*"], ImageState.UNAVAILABLE),
        ("registry:5000/team/spark:3", ["registry:5000/**"], ImageState.PRESENT),
        ("registry:5000/spark", ["registry:5000/**"], ImageState.PRESENT),
        ("registry:5000", ["registry:5000/**"], ImageState.UNAVAILABLE),
        ("evil.example.org/team/tool", ["*/tool"], ImageState.UNAVAILABLE),
        ("team/tool@sha256:" + "ab" * 32, ["*/tool"], ImageState.PRESENT),
        ("evil.example.org/zoe/spark", ["zoe/*"], ImageState.UNAVAILABLE),
        ("a/b/c/spark", ["a/**/spark"], ImageState.PRESENT),
        ("any/where/spark", ["**"], ImageState.PRESENT),
        ("zoe/spark-2", ["zoe/spark-[13]"], ImageState.UNAVAILABLE),
    ],
)
def test_the_admins_list_decides(image: str, allowed: list[str], state: ImageState) -> None:
    assert image_allowed(image, allowed).state is state


def test_one_node_that_has_it_is_enough() -> None:
    known = {"a": frozenset({"x:latest"}), "b": frozenset[str]()}
    assert image_state("x", known, [], {"b": "denied"}).state is ImageState.PRESENT
    assert image_state("x", known, ["b"], {}).state is ImageState.PULLING
    nowhere = image_state("y", known, [], {"b": "denied"})
    assert nowhere.state is ImageState.UNAVAILABLE
    assert "b: denied" in nowhere.message
    assert image_state("y", {}, [], {}).state is ImageState.PRESENT  # no engine answered: Swarm will report it
