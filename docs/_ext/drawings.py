"""Drawings of the architecture, from the imports of the source files."""

import ast
import unittest.mock
from html import escape
from pathlib import Path

import mxcy
from mxcy.graph.drawing import Drawing

PACKAGE = Path(mxcy.__file__).parent
_ROW, _WIDTH, _MARGIN = 26, 960, 14


def rooms():
    """{room: the rooms that it imports}, of the packages and modules right below mxcy."""
    known, programs = {}, set()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        room = parts[0]
        known.setdefault(room, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if "mxcy" in names:
                programs.add(room)
            if isinstance(node, ast.ImportFrom) and node.module:
                source = node.module
                names = [source] if source != "mxcy" else [f"mxcy.{a.name}" for a in node.names]
            for name in names:
                if name.startswith("mxcy."):
                    known[room].add(name.split(".")[1])
    known.pop("__init__")
    for room in programs:  # over all others
        known[room] |= known.keys() - programs
    return {room: uses & known.keys() - {room} for room, uses in known.items()}


def storeys(graph):
    """Rooms by the longest chain of imports below them."""
    heights = {}

    def height(room, above=()):
        if room in above:  # fronts, which are loaded by name
            return 0
        if room not in heights:
            below = [height(other, (*above, room)) for other in graph[room]]
            heights[room] = 1 + max(below, default=-1)
        return heights[room]

    floors = {}
    for room in graph:
        floors.setdefault(height(room), []).append(room)
    return [sorted(floors[level]) for level in sorted(floors)]


def layers():
    """The rooms as SVG, what imports others above what it imports."""
    graph = rooms()
    y, parts = _MARGIN, []
    for floor in reversed(storeys(graph)):
        x = _MARGIN
        for room in floor:
            width = 9 * len(room) + 16
            if x + width > _WIDTH - _MARGIN:
                x, y = _MARGIN, y + _ROW
            uses = ", ".join(sorted(graph[room])) or "nothing of mxcy"
            parts.append(
                f"<g><title>{escape(room)} imports {escape(uses)}</title>"
                f'<rect x="{x}" y="{y}" width="{width}" height="20" rx="4"/>'
                f'<text x="{x + width / 2}" y="{y + 14}">{escape(room)}</text></g>'
            )
            x += width + 6
        y += _ROW
        parts.append(f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y - 2}" y2="{y - 2}"/>')
        y += 4
    return _svg("The rooms of mxcy: each imports only what is below it", parts, y + _MARGIN)


def network():
    """A small network as mx.viz draws it."""
    sym = mxcy.sym
    data = sym.var("data")
    out = sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True, name="conv")
    out = sym.Activation(sym.BatchNorm(out, name="norm"), act_type="relu", name="relu")
    out = sym.Pooling(out + data, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    out = sym.FullyConnected(out, num_hidden=10, name="classes")
    drawing = Drawing("a small network")
    with unittest.mock.patch("mxcy.visualization._drawing_class", lambda: lambda **_: drawing):
        mxcy.viz.plot_network(out, shape={"data": (1, 8, 16, 16)})
    return drawing.svg()


def _svg(title, parts, height):
    style = (
        "rect{fill:#dbe9f6;stroke:#33658a}text{font:13px sans-serif;text-anchor:middle;fill:#111}"
        "line{stroke:#999;stroke-dasharray:4 4}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title><style>{style}</style>'
        f'<rect x="0" y="0" width="{_WIDTH}" height="{height}" style="fill:#fff;stroke:none"/>'
        f"{''.join(parts)}</svg>\n"
    )


def files():
    """{file name: text} of all drawings."""
    return {"layers.svg": layers(), "network.svg": network()}
