"""Drawings of the architecture, from the imports of the source files."""

import ast
import re
import sys
import unittest.mock
from html import escape
from pathlib import Path

import mxcy
from mxcy.graph.drawing import Drawing

PACKAGE = Path(mxcy.__file__).parent
_ROW, _WIDTH, _MARGIN = 26, 960, 14


def packages():
    """{package: its imports}, of the packages and modules right below mxcy."""
    known, programs = {}, set()
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        package = parts[0]
        known.setdefault(package, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if "mxcy" in names:
                programs.add(package)
            if isinstance(node, ast.ImportFrom) and node.module:
                source = node.module
                names = [source] if source != "mxcy" else [f"mxcy.{a.name}" for a in node.names]
            for name in names:
                if name.startswith("mxcy."):
                    known[package].add(name.split(".")[1])
    known.pop("__init__")
    for package in programs:  # above all others
        known[package] |= known.keys() - programs
    return {package: uses & known.keys() - {package} for package, uses in known.items()}


def levels(graph):
    """Packages by the longest chain of imports below them."""
    heights = {}

    def height(package, above=()):
        if package in above:  # fronts, which are loaded by name
            return 0
        if package not in heights:
            below = [height(other, (*above, package)) for other in graph[package]]
            heights[package] = 1 + max(below, default=-1)
        return heights[package]

    floors = {}
    for package in graph:
        floors.setdefault(height(package), []).append(package)
    return [sorted(floors[level]) for level in sorted(floors)]


def layers():
    """The packages as SVG, each above its imports."""
    graph = packages()
    y, parts = _MARGIN, []
    for floor in reversed(levels(graph)):
        x = _MARGIN
        for package in floor:
            width = 9 * len(package) + 16
            if x + width > _WIDTH - _MARGIN:
                x, y = _MARGIN, y + _ROW
            uses = ", ".join(sorted(graph[package])) or "nothing of mxcy"
            parts.append(
                f"<g><title>{escape(package)} imports {escape(uses)}</title>"
                f'<rect x="{x}" y="{y}" width="{width}" height="20" rx="4"/>'
                f'<text x="{x + width / 2}" y="{y + 14}">{escape(package)}</text></g>'
            )
            x += width + 6
        y += _ROW
        parts.append(f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y - 2}" y2="{y - 2}"/>')
        y += 4
    return _svg("The packages of mxcy: each imports only packages below it", parts, y + _MARGIN)


def small_network():
    """The symbol shown in two drawings."""
    sym = mxcy.sym
    data = sym.var("data")
    out = sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, no_bias=True, name="conv")
    out = sym.Activation(sym.BatchNorm(out, name="norm"), act_type="relu", name="relu")
    out = sym.Pooling(out + data, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    return sym.FullyConnected(out, num_hidden=10, name="classes")


def network():
    """A small network drawn by mx.viz."""
    out = small_network()
    drawing = Drawing("a small network")
    with unittest.mock.patch("mxcy.visualization._drawing_class", lambda: lambda **_: drawing):
        mxcy.viz.plot_network(out, shape={"data": (1, 8, 16, 16)})
    return drawing.svg()


def plan():
    """The plan of the same network: its steps in order, from Executor.debug_str()."""
    bound = small_network().simple_bind(mxcy.cpu(), grad_req="null", data=(1, 8, 16, 16))
    bound.forward()
    pattern = re.compile(r"^(\w+): (\w+) by (\w+) -> (\w+) of shape \(([\d, ]*)\)", re.M)
    steps = pattern.findall(bound.debug_str())
    parts, y = [], _MARGIN
    for step, operator, kernel, dtype, shape in steps:
        text = f"{step}: {operator} by {kernel}, {shape.replace(', ', ' x ').rstrip(',')} {dtype}"
        parts.append(
            f'<rect x="{_MARGIN}" y="{y}" width="{_WIDTH - 2 * _MARGIN}" height="28" rx="4"/>'
            f'<text x="{_WIDTH / 2}" y="{y + 19}">{escape(text)}</text>'
        )
        y += 40
    for number in range(1, len(steps)):
        top = _MARGIN + 40 * number - 12
        parts.append(f'<line x1="{_WIDTH / 2}" x2="{_WIDTH / 2}" y1="{top}" y2="{top + 12}"/>')
    return _svg("A plan: its steps in order", parts, y + _MARGIN)


#: pushed functions: name -> variables read, variables written
PUSHED = {
    "load images": ((), ("images",)),
    "load weights": ((), ("weights",)),
    "predict": (("images", "weights"), ("scores",)),
    "print scores": (("scores",), ()),
    "next images": ((), ("images",)),
}


def waits():
    """{operation: earlier operations that it must wait for}."""
    before, earlier = {}, []
    for name, (reads, writes) in PUSHED.items():
        before[name] = [
            other
            for other in earlier
            if set(PUSHED[other][1]) & {*reads, *writes} or set(PUSHED[other][0]) & set(writes)
        ]
        earlier.append(name)
    return before


def run_pushed():
    """Push all functions; returns the order in which they ran."""
    variables = {name: mxcy.engine.Var() for uses in PUSHED.values() for name in sum(uses, ())}
    order = []
    for name, (reads, writes) in PUSHED.items():
        mxcy.engine.push(
            lambda name=name: order.append(name),
            [variables[r] for r in reads],
            [variables[w] for w in writes],
            name=name,
        )
    mxcy.engine.waitall()
    return order


def push():
    """The dependencies of operations in the engine."""
    order, before = run_pushed(), waits()
    for name, others in before.items():
        if any(order.index(other) > order.index(name) for other in others):
            raise AssertionError(f"{name} ran before its dependency:  {order}")
    drawing = Drawing("a push through the engine")
    for name, (reads, writes) in PUSHED.items():
        told = [f"reads {', '.join(reads)}"] * bool(reads) + [f"writes {', '.join(writes)}"] * bool(
            writes
        )
        drawing.node(name, "\n".join([name, *told]), fillcolor="#dbe9f6")
    for name, others in before.items():
        for other in others:
            drawing.edge(name, other)
    return drawing.svg()


def call():
    """The modules entered by the first call of a signature, and by a later one."""
    array = mxcy.nd.zeros((3, 5, 7, 11))
    lines = ["first call, modules in the order of entry"]
    lines += [f"  {name}" for name in _entered(lambda: mxcy.nd.exp(array))]
    later = _entered(lambda: mxcy.nd.exp(array))
    lines += ["later call", *([f"  {name}" for name in later] or ["  no Python code"])]
    return "\n".join(lines) + "\n"


def _entered(function):
    """The source files of mxcy whose functions a call runs, each with its first function."""
    known = {}

    def note(frame, event, argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)):
            relative = path.removeprefix(str(PACKAGE.parent) + "/")
            known.setdefault(relative, frame.f_code.co_name)

    mxcy.nd.exp  # noqa: B018  looking it up is not part of the call
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return [
        f"{path:<36} {name}" for path, name in known.items() if not name.startswith("__getattr")
    ]


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
    drawings = {"layers.svg": layers(), "network.svg": network(), "plan.svg": plan()}
    return {**drawings, "push.svg": push(), "call.txt": call()}
