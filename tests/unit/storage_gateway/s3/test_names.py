"""Names of buckets for containers."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from storage_gateway.s3.names import book_of, bucket_of

RULE = re.compile("[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
words = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(account=words, container=words, other=words)
def test_every_container_has_a_bucket_of_its_own_that_s3_allows(account: str, container: str, other: str) -> None:
    names = {bucket_of(account, container), book_of(account)}
    assert len(names) == 2
    assert all(RULE.fullmatch(name) for name in names)
    assert (bucket_of(account, other) in names) == (other == container)
    assert (bucket_of(other, container) in names) == (other == account)


def test_people_recognise_it() -> None:
    assert bucket_of("AUTH_acme", "Photos 2024").startswith("photos-2024-")
