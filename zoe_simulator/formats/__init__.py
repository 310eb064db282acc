"""Formats of traces, one file each, and their detection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zoe_simulator.formats.lines import read_lines
from zoe_simulator.formats.metacentrum import read_metacentrum
from zoe_simulator.formats.pods import read_pods
from zoe_simulator.formats.swf import read_swf
from zoe_simulator.formats.swim import read_swim
from zoe_simulator.jobs import Trace, TraceError

FORMATS = ("swf", "swim", "pods", "metacentrum")


def read_trace(path: Path, wanted: str | None = None, nodes: Path | None = None, load: float = 0.9) -> Trace:
    """Return the trace of a file in the requested format, or in the detected one.

    `nodes` is the list of nodes for pods, `load` the load of the server for the jobs of SWIM.
    """
    found = wanted or format_of(read_lines(path), path.name)
    if found == "pods":
        if nodes is None:
            raise TraceError(f"{path.name} is a list of pods, which needs the list of its nodes: add --nodes FILE")
        return read_pods(path, nodes)
    if found == "swim":
        return read_swim(path, load)
    return read_metacentrum(path) if found == "metacentrum" else read_swf(path)


def format_of(lines: Sequence[str], name: str) -> str:
    """Return the detected format of a file's lines. Raises TraceError for none of `FORMATS`."""
    first = next((line for line in lines if line.strip() and not line.startswith(";")), "")
    if ",cpu_milli," in first:
        return "pods"
    if "ppn=" in first:
        return "metacentrum"
    if first.count("\t") == 5 and not first[:1].isdigit():
        return "swim"
    if first[:1].isdigit() or first.startswith(" "):
        return "swf"
    raise TraceError(f"{name} has an unknown format; known formats: {', '.join(FORMATS)}")
