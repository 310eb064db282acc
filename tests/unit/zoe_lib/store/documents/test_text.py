from __future__ import annotations

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause
from zoe_lib.store.documents.text import clean_event, storable


def test_nul_characters_and_surrogates_are_not_storable() -> None:
    assert storable("", "plain", "größer 🙂", None)
    assert not storable("plain", "a\x00b")
    assert not storable("ä\x00")
    assert not storable("half \ud83d")


def test_a_clean_event_is_left_alone() -> None:
    event = ev.ServiceLost(at_s=1.0, service_id="s", message="größer")
    assert clean_event(event) is event


def test_odd_last_words_are_replaced() -> None:
    event = ev.ServiceEnded(at_s=1.0, service_id="s", cause=Cause.EXITED, message="a\x00b\udcff")
    assert clean_event(event).message == "a\ufffdb?"  # type: ignore[attr-defined]
    assert clean_event(event).cause is Cause.EXITED  # type: ignore[attr-defined]
