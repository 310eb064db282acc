"""Lists of pods and nodes as published by Alibaba (cluster data, gpu-v2023): cores, memory and GPUs.

Weng, Yang, Yu, Wang, Tang, Yang and Zhang, "Beware of fragmentation: scheduling GPU-sharing workloads with
fragmentation gradient descent", USENIX ATC 2023; https://github.com/alibaba/clusterdata.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.formats.lines import read_lines, trace_name
from zoe_simulator.jobs import Job, Trace, TraceError

Row = Mapping[str, str]
T = TypeVar("T")

_MIB = 2**20
# Pods share GPUs in thousandths, so GPUs are counted in thousandths.
GPU = "gpu_milli"
_POD = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "creation_time", "deletion_time")
_NODE = ("sn", "cpu_milli", "memory_mib", "gpu", "model")


def read_pods(path: Path, nodes: Path) -> Trace:
    """Return pods as jobs of one service on the listed nodes, in order of creation.

    A pod runs from its scheduling to its deletion; a pod without one of these times is left out. A pod that names one
    GPU model requires it by the label `model`; a pod that names several accepts any GPU. A share of a GPU counts in
    thousandths over all GPUs of a node, so a share may seem to fit that no single GPU has.
    """
    listed = tuple(_parse_rows(nodes, _NODE, _node))
    jobs = [job for job in _parse_rows(path, _POD, _pod) if job is not None]
    return Trace(trace_name(path), listed, tuple(sorted(jobs, key=lambda job: job.submit_s)))


def _parse_rows(path: Path, needed: Sequence[str], parse: Callable[[int, Row], T]) -> Iterator[T]:
    reader = csv.DictReader(read_lines(path))
    missing = [name for name in needed if name not in (reader.fieldnames or ())]
    if missing:
        raise TraceError(f"{path.name} has no column {missing[0]}")
    for number, row in enumerate(reader, 1):
        try:
            yield parse(number, row)
        except (TypeError, ValueError) as error:  # a missing column is None
            raise TraceError(f"{path.name}, line {reader.line_num}: {error}") from None


def _node(_number: int, row: Row) -> Node:
    labels = {"model": row["model"]} if row["model"] else {}
    return Node(row["sn"], _amount(row, int(row["gpu"]) * 1000), labels=labels)


def _pod(number: int, row: Row) -> Job | None:
    if not row["scheduled_time"] or not row["deletion_time"]:
        return None
    run_s = float(row["deletion_time"]) - float(row["scheduled_time"])
    if run_s <= 0:
        return None
    models = row["gpu_spec"].split("|") if row["gpu_spec"] else []
    return Job(
        id=number,
        submit_s=float(row["creation_time"]),
        run_s=run_s,
        request_s=run_s,
        user=row.get("qos") or "pod",
        reservation=_amount(row, int(row["num_gpu"]) * int(row["gpu_milli"] or 0)),
        labels=(("model", models[0]),) if len(models) == 1 else (),
    )


def _amount(row: Row, gpu_milli: int) -> Resources:
    devices = {GPU: gpu_milli} if gpu_milli else {}
    return Resources(int(row["cpu_milli"]), int(row["memory_mib"]) * _MIB, devices)
