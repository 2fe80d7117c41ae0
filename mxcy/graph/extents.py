"""Operators whose attributes are computed from array dimensions.

`_by_extents` represents another operator with attributes that are expressions. They are evaluated
once all shapes are known, when `expand` of `mxcy.graph.control` inserts that operator. Imported
models need it, because they compute shapes for reshaping from their inputs' shapes.

An expression is an int, or a postfix text: ``1.0 12 *`` is dimension 0 of input 1, times 12. ``/``
rounds down.
"""

import json
import operator
from collections.abc import Callable

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.graph.node import attrs_of
from mxcy.ops.core.attrs import Field, Int, Str
from mxcy.ops.core.infer import Spec, numbered, require
from mxcy.ops.core.record import Op, find

__all__ = ["BY_EXTENTS", "FUNCTIONS", "evaluated", "expand_by_extents", "postfix"]

#: operator symbol -> function of two integers
FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "max": max,
    "min": min,
}
_LARGEST = 1 << 62


def postfix(tree, leaves):
    """Convert an expression to postfix text.

    Parameters
    ----------
    tree : int, str or (str, tree, tree)
        A symbol of `FUNCTIONS` with two operands, an integer, or a name.
    leaves : dict of str to (int, int)
        Name -> (input, axis).
    """
    if isinstance(tree, int):
        return str(tree)
    if isinstance(tree, str):
        return "{}.{}".format(*leaves[tree])
    sign, left, right = tree
    return f"{postfix(left, leaves)} {postfix(right, leaves)} {sign}"


def evaluated(expression, shapes):
    """Evaluate an expression; None if a dimension is unknown.

    Parameters
    ----------
    expression : int or str
    shapes : sequence of tuple or None
        Shapes of the inputs, -1 for unknown dimensions.
    """
    if isinstance(expression, int):
        return expression
    stack = []
    for word in expression.split():
        if word in FUNCTIONS:
            require(len(stack) > 1, f"expression {expression!r}: {word} needs two operands")
            right, left = stack.pop(), stack.pop()
            if left is None or right is None:
                stack.append(None)
                continue
            require(
                right != 0 or word not in ("/", "%"), f"expression {expression!r}: division by 0"
            )
            stack.append(FUNCTIONS[word](left, right))
            require(abs(stack[-1]) < _LARGEST, f"expression {expression!r}: exceeds 62 bits")
        elif "." in word:
            stack.append(_extent(word, expression, shapes))
        else:
            stack.append(_number(word, expression))
    require(len(stack) == 1, f"expression {expression!r}: expected one result")
    return stack[0]


def _number(word, expression):
    require(
        word.removeprefix("-").isdecimal() and len(word) < 20,
        f"expression {expression!r}: {word!r} is neither a number nor an operator",
    )
    return int(word)


def _extent(word, expression, shapes):
    place, _, axis = word.partition(".")
    place, axis = _number(place, expression), _number(axis, expression)
    require(0 <= place < len(shapes), f"expression {expression!r}: no input {place}")
    shape = shapes[place]
    if shape is None:
        return None
    require(0 <= axis < len(shape), f"expression {expression!r}: input {place} has shape {shape}")
    return None if shape[axis] == -1 else shape[axis]


def _parsed(text, name):
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"attribute {name} is not valid JSON: {error}") from None


def _settled(value, shapes):
    """Replace expressions, which are JSON objects, in an attribute by numbers."""
    if isinstance(value, dict):
        return evaluated(value.get("extent", 0), shapes)
    if isinstance(value, list):
        return tuple(_settled(part, shapes) for part in value)
    return value


def _operation(a, shapes):
    """Return (record, attributes by name) of the represented operator."""
    attrs = _parsed(a.attrs, "attrs")
    require(isinstance(attrs, dict), "attribute attrs: expected an object")
    record = find(a.operator)
    attrs = {name: _settled(value, shapes) for name, value in attrs.items()}
    if record.num_args is not None:
        attrs = {record.num_args: a.num_inputs, **attrs}
    return record, attrs


def _infer(a, ins):
    shapes = [spec.shape for spec in ins]
    require(0 <= a.num_inputs <= len(ins), f"num_inputs: {a.num_inputs} exceeds {len(ins)} inputs")
    if all(shape is not None and -1 not in shape for shape in shapes):
        record, attrs = _operation(a, shapes)
        own = [Spec(spec.shape, spec.dtype) for spec in ins[: a.num_inputs]]
        return record.infer(attrs_of(record, attrs), own)
    outs = _parsed(a.results, "results")
    require(
        isinstance(outs, list) and len(outs) == a.num_outputs,
        f"attribute results: expected {a.num_outputs} shapes and dtypes",
    )
    return [
        Spec(
            tuple(-1 if (n := _settled(e, shapes)) is None or n < 0 else n for e in shape),
            dtypes.CODES[dtype],
        )
        for shape, dtype in outs
    ]


def expand_by_extents(builder, node, inputs):
    """Append the represented operator; return the entries of its outputs."""
    a = node.attrs
    record, attrs = _operation(a, [builder.spec(entry).shape for entry in inputs])
    number, _ = builder.add(record, attrs, inputs[: a.num_inputs], node.name, node.extra)
    return [(number, index) for index in range(a.num_outputs)]


def _no_reference(a, xp, *arrays):
    raise AssertionError("_by_extents is expanded before it is computed")


BY_EXTENTS = Op(
    "_by_extents",
    fields=[
        Field("operator", Str),
        Field("attrs", Str),
        Field("results", Str),
        Field("num_args", Int),
        Field("num_inputs", Int),
        Field("num_outputs", Int),
    ],
    inputs="",
    variadic="data",
    num_args="num_args",
    outputs=lambda a: numbered(a.num_outputs, "num_outputs"),
    infer=_infer,
    ref=_no_reference,
    doc="An operator of symbols whose attributes are computed from dimensions.",
)
