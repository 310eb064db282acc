"""Whether a view pays, by what a sample took."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storage_bridge.model import ViewSample
from storage_bridge.pushdown import GAIN_LEAST, READER_BYTES_PER_S, expected_s, verdict

MB = 1_000_000
# Eight megabytes in 20 ms plainly; through the view 1 % of them in 60 ms.
FEW_ROWS = ViewSample(800 * MB, 8 * MB, 30_000, 80_000, 0.02, 0.06, None, ("id", "kwh"))


def test_few_rows_pay_though_the_store_is_slower_at_them_because_the_reader_is_slower_still() -> None:
    found = verdict(FEW_ROWS)
    assert found.used
    assert found.columns == ("id", "kwh")
    assert found.why.startswith("through a view: 0.03 of 8 MB of a sample are needed")


def test_everything_wanted_does_not_pay_and_the_sentence_says_why() -> None:
    found = verdict(replace(FEW_ROWS, delivered_bytes=3 * MB, selected_bytes=8 * MB, view_s=0.2))
    assert not found.used
    assert found.columns == ()
    assert found.why.startswith("plainly: a view would not save time; 3 of 8 MB")


def test_promised_view_is_used_even_without_a_gain() -> None:
    found = verdict(replace(FEW_ROWS, delivered_bytes=4 * MB, selected_bytes=8 * MB, view_s=0.2), promised=True)
    assert found.used
    assert found.columns == ("id", "kwh")
    assert found.why.startswith("through a view, as promised: 4 of 8 MB of a sample")
    assert found.share == 0.5
    assert not verdict(ViewSample(0, 0, 0, 0, 0.0, 0.0), promised=True).used


def test_rate_of_the_store_decides_below_that_of_the_sample() -> None:
    slow_filter = replace(FEW_ROWS, view_s=0.5)
    assert not verdict(slow_filter).used
    assert verdict(replace(slow_filter, rate_bytes_per_s=5 * MB)).used


def test_the_sentence_names_the_filters_that_both_times_contain() -> None:
    stored = replace(FEW_ROWS, filters=("compression", "encryption"), stored_share=0.18)
    for why in (verdict(stored).why, verdict(replace(stored, view_s=9.0)).why):
        assert "stored through compression, encryption, 0.18 stored bytes for each original byte" in why
        assert "the proxy undoes in both" in why
    assert "stored through" not in verdict(FEW_ROWS).why


def test_an_empty_source_is_read_plainly() -> None:
    found = verdict(ViewSample(0, 0, 0, 0, 0.0, 0.0))
    assert (found.used, found.why) == (False, "plainly: there is nothing to read")


@given(
    st.integers(1, 8 * MB),
    st.integers(0, 8 * MB),
    st.integers(0, 16 * MB),
    st.floats(0, 100),
    st.floats(0, 100),
    st.none() | st.integers(1, 10**10),
)
def test_no_view_is_used_that_is_expected_to_be_slower(
    sampled: int, delivered: int, selected: int, plain_s: float, view_s: float, rate: int | None
) -> None:
    sample = ViewSample(sampled, sampled, delivered, selected, plain_s, view_s, rate)
    plainly_s, through_s = expected_s(sample)
    assert verdict(sample).used is (through_s <= GAIN_LEAST * plainly_s)
    assert plainly_s >= sampled / READER_BYTES_PER_S
    assert through_s >= view_s
