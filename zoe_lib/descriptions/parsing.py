"""Parse descriptions: shape, version, frameworks, structure and rules together, then the domain value."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from zoe_client.documents.diagnostics import DIAGNOSTICS_MAX, Code, DescriptionError, Diagnostic, did_you_mean, index_of
from zoe_lib.descriptions import model
from zoe_lib.descriptions.catalogue_files import frameworks as catalogue_frameworks
from zoe_lib.descriptions.expansion import Expansion, expand_frameworks
from zoe_lib.descriptions.frameworks import Framework
from zoe_lib.descriptions.rules.whole import check_rules
from zoe_lib.descriptions.shape import check_shape
from zoe_lib.descriptions.structure import read_model
from zoe_lib.descriptions.to_domain import application_of
from zoe_lib.domain.applications.application import Application

VERSION = 4
_OLD_KEYS = ("services", "processes")


def parse(document: object, frameworks: Mapping[str, Framework] | None = None, each: str | None = None) -> Application:
    """Return the Application of a version-4 document; DescriptionError carries all findings at once.

    Frameworks come from the catalogue unless given. `each`: the template name of a list's entry, if it runs once for
    each.
    """
    return application_of(_check(document, frameworks, each)[1])


def expand(document: object, frameworks: Mapping[str, Framework] | None = None) -> dict[str, Any]:
    """Return the valid document with its framework references replaced by their components; errors as in `parse`."""
    return _check(document, frameworks)[0]


def in_user_document(document: dict[str, Any], found: Diagnostic) -> Diagnostic:
    """Return a finding about the expanded form of a valid document, with its pointer mapped back to the document."""
    return expand_frameworks(document, catalogue_frameworks()).in_user_document(found)


def _check(
    document: object, frameworks: Mapping[str, Framework] | None, each: str | None = None
) -> tuple[dict[str, Any], model.Document]:
    usable = _usable(document)
    expansion = expand_frameworks(usable, catalogue_frameworks() if frameworks is None else frameworks)
    read, structural = read_model(model.Document, expansion.document)
    # Each finding costs a hint: a hostile document must not cause more of them than are reported.
    rules = check_rules(expansion.document, complete=not expansion.diagnostics, each=each)
    semantic = islice(rules, DIAGNOSTICS_MAX)
    found = [
        *expansion.diagnostics,
        *(expansion.in_user_document(diagnostic) for diagnostic in [*structural, *semantic]),
    ]
    if found or read is None:
        raise DescriptionError(_in_document_order(found, expansion))
    return expansion.document, read


def _usable(document: object) -> dict[str, Any]:
    """Return the document if it is an object of version 4 that is safe to read."""
    wrong = check_shape(document)
    if not wrong and not isinstance(document, dict):
        wrong = [Diagnostic("", Code.WRONG_TYPE, "a description is a JSON object")]
    if isinstance(document, dict) and not wrong:
        wrong = _check_version(document)
    if wrong or not isinstance(document, dict):
        raise DescriptionError(wrong)
    return document


def _check_version(document: dict[str, Any]) -> list[Diagnostic]:
    version = document.get("version")
    if version == VERSION and not isinstance(version, bool):
        return []
    if "version" not in document and not any(key in document for key in _OLD_KEYS):
        hint = did_you_mean("version", list(document)) if document else ""
        hint = f'write "version": {VERSION}' + (f"; {hint}" if hint.startswith("did") else "")
        return [Diagnostic("/version", Code.MISSING, "'version' is missing", hint)]
    message = f"version {str(version)[:32]!r} is not {VERSION}"
    hint = "use `zoe convert FILE` to convert descriptions of the original Zoe (versions 0 to 3) to version 4"
    return [Diagnostic("/version", Code.UNSUPPORTED_VERSION, message, hint)]


def _in_document_order(found: list[Diagnostic], expansion: Expansion) -> list[Diagnostic]:
    """Return one finding for each place and message, in the order of the document."""
    unique = list(dict.fromkeys(found))[: 2 * DIAGNOSTICS_MAX]
    keys = list(expansion.document)

    def place(one: Diagnostic) -> tuple[int, list[tuple[int, str]]]:
        parts = one.pointer.split("/")[1:]
        first = keys.index(parts[0]) if parts and parts[0] in keys else -1
        return first, [(-1, part) if (index := index_of(part)) is None else (index, "") for part in parts[1:]]

    return sorted(unique, key=place)
