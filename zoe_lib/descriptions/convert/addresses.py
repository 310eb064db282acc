"""Convert placeholders of the original Zoe, and host names composed of them, to templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from zoe_lib.descriptions.convert.notes import Notes
from zoe_lib.domain.applications.templates import escape

_PART = r"\{(?:execution_name|execution_id|user_name|user_id|deployment_name|name_prefix)\}"
_BRACES = (
    r"(?P<literal>\{\{|\}\})|\{cluster\[(?P<cluster>[^\[\]{}]*)\]\[ip_address\]\}|\{dns_name#(?P<dns>[^{}]*)\}"
    r"|\{(?P<word>[^{}]*)\}|(?P<single>[{}])"
)
_WORKSPACE = re.compile(r"(?<![\w./-])/mnt/workspace(?![\w.-])")
_WORDS: Mapping[str, tuple[str, str]] = {
    "user_name": ("{user}", ""),
    "user_id": ("{user}", ""),
    "execution_id": ("{execution}", ""),
    "execution_name": ("{execution}", "the execution's name became its id"),
    "index": ("{index}", ""),
    "deployment_name": ("zoe", "the deployment's name became 'zoe'"),
    "name_prefix": ("zoe", "the name prefix became 'zoe'"),
    "application_binary_url": ("{workspace}", "the application's binary is expected in the workspace"),
}


@dataclass(slots=True)
class Addresses:
    """Translate texts of one old description. `names` maps old service names to component names.

    `referenced` collects the components that a text refers to, since these need an essential instance.
    """

    names: Mapping[str, str]
    notes: Notes
    referenced: set[str] = field(default_factory=set)
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        names = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        host = (
            rf"(?<![\w-])(?:\{{name_prefix\}}-)?(?P<host>{names})(?:-?(?P<nth>[0-9]+|\{{index\}}))?"
            rf"(?=[-.{{}}\w]*\{{execution_)(?:[-.](?:{_PART}|zoe|usernet))+"
        )
        self._pattern = re.compile(f"{host}|{_BRACES}" if names else _BRACES)

    def translate(self, text: str, place: str, own: str) -> str:
        """Return a text with old placeholders (environment; in formats 0 to 2 also the command) as a text with
        templates.
        """
        translated = self._pattern.sub(lambda found: self._replace(found, place, own), text)
        return _WORKSPACE.sub("{workspace}", translated)

    def literal(self, text: str) -> str:
        """Return a text that the original took literally."""
        return _WORKSPACE.sub("{workspace}", escape(text))

    def _replace(self, found: re.Match[str], place: str, own: str) -> str:
        groups = found.groupdict()
        if groups["literal"]:
            return found[0]
        if groups.get("host"):
            return self._host(groups["host"], groups["nth"] or "0", place, own)
        if groups["cluster"] is not None:
            return self._template_of(groups["cluster"], found[0], place, own)
        if groups["dns"] is not None:
            return "{host:self}" if groups["dns"] == "self" else self._template_of(groups["dns"], found[0], place, own)
        return self._word(groups["word"], found[0], place)

    def _word(self, word: str | None, whole: str, place: str) -> str:
        replacement, note = _WORDS.get(word or "", (escape(whole), f"unknown placeholder {whole[:64]!r} kept as text"))
        if note:
            self.notes.add(place, note)
        return replacement

    def _template_of(self, name: str, whole: str, place: str, own: str) -> str:
        """Return the template for a service, given by name, or by name with the number of the instance."""
        if name in self.names:
            return self._host(name, "0", place, own)
        number = re.search(r"[0-9]+$", name)
        for cut in range(len(name) - 1, number.start() - 1 if number else len(name), -1):
            if name[:cut] in self.names:
                return self._host(name[:cut], name[cut:], place, own)
        self.notes.add(place, f"{whole[:64]!r} is not a service of this description; kept as text")
        return escape(whole)

    def _host(self, name: str, nth: str, place: str, own: str) -> str:
        component = self.names[name]
        if component == own and nth == "{index}":
            return "{host:self}"
        if nth == "{index}" or int(nth) > 0:
            self.notes.add(
                place,
                f"instance {nth} of {component!r} has no address of its own; the address of the first instance is used",
            )
        self.referenced.add(component)
        return f"{{host:{component}}}"
