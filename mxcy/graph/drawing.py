"""SVG drawings of graphs: boxes in rows, inputs below their users."""

from collections import defaultdict
from html import escape
from typing import NamedTuple

from mxcy._base.files import replacing

__all__ = ["Drawing"]

_WIDTH, _HEIGHT = 120, 48  # of a box
_BESIDE, _BELOW, _MARGIN = 24, 34, 16  # distances
_SWEEPS = 6


class _Box(NamedTuple):
    label: str
    colour: str
    oval: bool


class Drawing:
    """A drawing with the methods of ``graphviz.Digraph`` that `mx.viz.plot_network` uses.

    Parameters
    ----------
    name : str
        Title, and default name of the file written by `render`.
    format : str
        ``'svg'``; `render` supports no other format.
    """

    def __init__(self, name: str, format: str = "svg"):
        self.name, self.format = name, format
        self._boxes: dict[str, _Box] = {}
        self._edges: list[tuple[str, str, str]] = []

    def node(self, name: str, label: str, **style: str) -> None:
        """Draw a box.

        Parameters
        ----------
        name : str
            Name that edges refer to.
        label : str
            Lines of text in the box.
        **style : str
            Graphviz attributes ``fillcolor`` and ``shape`` (may be ``oval``).
        """
        colour = style.get("fillcolor", "#ffffff")
        self._boxes[name] = _Box(label, colour, style.get("shape") == "oval")

    def edge(self, tail_name: str, head_name: str, label: str = "", **style: str) -> None:
        """Draw an arrow to `tail_name`, from `head_name` below it.

        Parameters
        ----------
        tail_name, head_name : str
            Names of boxes; unknown ones become boxes without colour.
        label : str
            Text next to the arrow.
        **style : str
            Ignored.
        """
        for name in (tail_name, head_name):
            if name not in self._boxes:
                self.node(name, name)
        self._edges.append((tail_name, head_name, label))

    def render(self, filename: str | None = None, view: bool = False, cleanup: bool = False) -> str:
        """Write the file.

        Parameters
        ----------
        filename : str, optional
            Path without extension, by default the name of the drawing.
        view, cleanup : bool
            Ignored.

        Returns
        -------
        str
            The path of the file.

        Raises
        ------
        ImportError
            If the format is not svg, which needs Graphviz.
        """
        if self.format != "svg":
            raise ImportError(
                f"drawing as {self.format} needs Graphviz: the program dot, and pip install "
                "graphviz; save_format='svg' needs neither"
            )
        path = f"{filename or self.name}.svg"
        with replacing(path) as file:
            file.write(self.svg().encode())
        return path

    def _repr_svg_(self) -> str:
        """Return the SVG text, for notebooks."""
        return self.svg()

    def svg(self) -> str:
        """Return the drawing as SVG text.

        Returns
        -------
        str
        """
        places, bends, width, height = self._placed()
        parts = []
        for (tail, head, label), between in zip(self._edges, bends, strict=True):
            (x, y), (x2, y2) = places[tail], places[head]
            points = [(x, y + _HEIGHT / 2), *between, (x2, y2 - _HEIGHT / 2)]
            parts.append(f'<path d="{_curve(points)}" marker-start="url(#end)"/>')
            if label:
                (xa, ya), (xb, yb) = points[-2:]
                middle = f'x="{(xa + xb) / 2 + 4:.0f}" y="{(ya + yb) / 2 + 4:.0f}"'
                parts.append(f'<text class="edge" {middle}>{escape(label)}</text>')
        parts += [_drawn(self._boxes[name], name, *place) for name, place in places.items()]
        style = (
            "text{font:12px sans-serif;text-anchor:middle;fill:#111}.edge{font-size:10px;"
            "text-anchor:start}path{fill:none;stroke:#555}rect,ellipse{stroke:#333}"
        )
        arrow = (
            '<marker id="end" orient="auto" markerWidth="9" markerHeight="8" refX="1" refY="4">'
            '<path d="M9,0 L1,4 L9,8"/></marker>'
        )
        title = escape(self.name)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" role="img"><title>{title}</title>'
            f"<style>{style}</style><defs>{arrow}</defs>"
            f'<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>'
            + "\n".join(parts)
            + "</svg>\n"
        )

    # --- layout ----------------------------------------------------------------------------------

    def _placed(self):
        """Compute centres of boxes by name, inner points of edges, width and height."""
        rank = self._ranks()
        rows: dict[int, list] = defaultdict(list)  # names, and (edge, row) of passing edges
        for name in reversed(self._boxes):
            rows[rank[name]].append(name)
        neighbours: dict = defaultdict(list)
        chains = []
        for number, (tail, head, _) in enumerate(self._edges):
            between = [(number, row) for row in range(rank[tail] + 1, rank[head])]
            for point in between:
                rows[point[1]].append(point)
            chain = [tail, *between, head]
            chains.append(between)
            for above, below in zip(chain, chain[1:], strict=False):
                neighbours[above].append(below)
                neighbours[below].append(above)
        x = _columns([rows[row] for row in sorted(rows)], neighbours)
        left = min(x.values(), default=0) - _WIDTH / 2 - _MARGIN
        step = _HEIGHT + _BELOW
        top = _MARGIN + _HEIGHT / 2
        places = {name: (x[name] - left, top + step * rank[name]) for name in self._boxes}
        bends = [[(x[p] - left, top + step * p[1]) for p in between] for between in chains]
        width = max(x.values(), default=0) - left + _WIDTH / 2 + _MARGIN
        height = 2 * _MARGIN + step * len(rows) - _BELOW if rows else 2 * _MARGIN
        return places, bends, width, height

    def _ranks(self):
        """Compute the row of each box: one below the lowest box with an edge to it."""
        position = {name: i for i, name in enumerate(self._boxes)}
        above = defaultdict(list)
        for tail, head, _ in self._edges:
            if position[tail] > position[head]:  # boxes come after their inputs
                above[head].append(tail)
        rank: dict[str, int] = {}
        for name in reversed(self._boxes):
            rank[name] = 1 + max((rank[other] for other in above[name]), default=-1)
        return rank


