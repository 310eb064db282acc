"""Names, keys and tokens of executions, and the list of active ones."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from storage_filters.execution_auth.alive_executions import AliveExecutions, AliveFile, read_alive
from storage_filters.execution_auth.names import (
    TOKEN_PREFIX,
    ExecutionUser,
    key_of,
    read_secrets,
    token_of,
    user_of,
    user_of_token,
)

SECRET, OTHER = b"s" * 32, b"o" * 32
USER = ExecutionUser("acme", "x1abc", 7)
ACCOUNT = "AUTH_acme"
NOW_S = 1000.0


def test_a_user_is_read_from_its_name() -> None:
    assert USER.login == "acme:execution_x1abc_7"
    assert user_of(USER.login) == USER
    of_array = ExecutionUser("acme", "a1abc_12r3", 7)
    assert user_of(of_array.login) == of_array
    for login in ("acme:ann", "acme:execution_x1abc", "acme:execution__7", ":execution_x1_7", "acme", "", "a:b:c"):
        assert user_of(login) is None
    assert user_of("acme:execution_x1\0_7") is None
    assert user_of("acme:execution_x1/y_7") is None
    for other_spelling in ("07", "0", "\u0667", "+7"):
        assert user_of(f"acme:execution_x1abc_{other_spelling}") is None, "each user has one name"


def test_a_key_depends_on_each_part() -> None:
    keys = {
        key_of(SECRET, ACCOUNT, USER),
        key_of(OTHER, ACCOUNT, USER),
        key_of(SECRET, "AUTH_beta", USER),
        key_of(SECRET, ACCOUNT, ExecutionUser("acme", "x1abd", 7)),
        key_of(SECRET, ACCOUNT, ExecutionUser("acme", "x1abc", 8)),
    }
    assert len(keys) == 5


def test_a_token_is_valid_until_its_end_and_under_any_secret_in_use() -> None:
    token = token_of(SECRET, ACCOUNT, USER, NOW_S + 10)
    assert user_of_token([SECRET], "AUTH_", token, NOW_S) == USER
    assert user_of_token([OTHER, SECRET], "AUTH_", token, NOW_S) == USER
    assert user_of_token([SECRET], "AUTH_", token, NOW_S + 10) is None
    assert user_of_token([OTHER], "AUTH_", token, NOW_S) is None
    assert user_of_token([SECRET], "KEY_", token, NOW_S) is None


def test_no_changed_token_is_valid() -> None:
    token = token_of(SECRET, ACCOUNT, USER, NOW_S + 10)
    text, _, signature = token.removeprefix(TOKEN_PREFIX).partition(".")
    content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    later = base64.urlsafe_b64encode(content.replace(b"1010", b"9999")).decode().rstrip("=")
    forged = [
        f"{TOKEN_PREFIX}{later}.{signature}",
        f"{TOKEN_PREFIX}{text}.{signature[:-1]}",
        f"{TOKEN_PREFIX}{text}.{signature[:8]}",
        f"{TOKEN_PREFIX}{text}.",
        f"{TOKEN_PREFIX}{text}",
        f"{TOKEN_PREFIX}.{signature}",
        f"{TOKEN_PREFIX}{text}.{key_of(SECRET, ACCOUNT, USER)}",
        f"{TOKEN_PREFIX}\udcff.{signature}",
        f"{TOKEN_PREFIX}ä.{signature}",
        TOKEN_PREFIX,
    ]
    assert {user_of_token([SECRET], "AUTH_", text, NOW_S) for text in forged} == {None}
    key_as_secret = token_of(key_of(SECRET, ACCOUNT, USER).encode(), ACCOUNT, USER, NOW_S + 10)
    assert user_of_token([SECRET], "AUTH_", key_as_secret, NOW_S) is None


def test_a_short_or_missing_secret_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    for text in ("", "\n", "short\n", f"{SECRET.decode()}\nshort\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match="at least 32"):
            read_secrets(file)
    file.write_bytes(SECRET + b"\n\n" + OTHER + b"\n")
    assert read_secrets(file) == [SECRET, OTHER]


def test_the_list_is_shared_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "zoe-rates.executions"
    writer, reader = AliveFile(path), AliveFile(path)
    assert reader.is_allowed(ACCOUNT, USER), "nothing was heard yet, so the key proves it"
    writer.write(AliveExecutions(7, {ACCOUNT: {"x1abc": 7}}))
    assert reader.is_allowed(ACCOUNT, USER)
    assert not reader.is_allowed(ACCOUNT, ExecutionUser("acme", "x1abc", 6))
    assert not reader.is_allowed("AUTH_beta", ExecutionUser("beta", "x1abc", 7))
    before = path.stat().st_ino
    writer.write(AliveExecutions(7, {ACCOUNT: {"x1abc": 7}}))
    assert path.stat().st_ino == before, "the same list is not written again"
    writer.write(AliveExecutions(7, {}))
    assert not reader.is_allowed(ACCOUNT, USER)
    assert not AliveFile(path).is_allowed(ACCOUNT, USER), "a proxy that starts again knows it"


def test_a_list_judges_only_credentials_that_are_older_than_it(tmp_path: Path) -> None:
    file = AliveFile(tmp_path / "zoe-rates.executions")
    file.write(AliveExecutions(7, {ACCOUNT: {"x1abc": 5}}))
    assert file.is_allowed(ACCOUNT, ExecutionUser("acme", "x2", 8)), "given after the list was made"
    assert file.is_allowed(ACCOUNT, ExecutionUser("acme", "x1abc", 8)), "also to an execution that had one before"
    assert not file.is_allowed(ACCOUNT, ExecutionUser("acme", "x2", 7))
    file.write(AliveExecutions(8, {ACCOUNT: {"x1abc": 5}}))
    assert not file.is_allowed(ACCOUNT, ExecutionUser("acme", "x2", 8)), "it has ended before it was in any list"


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "5",
        "",
        "{",
        "{}",
        '{"AUTH_acme": {"x1abc": 7}}',
        '{"newest": 7, "accounts": []}',
        '{"newest": 7, "accounts": {"AUTH_acme": 5}}',
        '{"newest": 7, "accounts": {"AUTH_acme": {"x1abc": "seven"}}}',
        '{"newest": null, "accounts": {}}',
        '{"newest": 1e999, "accounts": {}}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_file_of_another_shape_refuses_all_and_says_so_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "zoe-rates.executions"
    path.write_text(text, errors="surrogateescape")
    told: list[str] = []
    file = AliveFile(path, told.append)
    assert not file.is_allowed(ACCOUNT, USER)
    assert not file.is_allowed(ACCOUNT, USER)
    assert [str(path) in text for text in told] == [True]
    file.write(AliveExecutions(7, {ACCOUNT: {"x1abc": 7}}))
    assert file.is_allowed(ACCOUNT, USER), "the controller has said it again"


def test_invalid_list_is_refused() -> None:
    nonsense: list[object] = [None, [], {"newest": 7}, {"newest": 7, "accounts": {ACCOUNT: {"x1abc": "seven"}}}]
    for told in nonsense:
        with pytest.raises(ValueError, match=r"list of running executions|invalid literal"):
            read_alive(told)
