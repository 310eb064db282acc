"""Executions as users of an object store, with a secret of the test's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from storage_filters.execution_auth.names import ExecutionUser, key_of
from tests.support.object_store import Person
from tests.support.s3 import S3Client
from zoe_embedded.home import Account
from zoe_embedded.swift.store import ObjectStore

SECRET = secrets.token_hex(24)


def secret_file(apart: Path, account: Account | None) -> str:
    """Return a path where the store's servers can read the secret."""
    path = apart / "executions.secret"
    path.write_text(SECRET + "\n")
    path.chmod(0o600)
    if account is not None:
        os.chown(path, account.uid, account.gid)
    return str(path)


def store_key(user: ExecutionUser) -> str:
    return key_of(SECRET.encode(), f"AUTH_{user.tenant}", user)


def sign_in(store: ObjectStore, login: str, key: str) -> httpx.Response:
    return httpx.get(store.auth_url, headers={"X-Auth-User": login, "X-Auth-Key": key})


@contextmanager
def as_execution(store: ObjectStore, user: ExecutionUser, key: str | None = None) -> Iterator[Person]:
    answer = sign_in(store, user.login, store_key(user) if key is None else key)
    assert answer.status_code == 200, (answer.status_code, answer.text)
    with httpx.Client(timeout=60, headers={"X-Auth-Token": answer.headers["X-Auth-Token"]}) as http:
        yield Person(http, answer.headers["X-Storage-Url"])


@contextmanager
def s3_of(store: ObjectStore, login: str, key: str) -> Iterator[S3Client]:
    place = urlsplit(store.auth_url)
    with httpx.Client(timeout=60) as http:
        yield S3Client(http, f"{place.scheme}://{place.netloc}", login, key)
