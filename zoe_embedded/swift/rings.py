"""Build the rings of a store; run by the interpreter of Swift's environment, with the path of `rings.json`.

The seed is fixed, so that the same devices get the same partitions when ports change. Rings of later storage policies
keep their builder files, and get the present addresses of their devices.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

# Hide warnings about Swift's dependencies, which users of this store cannot fix.
warnings.filterwarnings("ignore", r"\s*Eventlet is deprecated")

from swift.common.ring import RingBuilder  # noqa: E402

_PART_POWER = 6
_SEED = 1


def build(plan: Path) -> None:
    """Write `<kind>.ring.gz` for every kind of server."""
    wanted = json.loads(plan.read_text())
    for kind, devices in wanted["devices"].items():
        builder = RingBuilder(_PART_POWER, wanted["replicas"][kind], 1)
        for number, device in enumerate(devices):
            place = {"region": 1, "zone": number + 1, "ip": device["ip"], "weight": 100}
            builder.add_dev({"id": number, **device, **place})
        builder.rebalance(seed=_SEED)
        builder.get_ring().save(str(Path(wanted["directory"]) / f"{kind}.ring.gz"))
    now = {device["device"]: device for device in wanted["devices"]["object"]}
    for file in Path(wanted["directory"]).glob("object-*.builder"):
        builder = RingBuilder.load(str(file))
        for device in filter(None, builder.devs):
            place = now.get(device["device"], {})
            device.update(place)
            device.update({f"replication_{name}": place[name] for name in ("ip", "port") if name in place})
        builder.save(str(file))
        builder.get_ring().save(str(file.with_suffix(".ring.gz")))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
