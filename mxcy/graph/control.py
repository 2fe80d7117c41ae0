"""Control flow in symbols: operators over subgraphs, and their expansion.

`_foreach`, `_while_loop`, `_cond` and `_CachedOp` exist only in symbols and their files. Once all
shapes are known, `expand` replaces them by the operators of their bodies, step by step; executors
and gradients never see them. A loop with a condition is expanded to its maximum number of steps,
and steps after its end have no effect; where values are available at run time, only the needed
steps run, see `looks_at_values`.

A body is an attribute: the JSON text of its graph.
"""

from functools import lru_cache

from mxcy._base import dtypes
from mxcy.graph.builder import Builder
from mxcy.graph.extents import BY_EXTENTS, expand_by_extents
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer_partial
from mxcy.graph.json import loads
from mxcy.graph.node import output_name, topological
from mxcy.ops.core.attrs import Field, Int, LongTuple, Str
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, numbered, require
from mxcy.ops.core.record import ONLY_SYMBOLS, Op

__all__ = ["CACHED_OP", "COND", "EXPANSIONS", "FOREACH", "WHILE_LOOP"]
__all__ += ["body_graph", "emit_body", "expand", "looks_at_values", "no_reference"]


@lru_cache(maxsize=256)
def body_graph(text, train=False):
    """Parse the graph of a body."""
    return from_entries(loads(text), train)


def _infer_body(graph, sources, known):
    """Infer the output Specs of a body, and update the Specs of its inputs.

    Parameters
    ----------
    graph : Graph
    sources : list of Spec
        Specs of the inputs bound to the variables, in order.
    known : list of Spec
        Known Specs of the variables: those of the sources or of their elements.
    """
    variables = graph.variables()
    names = [graph.nodes[number].name for number in variables]
    require(len(names) == len(sources), f"the body has {len(names)} inputs, got {len(sources)}")
    specs = infer_partial(graph, dict(zip(names, known, strict=True)))
    for number, name, source, known_source in zip(variables, names, sources, known, strict=True):
        inferred = specs[number][0]
        if source is known_source:
            source.fill(name, inferred.shape, inferred.dtype)
        else:
            shape = None if inferred.shape in (None, (1,)) else (-1, *inferred.shape)
            source.fill(name, shape, inferred.dtype)
    return [specs[number][index] for number, index in graph.outputs]


def _repeated(spec, count):
    return Spec(None if spec.shape is None else (count, *spec.shape), spec.dtype)


def no_reference(a, xp, *arrays):
    """Reference of operators that are expanded before they are computed."""
    raise AssertionError("control flow is expanded before it is computed")


def _operator(name, fields, bodies, infer, outputs=None, states=None, back=None):
    """Make an operator for symbols; its fields after `bodies` are MXNet's."""
    return Op(
        name,
        fields=[*(Field(body, Str) for body in bodies), *fields],
        inputs="",
        variadic="data",
        num_args="num_args",
        outputs=outputs or (lambda a: numbered(a.num_outputs, "num_outputs")),
        aux=states,
        uses_mode=True,
        infer=infer,
        infer_back=back,
        ref=no_reference,
        in_symbols=InSymbols(subgraphs=bodies, named=outputs is not None),
        doc=f"The operator of symbols behind `mx.sym.contrib.{name[1:]}`.",
    )


_COUNTS = (Field("num_args", Int), Field("num_outputs", Int))


# --- foreach -------------------------------------------------------------------------------------


def _foreach_sources(a, ins):
    """Return (inputs in the order of the body's variables, positions of the data in it)."""
    order = (*a.in_data_locs, *a.in_state_locs, *a.remain_locs)
    require(
        len(order) == len(ins) and sorted(order) == list(range(len(ins))),
        f"the positions {order} do not match {len(ins)} inputs",
    )
    sources = [None] * len(ins)
    for position, source in zip(order, ins, strict=True):
        sources[position] = source
    return sources, set(a.in_data_locs)


def _element(shape):
    """The shape of an array's slices along its first axis, (1,) for vectors."""
    return shape[1:] or (1,)


def _infer_foreach(a, ins):
    sources, data = _foreach_sources(a, ins)
    length = -1
    for position in data:
        if sources[position].shape is not None:
            require(sources[position].shape != (), "the data must have at least one dimension")
            length = max(length, sources[position].shape[0])
    known = [
        Spec(None if source.shape is None else _element(source.shape), source.dtype)
        if position in data
        else source
        for position, source in enumerate(sources)
    ]
    outs = _infer_body(body_graph(a.body, a.train), sources, known)
    states = outs[a.num_out_data :]
    for position, state in zip(a.in_state_locs, states, strict=True):
        sources[position].fill("state", state.shape, state.dtype)
    return [_repeated(out, length) for out in outs[: a.num_out_data]] + states


