"""Write a report: `report.json` with all numbers, `*.png`, and `index.html`, which needs no other file."""

from __future__ import annotations

import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from zoe_simulator.jobs import Run, Trace, TraceError
from zoe_simulator.measures.figures import bounded_slowdown
from zoe_simulator.report.pictures import chart, course, distributions
from zoe_simulator.report.series import busiest_day, cdf, gantt, over_time, thin_moments

_STYLE = (
    "body{font-family:sans-serif;max-width:60em;margin:2em auto}td{text-align:right;padding:.2em 1em}svg{width:100%}"
)
_DPI = 120


def write_report(
    folder: Path, trace: Trace, runs: Sequence[Run], result: Mapping[str, Any], window: tuple[float, float] | None
) -> None:
    """Write into a folder, creating it; `window` is that of the Gantt chart in seconds of the trace, None the busiest
    day.
    """
    if not runs:
        raise TraceError("nothing has run, so there is nothing to report")
    moments = over_time(runs)
    from_s, until_s = window or busiest_day(moments)
    waits, slowdowns = cdf(run.wait_s for run in runs), cdf(map(bounded_slowdown, runs))
    bars, shown = gantt(runs, from_s, until_s), thin_moments(moments)
    pictures = {
        "Waits and slowdowns": distributions(waits, slowdowns),
        "Over time": course(shown, trace.processors),
        "Gantt chart": chart(bars, from_s, until_s),
    }
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {
        "figures": dict(result),
        "wait_cdf": waits,
        "slowdown_cdf": slowdowns,
        "over_time": [asdict(moment) for moment in shown],
        "window_s": [from_s, until_s],
        "gantt": [asdict(bar) for bar in bars],
    }
    (folder / "report.json").write_text(json.dumps(numbers), encoding="utf-8")
    for title, figure in pictures.items():
        figure.savefig(folder / f"{title.lower().replace(' ', '-')}.png", dpi=_DPI)
    (folder / "index.html").write_text(_page(trace.name, result, pictures), encoding="utf-8")


def _page(name: str, result: Mapping[str, Any], pictures: Mapping[str, Figure]) -> str:
    rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{_text(value)}</td></tr>" for key, value in result.items())
    drawn = "".join(f"<h2>{html.escape(title)}</h2>{_svg(figure)}" for title, figure in pictures.items())
    head = f'<meta charset="utf-8"><title>{html.escape(name)}</title><style>{_STYLE}</style>'
    body = f"<h1>{html.escape(name)}</h1><table>{rows}</table>{drawn}"
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def _svg(figure: Figure) -> str:
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg")
    text = drawing.getvalue()
    return text[text.index("<svg") :]


def _text(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else html.escape(str(value))
