"""`mx.viz`: tables and drawings of symbols."""

import math

from mxcy._base.listing import listing
from mxcy._base.warning import warn
from mxcy.graph.drawing import Drawing
from mxcy.graph.node import topological
from mxcy.symbol import Symbol
from mxcy.symbol.text import output_name

__all__ = ["plot_network", "print_summary"]

__dir__ = listing(__name__)

#: suffixes of names of learned parameters and statistics
_LEARNED = ("weight", "bias", "gamma", "beta", "parameters", "i2h_weight", "h2h_weight")
_WEIGHTS = tuple(
    "_weight _bias _beta _gamma _moving_var _moving_mean _running_var _running_mean".split()
)
_COLOURS = {
    "variable": "#8dd3c7",
    "layer": "#fb8072",
    "activation": "#ffffb3",
    "statistics": "#bebada",
    "pooling": "#80b1d3",
    "shape": "#fdb462",
    "other": "#fccde5",
}


def _check(symbol):
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be Symbol")


def _shapes(symbol, known):
    """Infer {output name: shape} of all nodes."""
    internals = symbol.get_internals()
    _, shapes, _ = internals.infer_shape_partial(**known)
    if not all(shape and 0 not in shape for shape in shapes):
        raise ValueError("Input shape is incomplete")
    return dict(zip(internals.list_outputs(), shapes, strict=True))


def _extents(shape):
    """Format a shape without its batch axis."""
    return "x".join(str(n) for n in shape[1:])


# --- tables --------------------------------------------------------------------------------------


def print_summary(
    symbol, shape=None, line_length=120, positions=(0.44, 0.64, 0.74, 1.0), flops=False
):
    """Print a table of layers with output shapes, parameter counts and inputs.

    Parameters
    ----------
    symbol : Symbol
    shape : dict of str to tuple of int, optional
        Shapes of the inputs; without them shapes are omitted, and only parameters whose shapes do
        not depend on them are counted.
    line_length : int
    positions : sequence of float or int
        Ends of the columns, as fractions of the line or in characters.
    flops : bool
        Also print the number of additions and multiplications of a forward pass, and the size of
        all outputs as float32 in bytes. Requires `shape`.

    Raises
    ------
    TypeError
        If `symbol` is not a Symbol.
    ValueError
        If `shape` is incomplete.
    """
    _check(symbol)
    if flops and shape is None:
        raise ValueError("flops=True requires shape, the shapes of the inputs")
    shapes = {} if shape is None else _shapes(symbol, shape)
    sizes = _parameter_sizes(symbol, shape or {})
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    order = topological(symbol._entries)
    rows = [node for i, node in enumerate(order) if node.op is not None or i == 0]
    total = 0
    print("_" * line_length)
    _print_row(("Layer (type)", "Output Shape", "Param #", "Previous Layer"), positions)
    print("=" * line_length)
    for node in rows:
        before = [n.name for n, _ in node.inputs if n.op is not None or n is order[0]]
        count = 0 if node.op is None else sum(sizes.get(id(n), 0) for n in _learned(node))
        total += count
        kind = "null" if node.op is None else node.op.name
        out = _extents(shapes.get(output_name(node, 0), ()))
        _print_row((f"{node.name}({kind})", out, count, before[0] if before else ""), positions)
        for name in before[1:]:
            _print_row(("", "", "", name), positions)
        print(("=" if node is rows[-1] else "_") * line_length)
    print(f"Total params: {total}")
    if flops:
        computed = [node for node in order if node.op is not None]
        size = sum(math.prod(shapes[output_name(node, 0)]) for node in computed)
        print(f"Total FLOPs: {sum(_operations(node, shapes) for node in computed)}")
        print(f"Memory of outputs: {4 * size} bytes")
    print("_" * line_length)


def _print_row(fields, positions):
    line = ""
    for field, end in zip(fields, positions, strict=True):
        line = f"{line}{field}"[:end].ljust(end)
    print(line)


def _learned(node):
    """The variables among a node's inputs that are learned."""
    if node.op.variadic:
        return []
    names = node.op.arguments(node.parsed)
    return [
        source
        for name, (source, _) in zip(names, node.inputs, strict=False)
        if name in _LEARNED and source.op is None
    ]


