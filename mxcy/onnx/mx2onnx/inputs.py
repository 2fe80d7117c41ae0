"""Normalization of the arguments of `export_model`, and inference of shapes and dtypes."""

import logging

import numpy as np

from mxcy import ndarray as nd
from mxcy import symbol
from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer, infer_partial
from mxcy.ops.core.infer import Spec

__all__ = ["data_names", "network", "shapes_and_types", "specs_of", "tied_extents"]

_WRONG = "Input sym and params should either be files or objects"


def network(sym, params):
    """Convert arguments of `export_model` to (Symbol, parameters by name).

    Raises
    ------
    ValueError
        If only one is a file.
    """
    if isinstance(sym, str) and isinstance(params, str):
        logging.info("Converting json and weight file to sym and params")
        sym, params = symbol.load(sym), nd.load(params) or {}
        if not isinstance(params, dict):
            raise ValueError(f"{_WRONG}: the arrays in the file have no names")
    elif not isinstance(sym, symbol.Symbol):
        hint = "; block.export writes the files" if hasattr(sym, "export") else ""
        raise ValueError(f"{_WRONG}, got {type(sym).__name__} as sym{hint}")
    elif isinstance(params, list | tuple) and len(params) == 2:
        params = {**params[0], **params[1]}
    elif not isinstance(params, dict):
        raise ValueError(f"{_WRONG}, got {type(params).__name__} as params")
    plain = {}
    for name, array in params.items():
        kind, colon, suffix = name.partition(":")
        plain[suffix if colon and kind in ("arg", "aux") else name] = array
    return sym, plain


def data_names(sym, params, count):
    """The names of the inputs that are not parameters, without labels.

    Raises
    ------
    ValueError
        If their number differs from that of the shapes.
    """
    label = f"{sym._entries[-1][0].name}_label"
    names = [name for name in sym.list_inputs() if name not in params and name != label]
    if len(names) > count:
        labels = [name for name in names if name.endswith("_label")]
        for name in labels[: len(names) - count]:
            names.remove(name)
    if len(names) != count:
        raise ValueError(
            f"in_shapes: expected a list with a shape for each input that is not among the "
            f"parameters ({', '.join(names) or 'none'}), got {count}"
        )
    return names


def shapes_and_types(in_shapes, in_types):
    """Convert shapes to tuples and types to NumPy dtypes, in the order of the inputs."""
    if in_shapes is None:
        raise ValueError("in_shapes: expected the shapes of the inputs, got None")
    shapes = [tuple(s) if np.iterable(s) else (s,) for s in in_shapes]
    if any(isinstance(n, str) for shape in shapes for n in shape):
        raise ValueError(f"in_shapes: expected shapes of integers, got {in_shapes!r}")
    types = list(in_types) if isinstance(in_types, list | tuple) else [in_types] * len(shapes)
    assert len(types) == len(shapes), "The lengths of in_types and in_shapes must equal"
    return shapes, [dtypes.dtype_of(dtypes.code_of(t)) for t in types]


def specs_of(sym, known, free):
    """The graph of a symbol with complete specs, and the specs valid for all free extents.

    Parameters
    ----------
    sym : Symbol
    known : dict of str to Spec
        Specs of data and parameters.
    free : dict of str to tuple of bool
        Extents of data that are known only at run time.

    Returns
    -------
    (Graph, list of list of Spec)
    """
    graph = infer(from_entries(sym._entries), known)
    if not any(any(axes) for axes in free.values()):
        return graph, graph.specs
    opened = {name: Spec(spec.shape, spec.dtype) for name, spec in known.items()}
    for name, axes in free.items():
        shape = known[name].shape
        opened[name].shape = tuple(
            -1 if is_free else n for n, is_free in zip(shape, axes, strict=True)
        )
    for variable in graph.variables():
        node, spec = graph.nodes[variable], graph.specs[variable][0]
        if node.name not in opened:  # labels
            opened[node.name] = Spec(None, spec.dtype)
    try:
        return graph, infer_partial(from_entries(sym._entries), opened)
    except MXNetError:  # a record that requires complete shapes
        return graph, _inferred_one_by_one(graph, opened)


def _inferred_one_by_one(graph, opened):
    """Infer forwards; if a record fails, all extents of its results are unknown."""
    result = []
    for node, specs in zip(graph.nodes, graph.specs, strict=True):
        if node.op is None:
            spec = opened.get(node.name, specs[0])
            result.append([Spec(spec.shape, spec.dtype)])
            continue
        ins = [result[number][index] for number, index in node.inputs]
        unknown = [Spec((-1,) * len(spec.shape), spec.dtype) for spec in specs]
        try:
            outs = node.op.infer(node.attrs, [Spec(s.shape, s.dtype) for s in ins])
        except MXNetError:
            outs = unknown
        result.append(
            [
                out if out.shape is not None else other
                for out, other in zip(outs, unknown, strict=True)
            ]
        )
    return result


def tied_extents(sym, known, extents, number):
    """Find the inputs' free extents that equal the free extents of a created array.

    Parameters
    ----------
    sym, known
        See `specs_of`.
    extents : dict of str to tuple
        Extents of data: numbers, or names or None for free ones. Equal names mean equal extents.
    number : int
        Index of a node whose shape is inferred from its consumers, e.g. an initial RNN state.

    Returns
    -------
    dict of int to (str, int)
        Axis -> name of an input and its axis.
    """
    before = infer(from_entries(sym._entries), known).specs[number][0].shape
    places = [(n, axis) for n, axes in extents.items() for axis in range(len(axes))]
    groups, tied = {}, {}
    for name, axis in places:
        extent = extents[name][axis]
        if not isinstance(extent, int):
            groups.setdefault(extent or (name, axis), []).append((name, axis))
    for group in groups.values():
        bumped = dict(known)
        for name, axis in group:
            shape = list(bumped[name].shape)
            shape[axis] *= 2
            bumped[name] = Spec(tuple(shape), known[name].dtype)
        try:
            after = infer(from_entries(sym._entries), bumped).specs[number][0].shape
        except MXNetError:
            continue
        wanted = bumped[group[0][0]].shape[group[0][1]]
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            if new not in (old, None) and new == wanted:
                tied[place] = group[0]
    return tied
