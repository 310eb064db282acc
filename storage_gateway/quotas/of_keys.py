"""Quotas of keys: the most that each user of an account may hold there. Pure.

A key signs requests: a user in Swift's protocol, an access key in S3, or the credential of an execution. An object
counts for the key that wrote it last, which the gateway records in accounts with such a quota.

    X-Account-Key-Quota-Bytes: acme:ann=1000000        set for one key by a reseller admin, in a POST of the account
    X-Remove-Account-Key-Quota-Bytes: acme:ann

They are stored with the account, a header for each key and kind, so that two admins do not overwrite each other's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from storage_gateway.content_types import OVERRIDE

NOTED = f"{OVERRIDE}key".title()
"""Header that carries the key of an object into its metadata and listings."""
EVERY = "*"
"""Stands for each key without a quota."""
KEYS_MAX = 32
"""Most quotas of keys in an account: a store keeps some 4 KB of an account's metadata."""
_KINDS = ("bytes", "count")
_KEPT = "key-quota-"
_KEY_BYTES_MAX = 120
_DIGITS_MAX = 18
_PARTS_MIN = 2


class WrongQuota(ValueError):  # noqa: N818 - the name is the fact
    """A request has an invalid quota of a key; the message has the reason."""


def key_of(env: Mapping[str, Any]) -> str:
    """Return the key that makes a request (a WSGI string); empty without authentication.

    For Keystone's users it is the id, which does not change with the name. tempauth's groups, and those of an
    execution, begin with the tenant and the user.
    """
    user = (env.get("keystone.identity") or {}).get("user", ("",))[0]
    remote = env.get("REMOTE_USER")  # for Keystone a pair, whose text would contain a name that a user chose
    groups = remote.split(",") if isinstance(remote, str) else []
    return str(user or (groups[1] if len(groups) >= _PARTS_MIN else ""))


def sets_quota(headers: Mapping[str, str]) -> bool:
    """Return whether a request of an account sets or removes a quota of a key."""
    return any(_names(kind) & {name.lower() for name in headers} for kind in _KINDS)


def changes(headers: Mapping[str, str], sysmeta: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that store the quotas of a request. Raises WrongQuota. sysmeta: of the account."""
    found: dict[str, str] = {}
    for kind in _KINDS:
        for name, value in headers.items():
            if name.lower() not in _names(kind) or not value:
                continue
            key, is_set, number = value.strip().rpartition("=")
            if name.lower().startswith("x-remove-"):
                key, number = value.strip(), ""
            elif not is_set or not _is_number(number.strip()):
                most = f"; the greatest number is {10**_DIGITS_MAX - 1}" if number.strip().isdecimal() else ""
                raise WrongQuota(f"{name} is KEY=NUMBER, such as acme:ann=1000000{most}")
            found[f"X-Account-Sysmeta-{_header_of(kind, _check_key(key.strip()))}".title()] = (
                f"{key.strip()}={number.strip()}" if number else ""
            )
    kept = {f"X-Account-Sysmeta-{name}".title() for name in sysmeta if name.startswith(_KEPT)}
    if len((kept | {name for name, value in found.items() if value}) - _removed_names(found)) > KEYS_MAX:
        raise WrongQuota(f"an account has at most {KEYS_MAX} quotas of keys")
    return found


def has_quotas(sysmeta: Mapping[str, str]) -> bool:
    """Return whether an account has quotas of keys."""
    return any(name.startswith(_KEPT) for name in sysmeta)


def quota_of(key: str, sysmeta: Mapping[str, str]) -> tuple[int | None, int | None]:
    """Return the most bytes and objects that a key may hold in an account; None: no limit."""
    size, objects = (
        _number_in(sysmeta.get(_header_of(kind, key)) or sysmeta.get(_header_of(kind, EVERY)) or "") for kind in _KINDS
    )
    return size, objects


def shown_headers(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the headers that show the quotas of keys, from those of an answer about an account."""
    for kind in _KINDS:
        start = f"x-account-sysmeta-{_KEPT}{kind}-"
        values = sorted(value for name, value in headers.items() if name.lower().startswith(start) and value)
        if values:
            yield f"X-Account-Key-Quota-{kind}".title(), ", ".join(values)


def _names(kind: str) -> set[str]:
    return {f"x-account-{_KEPT}{kind}", f"x-remove-account-{_KEPT}{kind}"}


def _header_of(kind: str, key: str) -> str:
    # header names allow few characters, and no capitals; the value has the key itself
    return f"{_KEPT}{kind}-{hashlib.sha256(key.encode('latin-1', 'replace')).hexdigest()[:24]}"


def _check_key(key: str) -> str:
    if not key or len(key) > _KEY_BYTES_MAX or any(text in ",=" or not text.isprintable() for text in key):
        raise WrongQuota(f"a key has 1 to {_KEY_BYTES_MAX} characters, without commas and equals signs")
    return key


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX


def _number_in(value: str) -> int | None:
    number = value.rpartition("=")[2]
    return int(number) if _is_number(number) else None


def _removed_names(found: Mapping[str, str]) -> set[str]:
    return {name for name, value in found.items() if not value}
