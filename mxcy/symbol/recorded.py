"""The recorded history of an array as a symbol."""

from mxcy._library.front import tape_order
from mxcy.base import MXNetError
from mxcy.graph.node import SymbolNode, topological
from mxcy.symbol import attributes
from mxcy.symbol.symbol import Symbol

__all__ = ["get_symbol", "outputs_of"]


def get_symbol(x):
    """What has been recorded of an array as a symbol.

    Parameters
    ----------
    x : NDArray

    Returns
    -------
    Symbol
        Its arguments are ``var<number>`` for variables with a gradient and ``null<number>`` for
        other arrays, in the order in which the operations took them. A hybridized block
        that has more operators than its ``inline_limit`` is one node ``_CachedOp`` with its graph
        inside; one with auxiliary states shows its layers.

    Raises
    ------
    MXNetError
        When a backward pass has freed what was recorded, or a `Function` is part of it.
    """
    return _symbol_of(tape_order([x]) if x.node is not None else [], x)


def _symbol_of(order, head):
    """The symbol of an array.

    Parameters
    ----------
    order : list of Node
        Of the tape, each after those it depends on; the last is the array's.
    head : NDArray

    Raises
    ------
    MXNetError
        When the history has been forgotten, or an operation is not one of operators.
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
    """A variable for an array that no recorded operation made; it gets a number later."""
    return SymbolNode(None, name), 0


def outputs_of(node, name, inputs):
    """The outputs of a recorded operation: a list of (SymbolNode, int)."""
    if node.custom is not None:
        express = getattr(node.custom, "_expressed", None)
        if express is None:
            raise MXNetError(
                f"get_symbol: {type(node.custom).__name__} computes in Python, not by operators"
            )
        return express(name, inputs)
    op, attrs = node.call.op, node.call.attrs
    if node.numbers:
        attrs = op.schema.filled(attrs, node.numbers)
    texts = {}
    for field in op.schema.fields:
        value = getattr(attrs, field.name)
        if value != field.default or type(value) is not type(field.default):
            texts[field.name] = attributes.text_of(field, value)
    symbol_node = SymbolNode(op, name, texts, inputs)
    return [(symbol_node, i) for i in range(len(node.call.outs))]