def _expand_foreach(builder, node, inputs):
    a = node.attrs
    entries, data = _foreach_sources(a, inputs)
    length = builder.spec(inputs[0]).shape[0]
    require(length > 0, "foreach: the data have no elements")
    parts = {}
    for position in data:
        squeeze = len(builder.spec(entries[position]).shape) > 1
        attrs = {"num_outputs": length, "axis": 0, "squeeze_axis": squeeze}
        parts[position], _ = builder.add("SliceChannel", attrs, [entries[position]])
    steps = []
    for step in range(length):
        for position, number in parts.items():
            entries[position] = (number, step)
        outs = emit_body(builder, body_graph(a.body, a.train), entries)
        steps.append(outs[: a.num_out_data])
        for position, state in zip(a.in_state_locs, outs[a.num_out_data :], strict=True):
            entries[position] = state
    stacked = [builder.add("stack", {"axis": 0}, rows) for rows in zip(*steps, strict=True)]
    return stacked + [entries[position] for position in a.in_state_locs]


FOREACH = _operator(
    "_foreach",
    (
        *_COUNTS,
        Field("num_out_data", Int),
        Field("in_state_locs", LongTuple),
        Field("in_data_locs", LongTuple),
        Field("remain_locs", LongTuple),
    ),
    ("body",),
    _infer_foreach,
)


# --- while_loop ----------------------------------------------------------------------------------


def _loop_places(a):
    """The positions of the loop variables among the inputs."""
    return [a.func_input_locs[position] for position in a.func_var_locs]


def _infer_while(a, ins):
    of_cond = [ins[position] for position in a.cond_input_locs]
    _infer_body(body_graph(a.cond, a.train), of_cond, of_cond)
    of_func = [ins[position] for position in a.func_input_locs]
    outs = _infer_body(body_graph(a.func, a.train), of_func, of_func)
    variables = outs[a.num_out_data :]
    for position, variable in zip(_loop_places(a), variables, strict=True):
        ins[position].fill("loop variable", variable.shape, variable.dtype)
    return [_repeated(out, a.max_iterations) for out in outs[: a.num_out_data]] + variables


def _expand_while(builder, node, inputs):
    a = node.attrs
    entries, places, F = list(inputs), _loop_places(a), builder.values
    goes_on, steps = None, []
    for _ in range(a.max_iterations):
        conditions = [entries[position] for position in a.cond_input_locs]
        (condition,) = emit_body(builder, body_graph(a.cond, a.train), conditions)
        goes_on = (
            _flag(builder, condition) if goes_on is None else goes_on * _flag(builder, condition)
        )
        of_func = body_graph(a.func, a.train)
        func = _gated(builder, of_func, [entries[i] for i in a.func_input_locs], goes_on)
        outs = [builder.value(entry) for entry in emit_body(builder, of_func, func)]
        rows = outs[: a.num_out_data]
        steps.append([_chosen(F, goes_on, row, F.zeros_like(row)) for row in rows])
        for position, variable in zip(places, outs[a.num_out_data :], strict=True):
            before = builder.value(entries[position])
            entries[position] = _chosen(F, goes_on, variable, before)
    stacked = [builder.add("stack", {"axis": 0}, rows) for rows in zip(*steps, strict=True)]
    return stacked + [entries[position] for position in places]


def _flag(builder, entry):
    """Convert a scalar condition to float32 0 or 1, shape (1,)."""
    F, value = builder.values, builder.value(entry)
    require(value.spec.size == 1, f"the condition must be a scalar, got shape {value.shape}")
    return F.Cast(F.Reshape(value, shape=(1,)), dtype="float32") != 0


def _chosen(F, flag, then, other):
    """Select `then` if the flag is 1, else `other`; returns the entry."""
    shape = then.shape
    if 0 in shape:  # nothing to select
        return then.entry
    spread = F.broadcast_to(F.Reshape(flag, shape=(1,) * len(shape)), shape=shape)
    return F.where(spread, then, other).entry


def _gated(builder, graph, entries, flag):
    """Make a body's inputs pass on gradients only if the flag is 1.

    An unselected body may have infinite derivatives, whose product with 0 is NaN.
    """
    stateful = {
        node.inputs[place][0]
        for node in graph.nodes
        if node.op is not None and node.op.stateful
        for place in node.op.states(node.attrs)
    }
    gated = []
    for number, entry in zip(graph.variables(), entries, strict=True):
        value = builder.value(entry)
        if number not in stateful and dtypes.is_inexact(value.spec.dtype):
            entry = _chosen(builder.values, flag, value, builder.values.BlockGrad(value))
        gated.append(entry)
    return gated


WHILE_LOOP = _operator(
    "_while_loop",
    (
        *_COUNTS,
        Field("num_out_data", Int),
        Field("max_iterations", Int),
        Field("cond_input_locs", LongTuple),
        Field("func_input_locs", LongTuple),
        Field("func_var_locs", LongTuple),
    ),
    ("cond", "func"),
    _infer_while,
)


# --- cond ----------------------------------------------------------------------------------------


def _infer_cond(a, ins):
    outs = []
    for body, places in _branches(a):
        sources = [ins[position] for position in places]
        outs.append(_infer_body(body_graph(body, a.train), sources, sources))
    _, then, other = outs
    for left, right in zip(then, other, strict=True):
        left.fill("the result of else_func", right.shape, right.dtype)
    return then


