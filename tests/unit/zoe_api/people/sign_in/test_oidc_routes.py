"""The redirect of a browser to a provider and back: owners of attempts, and allowed targets."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs

import pytest

from tests.support.plain_api import refusal, request, run, services
from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in import oidc_routes as oidc
from zoe_api.people.sign_in.oidc_answers import Answer
from zoe_lib.store.people import SignInAttempt
from zoe_lib.submission.ids import hash_of

BROWSER, OTHER = "a" * 64, "b" * 64
ATTEMPT = SignInAttempt(hash_of("state"), hash_of(BROWSER), "sso", "n", "v", "/", 1.0)


@pytest.mark.parametrize("path", ["/", "/executions/", "/a?b=c#d", "/~x"])
def test_a_path_of_this_origin_is_kept(path: str) -> None:
    assert oidc._local_path(path) == path


@pytest.mark.parametrize("path", ["", "a", "//evil.example", "/\\evil.example", "https://evil", "/é", "/\n", "/\x7f"])
def test_any_other_leads_home(path: str) -> None:
    assert oidc._local_path(path) == "/"


def settings_of(providers: Sequence[str]) -> dict[str, dict[str, str]]:
    return {name: {"issuer": f"https://{name}.example", "client_id": "zoe"} for name in providers}


def taken(
    state: str = "state",
    code: str = "c",
    error: str = "",
    cookie: str = BROWSER,
    at: str | None = None,
    providers: Sequence[str] = ("sso",),
) -> SignInAttempt:
    made, kept = services(oidc=settings_of(providers)), {ATTEMPT.id: ATTEMPT}
    made.accounts.take_sign_in = lambda key, _: kept.pop(key, None)
    asked = request(headers={"cookie": f"zoe-sign-in={OTHER}; zoe-sign-in={cookie}"})
    return oidc._take_attempt(asked, made, Answer(state, code, error, at=at))


def test_an_attempt_belongs_to_the_browser_that_began_it() -> None:
    assert taken() is ATTEMPT
    for given in ({"state": "x"}, {"cookie": OTHER}, {"code": ""}, {"error": "access_denied"}):
        with refusal(Code.SIGN_IN_FAILED) as found:
            taken(**given)
        assert ("access_denied" in found.problem.detail) is ("error" in given)


def test_an_answer_is_taken_at_the_redirect_uri_of_its_provider_only() -> None:
    assert taken(at="sso", providers=("sso", "liar")) is ATTEMPT
    for at, providers in ((None, ("sso", "liar")), ("liar", ("sso", "liar")), ("sso", ("sso",)), ("SSO", ("sso", "x"))):
        with refusal(Code.SIGN_IN_MIXED_UP):
            taken(at=at, providers=providers)


def test_the_proof_is_in_a_fragment_which_is_sent_to_no_server() -> None:
    before, _, fragment = oidc._landing("p/1", "/executions?a=b").partition("#")
    assert before == "/"
    assert parse_qs(fragment) == {"csrf_token": ["p/1"], "next": ["/executions?a=b"]}


@pytest.mark.parametrize(
    ("public", "providers", "uri"),
    [
        (None, ("sso",), "http://zoe.example/api/v1/session/oidc/callback"),
        ("https://zoe.example:81", ("sso",), "https://zoe.example:81/api/v1/session/oidc/callback"),
        ("https://zoe.example", ("sso", "x"), "https://zoe.example/api/v1/session/oidc/callback/sso"),
    ],
)
def test_a_provider_leads_back_to_this_zoe(public: str | None, providers: Sequence[str], uri: str) -> None:
    asked = request()
    asked.scope["app_root_path"] = ""
    made = services(public_url=public, oidc=settings_of(providers))
    assert oidc._redirect_uri(asked, made, "sso") == uri


def test_browsers_get_a_page_and_programs_the_problem() -> None:
    problem = ApiProblem(Code.SIGN_IN_FAILED, "why <b>")
    page = oidc._refusal_page(request(headers={"accept": "text/html,*/*"}), problem)
    assert page.status_code == 401
    assert b"why &lt;b&gt;" in bytes(page.body)
    with pytest.raises(ApiProblem):
        oidc._refusal_page(request(), problem)


def test_a_provider_that_does_not_exist_is_not_asked() -> None:
    with refusal(Code.NOT_FOUND):
        run(oidc._run_for_provider(services(), request(), "none", lambda: None))
