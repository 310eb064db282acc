"""Every format on a small sample: the parsed trace, and its run through the master."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.checked_replay import checking
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.formats import read_trace
from zoe_simulator.formats.pods import GPU
from zoe_simulator.jobs import Run, Trace, TraceError
from zoe_simulator.trace import Replay

SWIM = "job0\t0\t0\t600\t0\t300\njob1\t10\t10\t0\t0\t0\njob2\t40\t30\t400\t200\t200\njob3\t100\t60\t0\t0\t200\n"
NODES = "sn,cpu_milli,memory_mib,gpu,model\nbig,8000,16384,2,A10\nplain,4000,8192,0,\n"
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
half,1000,1024,1,500,,LS,Running,0,100,10
whole,1000,1024,1,1000,A10,LS,Running,5,105,5
rest,1000,1024,1,600,A10|T4,BE,Running,6,56,6
wide,4000,8192,0,0,,BE,Running,7,107,7
never,1000,1024,0,0,,BE,Pending,8,,
"""
# 18 columns of SWF, then processors used, queue, and the request as PBS took it.
METACENTRUM = """; a header
1 0 -1 100 24 -1 -1 24 200 1073741824 1 7 -1 -1 q -1 -1 -1 24 q 2:ppn=12:cl_zegox
2 5 -1 50 80 -1 -1 80 60 2147483648 1 8 -1 -1 q -1 -1 -1 80 q 1:ppn=80
3 6 -1 50 24 -1 -1 24 60 1073741824 1 8 -1 -1 q -1 -1 -1 24 q 1:ppn=24:nodecpus12
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def checked(trace: Trace, backfill: str = "easy") -> dict[int, Run]:
    return {run.job.id: run for run in Replay(trace, Policy(order="fifo", backfill=backfill), check=checking).run()}


def test_swim_jobs_take_as_long_as_reading_their_input(tmp_path: Path) -> None:
    """1,000 bytes in 100 s at load 0.5 are 20 bytes a second; a job without input takes no time."""
    trace = read_trace(written(tmp_path, "fb.tsv.gz", SWIM), load=0.5)
    assert [(j.id, j.submit_s, j.run_s, j.bytes_read, j.bytes_written) for j in trace.jobs] == [
        (1, 0.0, 30.0, 600, 300),
        (2, 10.0, 0.0, 0, 0),
        (3, 40.0, 20.0, 400, 200),
        (4, 100.0, 0.0, 0, 200),
    ]
    assert [run.start_s for run in checked(trace).values()] == [0.0, 30.0, 40.0, 100.0]
    full = read_trace(written(tmp_path, "fb.tsv", SWIM), "swim", load=2.0)  # twice the work that time allows
    assert [run.start_s for run in checked(full).values()] == [0.0, 120.0, 120.0, 200.0]


def test_pods_share_gpus_and_insist_on_models(tmp_path: Path) -> None:
    nodes = written(tmp_path, "nodes.csv", NODES)
    trace = read_trace(written(tmp_path, "pods.csv", PODS), nodes=nodes)
    assert [(n.name, n.total.cores_milli, dict(n.total.devices), dict(n.labels)) for n in trace.nodes] == [
        ("big", 8000, {GPU: 2000}, {"model": "A10"}),
        ("plain", 4000, {}, {}),
    ]
    assert [(j.id, j.run_s, j.reservation.devices.get(GPU, 0), j.labels) for j in trace.jobs] == [
        (1, 90.0, 500, ()),
        (2, 100.0, 1000, (("model", "A10"),)),
        (3, 50.0, 600, ()),
        (4, 100.0, 0, ()),
    ]
    runs = checked(trace)
    # 1,500 of 2,000 thousandths are taken until the first pod ends; the fourth needs no GPU and passes by EASY.
    assert [runs[number].start_s for number in (1, 2, 3, 4)] == [0.0, 5.0, 90.0, 7.0]


def test_pods_without_their_nodes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="--nodes"):
        read_trace(written(tmp_path, "pods.csv", PODS))


def test_metacentrum_jobs_want_whole_chunks_of_a_cluster(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, "wagap.swf", METACENTRUM))
    assert len(trace.nodes) == 68
    assert [(j.id, j.services, j.reservation.cores_milli, j.labels) for j in trace.jobs] == [
        (1, 2, 12_000, (("cluster", "zegox"),)),
        (2, 1, 80_000, ()),
    ]  # 24 cores on one of the nodes of twelve are more than there are
    assert [run.start_s for run in checked(trace).values()] == [0.0, 5.0]


@pytest.mark.parametrize(
    ("name", "text", "wanted", "said"),
    [
        ("x.tsv", "job0\t0\t0\t1\n", "swim", "line 1: 4 columns"),
        ("x.tsv", "job0\t0\t0\t0\t0\t0\n", "swim", "no job that reads anything"),
        ("x.csv", "a,b\n1,2\n", "pods", "no column name"),
        ("x.txt", "hello\n", None, "unknown format"),
        ("x.gz", "", None, "unknown format"),
    ],
)
def test_invalid_trace_is_refused(tmp_path: Path, name: str, text: str, wanted: str | None, said: str) -> None:
    nodes = written(tmp_path, "nodes.csv", NODES)
    with pytest.raises(TraceError, match=said):
        read_trace(written(tmp_path, name, text), wanted, nodes)
