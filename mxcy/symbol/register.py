"""Operator functions on symbols, generated lazily from records with signatures and docstrings."""

import logging

from mxcy import attribute
from mxcy import name as names
from mxcy.base import _Null
from mxcy.ops.core import record as records
from mxcy.ops.core.functions import Namespace, compile_function, docstring, operands, signature
from mxcy.ops.core.precision import is_exempt, mixed
from mxcy.symbol import attributes, compose
from mxcy.symbol.symbol import Symbol

__all__ = ["F", "apply", "function"]

_functions = {}


_AFTER_ATTRIBUTES = (
    "name : str, optional",
    "    The name of the result, by default derived from the operator's.",
    "attr : dict of str to str, optional",
    "    Additional attributes, with keys enclosed in double underscores.",
    "",
    "Returns",
    "-------",
    "Symbol",
    "    Missing inputs become variables named after the result and the input.",
)


def function(record, name=None):
    """Return the function of a record, created once per name."""
    name = name or record.name
    compiled = _functions.get((record.name, name))
    if compiled is None:
        compiled = _functions[record.name, name] = _compile(record, name)
    return compiled


def apply(record, hint, inputs, settings, name=None, attr=None, extra=None, absent=()):
    """Create the symbol of an operator.

    Parameters
    ----------
    record : Op
    hint : str
        Hint for automatic names.
    inputs : sequence of Symbol or None
        Inputs in the record's order.
    settings : dict
        The operator's attributes; `_Null` for missing ones.
    name : str, optional
    attr : dict of str to str, optional
    extra : dict, optional
        Inputs and attributes by name.
    absent : container of str
        Optional inputs to omit if missing.

    Returns
    -------
    Symbol

    Raises
    ------
    AssertionError
        If an input is not a Symbol.
    MXNetError
        If attributes or inputs are invalid for the operator.
    """
    if not record.variadic:
        for argument, value in zip(record.inputs, inputs, strict=True):
            _check_symbol(f"Argument {argument}", value)
    else:
        for value in inputs:
            _check_symbol("Positional arguments", value, False)
    named, attrs = {}, {}
    fields = record.schema.by_name
    for key, value in {**attribute.current().get(attr), **(extra or {})}.items():
        if isinstance(value, Symbol):
            named[key] = value
        else:
            attrs[attributes.stored_key(key, value)] = str(value)
    for key, value in settings.items():
        if value is not _Null:
            attrs[key] = attributes.text_of(fields[key], value)
    if not record.variadic:
        # Pass inputs by name, so that missing ones can be omitted.
        named.update((n, v) for n, v in zip(record.inputs, inputs, strict=True) if v is not None)
        inputs = ()
    operands = [x for x in (*inputs, *named.values()) if x._is_numpy]
    cls = type(operands[0]) if operands else Symbol
    name = names.current().get(name, hint)
    result = cls(compose.apply(record, name, attrs, list(inputs), named, absent))
    if mixed.policy is not None:
        _cast_inputs(result._entries[0][0], mixed.policy)
    return result


def _cast_inputs(node, policy):
    """Insert the casts of mixed precision between a new node and its inputs."""
    op = node.op
    if op.amp.loss:
        logging.warning(
            "%s does not support dynamic loss scaling in symbolic and hybridized execution.",
            op.name,
        )
    kind = policy.kind(op, node.parsed)
    if kind != "either" and is_exempt(node.attrs):
        kind = "fp32"
    states = node.states()
    places = [i for i in range(len(node.inputs)) if i not in states]
    if kind == "either" or not places:
        return
    sources = [Symbol([node.inputs[i]]) for i in places]
    if kind == "widest":
        attrs = {"num_outputs": len(sources)}
        casts = apply(records.find("amp_multicast"), "amp_multicast", sources, attrs)._entries
    else:
        cast = records.find("amp_cast")
        attrs = {"dtype": policy.target if kind == "lp16" else "float32"}
        casts = [apply(cast, "amp_cast", [source], attrs)._entries[0] for source in sources]
    for place, entry in zip(places, casts, strict=True):
        node.inputs[place] = entry


def _described(value):
    """Describe a value in a line."""
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    return f"{kind}: {value!r:.80}" if shape is None else f"{kind} of shape {shape}"


def _check_symbol(what, value, optional=True):
    assert isinstance(value, Symbol) or (optional and value is None), (
        f"{what} must be Symbol instances, but got {_described(value)}"
    )


def _compile(record, name):
    attrs = "{" + ", ".join(f"{field!r}: {field}" for field in record.schema.names) + "}"
    hint, inputs = name.lower(), operands(record)
    source = (
        f"def {name}({signature(record, 'name=None', 'attr=None', 'out=None')}):\n"
        f"    return _apply(_record, {hint!r}, {inputs}, {attrs}, name, attr, kwargs)\n"
    )
    doc = docstring(record, "Symbol", _AFTER_ATTRIBUTES)
    scope = {"_apply": apply, "_record": record}
    return compile_function(record, name, source, scope, "mxcy.symbol", doc)


F = Namespace(function)
