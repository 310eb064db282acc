"""Secrets of gateways: one for each attempt, the same after a restart, stored only in the key's file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from zoe_master.backends.engine.spec.naming.attempts import Attempt
from zoe_master.backends.swarm.spec.gateways.secrets import GatewaySecrets

ATTEMPTS = [Attempt("e", 1), Attempt("e", 2), Attempt("f", 1), Attempt("1 e", 1)]


def test_each_attempt_has_its_own_and_a_restart_changes_none(tmp_path: Path) -> None:
    first = GatewaySecrets(tmp_path)
    made = [first.secret_for(attempt) for attempt in ATTEMPTS]
    assert len(set(made)) == len(ATTEMPTS)
    assert {len(secret) for secret in made} == {64}
    again = GatewaySecrets(tmp_path)
    assert [again.secret_for(attempt) for attempt in ATTEMPTS] == made
    assert again.fingerprint == first.fingerprint
    assert (tmp_path / "gateway.key").stat().st_mode & 0o777 == 0o600


def test_another_key_makes_others_and_a_broken_one_is_replaced(tmp_path: Path) -> None:
    first = GatewaySecrets(tmp_path)
    (tmp_path / "gateway.key").write_bytes(b"cut")
    (tmp_path / "gateway.new").write_bytes(b"left by a crash")
    second = GatewaySecrets(tmp_path)
    assert second.secret_for(ATTEMPTS[0]) != first.secret_for(ATTEMPTS[0])
    assert second.fingerprint != first.fingerprint


def test_a_gateway_holds_a_hash_only(tmp_path: Path) -> None:
    secrets = GatewaySecrets(tmp_path)
    kept = secrets.hash_for(ATTEMPTS[0])
    assert kept.decode() == hashlib.sha256(secrets.secret_for(ATTEMPTS[0]).encode()).hexdigest() + "\n"
