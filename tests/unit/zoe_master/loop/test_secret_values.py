"""Which services get a token for the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import job
from zoe_lib.descriptions import parse
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.tokens.job_tokens import JobTokens
from zoe_master.loop.secret_values import ExecutionSecrets

URL = "http://127.0.0.1:5100"


class Run:
    """An execution, as far as a token names it."""

    id, attempt, tenant, user = "x1m7xhnzn3f4144", 2, "red", "ada"


@pytest.mark.parametrize(
    ("api", "url", "offers", "given"),
    [
        ("jobs", URL, False, True),
        ("offered", URL, True, True),
        ("offered", URL, False, False),
        ("offered", None, True, False),
        (None, URL, True, False),
    ],
)
def test_a_token_is_given(tmp_path: Path, api: str | None, url: str | None, offers: bool, given: bool) -> None:
    ensure_keys(tmp_path)
    document = job("true")
    document["components"][0]["api"] = api
    (component,) = parse(document).components
    run: Any = Run()
    token = ExecutionSecrets(None, tmp_path, url, offers).api(run, component)
    assert (token is not None) is given
    if token is not None:
        found = JobTokens(tmp_path).read(token.token)
        assert (found.grant, found.attempt) == (api, 2)
