"""Swift configurations made before 0.2 name the factories of the filters in `storage_bridge.swift`."""

from __future__ import annotations

import subprocess

from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.environment import ensure_swift
from zoe_embedded.swift.store import ObjectStore

PROGRAM = """
import importlib
for name in ("object_pushdown", "views", "bandwidth"):
    former = importlib.import_module(f"storage_bridge.swift.{name}")
    present = importlib.import_module(f"storage_filters.{name}")
    assert former.filter_factory is present.filter_factory, name
"""


def test_former_factories_are_those_of_the_filters(swift: ObjectStore) -> None:  # builds the environment
    assert swift.auth_url
    python = ensure_swift(Home.find(CLONE)) / "bin" / "python"
    subprocess.run([python, "-c", PROGRAM], check=True, cwd="/", env={})
