"""Quotas of keys: stored, shown and found."""

from __future__ import annotations

import pytest

from storage_gateway.content_types import KEY, listing_from_store, to_store
from storage_gateway.quotas import of_keys as key_quotas


def kept(headers: dict[str, str]) -> dict[str, str]:
    """As `get_account_info` has them."""
    return {name.lower().removeprefix("x-account-sysmeta-"): value for name, value in headers.items() if value}


def test_a_key_is_told_apart_from_every_other() -> None:
    sysmeta = kept(key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:ann=7"}, {}))
    sysmeta |= kept(key_quotas.changes({"x-account-key-quota-count": " * = 5 "}, sysmeta))
    assert key_quotas.has_quotas(sysmeta)
    assert key_quotas.quota_of("acme:ann", sysmeta) == (7, 5)
    assert key_quotas.quota_of("acme:amy", sysmeta) == (None, 5)
    answer = {f"X-Account-Sysmeta-{name}": value for name, value in sysmeta.items()}
    assert dict(key_quotas.shown_headers(answer)) == {
        "X-Account-Key-Quota-Bytes": "acme:ann=7",
        "X-Account-Key-Quota-Count": "*=5",
    }


def test_removed_quota_is_sent_as_an_empty_header() -> None:
    first = key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:ann=7"}, {})
    gone = key_quotas.changes({"X-Remove-Account-Key-Quota-Bytes": "acme:ann"}, kept(first))
    assert gone == dict.fromkeys(first, "")


def test_there_are_not_too_many() -> None:
    sysmeta: dict[str, str] = {}
    for number in range(key_quotas.KEYS_MAX):
        sysmeta |= kept(key_quotas.changes({"X-Account-Key-Quota-Bytes": f"acme:u{number}=7"}, sysmeta))
    with pytest.raises(key_quotas.WrongQuota, match="at most"):
        key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:more=7"}, sysmeta)
    assert key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:u3=8"}, sysmeta), "changed, not added"


def test_a_number_that_is_too_large_is_told_the_greatest() -> None:
    with pytest.raises(key_quotas.WrongQuota, match=r"the greatest number is 999999999999999999$"):
        key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:ann=9223372036854775808"}, {})
    assert key_quotas.changes({"X-Account-Key-Quota-Bytes": "acme:ann=999999999999999999"}, {})


@pytest.mark.parametrize(
    ("env", "key"),
    [
        ({"REMOTE_USER": "acme,acme:ann,AUTH_acme"}, "acme:ann"),
        ({"REMOTE_USER": ".wsgi.tempurl"}, ""),
        ({}, ""),
        ({"keystone.identity": {"user": ("8f3a", "ann"), "tenant": ("1", "acme")}, "REMOTE_USER": "x"}, "8f3a"),
        ({"REMOTE_USER": ("1", "x,acme:ann,z")}, ""),
    ],
)
def test_key_is_the_caller_of_the_request(env: dict[str, object], key: str) -> None:
    assert key_quotas.key_of(env) == key


def test_listings_tell_keys_to_counts_alone() -> None:
    content_type = to_store("text/plain;zoe_gateway_over_key=forged", {key_quotas.NOTED: "acme:j\u00fcrg, & co"})
    body = b'[{"name": "a", "bytes": 1, "hash": "x", "content_type": "%b"}]' % content_type.encode("ascii")
    assert KEY.encode() not in listing_from_store(body)
    assert b'"content_type": "text/plain"' in listing_from_store(body)
    assert b'"zoe_key": "acme:j\\u00fcrg, & co"' in listing_from_store(body, keys=True)
