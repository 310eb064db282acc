"""Python packages of a component: lines such as `pandas[excel]>=2,<3`, and their normal form.

Lines follow the grammar of PEP 508, with versions of PEP 440, as in pip.
"""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

_REASONS = (
    (re.compile(r"[\x00-\x1f\x7f-\x9f]"), "control characters are not allowed"),
    (re.compile(r" *-"), "options of pip are not allowed; the site's settings name the index"),
    (re.compile(r".*(?:@|://)"), "addresses are not allowed: packages come from the site's index"),
    (re.compile(r"[./~]|.*/"), "paths are not allowed: packages come from the site's index"),
    (re.compile(r".*==="), "=== compares texts; write == for a version"),
    (re.compile(r".*;"), "environment markers are not allowed: the list is for one Python"),
)


def requirement(line: str) -> str:
    """Return the normal form, so that equal requirements are equal texts; ValueError with the fault."""
    for pattern, reason in _REASONS:
        search = pattern.search if pattern is _REASONS[0][0] else pattern.match
        if search(line):
            raise ValueError(reason)
    try:
        found = Requirement(line.strip(" "))
    except InvalidRequirement:
        raise ValueError("not a requirement such as 'pandas', 'pandas==2.2.3' or 'dask[array]>=2024.1,<2025'") from None
    extras = sorted({canonicalize_name(extra) for extra in found.extras})
    versions = sorted(str(clause) for clause in found.specifier)
    return canonicalize_name(found.name) + (f"[{','.join(extras)}]" if extras else "") + ",".join(versions)


def package_of(line: str) -> str:
    """Return the package name of a requirement."""
    return re.split(r"[^a-z0-9-]", requirement(line), maxsplit=1)[0]
