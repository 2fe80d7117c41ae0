"""Shape and dtype inference over a graph, from known specs of variables.

Records infer outputs and also complete their inputs (a weight's shape from the data's). Entries
share one Spec, so neighbours see all updates; nodes are visited forwards and backwards until
nothing changes. Records that can infer inputs from outputs (`op.infer_back`) do so as well.

Operators that create arrays may have 0 or -1 in their `shape`, which MXNet's symbols use for
"unknown", as for the initial states of recurrent networks. Their shapes are inferred from their
users; a 0 that remains is finally taken literally.
"""

from mxcy._base.errors import MXNetError
from mxcy.graph.graph import Graph, Node
from mxcy.graph.node import attrs_of
from mxcy.ops.core.infer import Spec

__all__ = ["infer", "infer_partial"]


def infer_partial(graph, known, settle=False, outputs=()):
    """Infer as much as possible.

    Parameters
    ----------
    graph : Graph
    known : dict of str to Spec
        Known specs of variables by name; shapes may be partial (-1 or None).
    settle : bool
        Whether remaining dimensions of 0 are taken literally.
    outputs : list of Spec, optional
        Known specs of the graph's outputs.

    Returns
    -------
    list of list of Spec
        The specs of each node's outputs.

    Raises
    ------
    MXNetError
        If specs are inconsistent, naming the node.
    """
    specs = []
    for node in graph.nodes:
        if node.op is None and node.name in known:
            known_spec = known[node.name]
            specs.append([Spec(known_spec.shape, known_spec.dtype)])
        elif _is_open(node):
            specs.append([_open_spec(node)])
        else:
            specs.append([Spec() for _ in range(node.count)])
    for (number, index), spec in zip(graph.outputs, outputs, strict=False):
        specs[number][index].fill("output", spec.shape, spec.dtype)
    opened = [i for i, node in enumerate(graph.nodes) if _is_open(node)]
    skip = set(opened)
    pending = [i for i, node in enumerate(graph.nodes) if node.op is not None and i not in skip]
    cache = {}
    pending = _spread(graph, specs, pending, cache)
    unsettled = [i for i in opened if not specs[i][0].known]
    if settle and unsettled:
        for i in unsettled:
            extents = specs[i][0].shape or graph.nodes[i].attrs.shape or ()
            asked = graph.nodes[i].attrs.shape or extents
            specs[i][0].shape = tuple(
                0 if extent == -1 and requested == 0 else extent
                for extent, requested in zip(extents, asked, strict=True)
            )
        _spread(graph, specs, pending, cache)
    return specs


def _spread(graph, specs, pending, cache):
    """Visit pending nodes until nothing changes; return the nodes still pending.

    Visits alternate between forwards and backwards, so knowledge about an output alone reaches the
    first variable of a deep network in one visit.
    """
    idle = 0
    while pending and idle < 2:
        before = len(pending)
        pending, learnt = _round(graph, specs, pending, cache)
        idle = 0 if learnt or len(pending) < before else idle + 1
        pending.reverse()
    return sorted(pending)


def _is_open(node):
    """Whether a node creates an array whose shape its users determine."""
    if node.op is None or node.inputs or "shape" not in node.op.schema.by_name:
        return False
    if node.count > 1:
        return False
    shape = node.attrs.shape
    if shape is None:
        return True
    return isinstance(shape, tuple) and min(shape, default=0) <= 0  # gamma's shape is a number


def _open_spec(node):
    shape = node.attrs.shape
    closed = _closed(node, tuple(max(extent, 0) for extent in shape or ()))
    (inferred,) = node.op.infer(closed.attrs, [])
    return Spec(tuple(n if n > 0 else -1 for n in shape) if shape else None, inferred.dtype)


def _closed(node, shape):
    """Set the inferred shape of an open node."""
    if node.attrs.shape == shape:
        return node
    values = {name: getattr(node.attrs, name) for name in node.op.schema.names}
    attrs = attrs_of(node.op, {**values, "shape": shape})
    if node.op.uses_mode:
        attrs = attrs.with_values(("train",), (node.attrs.train,))
    return Node(node.op, node.name, attrs, node.inputs, node.extra)


def _round(graph, specs, pending, cache):
    """Visit all pending nodes in order; return (nodes still pending, whether any changed)."""
    left, learnt = [], False
    for number in pending:
        node = graph.nodes[number]
        ins = [specs[source][index] for source, index in node.inputs]
        outs = specs[number]
        if _finish(node, ins, outs, cache):
            learnt = True
            continue
        before = [(s.shape, s.dtype) for s in (*ins, *outs)]
        try:
            for i, spec in enumerate(_inferred(node, ins, outs)):
                outs[i].fill(f"output {i}", spec.shape, spec.dtype)
            back = node.op.infer_back
            if back is not None and not all(s.known for s in ins):
                back(node.attrs, ins, outs)
        except MXNetError as error:
            raise MXNetError(f"Error in node {node.name}: {error}") from None
        if before != [(s.shape, s.dtype) for s in (*ins, *outs)]:
            learnt = True
        if not all(s.known for s in (*ins, *outs)):
            left.append(number)
    return left, learnt


def _inferred(node, ins, outs):
    """Run a record's inference, ignoring shapes if no input or output shape is known.

    A record may know a rank or dimension anyway, but MXNet reports such shapes as unknown.
    """
    if not ins or any(spec.shape is not None for spec in (*ins, *outs)):
        return node.op.infer(node.attrs, ins)
    copies = [Spec(None, spec.dtype) for spec in ins]
    results = [Spec(None, spec.dtype) for spec in node.op.infer(node.attrs, copies)]
    for spec, copy in zip(ins, copies, strict=True):
        spec.dtype = copy.dtype
    return results


def _finish(node, ins, outs, cache):
    """Infer unknown outputs from complete inputs.

    This is the common case. Results are cached for equal nodes. Returns False, without changes, in
    other cases.
    """
    parts = [node.signature]
    for spec in ins:
        if spec.dtype is None or spec.shape is None or -1 in spec.shape:
            return False
        parts.append((spec.shape, spec.dtype))
    for out in outs:
        if out.shape is not None or out.dtype is not None:
            return False
    key = tuple(parts)
    inferred = cache.get(key)
    if inferred is None:
        try:
            inferred = node.op.infer(node.attrs, ins)
        except MXNetError as error:
            raise MXNetError(f"Error in node {node.name}: {error}") from None
        if not all(spec.known for spec in inferred):
            return False
        cache[key] = inferred
    for out, spec in zip(outs, inferred, strict=True):
        out.shape, out.dtype = spec.shape, spec.dtype
    return True


def infer(graph, known):
    """Infer all shapes and dtypes.

    Parameters
    ----------
    graph : Graph
    known : dict of str to Spec

    Returns
    -------
    Graph
        The same nodes with complete `specs`, ready for `mxcy.graph.control.expand`.

    Raises
    ------
    MXNetError
        If anything remains unknown, naming the variables and nodes.
    """
    specs = infer_partial(graph, known, settle=True)
    lacking = [
        node.name
        for node, outs in zip(graph.nodes, specs, strict=True)
        if not all(spec.known for spec in outs)
    ]
    if lacking:
        raise MXNetError(
            f"shapes or dtypes of {', '.join(lacking[:10])}{' ...' if len(lacking) > 10 else ''} "
            "cannot be inferred from the given ones"
        )
    nodes = [
        _closed(node, outs[0].shape) if _is_open(node) else node
        for node, outs in zip(graph.nodes, specs, strict=True)
    ]
    return Graph(nodes, graph.outputs, specs, graph.forward)
