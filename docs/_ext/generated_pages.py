"""Generate the pages of docs/reference from the code, before the site is built."""

from pathlib import Path

import benchmark_pages
import class_pages
import drawings
import environment_page
import operator_pages


def write(folder, pages):
    """Write texts by file name; unchanged files keep their time, stale files are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_file() and path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def generate(app):
    """Generate all pages."""
    reference = Path(app.srcdir) / "reference"
    write(reference / "operators", operator_pages.pages())
    write(reference / "api", class_pages.pages())
    write(reference / "drawings", drawings.files())
    page, plots = benchmark_pages.page()
    write(reference / "plots", plots)
    write(reference, {"environment.md": environment_page.page(), "history.md": page})


def setup(app):
    """Register the hook."""
    app.connect("builder-inited", generate)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
