"""Random JSON lines with odd values, and queries over them."""

from __future__ import annotations

from random import Random

from tests.storage.odd_csv import TYPES, OddObject, condition

NAMES = ("k0", "k1", "k2", "k3", "\u00e9 1")
NESTED = ("struct<k0: int, x: string>", "array<int>", "map<string, string>", "timestamp")
VALUES = (
    *("null", "0", "1", "-1", "7", "42", "95", "95.5", "95.0", "1e3", "1E-2", "-0", "99999999999", "100.005"),
    *("9223372036854775808", "9007199254740993", "9007199254740992", "12345678901234567890", "1" * 40),
    *("true", "false", '""', '"a"', '"abc"', '"abd"', '"b"', '"95"', '"95.5"', '" 95"', '"true"', '"NaN"', '"x y"'),
    *('"2015-01-31"', '"2015-1-31"', '"2015-02-30"', '"2015-01-31 12:00:00"', '"\u00e9"', '"\u65e5\u672c"', '"it\'s"'),
    *('"a\\"b"', '"\\u0061"', '"\\\\"', '"a\\n"', '"k0\\":1"', '"{,}:["', '"\\/"', '"\\ud83d\\ude00"', '"\\ud83d"'),
    *("[]", "[1, 2]", '["a"]', "{}", '{"k0": 1, "x": "y"}', '{"k0":"x","x":[1.50]}', '[{"k0": 95}, null]', "[[1]]"),
)
WRONG = (
    *("NaN", "Infinity", "-INF", "01", "-", "1.", ".5", "'a'", "a", '"a', 'a"', '"\\x"', '"\t"', "[1", "}", "1 2"),
    *("tru", "nul", "0x10", "", '"\\ud8"', "/* c */ 1", "1 // c", "+1", "1_0"),
)
LENIENT = ("allowComments", "allowSingleQuotes", "allowUnquotedFieldNames", "allowNumericLeadingZeros",
           "allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars")  # fmt: skip


def odd_json(random: Random) -> OddObject:
    """Return an object of up to 60 lines."""
    names = NAMES[: random.randint(1, len(NAMES))]
    odd = random.choice((0.0, 0.02, 0.1))
    values = random.sample(VALUES, 14)

    def pair(name: str) -> str:
        value = random.choice(WRONG) if random.random() < odd else random.choice(values)
        return f'"{name}"{random.choice((":", ":", ": ", " :"))}{value}'

    def line() -> str:
        chosen = [name for name in (*names, "other") if random.random() < 0.9]
        random.shuffle(chosen)
        if random.random() < odd:
            chosen.append(random.choice(names))
        text = "{" + random.choice((",", ", ")).join(map(pair, chosen)) + "}"
        if random.random() >= odd:
            return text
        return random.choice(
            (f"[{text},{text}]", text[:-1], f"{text} x", "", " ", "[]", "5", f"{text}{text}", "{k0: 1}")
        )

    end = random.choice(("\n", "\n", "\r\n"))
    content = (end.join(line() for _ in range(random.randint(5, 60))) + random.choice(("", end))).encode()
    if random.random() < 0.1:
        content = content.replace("\u00e9".encode(), b"\xe9")
    options = random.choice(({}, {}, {"primitivesAsString": "true"}, {"prefersDecimal": "true"}, {"encoding": "UTF-8"}))
    if random.random() < 0.3:
        options |= {random.choice(LENIENT): random.choice(("true", "false"))}
    typed = random.random() < 0.7
    kinds = (*TYPES, *TYPES, *NESTED)
    schema = ", ".join(f"`{name}` {random.choice(kinds)}" for name in names) if typed else ""
    mark = random.choice((b"", b"", b"\xef\xbb\xbf"))
    return OddObject(mark + content, tuple(f"`{name}`" for name in names), options, schema)


def query(random: Random, dataset: OddObject) -> tuple[str, list[str]]:
    """Return a condition and the wanted columns."""
    wanted = random.sample(dataset.columns, random.randint(1, max(len(dataset.columns) // 2, 1)))
    return condition(random, dataset.columns, 2), wanted
