"""Conversion of an array's recorded history to a symbol."""

from mxcy._base import dtypes
from mxcy._library.front import tape_order
from mxcy.base import MXNetError
from mxcy.graph.node import SymbolNode, attrs_of, topological
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find
from mxcy.symbol import attributes
from mxcy.symbol.symbol import Symbol

__all__ = ["get_symbol", "outputs_of"]


def get_symbol(x):
    """Return the recorded history of an array as a symbol.

    Parameters
    ----------
    x : NDArray

    Returns
    -------
    Symbol
        A symbol with arguments ``var<number>`` for variables with a gradient and ``null<number>``
        for other arrays, in the order of their use. A hybridized block with more operators than its
        ``inline_limit`` is one node ``_CachedOp`` with a subgraph.

    Raises
    ------
    MXNetError
        If a backward pass has freed the history, or it contains a `Function`.
    """
    return _symbol_of(tape_order([x]) if x.node is not None else [], x)


def _symbol_of(order, head):
    """Build the symbol of an array.

    Parameters
    ----------
    order : list of Node
        The tape nodes in topological order, ending with the array's.
    head : NDArray

    Raises
    ------
    MXNetError
        If the history has been freed, or an operation is not an operator.
    """
    entries = {}
    for number, node in enumerate(order):
        if node.released:
            raise MXNetError(
                "get_symbol: the recorded graph has been freed by a backward pass; "
                "backward(retain_graph=True) keeps it"
            )
        if not node.parents:
            entries[id(node)] = [_variable("var")]
            continue
        positions = node.positions or (0,) * len(node.parents)
        inputs = [
            _variable("null") if parent is None else entries[id(parent)][position]
            for parent, position in zip(node.parents, positions, strict=True)
        ]
        entries[id(node)] = outputs_of(node, f"node_{number}", inputs)
    entry = _variable("null") if head.node is None else entries[id(head.node)][head.node_index]
    variables = [node for node in topological([entry]) if node.op is None]
    for number, node in enumerate(variables):
        node.name = f"{node.name}{number}"
    return Symbol([entry])


def _variable(name):
    """Make a variable for an unrecorded array; it is numbered later."""
    return SymbolNode(None, name), 0


def outputs_of(node, name, inputs):
    """Make the outputs of a recorded operation, a list of (SymbolNode, int)."""
    if node.custom is not None:
        express = getattr(node.custom, "_expressed", None)
        if express is None:
            raise MXNetError(
                f"get_symbol: {type(node.custom).__name__} is computed in Python, not by operators"
            )
        return express(name, inputs)
    op, attrs = node.call.op, node.call.attrs
    if node.numbers:
        attrs = op.schema.filled(attrs, node.numbers)
    texts = {}
    for field in op.schema.fields:
        value = getattr(attrs, field.name)
        usual = value == field.value and type(value) is type(field.value)
        usual = usual or (value is None and field.default == ())  # both leave the shape open
        if not usual or (op.in_symbols.tells and field.name != "dtype"):
            texts[field.name] = attributes.text_of(field, value)
    kinds = [spec.dtype for spec in node.call.outs]
    if op.in_symbols.typed and attrs.dtype is None:
        texts["dtype"] = dtypes.name_of(kinds[0])
    if op.in_symbols.noted_as is not None:
        known, names, more = op.in_symbols.noted_as
        op, texts = find(known), {**{names[key]: text for key, text in texts.items()}, **more}
    if op.uses_types and attrs.numpy_types:
        return _in_other_policy(node.call, op, name, texts, inputs)
    symbol_node = SymbolNode(op, name, texts, inputs)
    return [(symbol_node, i) for i in range(len(kinds))]


def _in_other_policy(call, op, name, texts, inputs):
    """Make the outputs of an operation recorded under NumPy's type rules; graphs use MXNet's."""
    kinds = [spec.dtype for spec in call.outs]
    if _kinds(op, texts, call.ins) != kinds and "dtype" in op.schema.by_name:
        texts.setdefault("dtype", dtypes.name_of(kinds[0]))
    result = _kinds(op, texts, call.ins)
    if result != kinds:
        cast = [Spec(spec.shape, kinds[0]) for spec in call.ins]
        if _kinds(op, texts, cast) == kinds:
            pairs = zip(inputs, call.ins, strict=True)
            inputs = [
                entry if spec.dtype == kinds[0] else _cast(entry, kinds[0], f"{name}_cast{i}")
                for i, (entry, spec) in enumerate(pairs)
            ]
            result = kinds
    node = SymbolNode(op, name, texts, inputs)
    return [
        (node, i) if kind == wanted else _cast((node, i), wanted, f"{name}_cast{i}")
        for i, (kind, wanted) in enumerate(zip(result or kinds, kinds, strict=True))
    ]


def _kinds(op, texts, specs):
    """The dtypes of the outputs in a graph."""
    parsed = attrs_of(op, {**texts, op.num_args: len(specs)} if op.num_args else texts)
    try:
        return [s.dtype for s in op.infer(parsed, [Spec(s.shape, s.dtype) for s in specs])]
    except MXNetError:  # only allowed by NumPy's type rules
        return []


def _cast(entry, code, name):
    return SymbolNode(find("Cast"), name, {"dtype": dtypes.name_of(code)}, [entry]), 0
