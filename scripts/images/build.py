"""Build one image, from its Dockerfile and its gathered inputs."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from scripts.images import debian, gathering
from scripts.images.engine import ROOT, Engine
from scripts.images.recipes import RECIPES

IMAGES = ROOT / "app_descriptions" / "images"


def key_of(name: str) -> str:
    """Return the hash of all inputs of an image: Dockerfile, gathered inputs, and those of its base."""
    recipe = RECIPES[name]
    digest = hashlib.sha256(key_of(recipe.base).encode() if recipe.base else b"")
    if recipe.from_debian:
        digest.update(debian.identity())
    for path in sorted(path for path in (IMAGES / name).rglob("*") if path.is_file()):
        digest.update(gathering.identity_of(path, path.relative_to(IMAGES).as_posix()))
    for gathered in recipe.gathered:
        digest.update(gathered.identity())
    return digest.hexdigest()[:16]


def names_of(name: str) -> list[str]:
    """Return all names of an image, as descriptions use them."""
    return [f"zoe/{text}" for text in (name, *RECIPES[name].other_names)]


def up_to_date(engine: Engine, name: str) -> bool:
    """Return whether the engine has it, built from its present inputs, under all its names."""
    return all(engine.key(text) == key_of(name) for text in names_of(name))


def build(engine: Engine, name: str) -> None:
    """Gather, build and name an image whose base exists. Raises BuildError."""
    recipe = RECIPES[name]
    if recipe.from_debian:
        debian.ensure(engine)
    with tempfile.TemporaryDirectory(prefix="zoe-image-") as directory:
        context = Path(directory)
        shutil.copytree(IMAGES / name, context, dirs_exist_ok=True)
        for gathered in recipe.gathered:
            gathered.put(context)
        first, *others = names_of(name)
        engine.build(context, first, key_of(name), name)
    for other in others:
        engine.succeeds("tag", first, other)
