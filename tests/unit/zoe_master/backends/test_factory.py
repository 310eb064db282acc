"""Containers of several tenants need a system user for each user."""

from __future__ import annotations

import os

import pytest

from zoe_master.backends.docker.configured import several_users_reason
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


def test_several_users_of_an_engine_without_root_are_refused() -> None:
    reason = several_users_reason(["bob", "ann"])
    assert reason is not None
    assert "all 2 users (ann, bob) would run as one user: run Podman and Zoe as root, keep one user" in reason
    assert several_users_reason(["ann"]) is None
