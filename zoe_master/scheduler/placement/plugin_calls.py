"""Calls of plugins' filters and weighers: their exceptions and invalid results do not stop the tick."""

from __future__ import annotations

import numpy as np
import structlog

from zoe_lib.domain.cluster.cluster import Node
from zoe_master.scheduler.placement.free_resources import Ledger, Nodes, Scores
from zoe_master.scheduler.placement.request import Filter, Request, Weigher

log = structlog.get_logger(__name__)


def guarded_filter(name: str, function: Filter) -> Filter:
    """Return a filter that refuses the node when `function` raises or returns neither a string nor None."""
    problems = _Problems("filter", name)

    def checked_filter(request: Request, node: Node, ledger: Ledger) -> str | None:
        try:
            refusal: object = function(request, node, ledger)
        except Exception as error:  # the code is not Zoe's, so it can be anything
            return problems.note(f"{type(error).__name__}: {error}")
        if refusal is None or isinstance(refusal, str):
            return refusal
        return problems.note(f"it returned {type(refusal).__name__}, not a string or None")

    return checked_filter


def guarded_weigher(name: str, function: Weigher) -> Weigher:
    """Return a weigher that scores all nodes 0 when `function` raises or does not return one finite number per node.

    Scores outside [0, 1] become 0 or 1.
    """
    problems = _Problems("weigher", name)

    def checked_weigher(request: Request, nodes: Nodes, ledger: Ledger) -> Scores:
        try:
            scores = np.asarray(function(request, nodes, ledger), dtype=np.float64)
        except Exception as error:
            problems.note(f"{type(error).__name__}: {error}")
            return np.zeros(len(nodes))
        if scores.shape == (len(nodes),) and np.isfinite(scores).all():
            return np.clip(scores, 0.0, 1.0)
        problems.note(f"it returned no finite number for each of {len(nodes)} nodes")
        return np.zeros(len(nodes))

    return checked_weigher


class _Problems:
    """Logs a plugin's problem when it changes; a pass calls a plugin thousands of times."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind = kind
        self._name = name
        self._last = ""

    def note(self, problem: str) -> str:
        """Return the problem as a sentence."""
        if problem != self._last:
            self._last = problem
            log.error("a plugin failed", kind=self._kind, name=self._name, why=problem)
        return f"{self._kind} {self._name} failed: {problem}"
