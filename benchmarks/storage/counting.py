"""Cost of counting and bounding the CPU time of filters, and of sampling contents: CPU microseconds of a request.

    python -m benchmarks.storage.counting --runs 15

A request passes its bytes, in pieces of 64 KiB, through a filter that changes nothing: uncounted, counted, and under a
bound that it does not reach. Runs of 200 requests are interleaved. The output has medians over runs of the additional
cost over an uncounted request of the same round, with the quartiles; and the cost of one sample of 64 KiB, of text and
of random bytes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from storage_filters.bandwidth.content_samples import SAMPLE_BYTES, ContentSamples
from storage_filters.counting.computing import Computing
from storage_filters.counting.cpu_budget import CpuBudget
from storage_filters.counting.request_counters import request_name
from storage_filters.transforms.stream_filters import PIECE_BYTES, Noop

SIZES = {"10 KB": 10_000, "1 MiB": 2**20, "16 MiB": 2**24}
_REQUESTS = 200
_NAME = request_name("PUT", "AUTH_acme", "bench")


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with ExitStack() as undo:
        directory = Path(undo.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
        free, bound = CpuBudget(directory / "free"), CpuBudget(directory / "bound")
        undo.callback(free.close)
        undo.callback(bound.close)
        bound.bound({"AUTH_acme": 1000.0}, None)
        makes: dict[str, Callable[[], Computing]] = {
            "uncounted": lambda: Computing(None, _no_pause),
            "counted": lambda: Computing(free.spending_for(_NAME, "AUTH_acme"), _no_pause),
            "bounded": lambda: Computing(bound.spending_for(_NAME, "AUTH_acme"), _no_pause),
        }
        for size, length in SIZES.items():
            pieces = [b"x" * min(PIECE_BYTES, length - at) for at in range(0, length, PIECE_BYTES)]
            rounds = [{name: _cpu_us(make, pieces) for name, make in makes.items()} for _ in range(runs)]
            for name in ("counted", "bounded"):
                more = [entry[name] - entry["uncounted"] for entry in rounds]
                low, middle, high = statistics.quantiles(more, n=4)
                print(f"{size:>7} {name:<8} {middle:8.1f} us more ({low:.1f} to {high:.1f})")
        samples = ContentSamples(directory / "rates")
        undo.callback(samples.close)
        for kind, body in {"text": _text(SAMPLE_BYTES), "random": random.Random(1).randbytes(SAMPLE_BYTES)}.items():
            low, middle, high = statistics.quantiles([_sample_us(samples, body) for _ in range(runs)], n=4)
            print(f"a sample, {kind:<8} {middle:8.1f} us ({low:.1f} to {high:.1f})")


def _text(length: int) -> bytes:
    words = [word.encode() for word in str(__doc__).split()]
    return b" ".join(random.Random(2).choices(words, k=length))[:length]


def _sample_us(samples: ContentSamples, body: bytes) -> float:
    """Return the cost of a sample."""
    began_ns = time.thread_time_ns()
    for _ in range(_REQUESTS):
        sample = None
        while sample is None:
            sample = samples.begin(_NAME)
        sample.see(body)
        sample.count()
    return (time.thread_time_ns() - began_ns) / _REQUESTS / 1000


def _cpu_us(make: Callable[[], Computing], pieces: list[bytes]) -> float:
    """Return the cost of a request."""
    began_ns = time.thread_time_ns()
    for _ in range(_REQUESTS):
        computing = make()
        for _ in computing.pieces(lambda chunks: Noop().forward(chunks), pieces):
            pass
        computing.close()
    return (time.thread_time_ns() - began_ns) / _REQUESTS / 1000


def _no_pause(_seconds: float) -> None:
    """Let no other request run."""


if __name__ == "__main__":
    main()
