"""What lint counts in carved packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import rooms
from scripts.rooms import folder_of, wrong_functions

ROOMS = frozenset({"main", "a", "b", "c", "ground"})
IMPORTS = [("p.main", "p.a.x"), ("p.a.x", "p.b"), ("p.a.y", "p.b"), ("p.b", "p.c"), ("p.a.x", "p.a.y")]
GROUND = [("p.a.x", "p.ground"), ("p.b", "p.ground"), ("p.c", "p.ground")]


def test_arrows_between_rooms_count_once_without_root_and_ground() -> None:
    found = folder_of("p", ROOMS, [*IMPORTS, *GROUND])
    assert (found.arrows, found.counted, found.circle) == (6, 2, frozenset())


def test_a_circle_is_found_with_nothing_that_only_leads_to_it() -> None:
    found = folder_of("p", ROOMS, [*IMPORTS, ("p.c", "p.b")])
    assert found.circle == {"b", "c"}
    assert [text for text in found.wrong() if "circle" in text] != []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def make(router):\n    @router.get('/a')\n    def a():\n        pass\n", "has the route a"),
        ("def long():\n" + "    pass\n" * 51, "has 51 lines"),
        ("@router.get('/a')\ndef a():\n" + "    pass\n" * 40, ""),
        ("def command(\n" + "    one,\n" * 60 + '):\n    """A head."""\n    pass\n', ""),
    ],
)
def test_long_functions_and_routes_within_functions_are_told(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    path = tmp_path / "some.py"
    path.write_text(text)
    found = list(wrong_functions(path))
    assert bool(found) == bool(said)
    assert all(said in text for text in found)