def _columns(rows, neighbours):
    """Compute horizontal centres near the means of the neighbours', without overlap in a row."""
    apart = _WIDTH + _BESIDE
    x = {item: apart * i for row in rows for i, item in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {
                item: sum(x[other] for other in beside) / len(beside)
                if (beside := neighbours[item])
                else x[item]
                for item in row
            }
            row.sort(key=wanted.__getitem__)
            from_left, from_right = [], []
            for item in row:
                least = from_left[-1] + apart if from_left else wanted[item]
                from_left.append(max(wanted[item], least))
            for item in reversed(row):
                most = from_right[-1] - apart if from_right else wanted[item]
                from_right.append(min(wanted[item], most))
            for item, low, high in zip(row, from_left, reversed(from_right), strict=True):
                x[item] = (low + high) / 2
    return x


def _curve(points):
    """Make a path that is vertical at each point."""
    (x, y), *others = points
    path = f"M{x:.0f},{y:.0f}"
    for x2, y2 in others:
        middle = (y + y2) / 2
        path += f" C{x:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2:.0f}"
        x, y = x2, y2
    return path


def _drawn(box, name, x, y):
    """Draw a box with its lines of text, shrinking long ones."""
    if box.oval:
        size = f'rx="{_WIDTH / 2}" ry="{_HEIGHT / 2}"'
        shape = f'<ellipse cx="{x:.0f}" cy="{y:.0f}" {size} fill="{escape(box.colour)}"/>'
    else:
        corner = f'x="{x - _WIDTH / 2:.0f}" y="{y - _HEIGHT / 2:.0f}"'
        size = f'width="{_WIDTH}" height="{_HEIGHT}"'
        shape = f'<rect {corner} {size} fill="{escape(box.colour)}"/>'
    lines = box.label.split("\n")
    font = min(12.0, 1.7 * _WIDTH / max(map(len, lines), default=1))
    first = y + font / 3 - (len(lines) - 1) * font * 0.6
    texts = [
        f'<text x="{x:.0f}" y="{first + i * 1.2 * font:.0f}" style="font-size:{font:.1f}px">'
        f"{escape(line)}</text>"
        for i, line in enumerate(lines)
    ]
    return f"<g><title>{escape(name)}</title>{shape}{''.join(texts)}</g>"
