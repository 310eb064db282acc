"""The picture of a replay: waiting executions and reserved cores, as recorded and with the change."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from zoe_simulator.history_replay.answer import thin_points
from zoe_simulator.history_replay.outcome import Outcome

_STYLE = "body{font-family:sans-serif;max-width:60em;margin:2em auto}td,th{padding:.2em 1em;text-align:right}"


def draw(path: Path, result: Mapping[str, Any], sides: Mapping[str, Outcome]) -> None:
    """Write a PNG file, or an HTML page (by the file's extension) that also has the table."""
    figure = _figure(sides)
    if path.suffix == ".png":
        figure.savefig(path, dpi=120)
        return
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    path.write_text(_page(result, svg[svg.index("<svg") :]), encoding="utf-8")


def _figure(sides: Mapping[str, Outcome]) -> Figure:
    figure = Figure(figsize=(9, 6), layout="constrained")
    waiting, reserved = figure.subplots(2, 1, sharex=True)
    for name, side in sides.items():
        points = thin_points(side)
        times = [datetime.fromtimestamp(at_s, UTC) for at_s, _, _ in points]
        waiting.plot(times, [count for _, count, _ in points], label=name)
        reserved.plot(times, [cores for _, _, cores in points], label=name)
    waiting.set_ylabel("executions that wait")
    reserved.set_ylabel("cores reserved")
    reserved.set_xlabel("UTC")
    for axes in (waiting, reserved):
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    waiting.legend()
    reserved.tick_params(axis="x", rotation=20)
    return figure


def _page(result: Mapping[str, Any], svg: str) -> str:
    sides = result["figures"]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *sides))
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th>"
        + "".join(f"<td>{side[name]:,.6g}</td>" for side in sides.values())
        + "</tr>"
        for name in next(iter(sides.values()))
    )
    test = f"{result['reproduced']:,} of {result['decisions']:,} decisions made again as they were"
    begin, end = (datetime.fromtimestamp(result[key], UTC).isoformat(" ", "seconds") for key in ("from_s", "to_s"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Replay</title>'
        f"<style>{_STYLE}</style></head>"
        f"<body><h1>Replay of {begin} to {end}</h1><p>{test}. {html.escape(result['first_difference'])}</p>"
        f"<table><tr>{head}</tr>{rows}</table>{svg}</body></html>\n"
    )
