"""Settings of Sphinx; `python -m scripts.site` runs it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Docstrings are read from the imported code, with the packages of Zoe's own environment behind those of Sphinx.
sys.path.insert(0, str(ROOT))
sys.path += [str(path) for path in (ROOT / ".venv" / "lib").glob("python3*/site-packages")]

project = "Zoe"
author = "the contributors of Zoe"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "index"
nitpicky = False
default_role = "code"

myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
# Examples of JSON leave parts out.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"
exclude_patterns = ["files/**"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"Zoe {release}"
html_short_title = "Zoe"
html_static_path = ["static"]
html_css_files = ["zoe.css"]
html_js_files = ["search-ranking.js"]
html_favicon = "static/zoe.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = True
html_domain_indices = False
html_last_updated_fmt = None
html_permalinks_icon = "#"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_theme_options = {"source_repository": "", "top_of_page_buttons": [], "navigation_with_keys": False}
copybutton_exclude = ".linenos, .gp, .go"
