"""OpenID Connect Core 1.0, section 3.1: authorization code flow with state and nonce, and PKCE (RFC 7636)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx
from authlib.common.errors import AuthlibBaseError as OAuthError
from authlib.oauth2.client import OAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_api.people.sign_in.identity import Identity
from zoe_api.people.sign_in.oidc_answers import Answer, check_issuer
from zoe_api.people.sign_in.provider_errors import provider_unavailable
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.settings.sign_in_settings import OidcSettings

# Signatures with a key that only the provider has; `none`, and signatures with the client's own secret, prove nothing.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY_S = 60
_DISCOVERY = "/.well-known/openid-configuration"
_ENDPOINTS = frozenset({"authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"})
_ANNOUNCES_ISSUER = "authorization_response_iss_parameter_supported"  # RFC 9207, section 3
# 20,000 groups named by UUIDs take 0.8 MB, and as base64 in a token a third more.
_ANSWER_BYTES_MAX = 4 << 20
Json = Mapping[str, Any]


class Oidc:
    """A provider; its metadata are read for each sign-in, so key changes need no action."""

    def __init__(self, name: str, settings: OidcSettings) -> None:
        self._name = name
        self._settings = settings

    def start_url(self, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Return the URL to which the browser goes."""
        with self._client() as client:
            endpoint = str(self._discover(client)["authorization_endpoint"])
            url, _ = self._oauth(client, redirect_uri).create_authorization_url(
                endpoint, state=state, code_verifier=verifier, nonce=nonce
            )
        return str(url)

    def identity(self, answer: Answer, redirect_uri: str, nonce: str, verifier: str) -> Identity:
        """Return the identity for the browser's code; ApiProblem if the code is invalid."""
        with self._client() as client:
            published = self._discover(client)
            # Before the code is sent.
            check_issuer(self._name, self._settings.issuer, published.get(_ANNOUNCES_ISSUER) is True, answer)
            tokens = self._tokens(client, published, answer.code, redirect_uri, verifier)
            keys = self._json(client.get(published["jwks_uri"]))
            claims = self._verify_token(tokens.get("id_token"), keys, nonce)
            if self._settings.user_claim not in claims and "userinfo_endpoint" in published:
                claims = {**self._userinfo(client, published, tokens, claims), **claims}
        name = claims.get(self._settings.user_claim)
        if not isinstance(name, str) or not name:
            raise ApiProblem(
                Code.SIGN_IN_REFUSED, f"the provider returns no {self._settings.user_claim}", "ask an admin"
            )
        return Identity(self._name, claims["sub"], name, self._groups(claims))

    def _groups(self, claims: Json) -> frozenset[str]:
        """Return the groups; refuse a user whose groups the provider left out, since that would remove all roles."""
        elsewhere, name = claims.get("_claim_names"), self._settings.groups_claim
        if isinstance(elsewhere, dict) and name in elsewhere:
            raise ApiProblem(
                Code.SIGN_IN_REFUSED,
                f"the provider leaves out the claim {name}, since it is too long",
                "an admin lets the provider send only the groups that sign_in_roles names",
            )
        groups = claims.get(name)
        return (
            frozenset(group for group in groups if isinstance(group, str)) if isinstance(groups, list) else frozenset()
        )

    def _client(self) -> httpx.Client:
        ca_file = self._settings.ca_file
        trusted = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
        return _Client(
            self._name, timeout=self._settings.timeout_s, verify=trusted, follow_redirects=False, trust_env=False
        )

    def _discover(self, client: httpx.Client) -> Json:
        published = self._json(client.get(self._settings.issuer.rstrip("/") + _DISCOVERY))
        missing = _ENDPOINTS - {"userinfo_endpoint"} - published.keys()
        if published.get("issuer") != self._settings.issuer or missing:
            raise provider_unavailable(self._name, "its discovery document is incomplete or from another issuer")
        for name in sorted(_ENDPOINTS & published.keys()):
            if not _is_endpoint(published[name], self._settings.issuer):
                raise provider_unavailable(self._name, f"its {name} is not an address like the issuer's")
        return published

    def _tokens(self, client: httpx.Client, published: Json, code: str, redirect_uri: str, verifier: str) -> Json:
        oauth, basic, more = self._oauth(client, redirect_uri), httpx.Auth(), {"client_id": self._settings.client_id}
        if self._settings.client_secret_file is not None:
            secret = self._settings.client_secret_file.read_text().strip()
            if "client_secret_basic" in published.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]):
                basic = httpx.BasicAuth(self._settings.client_id, secret)
            else:
                more["client_secret"] = secret
        try:
            tokens = oauth.fetch_token(
                published["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                auth=basic,
                **more,
            )
        except OAuthError:
            raise ApiProblem(Code.SIGN_IN_FAILED, "the provider rejects the code") from None
        except (httpx.HTTPStatusError, ValueError, TypeError) as error:
            raise provider_unavailable(self._name, f"its token response cannot be read: {error}") from None
        return dict(tokens)

    def _oauth(self, client: httpx.Client, redirect_uri: str) -> OAuth2Client:
        return OAuth2Client(
            client,
            self._settings.client_id,
            scope=" ".join(self._settings.scopes),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )

    def _verify_token(self, token: object, keys: Json, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token after all checks."""
        issuer, client_id = self._settings.issuer, self._settings.client_id
        registry = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": client_id},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            decoded = jwt.decode(str(token), self._key_set(keys), registry=_LongTokens(algorithms=_ALGORITHMS))
            registry.validate(decoded.claims)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            why = str(error)[:200].strip(": ") or type(error).__name__
            raise ApiProblem(Code.SIGN_IN_FAILED, f"the provider's ID token is not valid: {why}") from None
        claims = dict(decoded.claims)
        # The library also accepts a list that contains it: such a token would serve many sign-ins.
        if not isinstance(claims["nonce"], str):
            raise ApiProblem(Code.SIGN_IN_FAILED, "the provider's ID token is not valid: its nonce is not a string")
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if several else client_id) != client_id or not isinstance(claims["sub"], str):
            raise ApiProblem(Code.SIGN_IN_FAILED, "its ID token is for another client")
        return claims

    def _key_set(self, keys: Any) -> KeySet:
        try:
            return KeySet.import_key_set(keys)
        except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise provider_unavailable(self._name, f"its keys cannot be read: {type(error).__name__}") from None

    def _userinfo(self, client: httpx.Client, published: Json, tokens: Json, claims: Json) -> Json:
        bearer = {"Authorization": f"Bearer {tokens.get('access_token', '')}"}
        userinfo = self._json(client.get(published["userinfo_endpoint"], headers=bearer))
        if userinfo.get("sub") != claims["sub"]:
            raise ApiProblem(Code.SIGN_IN_FAILED, "its user information is about another user")
        return userinfo

    def _json(self, answer: httpx.Response) -> Json:
        try:
            document = answer.json() if answer.status_code == 200 else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise provider_unavailable(self._name, f"it answered with status {answer.status_code}, or not in JSON")
        return document


class _LongTokens(JWSRegistry):
    """Accepts ID tokens as long as the responses that contain them."""

    max_payload_length = _ANSWER_BYTES_MAX


class _Client(httpx.Client):
    """A client that reports failures as the provider's. It limits the size of an answer and its total time."""

    def __init__(self, provider: str, timeout: float, clock: Clock = SYSTEM_CLOCK, **more: Any) -> None:
        self._clock = clock
        super().__init__(timeout=timeout, **more)
        self.provider = provider
        self._answer_s = timeout

    def request(self, method: str, url: Any, **more: Any) -> httpx.Response:
        how = {name: more.pop(name) for name in ("auth", "follow_redirects") if name in more}
        until_s = self._clock.monotonic_s() + self._answer_s
        try:
            answer = self.send(self.build_request(method, url, **more), stream=True, **how)
            with closing(answer):
                return self._read(answer, until_s)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise provider_unavailable(self.provider, f"{type(error).__name__}: {error}") from None

    def _read(self, answer: httpx.Response, until_s: float) -> httpx.Response:
        body = bytearray()
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > _ANSWER_BYTES_MAX:
                said = f"sends more than {_ANSWER_BYTES_MAX >> 20} MiB: let it leave out groups"
                raise provider_unavailable(self.provider, "its answer is too long", said)
            if self._clock.monotonic_s() > until_s:
                raise provider_unavailable(self.provider, "its answer is too slow")
        headers = {name: answer.headers[name] for name in ("content-type",) if name in answer.headers}
        return httpx.Response(answer.status_code, headers=headers, content=bytes(body), request=answer.request)


def _is_endpoint(address: object, issuer: str) -> bool:
    """Return whether it is a complete URL with a transport as safe as the issuer's."""
    try:
        parts = urlsplit(address) if isinstance(address, str) and address.isprintable() else None
    except ValueError:
        return False
    return parts is not None and bool(parts.hostname) and parts.scheme in ("https", urlsplit(issuer).scheme)
