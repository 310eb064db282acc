"""Containers of several tenants need a system user for each user."""

from __future__ import annotations

import os

import pytest

from zoe_master.backends.factory import one_user_reason


def test_several_tenants_in_containers_of_one_user_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    reason = one_user_reason(["physics", "biology"], insecure=False)
    assert reason is not None
    assert "all 2 tenants (biology, physics) would run as one user: run Zoe as root" in reason
    assert one_user_reason(["physics"], insecure=False) is None
    assert one_user_reason(["physics", "biology"], insecure=True) is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert one_user_reason(["physics", "biology"], insecure=False) is None
