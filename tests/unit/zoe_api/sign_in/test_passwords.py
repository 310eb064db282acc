"""Hashes of passwords are as strong as RFC 9106 asks where memory is short."""

from __future__ import annotations

from argon2 import Type, extract_parameters

from zoe_api.sign_in import passwords


def test_hashes_are_argon2id_of_full_strength_and_salted() -> None:
    first, second = passwords.hashed("correct horse"), passwords.hashed("correct horse")
    told = extract_parameters(first)
    assert (told.type, told.time_cost >= 3, told.memory_cost >= 65536) == (Type.ID, True, True)
    assert first != second
    assert "correct" not in first
