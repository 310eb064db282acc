"""Move inline scripts and styles of built pages to files: the API's Content-Security-Policy allows no inline ones."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(<[a-z][^<>]*?) style="([^"]*)"([^<>]*>)')
_CLASS = re.compile(r' class="([^"]*)"')


def rewrite(site: Path) -> None:
    """Rewrite all pages of a site in place; equal texts share one file in `_static`."""
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        page.write_text(strict_page(text, site / "_static", "../" * (len(page.relative_to(site).parts) - 1)), "utf-8")


def strict_page(text: str, static: Path, up: str) -> str:
    """Return a page without inline scripts, styles and style attributes; their files are in `static`, `up`/_static."""
    rules: dict[str, str] = {}
    text = _SCRIPT.sub(lambda m: f'<script src="{up}_static/{_file(static, m[1], "js")}"></script>', text)
    text = _STYLE.sub(lambda m: f'<link rel="stylesheet" href="{up}_static/{_file(static, m[1], "css")}">', text)
    while (match := _ATTRIBUTE.search(text)) is not None:
        name = f"style-{_digest(match[2])}"
        rules[name] = match[2]
        text = text[: match.start()] + _with_class(match[1] + match[3], name) + text[match.end() :]
    if rules:
        sheet = "".join(f".{name} {{ {rule} }}\n" for name, rule in sorted(rules.items()))
        link = f'<link rel="stylesheet" href="{up}_static/{_file(static, sheet, "css")}">'
        text = text.replace("</head>", f"{link}</head>", 1)
    return text


def _with_class(tag: str, name: str) -> str:
    if _CLASS.search(tag):
        return _CLASS.sub(lambda m: f' class="{m[1]} {name}"', tag, count=1)
    return re.sub(r"^<([\w-]+)", rf'<\1 class="{name}"', tag)


def _file(static: Path, content: str, kind: str) -> str:
    """Write the content; return the name of its file."""
    name = f"inline-{_digest(content)}.{kind}"
    static.mkdir(exist_ok=True)
    (static / name).write_text(content, "utf-8")
    return name


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:12]
