"""What a selection of CSV records must give, byte by byte and slowly; shares nothing with the filter."""

from __future__ import annotations

from storage_bridge.swift.selection import Selection


def fields_of(line: str, selection: Selection) -> list[str]:
    csv, fields, raw, quoted, at = selection.csv, [], "", False, 0
    while at < len(line):
        char, following = line[at], line[at + 1 : at + 2]
        escapes = char == csv.escape != csv.quote
        if quoted and ((escapes and following) or (char == csv.quote and following == csv.quote)):
            raw, at = raw + char + following, at + 2
            continue
        if char == csv.quote and (quoted or raw == ""):
            quoted = not quoted
        elif char == csv.delimiter and not quoted:
            fields.append(raw)
            raw, at = "", at + 1
            continue
        raw, at = raw + char, at + 1
    return [*fields, raw]


def value_of(raw: str, selection: Selection) -> str | None:
    csv = selection.csv
    if not raw.startswith(csv.quote):
        return raw or None
    inner, value, at = raw[1:-1], "", 0
    while at < len(inner):
        if inner[at : at + 2] in (csv.quote * 2, csv.escape + csv.quote, csv.escape * 2):
            at += 1
        value, at = value + inner[at], at + 1
    return value


def reference(data: bytes, selection: Selection, keep: object) -> bytes:
    """`keep` decides by a dict of values; records that begin in the range, as text of Latin-1."""
    text, out, at = data.decode("latin-1"), [], 0
    end = len(text) if selection.end is None else selection.end
    while at < len(text):
        feed = text.find("\n", at)
        behind = len(text) if feed < 0 else feed + 1
        line = text[at:behind].removesuffix("\n").removesuffix("\r")
        inside = selection.start <= at < end and not (at == 0 and selection.csv.header)
        at = behind
        if not inside or not line:
            continue
        fields = fields_of(line, selection)
        fields += [""] * (len(selection.names) - len(fields))
        if not keep(dict(zip(selection.names, (value_of(f, selection) for f in fields), strict=False))):  # type: ignore[operator]
            continue
        if selection.wanted == tuple(range(len(selection.names))):
            out.append(line)
        else:
            out.append(selection.csv.delimiter.join(fields[i] for i in selection.wanted) or selection.csv.quote * 2)
    return "".join(line + "\n" for line in out).encode("latin-1")
