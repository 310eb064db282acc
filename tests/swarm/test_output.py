"""What services print is there as long as it is below the bound; above it the beginning and the newest."""

from __future__ import annotations

from dataclasses import replace

from tests.support.swarm_backend import SwarmHarness, small
from zoe_master.backends.base import ObservedState

BOUND_BYTES = 64 * 1024


def whole(harness: SwarmHarness, service: str) -> tuple[bytes, list[int], int, bool]:
    """All that is kept, where bytes were dropped, the offset of the end, and whether more may have been dropped."""
    data, gaps, offset, least = b"", [], 0, False
    while True:
        chunk = harness.backend.logs(service, offset, 50_000)
        if chunk.dropped_bytes:
            gaps.append(chunk.dropped_bytes)
        least |= chunk.dropped_at_least
        data, offset = data + chunk.data, chunk.next_offset
        if chunk.complete:
            return data, gaps, offset, least


def lines(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1, count + 1))


def test_output_below_the_bound_is_whole_and_above_it_what_went_is_counted(harness: SwarmHarness) -> None:
    harness.reopen()
    harness.settings = replace(harness.settings, output_bytes_max=BOUND_BYTES, copy_interval_s=0.5)
    scripts = {
        "e.below.0.1": "seq 1 10000",
        "e.empty.0.1": f"yes '' | head -c {BOUND_BYTES}",
        "e.above.0.1": "seq 1 50000",
        # It goes on for longer than the engine keeps: copied while it runs, the beginning stays.
        "e.endless.0.1": "seq 1 400; sleep 3; yes '' | head -c 160000; echo the end",
    }
    for service, script in scripts.items():
        harness.start(small(script), service, f"node-{1 + len(service) % 3}")
    for service in scripts:
        assert harness.reach(service, ObservedState.ENDED).exit_code == 0
    assert whole(harness, "e.below.0.1") == (lines(10_000), [], len(lines(10_000)), False)
    assert whole(harness, "e.empty.0.1") == (b"\n" * BOUND_BYTES, [], BOUND_BYTES, False)
    expected = lines(50_000)
    data, gaps, end, least = whole(harness, "e.above.0.1")
    [gap] = gaps
    assert (len(data) + gap, end, least) == (len(expected), len(expected), False)
    assert len(data) >= BOUND_BYTES // 2
    head = next(at for at in range(len(data), 0, -1) if expected.startswith(data[:at]))
    assert head >= BOUND_BYTES // 5
    assert expected.endswith(data[head:])
    data, gaps, end, least = whole(harness, "e.endless.0.1")
    assert data.startswith(lines(400))
    assert data.endswith(b"\nthe end\n")
    assert len(data) + sum(gaps) == end
    assert least or end == len(lines(400)) + 160_000 + len(b"the end\n")


def test_files_left_in_the_home_are_listed(harness: SwarmHarness) -> None:
    script = "cd; echo x > report; mkdir out .cache; head -c 2048 /dev/zero > out/part; exit 3"
    left, none = harness.start(small(script), "e.left.0.1"), harness.start(small("true"), "e.none.0.1", "node-2")
    ended = harness.reach(left, ObservedState.ENDED)
    assert (ended.exit_code, ended.left_files) == (3, "out/ (1 file, 2 KiB), report (2 B)")
    assert harness.reach(none, ObservedState.ENDED).left_files == ""
