"""Inline scripts and styles of pages become files."""

from __future__ import annotations

from pathlib import Path

from scripts.site.strict_pages import rewrite

PAGE = """<html><head><style>p { color: red }</style></head>
<body><script>run()</script><script src="a.js"></script>
<p style="display: none">x</p><b class="k" style="display: none">y</b></body></html>"""


def test_page_has_no_inline_scripts_and_styles(tmp_path: Path) -> None:
    for name in ("index.html", "use/web.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PAGE)
    rewrite(tmp_path)
    text = (tmp_path / "use/web.html").read_text()
    assert "<style" not in text
    assert " style=" not in text
    assert text.count("<script src=") == 2
    assert 'href="../_static/inline-' in text
    assert 'class="k style-' in text
    contents = {path.read_text() for path in (tmp_path / "_static").iterdir()}
    assert {"run()", "p { color: red }"} <= contents
    assert len(contents) == 3, "equal texts share a file"


def test_rewritten_page_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE)
    rewrite(tmp_path)
    once = (tmp_path / "index.html").read_text()
    rewrite(tmp_path)
    assert (tmp_path / "index.html").read_text() == once
