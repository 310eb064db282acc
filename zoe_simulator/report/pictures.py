"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from zoe_simulator.report.series import Bar, Moment

_HOUR_S = 3600.0
_COLOURS = 10


def distributions(waits: Sequence[tuple[float, float]], slowdowns: Sequence[tuple[float, float]]) -> Figure:
    """Draw the distributions of waits and of bounded slowdowns over the jobs."""
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    left.step([value / _HOUR_S for value, _ in waits], [share for _, share in waits], where="post")
    left.set_xscale("symlog", linthresh=1 / 60)
    left.set_xlabel("wait, hours")
    left.set_ylabel("share of jobs")
    right.step([value for value, _ in slowdowns], [share for _, share in slowdowns], where="post")
    right.set_xscale("log")
    right.set_xlabel("bounded slowdown")
    for axes in (left, right):
        axes.set_ylim(0, 1)
        axes.grid(alpha=0.3)
    return figure


def course(moments: Sequence[Moment], processors: float) -> Figure:
    """Draw utilisation and queue over time."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    used, queue = figure.subplots(2, 1, sharex=True)
    days = [(moment.at_s - moments[0].at_s) / (24 * _HOUR_S) for moment in moments]
    used.step(days, [moment.processors / processors for moment in moments], where="post")
    used.set_ylabel("utilisation")
    queue.step(days, [moment.waiting for moment in moments], where="post")
    queue.set_ylabel("jobs that wait")
    queue.set_xlabel("days since the first submission")
    for axes in (used, queue):
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    return figure


def chart(bars: Sequence[Bar], from_s: float, until_s: float) -> Figure:
    """Draw which jobs ran where in a window."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for colour in range(_COLOURS):
        boxes = [_box(bar, from_s) for bar in bars if bar.job_id % _COLOURS == colour]
        axes.add_collection(PatchCollection(boxes, facecolor=f"C{colour}", edgecolor="white", linewidth=0.3))
    axes.set_xlim(0, (until_s - from_s) / _HOUR_S)
    axes.set_ylim(0, max((bar.first_lane + bar.lanes for bar in bars), default=1))
    axes.set_xlabel(f"hours since second {from_s:.0f}")
    axes.set_ylabel("processors")
    return figure


def _box(bar: Bar, from_s: float) -> Rectangle:
    left, width = (bar.start_s - from_s) / _HOUR_S, (bar.end_s - bar.start_s) / _HOUR_S
    return Rectangle((left, bar.first_lane), width, bar.lanes)
