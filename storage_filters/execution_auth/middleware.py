"""Proxy filter that lets each execution of Zoe sign in to its tenant's account with a separate credential.

    [pipeline:main]
    pipeline = ... zoe_s3_signed ... s3api zoe_executions tempauth copy zoe_bandwidth ...
    [filter:zoe_executions]
    paste.filter_factory = storage_filters.execution_auth:filter_factory
    secret_file = /etc/swift/zoe-executions.secret
    rates_file = /run/swift/zoe-rates

Put it after s3api and before authentication, which has to allow overrides, as tempauth and Keystone's do by default. It
answers the sign-in (v1) of executions, accepts the tokens that it issued, and checks S3 requests signed by executions.
It passes on all other requests unchanged.

An execution acts as the owner of its tenant's account, and in no other account. `rates_file` is the one of
`zoe_bandwidth`, to which the controller sends the active executions: keys and tokens of ended ones are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from swift.common.middleware.acl import clean_acl
from swift.common.swob import HTTPForbidden, HTTPUnauthorized, Request, Response, str_to_wsgi, wsgi_to_str
from swift.common.utils import get_logger, quote

from storage_filters.execution_auth.alive_executions import AliveFile, alive_file
from storage_filters.execution_auth.callers import EXECUTION
from storage_filters.execution_auth.names import (
    TOKEN_PREFIX,
    ExecutionUser,
    is_same,
    key_of,
    read_secrets,
    token_of,
    user_of,
    user_of_token,
)
from storage_filters.wsgi.client_lines import ClientLines

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
_SIGNED = "s3api.auth_details"
_TOKEN_LIFE_S = 86400
_TOKEN_HEADERS = ("HTTP_X_AUTH_TOKEN", "HTTP_X_STORAGE_TOKEN")
_ACCOUNT_PARTS = 3


class ExecutionAuth:
    """The WSGI filter."""

    def __init__(self, app: Any, conf: dict[str, str]) -> None:
        self._app = app
        self._logger = get_logger(conf, log_route="zoe-executions")
        self._secrets = read_secrets(Path(conf["secret_file"]))
        self._lines = ClientLines(self._logger)
        self._alive = AliveFile(alive_file(conf["rates_file"]), self._logger.error)
        self._prefix = conf.get("account_prefix", "AUTH_")
        auth_prefix = conf.get("auth_prefix", "/auth/").strip("/")
        self._sign_in = (f"/{auth_prefix}/v1.0", f"/{auth_prefix}/v1.0/")
        self._token_life_s = float(conf.get("token_life", _TOKEN_LIFE_S))
        self._scheme = conf.get("storage_url_scheme", "default")

    def __call__(self, env: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Authorise a request of an execution; pass on all others."""
        answer = self._answer(env)
        done: Iterable[bytes] = answer(env, start_response)
        return done

    def _answer(self, env: Environ) -> Any:
        """Return the application that answers: the next filter, or a response of this one."""
        if env.get("PATH_INFO") in self._sign_in:
            login = wsgi_to_str(env.get("HTTP_X_AUTH_USER") or env.get("HTTP_X_STORAGE_USER") or "")
            user = user_of(login)
            return self._app if user is None else self._issue_token(env, user)
        if signed := env.get(_SIGNED):
            return self._by_signature(env, signed)
        token = next((env[name] for name in _TOKEN_HEADERS if name in env), "")
        if not token.startswith(TOKEN_PREFIX):
            return self._app
        return self._authorise(env, user_of_token(self._secrets, self._prefix, token, time.time()))

    def _issue_token(self, env: Environ, user: ExecutionUser) -> Any:
        """Answer a sign-in with a token."""
        key = wsgi_to_str(env.get("HTTP_X_AUTH_KEY") or env.get("HTTP_X_STORAGE_PASS") or "")
        account = self._account(user)
        known = any(is_same(key_of(secret, account, user), key) for secret in self._secrets)
        if env["REQUEST_METHOD"] != "GET" or not known or not self._alive.is_allowed(account, user):
            return self._refuse(env, user)
        request = Request(env)
        token = token_of(self._secrets[0], account, user, time.time() + self._token_life_s)
        url = f"{request.host_url}/v1/{quote(account)}"
        if self._scheme != "default":
            url = f"{self._scheme}:{url.partition(':')[2]}"
        headers = {
            "X-Auth-Token": token,
            "X-Storage-Token": token,
            "X-Auth-Token-Expires": str(int(self._token_life_s)),
            "X-Storage-Url": url,
        }
        return Response(request=request, headers=headers)

    def _by_signature(self, env: Environ, signed: dict[str, Any]) -> Any:
        """Check a request that s3api has translated: its path has the access key in place of the account."""
        login = signed["access_key"]
        user = user_of(login)
        if user is None:
            return self._app
        account, check = self._account(user), signed["check_signature"]
        parts = env["PATH_INFO"].split("/", _ACCOUNT_PARTS)
        if not any(check(key_of(secret, account, user)) for secret in self._secrets):
            return self._refuse(env, user)
        if len(parts) < _ACCOUNT_PARTS or wsgi_to_str(parts[2]) not in (login, account):
            return self._refuse(env, user)
        parts[2] = str_to_wsgi(account)
        env["PATH_INFO"] = "/".join(parts)
        env.pop(_SIGNED, None)  # Keystone's s3token would look up the key, and refuse it
        return self._authorise(env, user)

    def _authorise(self, env: Environ, user: ExecutionUser | None) -> Any:
        """Let the request act as the owner of the tenant's account, unless the execution has ended."""
        if user is None or not self._alive.is_allowed(self._account(user), user):
            return self._refuse(env, user)
        account = self._account(user)
        for name in _TOKEN_HEADERS:  # Keystone's filter would look it up
            env.pop(name, None)
        env[EXECUTION] = user.execution
        env["REMOTE_USER"] = ",".join((user.tenant, user.login, account))
        env["swift.authorize"] = _Owner(account)
        env["swift.authorize_override"] = True
        env["swift.clean_acl"] = clean_acl
        env.setdefault("swift.access_logging", {})["user_id"] = user.login
        return self._app

    def _refuse(self, env: Environ, user: ExecutionUser | None) -> Any:
        self._lines.info(env, "refused: %s", user.login if user else "a token that is not valid")
        realm = quote(user.tenant) if user else "unknown"
        return HTTPUnauthorized(request=Request(env), headers={"Www-Authenticate": f'Swift realm="{realm}"'})

    def _account(self, user: ExecutionUser) -> str:
        return self._prefix + user.tenant


class _Owner:
    """Swift's authorisation hook: the owner of an account may do everything in it, but not create or delete it."""

    def __init__(self, account: str) -> None:
        self._account = account

    def __call__(self, request: Any) -> Any:
        """Return None if the request is allowed."""
        try:
            _, account, container, _ = request.split_path(1, 4, True)
        except ValueError:
            return HTTPForbidden(request=request)
        if wsgi_to_str(account) != self._account or (request.method in ("PUT", "DELETE") and not container):
            return HTTPForbidden(request=request)
        request.environ["swift_owner"] = True
        return None


def filter_factory(_global_conf: dict[str, str], **local_conf: str) -> Callable[[Any], ExecutionAuth]:
    """Return the filter, for paste."""
    return lambda app: ExecutionAuth(app, local_conf)
