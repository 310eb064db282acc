"""Application descriptions: version 4 of the format, its frameworks and catalogue, and the formats before it.

    parse(document) -> Application               checks everything, tells all findings at once
    expand(document) -> document                 frameworks put in place of their references
    to_document(application) -> document         canonical form; parse gives the same Application back
    load_json(text) -> document                  JSON that is careful about duplicate keys, NaN, depth and size
    set_values(document, settings) -> document   what `--set component.key=value` asks for
    json_schema() -> schema                      structure of version 4
    convert(document) -> Conversion              formats 0 to 3 (and 4, as it is) to version 4, with notes
    convert_manifest(manifest)                   manifests of the original catalogue to catalogue entries
    catalogue(), catalogue_entry(id), catalogue_document(entry), form_schema(entry), fill_form(entry, document, values)

Whatever is wrong with a document is told by one exception, DescriptionError, as Diagnostics.
"""

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic
from zoe_client.documents.load import load_json
from zoe_client.documents.settings import set_values
from zoe_lib.descriptions.catalogue import (
    CatalogueEntry,
    FormField,
    catalogue,
    catalogue_document,
    catalogue_entry,
    fill_form,
    form_schema,
)
from zoe_lib.descriptions.catalogue_files import catalogue_directory
from zoe_lib.descriptions.convert import (
    Conversion,
    ConversionDefaults,
    ManifestConversion,
    Note,
    convert,
    convert_manifest,
)
from zoe_lib.descriptions.parsing import VERSION, expand, located, parse
from zoe_lib.descriptions.schema import json_schema
from zoe_lib.descriptions.to_document import to_document

__all__ = [
    "VERSION",
    "CatalogueEntry",
    "Code",
    "Conversion",
    "ConversionDefaults",
    "DescriptionError",
    "Diagnostic",
    "FormField",
    "ManifestConversion",
    "Note",
    "catalogue",
    "catalogue_directory",
    "catalogue_document",
    "catalogue_entry",
    "convert",
    "convert_manifest",
    "expand",
    "fill_form",
    "form_schema",
    "json_schema",
    "load_json",
    "located",
    "parse",
    "set_values",
    "to_document",
]
