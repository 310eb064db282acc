from __future__ import annotations

import json

import pytest

from tests.support.applications import application, component
from zoe_lib.store.documents import documents
from zoe_lib.store.documents.documents import Applications
from zoe_lib.store.errors import Unstorable


def test_the_same_application_has_the_same_hash() -> None:
    applications = Applications()
    name, document = applications.keep(application())
    assert applications.keep(application())[0] == name
    assert applications.keep(application(name="other"))[0] != name
    assert Applications().load(name, json.loads(json.dumps(document))) == application()


@pytest.mark.parametrize(
    "changes", [{"environment": (("B", "1"), ("A", "2"))}, {"name": "not a name"}, {"shm_bytes": -5}]
)
def test_unstorable_application_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Unstorable):
        Applications().keep(application(component(**changes)))  # type: ignore[arg-type]


def test_an_application_is_parsed_once() -> None:
    first = Applications()
    name, document = first.keep(application())
    assert first.get(name) is not None
    second = Applications()
    assert second.get(name) is None
    assert second.load(name, document) is second.get(name)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "CACHED_MAX", 2)
    applications = Applications()
    first, second, third = (applications.keep(application(name=f"a{number}"))[0] for number in range(3))
    assert applications.get(first) is None
    assert applications.get(second) is not None
    assert applications.get(third) is not None
