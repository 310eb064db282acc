"""What an engine reports of its images: their names, their commands, and their platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docker.errors import APIError

from zoe_lib.domain.applications.images import image_matches
from zoe_lib.domain.cluster.platform import ImageFacts
from zoe_master.backends.engine.errors import status_of

ASKED_MAX = 300
"""Maximum inspected images of one engine: a list of images contains only names."""

ImageCommand = tuple[tuple[str, ...], tuple[str, ...]]
"""The entry point of an image, and its default arguments."""


class EngineImages:
    """The images of one engine; each is inspected once."""

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self._allowed = allowed
        self._known: dict[str, ImageFacts] = {}
        self._platform = ""
        self._commands: dict[str, ImageCommand] = {}
        self._ids: dict[str, str] = {}

    def command_of(self, name: str) -> ImageCommand | None:
        """Return entry point and arguments of an image by its full name; None if the engine has not reported them."""
        return self._commands.get(self._ids.get(name, ""))

    def look(self, api: Any) -> Mapping[str, ImageFacts]:
        """Return the facts of every image by each of its names. Raises the client's exceptions."""
        if not self._platform:
            version = api.version()
            self._platform = f"{version['Os']}/{version['Arch']}"
        named = {image["Id"]: tuple(_names(image)) for image in api.images()}
        self._known = {image_id: facts for image_id, facts in self._known.items() if image_id in named}
        for image_id, names in named.items():
            wanted = any(image_matches(name, self._allowed) for name in names)
            if wanted and image_id not in self._known and len(self._known) < ASKED_MAX:
                self._ask(api, image_id)
        self._commands = {image_id: words for image_id, words in self._commands.items() if image_id in named}
        self._ids = {name: image_id for image_id, names in named.items() for name in names}
        return {name: self._known.get(image_id, ImageFacts()) for image_id, names in named.items() for name in names}

    def _ask(self, api: Any, image_id: str) -> None:
        try:
            image = api.inspect_image(image_id)
        except APIError as error:
            if status_of(error) == 404:
                return  # removed meanwhile
            raise
        settings = image.get("Config") or {}
        platform = f"{image.get('Os') or ''}/{image.get('Architecture') or ''}"
        known = platform.strip("/") and platform != self._platform
        has_command = bool(settings.get("Cmd") or settings.get("Entrypoint"))
        self._commands[image_id] = tuple(settings.get("Entrypoint") or ()), tuple(settings.get("Cmd") or ())
        self._known[image_id] = ImageFacts(has_command, platform if known else "")


def _names(image: Mapping[str, Any]) -> Iterator[str]:
    yield from image["RepoTags"] or []
    yield from image["RepoDigests"] or []
