"""The filters of a proxy for S3 requests, in their order, with a store at the end that records requests.

Runs in the environment of Swift: `python tests/support/s3_pipeline.py SETTINGS`, JSON with `pipeline` (names),
`users` (tempauth's), `directory`. Each line of input is a request, or one of the words of `_WORDS`; each line of output
the answer. No socket is opened.
"""

from __future__ import annotations

import ast
import base64
import hmac
import importlib
import io
import json
import re
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swift.common.middleware.s3api.s3request import ALLOWED_SUB_RESOURCES
from swift.common.swob import HTTPAccepted, HTTPCreated, HTTPNoContent, Request, Response
from swift.common.utils import logs

_SWIFTS = {
    name: f"swift.common.middleware.{name.replace('-', '_')}"
    for name in ("catch_errors", "gatekeeper", "listing_formats", "bulk", "tempauth", "copy", "slo", "dlo", "symlink")
}
_FACTORIES = {
    **_SWIFTS,
    "versioned_writes": "swift.common.middleware.versioned_writes",
    "s3api": "swift.common.middleware.s3api.s3api",
    "s3token": "swift.common.middleware.s3api.s3token",
    "keystoneauth": "swift.common.middleware.keystoneauth",
    "zoe_s3_signed": "storage_filters.s3_signed.middleware",
    "zoe_s3_calls": "storage_filters.s3_signed.calls.middleware",
    "zoe_bandwidth": "storage_filters.bandwidth.middleware",
    "zoe_executions": "storage_filters.execution_auth.middleware",
    "zoe_views": "storage_filters.views.middleware",
    "zoe_quotas": "storage_gateway.quotas.middleware",
}
_ACTS = ("storage_filters", "storage_gateway", "swift.common.middleware", "swift.proxy", "swift.common.constraints")
_RULES = "storage_filters.s3_signed.signatures"
_OBJECT = {"Etag": "a" * 32, "Last-Modified": "Mon, 21 Sep 2026 14:13:20 GMT", "X-Timestamp": "1790000000.00000"}
_VERSION_PARTS = 5
_NAME = re.compile(r"[Xx]-[A-Za-z0-9-]*[A-Za-z0-9]")
_KEY = re.compile(r"HTTP_([A-Z0-9_]+[A-Z0-9])")
_QUERY = re.compile(r"""(?:params|get_param\(\w+, |\.get\(|\[)[^'"]*['"]([a-zA-Z][\w.-]*)['"]""")
_IGNORED = re.compile(r"HTTP_X_(TRANS_ID|TIMESTAMP|BACKEND_).*")


class End:
    """Answers like a store that has everything, and records the requests."""

    def __init__(self) -> None:
        self.seen: list[list[Any]] = []

    def __call__(self, env: dict[str, Any], start_response: Any) -> Any:
        request = Request(env)
        if "swift.authorize" in env and (refusal := env["swift.authorize"](request)) is not None:
            return refusal(env, start_response)
        body = env["wsgi.input"].read() if env["REQUEST_METHOD"] in ("PUT", "POST") else b""
        headers = {k: v for k, v in env.items() if k.startswith("HTTP_") and not _IGNORED.fullmatch(k)}
        headers["CONTENT_TYPE"] = env.get("CONTENT_TYPE", "")
        entry = [env["REQUEST_METHOD"], env["PATH_INFO"], env.get("QUERY_STRING", ""), headers, body.decode("latin-1")]
        self.seen.append(entry)
        return self._answer(request)(env, start_response)

    def _answer(self, request: Request) -> Response:
        parts = [part for part in request.environ["PATH_INFO"].split("/", _VERSION_PARTS - 1) if part]
        if request.method in ("GET", "HEAD") and len(parts) < _VERSION_PARTS - 1:
            return Response(request=request, body=b"[]", content_type="application/json")
        if request.method in ("GET", "HEAD"):
            return Response(request=request, body=b"stored", headers=_OBJECT, content_type="text/plain")
        made = {"PUT": HTTPCreated, "POST": HTTPAccepted if len(parts) == _VERSION_PARTS - 1 else HTTPNoContent}
        return made.get(request.method, HTTPNoContent)(request=request, headers=_OBJECT)


