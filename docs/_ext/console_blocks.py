"""Mark code blocks as doctest examples: `sphinx-build -b doctest` runs and compares them.

A ``pycon`` block is a console session. A ``python`` block is a program; a ``text`` block right
after it is its output. A comment ``<!-- not executed: reason -->`` before a block excludes it;
readers see the reason. On generated pages ``python`` marks signatures.
"""

import re

from docutils import nodes

_REASON = re.compile(r"<!--\s*not executed: (.+?)\s*-->", re.S)


def mark(app, doctree):
    """Give blocks the attributes that sphinx.ext.doctest expects."""
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
    """Register the hook."""
    app.connect("doctree-read", mark)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
