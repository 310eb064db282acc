"""Tokens of jobs for a service: which components get one, and in which form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.applications import application, component, execution
from zoe_lib.descriptions import parse
from zoe_lib.tokens.job_tokens import JobToken, JobTokens
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.services.secret_files import API_TOKEN_FILE, api_variables, secret_files
from zoe_master.loop.secret_values import ExecutionSecrets

ASKING, OTHER = component("main", api="jobs"), component("other")
URL = "http://127.0.0.1:5100"


def start(**changes: object) -> ServiceStart:
    return ServiceStart("e.main.0.1", "e", "red", "ada", ASKING, 0, "n1", (), **changes)  # type: ignore[arg-type]


def test_components_that_ask_for_it_get_the_token_of_the_attempt(tmp_path: Path) -> None:
    one = execution(1, application=application(ASKING, OTHER), tenant="red")
    secrets = ExecutionSecrets(None, tmp_path, URL)
    given, again = secrets.api(one, ASKING), secrets.api(replace(one, attempt=2), ASKING)
    assert given is not None
    assert again is not None
    assert (given.url, secrets.api(one, ASKING), secrets.api(one, OTHER)) == (URL, given, None)
    read = JobTokens(tmp_path).read
    assert (read(given.token), read(again.token)) == tuple(
        JobToken(one.id, attempt, "red", "ada") for attempt in (1, 2)
    )
    assert given.token not in repr(start(api=given))  # as in logs


def test_without_an_address_there_is_no_token(tmp_path: Path) -> None:
    assert ExecutionSecrets(None, tmp_path).api(execution(1, application=application(ASKING)), ASKING) is None


def test_the_token_is_a_file_and_its_path_a_variable(tmp_path: Path) -> None:
    given = ExecutionSecrets(None, tmp_path, URL).api(execution(1), ASKING)
    assert given is not None
    asked = start(api=given)
    assert secret_files(asked) == {API_TOKEN_FILE: given.token}
    variables = api_variables(asked, "/secrets")
    assert variables == {"ZOE_API_URL": URL, "ZOE_API_TOKEN_FILE": f"/secrets/{API_TOKEN_FILE}"}
    assert (secret_files(start()), api_variables(start(), "/secrets")) == ({}, {})


def test_jobs_share_the_texts_of_their_programs() -> None:
    def described() -> dict[str, object]:
        text = "".join(["# a program ", "of 10 KB\n"] * 500)  # a new object, as each description is parsed
        part = {"name": "main", "image": "i", "resources": {"memory": "1GiB"}, "files": {"a.py": text}}
        return {"version": 4, "name": "job", "components": [part]}

    first, second = (parse(described()).components[0].files[0][1] for _ in range(2))
    assert first is second
