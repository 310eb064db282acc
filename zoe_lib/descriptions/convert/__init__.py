"""Convert descriptions of the original Zoe (formats 0 to 3, with or without its storage plug-in) to version 4.

This package makes no domain values: the result is a document that `parse` reads like any other.
"""

from zoe_lib.descriptions.convert.conversion import Conversion, convert
from zoe_lib.descriptions.convert.manifest import ManifestConversion, convert_manifest
from zoe_lib.descriptions.convert.notes import ConversionDefaults, Note

__all__ = ["Conversion", "ConversionDefaults", "ManifestConversion", "Note", "convert", "convert_manifest"]
