"""Cost of a listing at a gateway before an S3 store (SeaweedFS), beside the store's listing of the same bucket.

    python -m benchmarks.storage.listings --names 10000 --rounds 7

Objects are put through the gateway, which then knows their content types; `cold` is the first listing of a restarted
gateway, which knows none. CPU is the mean over the rounds. Rounds are interleaved; ratios are medians over rounds, with
the quartiles.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx
import psutil

from storage_gateway.s3.names import bucket_of
from tests.support.gateway import gateway_before_seaweedfs
from tests.support.object_store import Person, logged_in
from tests.support.s3 import S3Client
from zoe_embedded.swift.configuration import StoreBehind

_KEY = re.compile(r"<Key>([^<]*)</Key>")
_PAGES_MAX = 1000


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with gateway_before_seaweedfs() as gateway:
        behind = gateway.configuration.behind
        with logged_in(gateway, "acme:ann") as ann:
            ann.put("many")
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda number: ann.put(f"many/{number:07}", b"x"), range(arguments.names)))
            proxy = psutil.Process(gateway.processes["proxy"])
            before_s = sum(proxy.cpu_times()[:2])
            pairs = [
                (gateway_seconds(ann, arguments.names), store_seconds(behind, arguments.names))
                for _ in range(arguments.rounds)
            ]
            cpu_s = (sum(proxy.cpu_times()[:2]) - before_s) / arguments.rounds
        gateway.restart("proxy")
        with logged_in(gateway, "acme:ann") as ann:
            cold_s = gateway_seconds(ann, arguments.names)
    ratios = sorted(entry / other for entry, other in pairs)
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{arguments.names} names, {arguments.rounds} rounds: store {statistics.median(b for _, b in pairs):.3f} s, ")
    print(f"gateway {statistics.median(a for a, _ in pairs):.3f} s, ratio {middle:.2f} ({low:.2f} to {high:.2f})")
    print(f"CPU of the gateway's process {cpu_s:.3f} s for each; cold {cold_s:.3f} s")


def gateway_seconds(ann: Person, names: int) -> float:
    """Return the seconds of a listing at the gateway."""
    began_s = time.monotonic()
    marker, found = "", 0
    for _ in range(_PAGES_MAX):
        entries = ann.call("GET", f"many?format=json&marker={marker}").json()
        if not entries:
            break
        found, marker = found + len(entries), entries[-1]["name"]
        if found >= names:
            break
    ended_s = time.monotonic()
    if found != names:
        raise SystemExit(f"{found} of {names} names are listed")
    return ended_s - began_s


def store_seconds(behind: StoreBehind, names: int) -> float:
    """Return the seconds of a listing at the store."""
    secret, bucket = Path(behind.key_file).read_text(), bucket_of("AUTH_acme", "many")
    found: list[str] = []
    with httpx.Client(timeout=60) as http:
        client = S3Client(http, behind.url, behind.user, secret)
        began_s = time.monotonic()
        for _ in range(_PAGES_MAX):
            page = _KEY.findall(client.call("GET", bucket, f"marker={found[-1]}" if found else "").text)
            found += page
            if len(page) == 0 or len(found) >= names:
                break
        ended_s = time.monotonic()
    if len(found) != names or any(entry >= other for entry, other in pairwise(found)):
        raise SystemExit(f"the store lists {len(found)} of {names} names")
    return ended_s - began_s


if __name__ == "__main__":
    main()
