"""Names, keys and tokens of executions, and the list of those that are alive."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from storage_filters.alive_executions import AliveFile
from storage_filters.execution_names import (
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
    assert {user_of_token([SECRET], "AUTH_", one, NOW_S) for one in forged} == {None}
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
    assert reader.allows(ACCOUNT, USER), "nothing was heard yet, so the key proves it"
    writer.write({ACCOUNT: {"x1abc": 7}})
    assert reader.allows(ACCOUNT, USER)
    assert not reader.allows(ACCOUNT, ExecutionUser("acme", "x1abc", 6))
    assert not reader.allows("AUTH_beta", ExecutionUser("beta", "x1abc", 7))
    before = path.stat().st_ino
    writer.write({ACCOUNT: {"x1abc": 7}})
    assert path.stat().st_ino == before, "the same list is not written again"
    writer.write({})
    assert not reader.allows(ACCOUNT, USER)
    assert not AliveFile(path).allows(ACCOUNT, USER), "a proxy that starts again knows it"
    with pytest.raises(ValueError, match="invalid literal"):
        writer.write({ACCOUNT: {"x1abc": "seven"}})  # type: ignore[dict-item]
    path.write_text("{")
    assert not AliveFile(path).allows(ACCOUNT, USER)
