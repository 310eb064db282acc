"""Application descriptions: version 4 of the format, its frameworks and catalogue, and the formats before it.

parse(document) -> Application             checks everything, tells all findings at once
expand(document) -> document               frameworks put in place of their references
to_document(application) -> document       canonical form; parse gives the same Application back
load_json(text) -> document                JSON that is careful about duplicate keys, NaN, depth and size
json_schema() -> schema                    structure of version 4
"""

from zoe_lib.descriptions.diagnostics import Code, DescriptionError, Diagnostic
from zoe_lib.descriptions.load import load_json
from zoe_lib.descriptions.parsing import VERSION, expand, parse
from zoe_lib.descriptions.schema import json_schema
from zoe_lib.descriptions.to_document import to_document

__all__ = [
    "VERSION",
    "Code",
    "DescriptionError",
    "Diagnostic",
    "expand",
    "json_schema",
    "load_json",
    "parse",
    "to_document",
]
