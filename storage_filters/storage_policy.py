"""Program that creates a storage policy of Swift: its ring, and its section in `swift.conf`. Run it on the machine with
the builder files of the rings, with Swift's interpreter:

    python -m storage_filters.storage_policy --swift-dir /etc/swift '{"name": "fast", "index": 1, ...}'

`storage_controller/swift/storage_policies.py` calls it through the setting `swift_policy_command`, with the document as
the last argument. The operator copies `swift.conf` and `object-1.ring.gz` to the other machines and restarts the
servers, which read policies at start.
"""

from __future__ import annotations

import argparse
import configparser
import io
import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Hide warnings about Swift's dependencies, which the operator cannot fix.
warnings.filterwarnings("ignore", r"\s*Eventlet is deprecated")

from swift.common.exceptions import RingBuilderError  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.ring.utils import parse_add_value  # noqa: E402
from swift.common.storage_policy import PolicyError, parse_storage_policies  # noqa: E402
from swift.common.utils import lock_path  # noqa: E402

_EC = ("ec_type", "ec_num_data_fragments", "ec_num_parity_fragments", "ec_object_segment_size")


def make(swift_dir: Path, wanted: Mapping[str, Any]) -> str:
    """Create a policy and return a sentence. Raises ValueError, with the reason, if Swift would not accept it.

    wanted: `name`, `index`, `partitions` (a power of two), `replicas`, `hours` between two moves of a partition,
    `devices` (weights by device, such as `r1z1-10.0.0.1:6200/sdb1`), and the options of an erasure code. `swift.conf`
    is written last, in one step; an attempt that fails before has no effect.
    """
    with lock_path(str(swift_dir), 30):
        file = swift_dir / "swift.conf"
        text = file.read_text().rstrip("\n") + "\n" + _section(wanted)
        _check(text)
        builder = _builder(wanted)
        base = swift_dir / f"object-{wanted['index']}"
        builder.save(f"{base}.builder")
        builder.get_ring().save(f"{base}.ring.gz")
        beside = file.with_suffix(".conf-new")
        beside.write_text(text)
        beside.chmod(file.stat().st_mode & 0o777)
        beside.replace(file)
    return f"the storage policy {wanted['name']} has the index {wanted['index']}"


def _section(wanted: Mapping[str, Any]) -> str:
    options = {"name": wanted["name"], "policy_type": "erasure_coding" if wanted.get("ec_type") else "replication"}
    options |= {name: wanted[name] for name in _EC if wanted.get(name) is not None}
    return "".join(
        [f"[storage-policy:{wanted['index']}]\n", *(f"{name} = {entry}\n" for name, entry in options.items())]
    )


def _check(text: str) -> None:
    """Check policies. Raises ValueError if Swift refuses them, for example for an index or a name that is taken."""
    try:
        found = configparser.ConfigParser()
        found.read_file(io.StringIO(text))
        parse_storage_policies(found)
    except (PolicyError, configparser.Error) as error:
        raise ValueError(str(error)) from None


def _builder(wanted: Mapping[str, Any]) -> Any:
    try:
        builder = RingBuilder(wanted["partitions"].bit_length() - 1, wanted["replicas"], wanted["hours"])
        for device, weight in wanted["devices"].items():
            builder.add_dev({**parse_add_value(device), "weight": float(weight)})
        builder.rebalance()
        builder.validate()
    except (RingBuilderError, ValueError) as error:
        raise ValueError(f"no ring can be made: {error}") from None
    return builder


def main(arguments: Sequence[str]) -> int:
    """Run the program; return 1, with an error message, if it could not create the policy."""
    parser = argparse.ArgumentParser(prog="storage_policy", description="Create a storage policy of Swift.")
    parser.add_argument("--swift-dir", type=Path, default=Path("/etc/swift"), help="folder of swift.conf and rings")
    parser.add_argument("document", help="the policy: a JSON document from the storage controller")
    given = parser.parse_args(arguments)
    os.umask(0o022)  # servers run by another user read the ring
    try:
        print(make(given.swift_dir, json.loads(given.document)))
    except (ValueError, KeyError, OSError) as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
