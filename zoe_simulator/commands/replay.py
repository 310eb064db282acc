"""Replay an installation's journal from its database, as recorded and with a change, without writing to the
database.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.settings.config import Settings
from zoe_lib.store.postgres.store import PostgresStore
from zoe_simulator.commands.arguments import positive
from zoe_simulator.history_replay.answer import answer
from zoe_simulator.history_replay.recording import Recording, ReplayRefusedError, read_recording
from zoe_simulator.history_replay.rerun import Change

REFUSED = 3
OUT_OF_MEMORY = 4
_LEAST_BYTES = 64 << 20


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Define the command."""
    parser = commands.add_parser("replay", help="replay this installation's journal", description=__doc__)
    parser.set_defaults(run=run)
    parser.add_argument("--from-s", type=float, required=True, help="start of the replay, in seconds since the epoch")
    parser.add_argument("--to-s", type=float, required=True, help="end of the replay, in seconds since the epoch")
    parser.add_argument("--policy", type=json.loads, metavar="JSON", help="settings of the policy to change")
    parser.add_argument(
        "--add-node", action="append", default=[], metavar="NODE", help="add a node like NODE; may be repeated"
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture (.png) or a page (.html)")
    parser.add_argument("--memory-bytes-max", type=positive, help="memory limit; beyond it, stop with exit code 4")
    parser.add_argument("--cpu-s-max", type=positive, help="limit of CPU time")


def run(arguments: argparse.Namespace) -> int:
    """Run the command; return 3 if that time cannot be replayed, 4 if the memory does not suffice."""
    _bound(resource.RLIMIT_AS, arguments.memory_bytes_max)
    _bound(resource.RLIMIT_CPU, arguments.cpu_s_max)
    try:
        return _replay(arguments)
    except ReplayRefusedError as refusal:
        print(refusal, file=sys.stderr)
        return REFUSED
    except Exception:
        if not _is_memory_exhausted():
            raise
        print("not enough memory for this time span; choose a shorter one", file=sys.stderr)
        return OUT_OF_MEMORY


def _replay(arguments: argparse.Namespace) -> int:
    store = PostgresStore(Settings().database_url.get_secret_value(), pool_size=1, read_only=True)
    try:
        prices = [stored.prices for stored in store.billing.price_lists()]
        recording = read_recording(store, arguments.from_s, arguments.to_s, prices)
    finally:
        store.close()
    added = _added_nodes(recording, arguments.add_node)
    change = Change(arguments.policy or {}, added) if arguments.policy or added else None
    result, sides = answer(recording, change)
    if arguments.picture is not None:
        from zoe_simulator.history_replay.picture import draw  # importing it takes half a second

        draw(arguments.picture, result, sides)
    print(json.dumps(result))
    return 0


def _added_nodes(recording: Recording, like: Sequence[str]) -> tuple[Node, ...]:
    """Return copies of nodes, with new names."""
    nodes_of = dict(recording.inputs.nodes)
    for moment in recording.moments:
        nodes_of.update(moment.inputs.nodes)
    nodes: list[Node] = []
    for name in like:
        if name not in nodes_of:
            raise ReplayRefusedError(
                f"there was no node {name} at that time; known nodes: {', '.join(sorted(nodes_of))}"
            )
        number = 1
        while (copy := f"{name}-added-{number}") in nodes_of:
            number += 1
        nodes_of[copy] = replace(
            nodes_of[name], name=copy, ready=True, foreign=type(nodes_of[name].total)(), containers=0
        )
        nodes.append(nodes_of[copy])
    return tuple(nodes)


def _is_memory_exhausted() -> bool:
    """Return whether hardly any memory is left: C libraries then fail with other errors."""
    try:
        bytearray(_LEAST_BYTES)
    except MemoryError:
        return True
    return False


def _bound(what: int, most: int | None) -> None:
    if most is None:
        return
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard in (-1, math.inf) else min(most, hard), hard))
