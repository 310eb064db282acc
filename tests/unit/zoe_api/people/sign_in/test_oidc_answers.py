"""Redirect URIs of one provider and of several."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from structlog.testing import capture_logs

from zoe_api.http.request_context import PREFIX
from zoe_api.people.sign_in.oidc_answers import CALLBACK, callback_path
from zoe_api.people.sign_in.redirect_uris import log_redirect_uris, redirect_uris
from zoe_lib.settings.config import Settings


def settings(*names: str, **more: Any) -> Settings:
    return Settings(oidc={name: {"issuer": f"https://{name}.example", "client_id": "zoe"} for name in names}, **more)


def test_the_only_provider_has_the_redirect_uri_that_it_always_had() -> None:
    assert callback_path("corp", ["corp"]) == CALLBACK == f"{PREFIX}/session/oidc/callback"
    assert [callback_path(name, ["a", "b c"]) for name in ("a", "b c")] == [f"{CALLBACK}/a", f"{CALLBACK}/b%20c"]


def test_redirect_uris_are_logged_once_there_are_several_providers() -> None:
    with capture_logs() as lines:
        log_redirect_uris(settings("corp"))
        log_redirect_uris(settings("corp", "lab", public_url="https://zoe.example"))
    assert [(line["provider"], line["register"]) for line in lines] == [
        (name, f"https://zoe.example{CALLBACK}/{name}") for name in ("corp", "lab")
    ]
    assert redirect_uris(settings("corp"))["corp"].endswith(f"ADDRESS-OF-ZOE{CALLBACK}")


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a b", "é", "a?b", "", "a..b"])
def test_a_name_that_cannot_be_a_part_of_a_path_is_refused_among_several(name: str) -> None:
    settings(name)
    with pytest.raises(ValidationError, match="redirect URI"):
        settings(name, "corp")
