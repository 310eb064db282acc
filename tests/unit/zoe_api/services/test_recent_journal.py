"""The process remembers the whole journal from one id on, or reports that it does not."""

from __future__ import annotations

import random

import pytest

from zoe_api.services import recent_journal
from zoe_api.services.recent_journal import RecentJournal
from zoe_lib.store.values import JournalEntry


def entry(number: int) -> JournalEntry:
    return JournalEntry(number, "queued", 0.0, "", {}, "e", "red", 1)


@pytest.mark.parametrize("seed", range(20))
def test_it_gives_all_after_an_id_or_none(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_journal, "ENTRIES_MAX", 10)
    chance, recent, known = random.Random(seed), RecentJournal(), 0
    journal: list[JournalEntry] = []
    assert recent.entries_after(0, 5) is None
    for _ in range(60):
        here, newest = journal[-10:], journal[-1].id if journal else 0
        if chance.random() < 0.1:
            recent.begin(newest)
            known = newest
        new = [entry(newest + 1 + 2 * i) for i in range(chance.randrange(4))]
        if recent.to_id is not None:
            recent.add(new, {})
            assert recent.to_id == (new[-1].id if new else newest)
        journal += new
        after, limit = chance.randrange(newest + 5), chance.randrange(1, 8)
        answer = recent.entries_after(after, limit)
        if answer is not None:
            assert list(answer) == [e for e in journal if e.id > after][:limit]
        elif recent.to_id is not None:
            here = [e for e in journal if e.id > known][-10:]
            assert after < known or (here and after < here[0].id)


def test_texts_are_made_once_and_go_with_their_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_journal, "ENTRIES_MAX", 3)
    recent, made = RecentJournal(), []

    def make() -> bytes:
        made.append(b"text")
        return made[-1]

    recent.begin(0)
    recent.add([entry(1), entry(2)], {})
    for _ in range(3):
        assert recent.text(entry(1), False, make) == b"text"
    assert len(made) == 1
    recent.text(entry(1), True, make)
    assert len(made) == 2
    recent.add([entry(number) for number in (3, 4)], {})
    recent.text(entry(1), False, make)
    recent.text(entry(1), False, make)
    assert len(made) == 4
    assert len(recent._texts) == 0
