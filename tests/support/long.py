"""Tests that take minutes: they run in `make test-storage` and its like, and are named skips in `make test`."""

from __future__ import annotations

import os

import pytest

LONG = os.environ.get("ZOE_TEST_LONG") == "1"
of_storage = pytest.mark.skipif(not LONG, reason="long: it runs in `make test-storage`")
of_traces = pytest.mark.skipif(os.environ.get("ZOE_TEST_TRACES") != "all", reason="long: it runs in `make test-all`")
SEEDS_OF_STORAGE = (0, *(pytest.param(seed, marks=of_storage) for seed in (1, 2)))
"""One in `make test`: the others find no further mutant."""
of_test_all = pytest.mark.skipif(not LONG, reason="long: it runs in `make test-all`")
of_web = pytest.mark.skipif(not LONG, reason="long: it runs in `make test-web`")
