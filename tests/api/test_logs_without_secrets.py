"""The search for secrets in logs, which follows every test of the API, finds them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
import structlog

from tests.support.api import Api
from tests.support.browser import PASSWORD, Browser
from tests.support.secrets_in_logs import SECRETS, Logged, Secrets, check_logs
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.sealing import Seal

log = structlog.get_logger(__name__)


def leaked(logged: Logged, secrets: Secrets, *words: str) -> bool:
    """Return whether a line with this text is found; it is removed from the log."""
    logged.take()
    log.info("planted", words=words)
    return bool(secrets.found_in(logged.take()))


def test_tokens_passwords_cookies_and_bodies_are_found(api: Api, logged: Logged, secrets: Secrets) -> None:
    browser = Browser(api)
    proof = str(browser.use().headers["X-CSRF-Token"])
    wrong = 'a wrong "pass" word'
    browser.try_to_sign_in(wrong)
    made = api.http().post("/api/v1/tokens", json={"scopes": ["read"], "note": "x"}).json()["secret"]
    (cookie,) = browser.http.cookies.jar
    for secret in (api.token, api.token.rsplit("_", 1)[1], made, PASSWORD, wrong, proof, cookie.value):
        assert leaked(logged, secrets, f"... {secret} ..."), secret
    assert not leaked(logged, secrets, "ada", api.token.split("_")[1], "short")


def test_secret_in_an_unexpected_error_is_found(http: httpx.Client, logged: Logged, secrets: Secrets) -> None:
    http.get("/api/v1/me")
    try:
        raise ValueError(http.headers["Authorization"])
    except ValueError:
        log.exception("planted")
    assert secrets.found_in(logged.take())


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("master.key_secret", r'secret-key = "(.+)"'),
        ("credentials.key", r"(\S+)\s*$"),
        ("zoe.toml", "(well-hidden-password)"),
        ("token", r"(zoe_\S+)"),
    ],
)
def test_contents_of_secret_files_are_found(tmp_path: Path, name: str, secret: str) -> None:
    secrets = tmp_path / "secrets"
    ensure_keys(secrets)
    Seal.from_keys_dir(secrets)
    (secrets / "zoe.toml").write_text('database_url = "postgresql://zoe:well-hidden-password@/zoe"\n')
    (secrets / "token").write_text("zoe_0123456789ab_0123456789abcdef\n")
    written = re.search(secret, (secrets / name).read_text())
    assert written is not None
    path = tmp_path / "master.log"
    path.write_text(json.dumps({"event": "planted", "words": written[1]}))
    with pytest.raises(AssertionError, match="contains secrets"):
        check_logs(secrets, [path])
    path.write_text(json.dumps({"event": "nothing", "file": str(secrets / name)}))
    check_logs(secrets, [path])
    SECRETS.forget()
