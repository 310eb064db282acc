"""Decide once, before a job starts, whether a view pays, from a sample of its source.

The model is that of one task: bytes arrive while the records before them are parsed, so the slower of the two counts. A
plain read parses everything; with a view the store searches for records, and only these travel and are parsed.
"""

from __future__ import annotations

from storage_bridge.model import ViewSample, ViewVerdict
from zoe_client.words.amounts import plain

READER_BYTES_PER_S = 60e6
"""The best speed at which one task of Spark 3.5.9 parses CSV.

Twice what `benchmarks/csv_reader.py` showed on two busy cores (30 MB/s), since overestimating the reader can only turn
views down.
"""
GAIN_LEAST = 0.9
"""A view is used if it is expected to take at most this fraction of the plain read, so that a small error does no
harm.
"""
_MB = 1e6


def verdict(sample: ViewSample, *, promised: bool = False) -> ViewVerdict:
    """Return whether jobs read through the view, and the sentence for their users. promised: they do in any case."""
    if not sample.sampled_bytes:
        return ViewVerdict(False, (), "plainly: there is nothing to read")
    plain_s, view_s = expected_s(sample)
    share = sample.delivered_bytes / sample.sampled_bytes
    measured = (
        f"{plain(sample.delivered_bytes / _MB)} of {plain(sample.sampled_bytes / _MB)} MB of a "
        f"sample are needed: {view_s:.2g} s expected through a view, {plain_s:.2g} s plainly{_chain(sample)}"
    )
    if promised:
        return ViewVerdict(True, sample.columns, f"through a view, as promised: {measured}", share)
    if view_s > GAIN_LEAST * plain_s:
        return ViewVerdict(False, (), f"plainly: a view would not save time; {measured}", share)
    return ViewVerdict(True, sample.columns, f"through a view: {measured}", share)


def _chain(sample: ViewSample) -> str:
    """Return the note on filters for users: both times include them, and only the proxy can select."""
    if not sample.filters:
        return ""
    kept = f", {sample.stored_share:.2g} stored bytes for each original byte" if sample.stored_share is not None else ""
    return (
        f"; the objects are stored through {', '.join(sample.filters)}{kept}, which the proxy undoes in both, and it "
        "selects there, too"
    )


def expected_s(sample: ViewSample) -> tuple[float, float]:
    """Return the seconds that a task needs for the sample plainly and through the view, the reader's work included."""
    rate = sample.sampled_bytes / max(sample.plain_s, 1e-6)
    if sample.rate_bytes_per_s:
        rate = min(rate, sample.rate_bytes_per_s)
    plain_s = max(sample.sampled_bytes / rate, sample.sampled_bytes / READER_BYTES_PER_S)
    view_s = max(sample.view_s, sample.delivered_bytes / rate, sample.selected_bytes / READER_BYTES_PER_S)
    return plain_s, view_s
