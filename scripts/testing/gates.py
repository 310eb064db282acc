"""Check the tables of the tests, without running any: `python -m scripts.testing.gates`, in lint.

The sums of the costs stay within their budgets; every row names a test that exists; each capability has its test in
tier 1; few tests are in quarantine, and each for a short time.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from scripts.testing.costs import BUDGETS_S, CAPABILITIES, TESTS, Costs
from scripts.testing.parts import BY_NAME, exists, part_of

QUARANTINE = TESTS / "quarantine.toml"
QUARANTINED_MAX, QUARANTINE_LASTS = 10, timedelta(days=14)
CAPABILITIES_MIN, CAPABILITIES_MAX = 25, 40


def main() -> int:
    """Print the violations; return 1 if there are any."""
    costs = Costs.read()
    wrong = [*wrong_costs(costs), *wrong_capabilities(), *wrong_quarantine(), *wrong_places()]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


def wrong_costs(costs: Costs) -> Iterator[str]:
    """Yield the tiers that cost more than their budget, and rows without a part or test."""
    for tier, budget_s in BUDGETS_S.items():
        if (total_s := costs.total_s(tier)) > budget_s:
            yield (
                f"tests/costs.json: tier {tier} costs {total_s:.0f} CPU s, at most {budget_s:.0f} are allowed: "
                "make tests cheaper or delete some (`python -m scripts.testing.costs` lists the dearest)"
            )
    for name in costs.shared:
        if name.partition("/")[0] not in BY_NAME:
            yield f"tests/costs.json: no part {name}; remove its row of `shared`"
    for test in [*costs.files, *(f"{file}::{name}" for file, row in costs.files.items() for name in row.dear)]:
        if not exists(test):
            yield (
                f"tests/costs.json: no test {test}; `python -m scripts.testing.rename OLD NEW` renames it in all "
                "tables, and NEW = empty removes the row"
            )


def wrong_capabilities() -> Iterator[str]:
    """Yield rows without a test, or with one in quarantine, and a number of rows out of bounds."""
    rows = tomllib.loads(CAPABILITIES.read_text("utf-8"))
    if not CAPABILITIES_MIN <= len(rows) <= CAPABILITIES_MAX:
        yield f"tests/capabilities.toml: {len(rows)} rows; {CAPABILITIES_MIN} to {CAPABILITIES_MAX} are allowed"
    for name, row in rows.items():
        if row.keys() != {"test", "breaks", "shows"}:
            yield f"tests/capabilities.toml: {name} needs exactly test, breaks and shows"
        elif not exists(row["test"]):
            yield f"tests/capabilities.toml: {name} names {row['test']}, and there is no such test"
        elif row["test"] in quarantined_tests():
            yield f"tests/capabilities.toml: {name} is shown by a test in quarantine; choose another or mend it"
        elif not _is_defined(row["breaks"]):
            yield f"tests/capabilities.toml: {name} breaks {row['breaks']}, and there is no such function"


def _is_defined(breaks: str) -> bool:
    """Return whether a function exists, as `package.module:function` or `package.module:Class.method`."""
    module, _, names = breaks.partition(":")
    path = TESTS.parent / f"{module.replace('.', '/')}.py"
    node: ast.AST | None = ast.parse(path.read_text("utf-8")) if path.is_file() else None
    for name in names.split("."):
        node = next((inner for inner in getattr(node, "body", ()) if getattr(inner, "name", None) == name), None)
    return node is not None


def wrong_quarantine(today: date | None = None) -> Iterator[str]:
    """Yield tests that were there for too long, and a list that is too long."""
    rows, today = quarantined_tests(), today or datetime.now(UTC).date()
    if len(rows) > QUARANTINED_MAX:
        yield f"tests/quarantine.toml: {len(rows)} tests; at most {QUARANTINED_MAX} are allowed: mend or delete one"
    for test, row in rows.items():
        if "::" not in test or not exists(test):
            yield f"tests/quarantine.toml: no test {test}; rows have exact node ids, with the case in brackets"
        if row.keys() != {"since", "known"} or type(row["since"]) is not date or row["since"] > today:
            yield f"tests/quarantine.toml: {test} needs since = a date, not in the future, and known = a sentence"
        elif today - row["since"] > QUARANTINE_LASTS:
            yield f"tests/quarantine.toml: {test} was added on {row['since']}: mend or delete it"


def wrong_places() -> Iterator[str]:
    """Yield test files outside of all parts, which no run would include."""
    for path in sorted(TESTS.glob("**/test_*.py")):
        try:
            part_of(path.relative_to(TESTS.parent).as_posix())
        except ValueError as error:
            yield str(error)


def quarantined_tests() -> dict[str, dict[str, date]]:
    """Return the tests that run but do not gate, with their date and the known cause."""
    try:
        return tomllib.loads(QUARANTINE.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        sys.exit(f"tests/quarantine.toml: {error}")


if __name__ == "__main__":
    sys.exit(main())