class Cache:
    """Replaces memcached."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, key: str, **_: Any) -> Any:
        return self.values.get(key)

    def set(self, key: str, value: Any, **_: Any) -> None:
        self.values[key] = value


class Keystone:
    """Answers `s3token` like Keystone: it knows secrets, and checks signatures of the reported strings to sign.

    users: by access key, `secret`, `project`, `roles`.
    """

    def __init__(self, users: dict[str, dict[str, Any]]) -> None:
        self._users = users

    def post(self, _url: str, data: str, **_: Any) -> Any:
        """Return the result of `requests.post`."""
        given = json.loads(data)["credentials"]
        user = self._users.get(given["access"])
        text = base64.urlsafe_b64decode(given["token"])
        answer = types.SimpleNamespace(status_code=401, reason="Unauthorized", content=b"")
        if user is None or not hmac.compare_digest(_signed(user["secret"], text), given["signature"]):
            return answer
        domain = {"id": "default", "name": "Default"}
        token = {
            "roles": [{"name": name} for name in user["roles"]],
            "user": {"id": given["access"], "name": given["access"], "domain": domain},
            "project": {"id": user["project"], "name": user["project"], "domain": domain},
        }
        return types.SimpleNamespace(status_code=200, content=b"", json=lambda: {"token": token})


def _signed(secret: str, text: bytes) -> str:
    lines = text.split(b"\n")
    if lines[0] != b"AWS4-HMAC-SHA256":
        return base64.b64encode(hmac.digest(secret.encode(), text, "sha1")).decode()
    key = f"AWS4{secret}".encode()
    for part in lines[2].split(b"/"):
        key = hmac.digest(key, part, "sha256")
    return hmac.new(key, text, "sha256").hexdigest()


def _with_keystone(users: dict[str, dict[str, Any]]) -> None:
    """Install ours instead of Keystone, whose libraries are not installed; s3token needs them to sign in itself."""
    for name in ("keystoneclient", "keystoneclient.v3", "keystoneclient.v3.client", "keystoneauth1"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["keystoneclient.v3"].client = sys.modules["keystoneclient.v3.client"]  # type: ignore[attr-defined]
    sys.modules["keystoneauth1"].session = sys.modules["keystoneauth1"].loading = None  # type: ignore[attr-defined]
    module: Any = importlib.import_module(_FACTORIES["s3token"])
    module.requests = types.SimpleNamespace(post=Keystone(users).post, exceptions=module.requests.exceptions)


class Pipeline:
    """Filters over the store."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.end = End()
        self.cache = Cache()
        if "keystone" in settings:
            _with_keystone(settings["keystone"])
        conf = {
            **settings["users"],
            **settings.get("options", {}),
            "secret_file": f"{settings['directory']}/secret",
            "rates_file": f"{settings['directory']}/rates",
        }
        self.app: Any = self.end
        for name in reversed(settings["pipeline"]):
            made = importlib.import_module(_FACTORIES[name]).filter_factory({}, **conf)
            self.app = made(self.app)

    def ask(self, wanted: dict[str, Any]) -> Any:
        """Return status, body and the store's requests."""
        self.end.seen.clear()
        answer = Request(self._environ(wanted)).get_response(self.app)
        return [answer.status_int, answer.body.decode("latin-1"), self.end.seen]

    def _environ(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """Return eventlet's environment of a request."""
        path, _, query = wanted["path"].partition("?")
        env = Request.blank(path, environ={"REQUEST_METHOD": wanted["method"]}).environ
        headers = [(name, value) for name, value in wanted["headers"]]
        body = wanted.get("body", "").encode("latin-1")
        env |= {"QUERY_STRING": query, "RAW_PATH_INFO": path, "swift.cache": self.cache, "swift.infocache": {}}
        env |= {"headers_raw": tuple(headers), "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        env.pop("HTTP_HOST", None)
        for name, value in headers:
            key = name.replace("-", "_").upper()
            if "_" in name or key == "CONTENT_LENGTH":
                continue
            key = key if key == "CONTENT_TYPE" else f"HTTP_{key}"
            env[key] = f"{env[key]},{value}" if key in env and key != "CONTENT_TYPE" else value
        return env


def _names() -> Iterator[str]:
    """Yield possible names of headers and parameters in all code that acts on requests."""
    for name, module in list(sys.modules.items()):
        if name == _RULES or not name.startswith(_ACTS) or not getattr(module, "__file__", None):
            continue
        text = Path(str(module.__file__)).read_text()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if found := _KEY.fullmatch(node.value):
                    yield found[1].replace("_", "-").lower()
                elif _NAME.fullmatch(node.value):
                    yield node.value.lower()
            if isinstance(node, ast.Subscript | ast.Call):
                if found := re.match(r".*headers(?:\[|\.get\(|\.pop\()'([\w-]+)'", ast.unparse(node)):
                    yield found[1].lower()
                if found := re.match(r".*params(?:\[|\.get\(|\.pop\()'([\w.-]+)'", ast.unparse(node)):
                    yield f"?{found[1]}"
                if found := re.match(r"(?:.*\()?get_param\(\w+, '([\w.-]+)'", ast.unparse(node)):
                    yield f"?{found[1]}"
            if isinstance(node, ast.Compare) and re.match(r"'[\w.-]+' (not )?in \S*params", ast.unparse(node)):
                yield f"?{ast.unparse(node).split(chr(39))[1]}"


def main() -> None:
    """Answer line by line."""
    pipeline = Pipeline(json.loads(sys.argv[1]))
    importlib.import_module("swift.proxy.server")
    errors: list[str] = []
    logs.SwiftLogAdapter.error = lambda _self, text, *words, **_: errors.append(text % words)
    words = {
        "ERRORS": lambda: errors,
        "NAMES": lambda: sorted(set(_names())),
        "V2": lambda: list(ALLOWED_SUB_RESOURCES),
        "NOW": time.time,
    }
    for line in sys.stdin:
        wanted = json.loads(line)
        answer = words[wanted]() if isinstance(wanted, str) else pipeline.ask(wanted)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
