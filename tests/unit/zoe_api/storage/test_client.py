"""Limits on requests to the storage controller, and the answers when the API cannot reach it."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.support.plain_api import REQUEST_ID, refusal, refused_with
from tests.support.waiting import until
from zoe_api.http.problems.codes import Code
from zoe_api.storage.client import QUESTIONS, UPLOADS, Controller, Lane, StorageController
from zoe_lib.settings.config import Settings

NOWHERE = "http://127.0.0.1:1"


def asked_by(user: str) -> Any:
    return SimpleNamespace(state=SimpleNamespace(request_id=REQUEST_ID, user=user))


def controller(**settings: Any) -> StorageController:
    return StorageController(Settings(**{"storage_url": NOWHERE, **settings}))


@pytest.mark.parametrize("lane", [QUESTIONS, UPLOADS])
def test_a_user_has_few_places_and_leaves_others_theirs(lane: Lane) -> None:
    asked, most = controller(), lane.bounds.of_asker_max
    assert most < lane.at_once_max < lane.bounds.in_all_max < 40, "fewer than the threads of an API process"
    with ExitStack() as held:
        for _ in range(most):
            held.enter_context(asked.line(lane, "ada", compiles=False))
        with refusal(Code.STORAGE_RULES_UNAVAILABLE) as found, asked.line(lane, "ada", compiles=False):
            pass
        amount = "one" if most == 1 else str(most)
        assert found.problem.detail.startswith(f"{amount} {lane.kind} of yours is already in progress")
        held.enter_context(asked.line(lane, "bob", compiles=False))
    with asked.line(lane, "ada", compiles=False):
        pass


def test_more_questions_than_the_controller_has_at_once_wait_for_their_turn() -> None:
    asked, inside, may_end = controller(), list[int](), threading.Event()

    def work(number: int) -> None:
        with asked.line(QUESTIONS, f"u{number}", compiles=False):
            inside.append(number)
            assert may_end.wait(60)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(QUESTIONS.bounds.in_all_max)]
    for thread in threads:
        thread.start()
    until(lambda: len(inside) == QUESTIONS.at_once_max and asked._places._taken.total() == len(threads))
    with refusal(Code.STORAGE_RULES_UNAVAILABLE) as found, asked.line(QUESTIONS, "", compiles=False):
        pass
    assert found.problem.detail.startswith("16 storage_rules questions are already in progress")
    assert len(inside) == QUESTIONS.at_once_max
    with asked.line(UPLOADS, "u1", compiles=True):
        pass  # another lane
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert sorted(inside) == list(range(len(threads)))


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    def ask(made: StorageController) -> Any:
        return refused_with(lambda: Controller(made, asked_by("ada")).ask(list[int], "GET", "/v1/rules"))

    told = ask(StorageController(Settings()))
    assert (told.code, "storage_url (ZOE_STORAGE_URL)" in told.detail) == (Code.STORAGE_RULE_REFUSED, True)
    token_file = tmp_path / "token"
    made = controller(storage_token_file=token_file)
    told = ask(made)
    assert (told.code, "storage_token_file" in told.detail, str(tmp_path) in told.detail) == (
        Code.STORAGE_RULES_UNAVAILABLE,
        True,
        False,
    )
    assert "No such file" in told.detail
    assert "zoe-api" in told.hint
    token_file.write_bytes(b"\xff\xfe")
    assert "it is no text" in ask(made).detail
    token_file.write_text("secret\n")
    assert "does not answer" in ask(made).detail, "as soon as there is one"


def test_a_token_that_cannot_be_read_is_in_the_log_at_the_start(tmp_path: Path) -> None:
    with capture_logs() as lines:
        StorageController(Settings()).check()
        controller().check()
        assert lines == []
        controller(storage_token_file=tmp_path / "token").check()
    assert [line["event"] for line in lines] == ["cannot ask the storage controller"]


@pytest.mark.parametrize("text", ["secret\nsecond line\n", "s\u00e9cret", "\ufeffsecret", "sec ret"])
def test_invalid_token_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text, encoding="utf-8")
    made = controller(storage_token_file=tmp_path / "token")
    made.check()
    told = refused_with(lambda: Controller(made, asked_by("ada")).ask(list[int], "GET", "/v1/rules"))
    assert "setting storage_token_file): the token must be one line of ASCII letters" in told.detail
    assert "cret" not in told.detail


def test_lists_count_for_the_user_who_asks() -> None:
    made = controller()
    with ExitStack() as held:
        for _ in range(QUESTIONS.bounds.of_asker_max):
            held.enter_context(made.line(QUESTIONS, "ada", compiles=False))
        ask = partial(Controller(made, asked_by("ada")).ask, list[int], "GET", "/v1/rules")
        assert "of yours" in refused_with(ask).detail
        assert (
            "does not answer"
            in refused_with(partial(Controller(made, asked_by("bob")).ask, list[int], "GET", "/")).detail
        )
