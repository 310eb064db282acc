"""Random CSV, types and predicates, with all differences between readers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from zoe_lib.pushdown.column_types import type_of

NAMES = ("a", "b", "c")
SIGNS = ("=", "!=", "<", "<=", ">", ">=")
BIG = 1_600_000_000_000_000_003
PLAIN = ["", "", "x", "Nice", "Nic", "Nicee", "5", "-5.0", "+.5e1", "1-2", "e5", "1_0", "é", " ", "\t"]
NUMBERS = [
    "5", "-1", "0", "4", "6", "4.9", "5.5", "5.0", "5e0", "005", "+5", " 5", "5 ", " 5.0", "7d", "7f", "0x10p0",
    "NaN",
    "nan", "Infinity", "-Infinity", "Inf", "inf", "-Inf", "1e400", "-1e400", "1e-400", "0.1", "0.3", "127", "128",
    "-129",
    "32768", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "16777217",
    "٥", "1,5", "99.995", "99.994", "1e5", "1E5", "123456789012345678", "5.", ".5", "-", "+", "-0", "0.30000001",
    "4.50", "4.505", "4.495", "-0.004", "999.99", "999.995", "1000", "0.30", "0.3000000000",
    *(str(BIG + i) for i in range(-2, 3)),
]  # fmt: skip
DAYS = [
    "2015-01-31", "2015-1-31", "2015-02-29", "2016-02-29", "2015-01-31 12:00:00", "2015-01-31T12:00:00", "2015-02-01",
    " 2015-01-31", "2015-01-31 ", "2015-01", "2015", "2015-01-31 25:00:00", "2015-01-31 02:30:00Z",
    "2015-03-29 02:30:00",
    "2015-01-29", "2015-02-03 00:00:00", "2014-12-31", "0000-01-01", "+2015-01-31", "2015-13-01", "20150131",
    "31.01.2015",
    "2015-01-31 12:00:00.123456", "2015-01-31 12:00", "99999-01-01", "epoch", "today", "12:00:00",
    "1900-02-29", "2000-02-29", "2015-04-31", "2015-06-30", "2015-00-10", "2015-05-00", "2015-12-31", "2015-12-32",
]  # fmt: skip
BOOLEANS = ["true", "false", "TRUE", "False", "t", "1", "0", "yes", " true", "falſe"]
DOUBLED = ['"a""b"', '""""', '"""Nice"""', '"5"""', '"""""Nice"""""']
OF_SEVERAL = ['"x,y"', '"Nice, 5"', '",,"', '"x,""y"', '""",""5"']
ESCAPED = ['"a\\"b"', '"\\\\"', '"\\\\\\"Nice"', '"\\x"', '"a\\",""b"', '"\\,\\\\"', "\\", "\\5"]
IN_PLAIN = ['5"', 'a"b', "5' 6\"", 'Nice""', 'x\\"y']
BROKEN = ['"a', '"a" ', '"a"b', '"5" ', '"Nice"x', '"', '"a" "b"', '"a\\']
QUOTED = [f'"{text}"' for text in (*PLAIN, *NUMBERS[:20], *DAYS[:6])]
ODD = ['""', '"x\r"', "\0", "\r", "#", "\ufeff5"]
TEXTS = ["Nice", "5", "", "x,y", "é", 'a"b', '"Nice"', '"', "\\", 'a"', " ", "it's", "x"]

Kind = Sequence[Sequence[str]]
# By the character that escapes: with the quote itself nothing else does. A field is from one of a kind's lists.
FIELDS: dict[str, list[Kind]] = {
    "\\": [[PLAIN], [NUMBERS], [DAYS], [BOOLEANS], [PLAIN, QUOTED, OF_SEVERAL], [NUMBERS, DOUBLED], [PLAIN, ESCAPED],
           [NUMBERS, IN_PLAIN], [PLAIN, BROKEN]],
    '"': [[PLAIN], [NUMBERS], [DAYS], [BOOLEANS], [PLAIN, QUOTED, OF_SEVERAL], [NUMBERS, DOUBLED], [PLAIN, IN_PLAIN],
          [NUMBERS, BROKEN]],
}  # fmt: skip
TYPES = ("string", "boolean", "byte", "short", "int", "long", "float", "double", "decimal(5,2)", "decimal(38,10)",
         "date", "timestamp")  # fmt: skip


def random_line(chance: random.Random, kinds: Sequence[Kind]) -> str:
    """Return a line, mostly of one kind of fields, with as many of them as there are columns, or about as many."""
    mixed = [texts for kind in kinds for texts in kind] + [ODD]
    ragged = chance.random() < 0.3
    kind = chance.choice([*kinds, mixed] if ragged else kinds)
    return ",".join(chance.choice(chance.choice(kind)) for _ in range(chance.randint(1, 5) if ragged else 3))


def random_text(chance: random.Random, escape: str, lines_max: int = 30) -> str:
    """Return up to this many lines, of few kinds; the last one may lack its end."""
    kinds = chance.sample(FIELDS[escape], chance.randint(1, len(FIELDS[escape])))
    lines = [
        random_line(chance, kinds) + chance.choice(["\n", "\n", "\n", "\r\n", "\r"])
        for _ in range(chance.choice([0, 1, 2, chance.randint(3, lines_max)]))
    ]
    return "".join(lines) + (random_line(chance, kinds) if chance.random() < 0.5 else "")


def random_types(chance: random.Random) -> dict[str, str]:
    """Return types of some columns."""
    return {name: chance.choice(TYPES) for name in NAMES if chance.random() < 0.7}


def random_predicate(chance: random.Random, types: Mapping[str, str]) -> str:
    """Return a predicate of comparisons that the types allow."""
    tests = [_test(chance, name, types.get(name, "string")) for name in chance.choices(NAMES, k=chance.randint(1, 3))]
    text = f" {chance.choice(['and', 'or'])} ".join(tests)
    return f"not ({text})" if chance.random() < 0.3 else text


def _test(chance: random.Random, name: str, type_: str) -> str:
    if chance.random() < 0.15:
        return f"{name} is {chance.choice(['', 'not '])}null"
    known = type_of(type_)
    assert known is not None
    sign = chance.choice(SIGNS)
    match known.kind:
        case "boolean":
            return f"{name} {chance.choice(['=', '!='])} '{chance.choice(['true', 'false'])}'"
        case "date":
            return f"{name} {sign} '{chance.choice(['2015-01-31', '2015-02-03', '2016-02-29'])}'"
        case "timestamp":
            return f"{name} {sign} '{chance.choice(['2015-01-31', '2015-01-31 12:00:00', '2015-03-29 02:30:00'])}'"
        case "string" if chance.random() < 0.6:
            return f"{name} {sign} '{chance.choice([*TEXTS, *DAYS[:3], *BOOLEANS[:2]])}'".replace("t's", "t''s")
    numbers = ["5", "5.0", "-1", "4.5", "0.3", "0", "127", "99.99", "1e3", str(BIG)]
    if known.kind == "decimal" and known.precision > 20:
        numbers.remove(str(BIG))
    return f"{name} {sign} {chance.choice(numbers)}"
