"""Tokens of jobs: one text for one attempt, owner and key, and nothing else is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from zoe_lib.sealing import add_key, drop_older_keys
from zoe_lib.tokens.api_tokens import TokenText
from zoe_lib.tokens.job_tokens import PREFIX, JobToken, JobTokens, is_job_token

TOKEN = JobToken("x1", 1, "red", "ada")


@pytest.fixture
def tokens(tmp_path: Path) -> JobTokens:
    return JobTokens(tmp_path)


def test_a_token_says_what_it_was_made_for(tokens: JobTokens) -> None:
    text = tokens.text(TOKEN)
    assert tokens.text(TOKEN) == text  # a master that starts anew hands out the same
    assert tokens.read(text) == TOKEN
    assert is_job_token(text)
    assert TokenText.read(text) is None  # no route takes it for a token of a user


@pytest.mark.parametrize(
    "other", [replace(TOKEN, execution_id="x2"), replace(TOKEN, attempt=2), replace(TOKEN, user="eve"),
              replace(TOKEN, tenant="blue")]
)  # fmt: skip
def test_the_proof_of_one_token_proves_no_other(tokens: JobTokens, other: JobToken) -> None:
    proof = tokens.text(TOKEN).rpartition(".")[2]
    assert tokens.read(f"{PREFIX}{other.claim.decode()}.{proof}") is None


@pytest.mark.parametrize("text", ["", PREFIX, f"{PREFIX}.", f"{PREFIX}a.b", "zoe_a_b", f"{PREFIX}{'a' * 9000}.b", "é"])
def test_other_texts_are_no_tokens(tokens: JobTokens, text: str) -> None:
    assert tokens.read(text) is None


def test_a_grant_that_is_not_known_gives_nothing(tokens: JobTokens) -> None:
    assert tokens.read(tokens.text(replace(TOKEN, grant="admin"))) is None


def test_tokens_of_another_installation_are_refused(tokens: JobTokens, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert tokens.read(JobTokens(tmp_path / "other").text(TOKEN)) is None


def test_running_jobs_keep_their_token_while_keys_are_rotated(tokens: JobTokens, tmp_path: Path) -> None:
    text = tokens.text(TOKEN)
    add_key(tmp_path)
    assert tokens.text(TOKEN) != text
    assert tokens.read(text) == TOKEN
    drop_older_keys(tmp_path)
    assert tokens.read(text) is None
