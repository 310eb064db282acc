"""A real OpenID Connect provider as a process, and one in front of it that violates the protocol."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.waiting import until
from zoe_embedded.processes.ports import HeldPorts

KEY = RSAKey.generate_key(2048, {"kid": "tampering"})
STRANGERS_KEY = RSAKey.generate_key(2048, {"kid": "tampering"})


class Provider:
    """Another project's provider; everyone is signed in as the subject in the form."""

    def __init__(self, url: str) -> None:
        self.url = url

    def register(self, redirect_uri: str) -> tuple[str, str]:
        """Return id and secret of a client with only this redirect URI."""
        body = {"redirect_uris": [redirect_uri]}
        told = httpx.post(f"{self.url}/oauth2/clients", json=body, trust_env=False).raise_for_status().json()
        return told["client_id"], told["client_secret"]

    def know(self, subject: str, **claims: object) -> None:
        httpx.put(f"{self.url}/users/{subject}", json=claims, trust_env=False).raise_for_status()


@contextmanager
def provider(registration: bool = True) -> Iterator[Provider]:
    """Clients must register; otherwise every client is accepted, including one with an unknown address."""
    held = HeldPorts(1)
    port = held.numbers[0]
    process = subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "oidc_provider_mock",
            "-p",
            str(port),
            "--require-nonce",
            *(["--require-registration"] if registration else []),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    made = Provider(f"http://127.0.0.1:{port}")
    try:
        until(lambda: answers(made.url))
        held.close()
        yield made
    finally:
        process.terminate()
        process.wait()
        held.close()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/openid-configuration", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


class Tampering:
    """Forwards all to a real provider, checks PKCE, and signs ID tokens again after `fault` has changed them."""

    def __init__(self, real: Provider) -> None:
        self.real = real
        self.fault = ""
        self.published: dict[str, Any] = {}
        """Differences of its discovery document from the real one."""
        self.keys: dict[str, Any] = {"keys": [KEY.as_dict(private=False)]}
        self.url = ""
        self.challenges: dict[str, str] = {}
        self.app = Starlette(routes=[Route("/{path:path}", self._pass, methods=["GET", "POST"])])

    async def _pass(self, request: Request) -> Response:
        return await run_in_threadpool(self._answer, request, await request.body())

    def _answer(self, request: Request, body: bytes) -> Response:
        target = f"{self.real.url}{request.url.path}?{request.url.query}"
        kept = {k: v for k, v in request.headers.items() if k in ("host", "authorization", "content-type", "cookie")}
        answer = httpx.request(request.method, target, content=body, headers=kept, trust_env=False)
        if request.url.path == "/jwks":
            return JSONResponse(self.keys)
        if request.url.path == "/oauth2/token":
            return self._token(answer, parse_qs(body.decode()))
        if request.url.path.endswith("openid-configuration"):
            return JSONResponse({**answer.json(), **self.published})
        response = Response(answer.content, answer.status_code, media_type=answer.headers.get("content-type"))
        if "location" in answer.headers:
            code = parse_qs(urlsplit(answer.headers["location"]).query).get("code", [""])[0]
            self.challenges[code] = request.query_params["code_challenge"]
            response.headers["location"] = answer.headers["location"]
        return response

    def _token(self, answer: httpx.Response, asked: dict[str, list[str]]) -> Response:
        hashed = hashlib.sha256(asked["code_verifier"][0].encode()).digest()
        if base64.urlsafe_b64encode(hashed).rstrip(b"=").decode() != self.challenges[asked["code"][0]]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        told = answer.json()
        token = told.get("id_token")
        return JSONResponse({**told, "id_token": self._tampered(token)} if token else told, answer.status_code)

    def _tampered(self, token: str) -> str:
        part = token.split(".")[1]
        claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        now_s, header, key = int(time.time()), {"alg": "RS256", "kid": "tampering"}, KEY
        match self.fault:
            case "signature":
                key = STRANGERS_KEY
            case "unsigned":
                whole = [json.dumps({"alg": "none"}).encode(), json.dumps(claims).encode(), b""]
                return ".".join(base64.urlsafe_b64encode(data).rstrip(b"=").decode() for data in whole)
            case "audience":
                claims["aud"] = "somebody-else"
            case "other party":
                claims |= (
                    {"aud": [claims["aud"], "other"], "azp": "other"}
                    if isinstance(claims["aud"], str)
                    else {"aud": [*claims["aud"], "other"], "azp": "other"}
                )
            case "issuer":
                claims["iss"] = "http://elsewhere.example"
            case "nonce":
                claims["nonce"] = "another"
            case "no nonce":
                del claims["nonce"]
            case "expired":
                claims |= {"exp": now_s - 3600, "iat": now_s - 7200}
            case "no subject":
                del claims["sub"]
        return jwt.encode(header, claims, key)
