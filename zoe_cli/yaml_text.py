"""Write YAML for a terminal; a separate module, because few calls need the library."""

from __future__ import annotations

from typing import Any

import yaml

from zoe_cli.text import UNPRINTABLE_IN_JSON, long_escape


class _Dumper(yaml.SafeDumper):
    """Quote every text that needs escapes."""


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = '"' if UNPRINTABLE_IN_JSON.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def yaml_text(data: Any) -> str:
    """Return YAML without anything that a terminal would interpret."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return UNPRINTABLE_IN_JSON.sub(long_escape, text)
