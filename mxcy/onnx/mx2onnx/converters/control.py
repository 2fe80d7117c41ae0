"""Loops and branches."""

import numpy as np

from mxcy._base import dtypes
from mxcy.graph.control import body_graph
from mxcy.graph.graph import Graph
from mxcy.graph.infer import infer_partial
from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.core.infer import Spec

__all__ = []


def _inline(G, text, values):
    """Convert a body inline, with values for its variables in order."""
    graph = body_graph(text)
    names = [graph.nodes[number].name for number in graph.variables()]
    known = {
        name: Spec(value.shape, dtypes.code_of(value.dtype))
        for name, value in zip(names, values, strict=True)
    }
    specs = infer_partial(graph, known, settle=True)
    if any(s.shape is None or s.dtype is None for outs in specs for s in outs):
        G.unsupported("a body whose shapes or types are not known")
    expanded = Graph(graph.nodes, graph.outputs, specs)
    sources = dict(zip(names, values, strict=True))
    return G.translation.graph(expanded, sources, prefix=f"{G.node.name}_", named=False)


def _copies(G, values, stem):
    """Create body inputs with the shapes and dtypes of outer values."""
    return [G.value(f"{G.node.name}_{stem}", v.shape, v.dtype) for v in values]


def _counters(G):
    return [
        G.value(f"{G.node.name}_step", (), np.int64),
        G.value(f"{G.node.name}_goes_on", (), bool),
    ]


def _loop(G, count, condition, states, body, rows):
    """Add a Loop; return the final states and the stacked outputs of the steps."""
    outs = G.op("Loop", count, condition, *states, body=body, outputs=len(states) + rows)
    outs = outs if isinstance(outs, list) else [outs]
    for value, like in zip(outs, [*states, *body.outputs[1 + len(states) :]], strict=True):
        value.dtype = like.dtype
    for value, state in zip(outs, states, strict=False):
        value.shape = state.shape
    for value, row in zip(outs[len(states) :], body.outputs[1 + len(states) :], strict=True):
        value.shape = None if row.shape is None else (-1, *row.shape)
    return outs[: len(states)], outs[len(states) :]


@convert("_foreach")
def foreach(a, G, *inputs):
    """Convert to a Loop over the first axis."""
    order = (*a.in_data_locs, *a.in_state_locs, *a.remain_locs)
    entries = dict(zip(order, inputs, strict=True))
    states = [entries[position] for position in a.in_state_locs]

    def step(number, goes_on, *states):
        values = dict(entries)
        values.update(zip(a.in_state_locs, states, strict=True))
        for position in a.in_data_locs:
            row = G.gather(values[position], number)
            values[position] = row if row.ndim else G.unsqueeze(row, (0,))
        outs = _inline(G, a.body, [values[position] for position in sorted(values)])
        return [goes_on, *outs[a.num_out_data :], *outs[: a.num_out_data]]

    ports = [*_counters(G), *_copies(G, states, "state")]
    body = G.body(f"{G.node.name}_body", ports, step)
    count = G.squeeze(G.as_vector(G.dim(inputs[0], 0)), (0,))
    last, rows = _loop(G, count, None, states, body, a.num_out_data)
    return [*rows, *last]


def _flag(G, value):
    """Convert a condition to a boolean scalar."""
    return G.reshape(G.to_bool(value), [])


@convert("_while_loop")
def while_loop(a, G, *inputs):
    """Convert to a Loop with a condition; missing rows are 0."""
    places = [a.func_input_locs[position] for position in a.func_var_locs]

    def holds(values):
        (condition,) = _inline(G, a.cond, [values[i] for i in a.cond_input_locs])
        return _flag(G, condition)

    def step(number, goes_on, *states):
        values = list(inputs)
        for place, state in zip(places, states, strict=True):
            values[place] = state
        outs = _inline(G, a.func, [values[i] for i in a.func_input_locs])
        for place, state in zip(places, outs[a.num_out_data :], strict=True):
            values[place] = state
        return [holds(values), *outs[a.num_out_data :], *outs[: a.num_out_data]]

    states = [inputs[place] for place in places]
    ports = [*_counters(G), *_copies(G, states, "variable")]
    body = G.body(f"{G.node.name}_body", ports, step)
    count = G.const(np.int64(a.max_iterations))
    last, rows = _loop(G, count, holds(list(inputs)), states, body, a.num_out_data)
    filled = []
    for row in rows:
        if row.shape is None:
            G.unsupported("rows of unknown rank")
        missing = G.minus(a.max_iterations, G.dim(row, 0))
        pads = G.join([*[0] * row.ndim, missing, *[0] * (row.ndim - 1)])
        filled.append(G.op("Pad", row, pads, G.like(row, 0)))
    return [*filled, *last]


@convert("_cond")
def branch(a, G, *inputs):
    """Convert to an If, whose branches refer to outer values."""
    (condition,) = _inline(G, a.cond, [inputs[i] for i in a.cond_input_locs])

    def body(stem, text, places):
        name = f"{G.node.name}_{stem}"
        return G.body(name, [], lambda: _inline(G, text, [inputs[i] for i in places]))

    return G.op(
        "If",
        _flag(G, condition),
        then_branch=body("then", a.then_branch, a.then_input_locs),
        else_branch=body("else", a.else_branch, a.else_input_locs),
        outputs=a.num_outputs,
    )


@convert("_CachedOp")
def cached(a, G, *inputs):
    """Convert the body inline."""
    return _inline(G, a.body, inputs)