def _branches(a):
    return (
        (a.cond, a.cond_input_locs),
        (a.then_branch, a.then_input_locs),
        (a.else_branch, a.else_input_locs),
    )


def _expand_cond(builder, node, inputs):
    a = node.attrs
    results, flags, F = [], [], builder.values
    for body, places in _branches(a):
        graph, entries = body_graph(body, a.train), [inputs[position] for position in places]
        if flags:
            entries = _gated(builder, graph, entries, flags[len(results)])
            results.append(emit_body(builder, graph, entries))
        else:
            (condition,) = emit_body(builder, graph, entries)
            flag = _flag(builder, condition)
            flags = [flag, flag == 0]
    return [
        _chosen(F, flags[0], builder.value(left), builder.value(right))
        for left, right in zip(*results, strict=True)
    ]


COND = _operator(
    "_cond",
    (
        *_COUNTS,
        Field("cond_input_locs", LongTuple),
        Field("then_input_locs", LongTuple),
        Field("else_input_locs", LongTuple),
    ),
    ("cond", "then_branch", "else_branch"),
    _infer_cond,
)


# --- cached operators ----------------------------------------------------------------------------


def _infer_cached(a, ins):
    return _infer_body(body_graph(a.body, a.train), ins, ins)


def _infer_cached_back(a, ins, outs):
    graph = body_graph(a.body, a.train)
    variables = graph.variables()
    names = [graph.nodes[number].name for number in variables]
    specs = infer_partial(graph, dict(zip(names, ins, strict=True)), outputs=outs)
    for number, name, spec in zip(variables, names, ins, strict=True):
        spec.fill(name, specs[number][0].shape, specs[number][0].dtype)


def _expand_cached(builder, node, inputs):
    a = node.attrs
    return emit_body(builder, body_graph(a.body, a.train), inputs)


@lru_cache(maxsize=256)
def _described(text):
    """The names of a body's outputs, and the positions of its auxiliary states."""
    entries = loads(text)
    order = topological(entries)
    states = {id(node.inputs[place][0]) for node in order for place in node.states()}
    variables = (node for node in order if node.op is None)
    places = tuple(place for place, node in enumerate(variables) if id(node) in states)
    return tuple(output_name(*entry) for entry in entries), places


CACHED_OP = _operator(
    "_CachedOp",
    (Field("num_args", Int),),
    ("body",),
    _infer_cached,
    outputs=lambda a: _described(a.body)[0],
    states=lambda a: _described(a.body)[1],
    back=_infer_cached_back,
)


# --- expansion -----------------------------------------------------------------------------------

#: operator -> ``expand(builder, node, inputs)``: append its expansion; return output entries
EXPANSIONS = {
    FOREACH: _expand_foreach,
    WHILE_LOOP: _expand_while,
    COND: _expand_cond,
    CACHED_OP: _expand_cached,
    BY_EXTENTS: expand_by_extents,
}
ONLY_SYMBOLS.update((op.name, op) for op in EXPANSIONS)


def looks_at_values(node):
    """Whether an operation is or contains a loop whose length depends on values.

    Parameters
    ----------
    node : SymbolNode
    """
    if node.op is WHILE_LOOP:
        return True
    return any(_has_loop(getattr(node.parsed, body)) for body in node.op.in_symbols.subgraphs)


@lru_cache(maxsize=256)
def _has_loop(text):
    nodes = topological(loads(text))
    return any(node.op is not None and looks_at_values(node) for node in nodes)


def expand(graph):
    """Replace control flow by the operators of its bodies.

    Parameters
    ----------
    graph : Graph
        A graph with complete specs.

    Returns
    -------
    Graph
        The same graph if there is no control flow.
    """
    if not any(node.op in EXPANSIONS for node in graph.nodes):
        return graph
    builder, moved = Builder(), {}
    for number, (node, specs) in enumerate(zip(graph.nodes, graph.specs, strict=True)):
        inputs = [moved[entry] for entry in node.inputs]
        if node.op is None:
            outputs = [builder.variable(node.name, specs[0], node.extra)]
        else:
            outputs = _emit(builder, node, inputs)
        moved.update(((number, index), entry) for index, entry in enumerate(outputs))
    return builder.finish([moved[entry] for entry in graph.outputs])


def _emit(builder, node, inputs):
    """Append a node with new inputs; return the entries of its outputs."""
    if node.op in EXPANSIONS:
        return EXPANSIONS[node.op](builder, node, inputs)
    number, _ = builder.add(node.op, node.attrs, inputs, node.name, node.extra)
    return [(number, index) for index in range(node.count)]


def emit_body(builder, graph, entries):
    """Append a body's nodes; return the entries of its outputs."""
    moved, sources = {}, iter(entries)
    for number, node in enumerate(graph.nodes):
        inputs = [moved[entry] for entry in node.inputs]
        outputs = [next(sources)] if node.op is None else _emit(builder, node, inputs)
        moved.update(((number, index), entry) for index, entry in enumerate(outputs))
    return [moved[entry] for entry in graph.outputs]
