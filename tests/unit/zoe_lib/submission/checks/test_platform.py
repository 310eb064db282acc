from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.support.documents import Document, document, part
from tests.support.scheduling import node
from zoe_lib.descriptions import parse
from zoe_lib.domain.checks.finding import Finding
from zoe_lib.domain.cluster.platform import BackendCapabilities, Platform
from zoe_lib.settings.config import Settings
from zoe_lib.submission.checks.examined import Examined
from zoe_lib.submission.checks.platform import note_doubts, note_ignored_settings, note_unheld_limits, refuse_impossible

NO_IMAGE = Finding(("components", 0, "image"), "image_not_allowed", "no such image", "use another")
DOUBT = Finding(("components", 0, "command"), "no_command", "no command", certain=False)


def examined(description: Document, *faults: Finding, cores: float | None = None, **settings: Any) -> Examined:
    nodes = () if cores is None else (node("a", cores),)
    return Examined(description, parse(description), Settings(**settings), Platform(nodes), faults)


def large(cores: float = 4) -> Document:
    return document(part(ends_application=True, resources={"cores": cores, "memory": "64MiB"}))


def test_fitting_application_is_not_refused() -> None:
    assert refuse_impossible(examined(large(), DOUBT, cores=4)) is None
    assert refuse_impossible(examined(large())) is None


def test_too_large_for_all_nodes() -> None:
    refused = refuse_impossible(examined(large(), cores=2))
    assert refused is not None
    assert (refused.code, refused.errors) == ("never_fits", ())
    assert "needs 1 essential instance of 4 cores" in refused.detail


def test_certain_findings_come_with_the_size() -> None:
    refused = refuse_impossible(examined(large(), DOUBT, NO_IMAGE, cores=2))
    assert refused is not None
    assert (refused.code, refused.detail) == ("never_fits", "no such image")
    assert [(error.pointer, error.code) for error in refused.errors] == [
        ("/components/0/image", "image_not_allowed"),
        ("/components", "never_fits"),
    ]


def test_doubts_are_notes_with_their_place() -> None:
    assert list(note_doubts(examined(large(), DOUBT, NO_IMAGE))) == ["/components/0/command: no command"]


def test_the_local_back_end_says_what_it_ignores() -> None:
    shared = {"cores": 1, "memory": "64MiB", "shm": "32MiB"}
    one = part(ends_application=True, resources=shared, read_only_root=True)
    asking = document(one, part("two", resources=shared))
    start = "the local back-end ignores"
    assert list(note_ignored_settings(examined(asking, backend="local"))) == [
        f"{start} shm, which these components set: main, two",
        f"{start} read_only_root, which these components set: main",
    ]
    assert list(note_ignored_settings(examined(asking, backend="swarm"))) == []


def test_limits_that_are_not_held_are_named_to_those_who_set_them() -> None:
    limited = document(
        part(ends_application=True, resources={"cores": 1, "memory": "64MiB", "limits": {"memory": "1GiB"}})
    )
    unable = Platform((), BackendCapabilities(why_unheld="the engine does not hold limits"))
    assert list(note_unheld_limits(replace(examined(limited), platform=unable))) == [
        "the engine does not hold limits, and these components set limits: main"
    ]
    assert list(note_unheld_limits(examined(limited))) == []
    assert list(note_unheld_limits(replace(examined(large()), platform=unable))) == []
