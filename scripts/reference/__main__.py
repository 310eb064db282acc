"""Write the pages: `make docs`."""

from scripts.reference import ROOT, pages

for path, text in pages().items():
    path.write_text(text, "utf-8")
    print(f"wrote {path.relative_to(ROOT)}")
