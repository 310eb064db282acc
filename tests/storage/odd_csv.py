"""Random CSV objects with odd fields, and queries over them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

CELLS = (
    *(
        "",
        "",
        "0",
        "1",
        "-1",
        "+5",
        "7",
        "42",
        "95",
        "95.5",
        " 95",
        "95 ",
        "1e3",
        "1E-2",
        ".5",
        "5.",
        ".",
        "-",
        "-0",
        "NaN",
    ),
    *(
        "Inf",
        "7d",
        "0x10",
        "99999999999",
        "9223372036854775808",
        "9007199254740993",
        "9007199254740992",
        "12345678901234567890",
    ),
    *(
        "2015-01-31",
        "2015-1-31",
        "2015-02-30",
        "2015-02-01",
        "2015-01-31 12:00:00",
        "true",
        "TRUE",
        "false",
        "NA",
        "null",
    ),
    *(
        "a",
        "b",
        "abc",
        "abd",
        "\u00e9",
        "\u65e5\u672c",
        "x y",
        " ",
        "\t",
        "#",
        "#a",
        "a#",
        "it's",
        "\\",
        "a\\b",
        "\u0001" + "95",
    ),
)
QUOTED = (
    '""',
    '"a"',
    '"a,b"',
    '"95"',
    '" 95 "',
    '"x""y"',
    '"x\\"y"',
    'x"y',
    '"x"y',
    '"open',
    '"a" ',
    'a""',
    '"#"',
    '"a"#',
)
TYPES = ("string", "int", "bigint", "double", "decimal(10,2)", "boolean", "date", "smallint", "float")
LITERALS = (
    "0",
    "1",
    "95",
    "95.5",
    "-1",
    "9007199254740993",
    "99999999999",
    "1e2",
    "'a'",
    "'abc'",
    "'95'",
    "''",
    "'\u00e9'",
    "'2015-01-31'",
    "true",
)


@dataclass(frozen=True)
class OddObject:
    """An object, and how Spark reads it; schema: empty for names of the header."""

    content: bytes
    columns: tuple[str, ...]
    options: dict[str, str]
    schema: str


def odd_csv(random: Random) -> OddObject:
    """Return an object of up to 6 columns and 60 lines."""
    width = random.randint(1, 6)
    separator = random.choice((",", ",", ",", ";", "\t", "|"))
    names = tuple(f"k{number}" for number in range(width))
    odd = random.choice((0.0, 0.05, 0.3))
    cells = random.sample(CELLS, 12)

    def line() -> str:
        length = max(width + random.choice((0,) * 8 + (-1, 1)), 1)
        quoted = [cell.replace(",", separator) for cell in QUOTED]
        return separator.join(
            random.choice(quoted) if random.random() < odd else random.choice(cells) for _ in range(length)
        )

    lines = [separator.join(names), *(line() if random.random() > 0.03 else "" for _ in range(random.randint(5, 60)))]
    end = random.choice(("\n", "\n", "\r\n"))
    text = end.join(lines) + random.choice(("", end))
    options = {"header": "true", "sep": separator}
    options |= random.choice(({}, {}, {"nullValue": "NA"}, {"escape": '"'}, {"quote": "'"}))
    kind = random.choice(("names", "inferred", "typed", "typed"))
    if kind == "inferred":
        options["inferSchema"] = "true"
    schema = ", ".join(f"{name} {random.choice(TYPES)}" for name in names) if kind == "typed" else ""
    return OddObject(random.choice((b"", b"", b"\xef\xbb\xbf")) + text.encode(), names, options, schema)


def query(random: Random, dataset: OddObject) -> tuple[str, list[str]]:
    """Return a condition and the wanted columns."""
    wanted = random.sample(dataset.columns, random.randint(1, max(len(dataset.columns) // 2, 1)))
    return condition(random, dataset.columns, 2), wanted


def condition(random: Random, columns: tuple[str, ...], depth: int) -> str:
    """Return a condition over these columns, as Spark writes it."""
    column, literal = random.choice(columns), random.choice(LITERALS)
    if depth and random.random() < 0.5:
        left, right = (condition(random, columns, depth - 1) for _ in range(2))
        return random.choice((f"({left} and {right})", f"({left} or {right})", f"not ({left})"))
    few = ", ".join(random.sample(LITERALS[:8], 3))
    texts = ", ".join(random.sample(LITERALS[8:14], 3))
    return random.choice((
        *(f"{column} {operator} {literal}" for operator in ("=", "!=", "<", "<=", ">", ">=", "<=>")),
        f"{column} is null", f"{column} is not null", f"{column} in ({few})", f"{column} in ({texts})",
        f"cast({column} as int) between 0 and 95", f"cast({column} as double) > 94.5", f"{column} like 'a%'",
        f"length({column}) > 2", f"cast({column} as bigint) = 9007199254740993", f"{column} = {random.choice(columns)}",
    ))  # fmt: skip
