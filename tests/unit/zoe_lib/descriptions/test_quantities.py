"""Sizes and rates in users' notation."""

import pytest

from zoe_client.documents.quantities import bytes_of, bytes_per_s_of, size_text


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0B", 0),
        ("17", 17),
        ("1k", 1000),
        ("1KiB", 1024),
        ("1.5GiB", 3 * 2**29),
        ("2 MB", 2_000_000),
        ("64M", 64 * 10**6),
    ],
)
def test_sizes(text: str, amount: int) -> None:
    assert bytes_of(text) == amount


def test_rates() -> None:
    assert bytes_per_s_of("40MB/s") == 40_000_000


@pytest.mark.parametrize("text", ["", "GiB", "1e9", "-1", "1.3B", "1 GiB/s", "١GB", "9" * 60, "1\n", " 1"])
def test_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        bytes_of(text)


@pytest.mark.parametrize("text", ["40", "40MB", "40MB/h", "MB/s"])
def test_invalid_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        bytes_per_s_of(text)


@pytest.mark.parametrize("amount", [1, 1000, 2**20, 3 * 2**30, 2**45])
def test_size_text_is_read_back(amount: int) -> None:
    assert bytes_of(size_text(amount)) == amount
