"""Python packages that a component asks for: lines such as `pandas[excel]>=2,<3`, and their one normal form."""

from __future__ import annotations

import re

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = r"[A-Za-z0-9](?:[A-Za-z0-9._+!-]*[A-Za-z0-9])?(?:\.\*)?"
_CLAUSE = rf"(?:===|==|~=|!=|<=|>=|<|>) *{_VERSION}"
_LINE = re.compile(
    rf"(?P<name>{_NAME})(?: *\[ *(?P<extras>{_NAME}(?: *, *{_NAME})*)? *\])?"
    rf" *(?P<versions>{_CLAUSE}(?: *, *{_CLAUSE})*)?"
)
_REASONS = (
    (re.compile(r"[\x00-\x1f\x7f-\x9f]"), "control characters are not allowed"),
    (re.compile(r" *-"), "options of pip are not allowed; the site's settings name the index"),
    (re.compile(r".*(?:@|://)"), "addresses are not allowed: packages come from the site's index"),
    (re.compile(r"[./~]|.*/"), "paths are not allowed: packages come from the site's index"),
    (re.compile(r".*;"), "environment markers are not allowed: the list is for one Python"),
)


def requirement(line: str) -> str:
    """Return the normal form, so that equal requirements are equal texts; ValueError says what is wrong."""
    for pattern, reason in _REASONS:
        search = pattern.search if pattern is _REASONS[0][0] else pattern.match
        if search(line):
            raise ValueError(reason)
    found = _LINE.fullmatch(line.strip(" "))
    if found is None:
        raise ValueError("not a requirement such as 'pandas', 'pandas==2.2.3' or 'dask[array]>=2024.1,<2025'")
    extras = sorted({package(extra.strip()) for extra in (found["extras"] or "").split(",") if extra.strip()})
    versions = sorted({clause.replace(" ", "") for clause in (found["versions"] or "").split(",") if clause})
    return package(found["name"]) + (f"[{','.join(extras)}]" if extras else "") + ",".join(versions)


def package(name: str) -> str:
    """Return the name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def package_of(line: str) -> str:
    """Return the name of the package in a requirement."""
    return re.split(r"[^a-z0-9-]", requirement(line), maxsplit=1)[0]