def _operations(node, shapes):
    """Number of additions and multiplications of a node, from its attributes and shapes."""
    out = math.prod(shapes[output_name(node, 0)])
    if node.op.identity:
        return 0
    has = node.op.schema.by_name
    ins = [shapes[output_name(source, index)] for source, index in node.inputs]
    learned = (
        [] if node.op.variadic else list(zip(node.op.arguments(node.parsed), ins, strict=False))
    )
    weights = {name: shape for name, shape in learned if name in _LEARNED}
    if "num_filter" in has or "num_hidden" in has:
        products = math.prod(weights["weight"][1:])
        transposed = "target_shape" in has  # work per input element rather than per output element
        bias = out if "bias" in weights else 0
        return 2 * (math.prod(ins[0]) if transposed else out) * products + bias
    if "parameters" in weights:  # recurrent: all parameters, per step and sequence
        return 2 * math.prod(ins[0][:2]) * math.prod(weights["parameters"])
    if {"transpose_a", "transpose_b"} <= has.keys() and len(ins) >= 2:
        batch = math.prod(ins[0][:-2])
        sizes = math.prod(math.prod(shape) // batch for shape in (ins[0], ins[1]))
        return 2 * batch * math.isqrt(sizes * out // batch)
    if "kernel" in has:  # pooling: the window
        window = ins[0][2:] if node.parsed.global_pool else node.parsed.kernel
        return out * math.prod(window)
    return out


def _parameter_sizes(symbol, known):
    """{id of a variable: number of elements}, as far as known.

    Without the data's shape, that includes biases, one per unit or filter of a layer.
    """
    shapes, _, states = symbol.infer_shape_partial(**known)
    arguments, auxiliary = symbol._variables()
    sizes = {}
    for node in topological(symbol._entries):
        units = {"num_hidden", "num_filter"}.intersection(node.op.schema.by_name if node.op else ())
        if units and not node.op.variadic:
            names = node.op.arguments(node.parsed)
            for name, (source, _) in zip(names, node.inputs, strict=False):
                if name == "bias":
                    sizes[id(source)] = getattr(node.parsed, *units)
    for node, shape in zip(arguments + auxiliary, shapes + states, strict=True):
        if shape:
            sizes[id(node)] = math.prod(shape)
    return sizes


# --- drawings ------------------------------------------------------------------------------------


def plot_network(
    symbol,
    title="plot",
    save_format="pdf",
    shape=None,
    dtype=None,
    node_attrs=None,
    hide_weights=True,
):
    """Draw a symbol's graph with Graphviz, or, if that is not installed, as SVG.

    Parameters
    ----------
    symbol : Symbol
    title : str
    save_format : str
        File format of the result's `render`.
    shape : dict of str to tuple of int, optional
        Shapes of the inputs; if given, edges are labelled with shapes.
    dtype : dict of str to dtype, optional
        Dtypes of the inputs; if given, edges are labelled with dtypes.
    node_attrs : dict of str to str, optional
        Graphviz attributes of the nodes.
    hide_weights : bool
        Whether to omit weights, biases and statistics.

    Returns
    -------
    graphviz.Digraph or Drawing
        Both display in notebooks and write a file by `render`. A `Drawing`, returned if the Python
        package graphviz is not installed, writes SVG only.

    Raises
    ------
    TypeError
        If `symbol` is not a Symbol.
    ValueError
        If `shape` or `dtype` is incomplete.
    """
    _check(symbol)
    shapes = None if shape is None else _shapes(symbol, shape)
    types = None if dtype is None else _types(symbol, dtype)
    order = topological(symbol._entries)
    _warn_of_repeated(order)
    style = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034"}
    style = {**style, "style": "filled", **(node_attrs or {})}
    drawing = _drawing_class()(name=title, format=save_format)
    hidden = set()
    for node in order:
        if node.op is None and node.name.endswith(_WEIGHTS):
            if hide_weights:
                hidden.add(id(node))
            continue  # drawn on demand by edges
        kind, label = _appearance(node)
        outline = {"shape": "oval"} if node.op is None else {}
        drawing.node(
            name=node.name, label=label, **{**style, **outline, "fillcolor": _COLOURS[kind]}
        )
    for node in order:
        for source, index in node.inputs:
            if id(source) in hidden:
                continue
            carried = output_name(source, index)
            label = "" if shapes is None else _extents(shapes[carried])
            if types is not None:
                label += f"({types[carried]})"
            drawing.edge(
                tail_name=node.name,
                head_name=source.name,
                dir="back",
                arrowtail="open",
                label=label,
            )
    return drawing


def _drawing_class():
    try:
        from graphviz import Digraph
    except ImportError:
        return Drawing
    return Digraph


def _types(symbol, known):
    internals = symbol.get_internals()
    _, types, _ = internals.infer_type_partial(**known)
    if None in types:
        raise ValueError("Input type is incomplete")
    names = (getattr(dtype, "__name__", "bfloat16") for dtype in types)
    return dict(zip(internals.list_outputs(), names, strict=True))


def _warn_of_repeated(order):
    seen, repeated = set(), set()
    for node in order:
        (repeated if node.name in seen else seen).add(node.name)
    if repeated:
        warn(
            "There are multiple variables with the same name in your graph, this may result in "
            f"cyclic graph. Repeated names: {','.join(sorted(repeated))}",
            RuntimeWarning,
        )


def _appearance(node):
    """(kind, label) of a node, from its operator's attributes."""
    if node.op is None:
        return "variable", node.name
    has, a = node.op.schema.by_name, node.parsed
    if "num_filter" in has and "kernel" in has:
        return "layer", f"{node.op.name}\n{_window(a)}, {a.num_filter}"
    if "num_hidden" in has:
        return "layer", f"{node.op.name}\n{a.num_hidden}"
    if "act_type" in has:
        return "activation", f"{node.op.name}\n{a.act_type}"
    if "pool_type" in has:
        return "pooling", f"{node.op.name}\n{a.pool_type}, {_window(a)}"
    if "op_type" in has:
        return "other", a.op_type
    if node.op.aux:
        return "statistics", node.name
    shapes = node.op.identity or (node.op.variadic and "dim" in has)
    return ("shape" if shapes else "other"), node.name


def _window(a):
    kernel = "x".join(str(n) for n in a.kernel or ()) or "[]"
    return f"{kernel}/{'x'.join(str(n) for n in a.stride or ()) or '1'}"
