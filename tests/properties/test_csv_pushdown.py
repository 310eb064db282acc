"""Selected records are those of a slow reference, byte by byte, for any data, splits and chunks."""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable, Sequence

import pytest

from storage_bridge.swift.csv_stream import first_byte, selected
from storage_bridge.swift.selection import CsvFormat, Selection
from tests.support.checks import CHECKS
from tests.support.csv_reference import reference

PER_CASE = 500
NAMES = ("a", "b", "c")
SIGNS: dict[str, Callable[[object, object], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LITERALS: list[float | str] = ["Nice", "5", 5.0, -1.5, "", "x,y", "é", 'a"b', '"Nice"', '"', "\\\\", '5"']
Keep = Callable[[dict[str, str | None]], bool]

PLAIN = ["", "", "x", "Nice", "Nic", "Nicee", "5", "-5.0", "+.5e1", "1-2", "e5", "nan", "1_0", " 5", "é"]
DOUBLED = ['"a""b"', '""""', '"""Nice"""', '"x,""y"', '"5"""', '""",""5"', '"""""Nice"""""']
ESCAPED = ['"a\\"b"', '"\\\\"', '"\\\\\\"Nice"', '"\\x"', '"a\\",""b"', '"\\,\\\\"', "\\", "\\5"]
IN_PLAIN = ['5"', 'a"b', "5' 6\"", 'Nice""', 'x\\"y']
QUOTED = [f'"{text}"' for text in PLAIN]
OF_SEVERAL = ['"x,y"', '"Nice, 5"', '",,"']
ODD = ['""', '"x\r"', "\0"]
# A field is of one of these lists, each as likely as the others.
Kind = Sequence[Sequence[str]]
# By the character that escapes: with the quote itself nothing else does.
FIELDS: dict[str, list[Kind]] = {
    "\\": [[PLAIN], [PLAIN, QUOTED, OF_SEVERAL], [PLAIN, DOUBLED], [PLAIN, ESCAPED], [PLAIN, IN_PLAIN]],
    '"': [[PLAIN], [PLAIN, QUOTED, OF_SEVERAL], [PLAIN, DOUBLED], [PLAIN, IN_PLAIN]],
}


def random_line(chance: random.Random, kinds: Sequence[Kind]) -> str:
    """Mostly of one kind of fields, with as many of them as there are columns, or about as many."""
    mixed = [texts for kind in kinds for texts in kind] + [ODD]
    ragged = chance.random() < 0.5
    kind = chance.choice([*kinds, mixed] if ragged else kinds)
    return ",".join(chance.choice(chance.choice(kind)) for _ in range(chance.randint(1, 5) if ragged else 3))


def random_text(chance: random.Random, escape: str) -> str:
    """Up to thirty lines, of few kinds; the last one may lack its end."""
    kinds = chance.sample(FIELDS[escape], chance.randint(1, len(FIELDS[escape])))
    lines = [
        random_line(chance, kinds) + chance.choice(["\n", "\n", "\r\n"])
        for _ in range(chance.choice([0, 1, 2, chance.randint(3, 30)]))
    ]
    return "".join(lines) + (random_line(chance, kinds) if chance.random() < 0.5 else "")


def known(column: str, sign: str, literal: float | str) -> Callable[[dict[str, str | None]], bool | None]:
    def test(values: dict[str, str | None]) -> bool | None:
        value = values[column]
        if value is None:
            return None
        if isinstance(literal, str):
            return SIGNS[sign](value.encode("latin-1"), literal.encode())
        return SIGNS[sign](float(value), literal) if NUMBER.fullmatch(value) else None

    return test


def random_predicate(chance: random.Random) -> tuple[str, Keep]:
    tests, texts = [], []
    for _ in range(chance.randint(1, 3)):
        column, sign, literal = chance.choice(NAMES), chance.choice(sorted(SIGNS)), chance.choice(LITERALS)
        texts.append(f"{column} {sign} " + (f"'{literal}'" if isinstance(literal, str) else repr(literal)))
        tests.append(known(column, sign, literal))
    negative, joint = chance.random() < 0.5, chance.choice(["and", "or"])
    text = f" {joint} ".join(texts)

    def keep(values: dict[str, str | None]) -> bool:
        found = {test(values) for test in tests}
        decisive = joint == "or"
        result = decisive if decisive in found else None if None in found else not decisive
        return result is not None and result != negative

    return (f"not ({text})" if negative else text), keep


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    chunks, at = [], 0
    for size in sizes:
        chunks.append(data[at : at + size])
        at += size
    return [*chunks, data[at:]]


@pytest.mark.parametrize("first_seed", range(0, 8 * CHECKS, PER_CASE))
def test_ranges_together_give_each_record_once_as_the_reference_does(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + PER_CASE):
        check(seed)


def check(seed: int) -> None:
    chance = random.Random(seed)
    csv = CsvFormat(header=chance.random() < 0.5, escape=chance.choice('\\"'))
    columns = chance.choice([(), ("b",), ("c", "a"), ("a", "b", "c")])
    body = (("a,b,c\n" if csv.header else "") + random_text(chance, csv.escape)).encode()
    where, keep = random_predicate(chance) if chance.random() < 0.6 else ("", lambda _: True)
    borders = sorted(chance.randint(0, len(body)) for _ in range(chance.randint(0, 4)))
    together = b""
    for start, end in zip([0, *borders], [*borders, None], strict=True):
        selection = Selection(NAMES, columns, where, start, end, csv)
        chunks = cut(body[first_byte(selection) :], [chance.randint(1, 40) for _ in range(chance.randint(0, 10))])
        found = b"".join(selected(chunks, selection))
        assert found == reference(body, selection, keep), f"seed {seed}: {selection} of {body!r} in {chunks}"
        together += found
    whole = Selection(NAMES, columns, where, csv=csv)
    assert together == b"".join(selected([body], whole)), f"seed {seed}: {whole} of {body!r}"
