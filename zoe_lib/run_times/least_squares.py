"""Least squares with few coefficients, none of them negative."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

_SINGULAR = 1e-12
Row = tuple[float, ...]


def non_negative(rows: Sequence[Row], values: Sequence[float], weights: Sequence[float]) -> Row:
    """Return the coefficients, all >= 0, with the least weighted sum of squares of `values - rows x coefficients`.

    All sets of non-zero coefficients are tried, so there may be only a few: four are 15 sets. The optimum of the
    constrained problem is the unconstrained one of its own set (Lawson and Hanson, "Solving Least Squares Problems",
    1974, chapter 23).
    """
    width = len(rows[0])
    gram = [
        [sum(w * row[i] * row[j] for row, w in zip(rows, weights, strict=True)) for j in range(width)]
        for i in range(width)
    ]
    right = [sum(w * row[i] * value for row, value, w in zip(rows, values, weights, strict=True)) for i in range(width)]
    best, least = (0.0,) * width, 0.0  # the loss minus that of all zero
    for size in range(1, width + 1):
        for chosen in combinations(range(width), size):
            part = _solve([[gram[i][j] for j in chosen] for i in chosen], [right[i] for i in chosen])
            if part is None or min(part) < 0:
                continue
            loss = -sum(value * right[i] for value, i in zip(part, chosen, strict=True))
            if loss < least:
                found = dict(zip(chosen, part, strict=True))
                best, least = tuple(found.get(i, 0.0) for i in range(width)), loss
    return best


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Return the solution of a small symmetric system by elimination with pivots; None if it is singular."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    scale = max(matrix[i][i] for i in range(size))
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(rows[i][column]))
        if abs(rows[pivot][column]) <= _SINGULAR * scale:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for i in range(column + 1, size):
            factor = rows[i][column] / rows[column][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
    result = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * result[j] for j in range(i + 1, size))
        result[i] = (rows[i][size] - known) / rows[i][i]
    return result
