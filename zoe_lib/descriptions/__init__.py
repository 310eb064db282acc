"""Application descriptions: format version 4, its frameworks and catalogue, and earlier formats.

    parse(document) -> Application               check everything, report all findings at once
    expand(document) -> document                 replace references to frameworks by their components
    to_document(application) -> document         canonical form; parse returns an equal Application
    load_json(text) -> document                  strict JSON: duplicate keys, NaN, depth and size
    set_values(document, settings) -> document   apply `--set component.key=value`
    json_schema() -> schema                      structure of version 4
    convert(document) -> Conversion              formats 0 to 3 to version 4, with notes; 4 is unchanged
    convert_manifest(manifest)                   manifests of the original catalogue to catalogue entries
    catalogue(), catalogue_entry(id), catalogue_document(entry), form_schema(entry), fill_form(entry, document, values)

All faults of a document are reported by one exception, DescriptionError, as Diagnostics.
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
from zoe_lib.descriptions.parsing import VERSION, expand, in_user_document, parse
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
    "in_user_document",
    "json_schema",
    "load_json",
    "parse",
    "set_values",
    "to_document",
]
