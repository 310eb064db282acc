"""Outputs of a run of a cell, from the messages of its kernel."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_client.kept_outputs import outputs
from zoe_client.kept_outputs.outputs import Outputs, added_text


def after(*messages: tuple[str, dict[str, Any]]) -> Outputs:
    made = Outputs()
    for kind, content in messages:
        made.take({"header": {"msg_type": kind}, "content": content})
    return made


def stream(text: str, name: str = "stdout") -> tuple[str, dict[str, Any]]:
    return "stream", {"name": name, "text": text}


def display(text: str, display_id: str | None = None, kind: str = "display_data") -> tuple[str, dict[str, Any]]:
    transient = {} if display_id is None else {"display_id": display_id}
    return kind, {"data": {"text/plain": text}, "metadata": {}, "transient": transient}


def test_texts_of_one_stream_are_joined_until_another_output() -> None:
    made = after(stream("a\n"), stream("b\n"), stream("x", "stderr"), stream("c\n"))
    assert [(output["name"], output["text"]) for output in made.shown()] == [
        ("stdout", "a\nb\n"),
        ("stderr", "x"),
        ("stdout", "c\n"),
    ]


def test_results_and_errors_have_the_keys_of_the_notebook_format() -> None:
    failed = {"ename": "E", "evalue": "v", "traceback": ["t"]}
    made = after(
        ("execute_result", {"data": {"text/plain": "7"}, "metadata": {}, "execution_count": 3}), ("error", failed)
    )
    assert made.shown() == [
        {"output_type": "execute_result", "data": {"text/plain": "7"}, "metadata": {}, "execution_count": 3},
        {"output_type": "error", **failed},
    ]


def test_a_display_is_updated_where_it_stands() -> None:
    made = after(display("1", "d"), stream("a"), display("2", "d", "update_display_data"))
    assert made.shown()[0]["data"] == {"text/plain": "2"}


def test_an_update_of_a_display_of_another_run_changes_nothing() -> None:
    assert not Outputs().take({"header": {"msg_type": "update_display_data"}, "content": display("1", "d")[1]})


@pytest.mark.parametrize(("wait", "left"), [(False, []), (True, ["a"])])
def test_outputs_are_cleared_at_once_or_with_the_next_one(wait: bool, left: list[str]) -> None:
    made = after(stream("a"), ("clear_output", {"wait": wait}))
    assert [output["text"] for output in made.shown()] == left
    made.take({"header": {"msg_type": "stream"}, "content": stream("b")[1]})
    assert [output["text"] for output in made.shown()] == ["b"]


def test_outputs_beyond_the_bound_are_left_out_and_a_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "BYTES_MAX", 200)
    made = after(*(stream("x" * 50 + "\n") for _ in range(100)))
    assert "left out" in made.shown()[-1]["text"]
    assert len(str(made.shown())) < 600
    assert after(("status", {"execution_state": "idle"})).shown() == []


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["a\nb"], "a\nb"),
        (["1 %\r2 %"], "2 %"),
        (["1 %\r", "2 %\r"], "2 %\r"),
        (["a\n1 %", "\r2 %", "\r3 %"], "a\n3 %"),
        (["1 %", "\r2 %", "\ndone"], "2 %\ndone"),
        (["a\r\n"], "a\r\n"),
    ],
)
def test_the_last_line_is_as_a_terminal_shows_it(texts: list[str], shown: str) -> None:
    assert after(*map(stream, texts)).shown()[0]["text"] == shown


def test_many_short_texts_take_time_in_proportion() -> None:
    made = after(*(stream(f"{number}\n") for number in range(20_000)))
    assert made.shown()[0]["text"].count("\n") == 20_000


def test_only_a_text_of_the_same_stream_that_begins_alike_was_added_to() -> None:
    before, longer, other = (after(stream(text)).shown()[0] for text in ("a\n", "a\nb\n", "c\nb\n"))
    errors = after(stream("a\nb\n", "stderr")).shown()[0]
    assert [added_text(before, output) for output in (longer, other, errors, before)] == ["b\n", "", "", ""]
