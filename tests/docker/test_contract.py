"""The contract of the Backend Protocol, on one engine."""

from __future__ import annotations

from tests.contract import test_backend as contract

globals().update({name: test for name, test in vars(contract).items() if name.startswith("test_")})
