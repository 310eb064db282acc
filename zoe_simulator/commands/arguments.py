"""Argument types that several commands use."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Return a whole number of at least one."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def not_negative(text: str) -> float:
    """Return a number of at least zero."""
    number = float(text)
    if not number >= 0:
        raise argparse.ArgumentTypeError("at least 0")
    return number


def share(text: str) -> float:
    """Return a number above zero and up to one."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError("more than 0")
    return number


def window(text: str) -> tuple[float, float]:
    """Return FROM:TO in seconds, the first before the second."""
    begins, colon, ends = text.partition(":")
    if not colon or not float(begins) < float(ends):
        raise argparse.ArgumentTypeError("FROM:TO, the first before the second")
    return float(begins), float(ends)
