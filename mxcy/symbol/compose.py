"""Composition: applying operators to symbols, and substituting symbols for variables."""

from mxcy.base import MXNetError
from mxcy.graph.node import SymbolNode, replace_variables, topological

__all__ = ["apply", "check_key", "substitute"]


def apply(op, name, attrs, positional, named, absent=()):
    """Create a node; missing inputs become variables.

    Parameters
    ----------
    op : Op
    name : str
    attrs : dict of str to str
    positional : list of Symbol or None
        The inputs in order.
    named : dict of str to Symbol
        Inputs by name.
    absent : container of str
        Optional inputs to omit if missing.

    Returns
    -------
    list of (SymbolNode, int)
        The visible outputs.

    Raises
    ------
    MXNetError
        If an attribute or an input is invalid for the operator.
    """
    for key in attrs:
        check_key(op, key)
    node = SymbolNode(op, name, attrs)
    count = len(positional) + len(named)
    if op.variadic:
        by_name = attrs.get(op.num_args) if op.num_args is not None else None
        if by_name is None and op.num_args is not None:
            node.attrs[op.num_args] = str(count)
            node.changed()
        count = _count(node, count)
        if count == 0 and op.num_args == "num_args":
            raise MXNetError(f"{op.name}: num_args: expected one input or more, got none")
        names = op.symbol_inputs(node.parsed, count)
    else:
        names = op.arguments(node.parsed)
    by_name = dict(zip(names, positional, strict=False))
    if len(positional) > len(names):
        raise MXNetError(
            f"operator {op.name}: expected at most {len(names)} inputs, got {len(positional)}"
        )
    for key, symbol in named.items():
        if key not in names:
            raise MXNetError(
                f"Symbol.ComposeKeyword argument name {key} not found.{_candidates(names)}"
            )
        by_name[key] = symbol
    for key in names:
        symbol = by_name.get(key)
        if symbol is None and key in absent:
            continue
        if symbol is None:
            node.inputs.append((SymbolNode(None, f"{name}_{key}" if name else key, node.attrs), 0))
        else:
            node.inputs.append(_single(key, symbol))
    _mark_inputs(node, names)
    node.changed()
    if not op.visible(node.parsed):
        raise MXNetError(f"operator {op.name} has no outputs: there are no symbols of it")
    return [(node, i) for i in range(op.visible(node.parsed))]


def _count(node, count):
    """Set the attribute with the number of inputs of a variadic operator."""
    attribute = node.op.num_args
    return count if attribute is None else max(count, getattr(node.parsed, attribute))


def check_key(op, key):
    """Check that a key is an attribute of the operator or a hidden one.

    Raises
    ------
    MXNetError
    """
    if not (key.startswith("__") and key.endswith("__")):
        op.schema.check_name(op.name, key)


def _candidates(names):
    return "\nCandidate arguments:" + "".join(f"\n\t[{i}]{name}" for i, name in enumerate(names))


def _single(key, symbol):
    """The only entry of a symbol."""
    if len(symbol._entries) != 1:
        raise MXNetError(
            f"Keyword Argument {key} is a tuple of {len(symbol._entries)}, single value is required"
        )
    return symbol._entries[0]


def _mark_inputs(node, names):
    """Set the initializers that the operator specifies for its variables."""
    for key, text in node.op.in_symbols.initial.items():
        if key in names:
            source = node.inputs[names.index(key)][0]
            if source.op is None:
                source.attrs.setdefault("__init__", text)


def substitute(entries, named):
    """Substitute symbols for variables, modifying nodes in place.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    named : dict of str to Symbol
        Variable name -> replacement.

    Returns
    -------
    list of (SymbolNode, int)
        The entries, also replaced if they are variables.

    Raises
    ------
    MXNetError
        If there is no variable of a name, or a symbol has several outputs.
    """
    order = topological(entries)
    variables = [node.name for node in order if node.op is None]
    for key in named:
        if key not in variables:
            raise MXNetError(
                f"Symbol.ComposeKeyword argument name {key} not found.{_candidates(variables)}"
            )
    replacements = {
        node.name: _single(node.name, named[node.name])
        for node in order
        if node.op is None and node.name in named
    }
    return replace_variables(entries, replacements)
