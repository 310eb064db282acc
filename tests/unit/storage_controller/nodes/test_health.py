"""Judgement of a node, from its answers."""

from __future__ import annotations

import pytest

from storage_controller.nodes.health import Bounds, Disk, Findings, NodeState, duration_text, judge
from storage_controller.settings import NodeKind

NOW_S = 1_000_000.0
OBJECT, ACCOUNT = NodeKind.OBJECT, NodeKind.ACCOUNT


def disks(*used: float | None) -> tuple[Disk, ...]:
    return tuple(Disk(f"d{number}", value) for number, value in enumerate(used, start=1))


@pytest.mark.parametrize(
    ("kind", "found", "state", "reason"),
    [
        (OBJECT, Findings(took_s=0.2, disks=disks(0.9)), NodeState.UP, ""),
        (OBJECT, Findings(away="connection refused"), NodeState.AWAY, "no answer for 12 s: connection refused"),
        (OBJECT, Findings(took_s=2.06), NodeState.SLOW, "it answered after 2.1 s"),
        (OBJECT, Findings(late="/recon/diskusage"), NodeState.SLOW, "it did not answer /recon/diskusage in time"),
        (OBJECT, Findings(filters="no key"), NodeState.FAILING, "objects are not stored as the rules say: no key"),
        (OBJECT, Findings(disks=disks(0.2, 0.954)), NodeState.FAILING, "disk d2 95 % full"),
        (OBJECT, Findings(disks=disks(0.96, 0.99)), NodeState.FAILING, "disk d2 99 % full; disk d1 96 % full"),
        (OBJECT, Findings(disks=disks(None, 0.2)), NodeState.FAILING, "disk d1 is not mounted"),
        (
            OBJECT,
            Findings(disks=disks(*[None] * 5)),
            NodeState.FAILING,
            "disks d1, d2, d3 and 2 further are not mounted",
        ),
        (OBJECT, Findings(quarantined=3), NodeState.FAILING, "3 objects quarantined"),
        (ACCOUNT, Findings(quarantined=1), NodeState.FAILING, "1 account database quarantined"),
        (OBJECT, Findings(pending=10_001), NodeState.FAILING, "10001 updates of listings wait"),
        (OBJECT, Findings(pending=10_000, replicated_s=NOW_S - 7200), NodeState.UP, ""),
        (OBJECT, Findings(replicated_s=NOW_S - 7300), NodeState.FAILING, "last replication pass ended 2 h ago"),
        (
            NodeKind.PROXY,
            Findings(two_readings=True),
            NodeState.FAILING,
            "requests can hide others from a proxy before it: put zoe_framing first in its pipeline",
        ),
        (
            NodeKind.PROXY,
            Findings(unsigned_s3=True),
            NodeState.FAILING,
            "S3 requests can carry unsigned instructions: put zoe_s3_signed before s3api in its pipeline",
        ),
        (OBJECT, Findings(took_s=5, wrong="it answers 500"), NodeState.FAILING, "it answers 500"),
    ],
)
def test_states_and_reasons(kind: NodeKind, found: Findings, state: NodeState, reason: str) -> None:
    assert judge(kind, found, Bounds(), NOW_S, 12.3) == (state, reason)


def test_a_reason_is_bounded() -> None:
    _, reason = judge(OBJECT, Findings(disks=disks(*[0.99] * 900), wrong="x" * 1000), Bounds(), NOW_S, 0.0)
    assert len(reason) == 300


def test_times_are_told_in_their_largest_unit() -> None:
    assert [duration_text(s) for s in (0, 59.6, 60, 119, 120, 3600, 7100, 7200, 86400, 172800)] == [
        "0 s", "60 s", "1 min", "119 s", "2 min", "1 h", "118 min", "2 h", "24 h", "2 d",
    ]  # fmt: skip
