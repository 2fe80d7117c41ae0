"""Fenced blocks of ``pycon`` are examples: `sphinx-build -b doctest` runs and compares them."""

from docutils import nodes


def mark(app, doctree):
    """Give blocks of a console the marks by which sphinx.ext.doctest knows its own."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "pycon":
            block["testnodetype"] = "doctest"
            block["groups"] = ["default"]
            block["options"] = {}


def setup(app):
    """Enter the hook."""
    app.connect("doctree-read", mark)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
