"""Published files of the other formats through the production master, with every invariant checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.checked_replay import checking
from tests.support.long import of_traces
from tests.support.needs import test_data
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.formats import read_trace
from zoe_simulator.jobs import Trace
from zoe_simulator.trace import Replay

# File, and how many of its jobs are run here.
FILES = [
    ("FB-2009_samples_24_times_1hr_0.tsv.gz", 5894),
    ("metacentrum-wagap-2013.swf.gz", 3000),
    ("openb_pod_list_default.csv.gz", 500),
]


@of_traces
@pytest.mark.parametrize(("name", "run"), FILES)
@pytest.mark.parametrize("backfill", ["none", "easy"])
def test_a_published_file_runs_to_its_end(name: str, run: int, backfill: str) -> None:
    folder = test_data() / "traces"
    trace: Trace = read_trace(folder / name, nodes=folder / "openb_node_list_all_node.csv.gz")
    trace = replace(trace, jobs=trace.jobs[:run])
    assert len(Replay(trace, Policy(order="fifo", backfill=backfill), check=checking).run()) == run


def test_fifo_on_the_bytes_of_facebook_is_as_slow_as_published() -> None:
    """Dell'Amico, Carra and Michiardi, 2016: jobs of bytes on one server at load 0.9; mean sojourn by FIFO 11,135 s."""
    trace = read_trace(test_data() / "traces" / FILES[0][0], load=0.9)
    runs = Replay(trace, Policy(order="fifo", backfill="none")).run()
    assert round(sum(run.turnaround_s for run in runs) / len(runs)) == 11_135
