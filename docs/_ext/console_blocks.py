"""Blocks of code are examples: `sphinx-build -b doctest` runs them and compares what they print.

A block of ``pycon`` is a console; one of ``python`` is a program, and a block of ``text`` right
behind it is what it prints. A comment ``<!-- not executed: reason -->`` before a block takes it
out; readers see the reason. On generated pages ``python`` marks signatures.
"""

import re

from docutils import nodes

_REASON = re.compile(r"<!--\s*not executed: (.+?)\s*-->", re.S)


def mark(app, doctree):
    """Give blocks the marks by which sphinx.ext.doctest knows its own."""
    for block in list(doctree.findall(nodes.literal_block)):
        language, before = block.get("language"), _before(block)
        reason = before is not None and _REASON.search(before.rawsource or before.astext())
        if reason:
            text = f"Not executed when this page is built: {reason.group(1)}."
            before.replace_self(nodes.paragraph("", text, classes=["not-executed"]))
        elif language == "pycon":
            _enter(block, "doctest")
        elif language == "python" and not app.env.docname.startswith("reference/"):
            _enter(block, "testcode")
        elif language == "text" and _is_program(before):
            _enter(block, "testoutput")


def _before(node):
    place = node.parent.index(node)
    return node.parent[place - 1] if place else None


def _is_program(node):
    return isinstance(node, nodes.literal_block) and node.get("testnodetype") == "testcode"


def _enter(block, kind):
    block["testnodetype"], block["groups"], block["options"] = kind, ["default"], {}


def setup(app):
    """Enter the hook."""
    app.connect("doctree-read", mark)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
