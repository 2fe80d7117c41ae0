"""Operator functions, made lazily from records with true signatures and docs.

`function(record)` makes the Python function of one operator. `Namespace` is the object `F` that
gradient rules use: it offers every operator under its registered name.
"""

from collections import namedtuple

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError, _Null
from mxcy.ops.core import record as records
from mxcy.ops.core.infer import InferError, Spec, refuse_complex

__all__ = ["Namespace", "F", "function"]

_made = {}


def signature(record):
    """The parameter list of a record's function as source text."""
    if record.variadic:
        inputs = [f"*{record.variadic}"]
    else:
        inputs = [f"{name}=None" for name in record.inputs]
    fields = [f"{name}=_Null" for name in record.schema.names]
    return ", ".join([*inputs, *fields, "out=None", "name=None", "**kwargs"])


def _tuple(names):
    return "(" + "".join(f"{name}, " for name in names) + ")"


def docstring(record):
    """Summary, parameters and returned value, from the record."""
    lines = [record.doc, "", "Parameters", "----------"]
    for name in record.inputs if not record.variadic else (record.variadic,):
        kind = "NDArray[]" if record.variadic else "NDArray"
        lines.append(f"{name} : {kind}{', optional' if name in record.optional else ''}")
    lines += [f"{field.name} : {field.text}" for field in record.schema.fields]
    lines += [
        "out : NDArray, optional",
        "    The array that takes the result.",
        "",
        "Returns",
        "-------",
    ]
    lines.append("NDArray or list of NDArrays")
    return "\n".join(lines)


_FROM_OUT = {
    "shape": "    if shape is _Null and out is not None:\n        shape = out.shape\n",
    "dtype": "    if dtype is _Null and out is not None:\n        dtype = out.dtype\n",
    # A new output holds nothing to go on from.
    "init_output": "    if out is None:\n        init_output = True\n",
}


def function(record, name=None):
    """The function of a record, made once for each name under which it is offered."""
    if record.foreign is not None:
        return record.foreign.function
    name = name or record.name
    made = _made.get((record.name, name))
    if made is None:
        made = _compile(record, name)
        if record.eager is None and record.variadic is None and not record.like_out:
            handle, fields = front.bind(record), record.schema.names
            made = front.function(made, handle, record.inputs, fields)
        _made[record.name, name] = made
    return made


def _eager(record, inputs, raw, out, extra):
    """Call an operator whose output's shape depends on values, by its rule `eager`."""
    given = dict(zip(record.schema.names, raw, strict=True), **extra)
    attrs = record.schema.intern(record.name, given)
    inputs = [
        x
        for x, name in zip(inputs, record.inputs, strict=True)
        if x is not None or name not in record.optional
    ]
    for array, name in zip(inputs, record.inputs, strict=False):
        if not isinstance(array, front.NDArrayBase):
            raise TypeError(f"operator {record.name}: argument {name} must have NDArray type")

    inputs = tuple(x if x.stype == "default" else x.tostype("default") for x in inputs)
    try:
        refuse_complex(record, [Spec(x.shape, x.dtype_code) for x in inputs])
    except InferError as error:
        raise MXNetError(f"Error in operator {record.name}: {error}") from None

    def beside(values):
        return front.from_numpy(values, dtypes.code_of(values.dtype), inputs[0].context)

    if front.is_deferred():
        found = _note_down(record, attrs, beside, inputs)
    else:
        found = record.eager(attrs, F, beside, *inputs)
    return found if out is None else F._copy(found, out=out)


_Noted = namedtuple("_Noted", "op attrs ins outs")  # what a noted operation says of itself


def _note_down(record, attrs, beside, inputs):
    """The same under deferred computation: the operator is noted, not how its rule computes it."""
    front.set_deferred(False)
    try:
        found = record.eager(attrs, F, beside, *[array.detach() for array in inputs])
    finally:
        front.set_deferred(True)
    outputs = found if isinstance(found, (list, tuple)) else (found,)
    ins, outs = ([Spec(x.shape, x.dtype_code) for x in group] for group in (inputs, outputs))
    node = front.Node()
    node.call, node.context, node.fresh = _Noted(record, attrs, ins, outs), inputs[0].context, True
    node.saved_inputs = inputs
    node.parents = tuple(array.node for array in inputs)
    node.positions = tuple(array.node_index for array in inputs)
    for index, array in enumerate(outputs):
        array.node, array.node_index = node, index
    return found


def _compile(record, name):
    inputs = record.variadic or _tuple(record.inputs)
    adopted = "".join(_FROM_OUT[field] for field in record.like_out)
    if "ctx" in record.schema.names:  # MXNet 2's name of it
        adopted += "    if 'device' in kwargs:\n        ctx = str(kwargs.pop('device'))\n"
    source = (
        f"def {name}({signature(record)}):\n{adopted}"
        f"    return _call(_handle, {inputs}, {_tuple(record.schema.names)}, out, kwargs)\n"
    )
    call, handle = (front.call, front.bind(record)) if record.eager is None else (_eager, record)
    scope = {"_Null": _Null, "_call": call, "_handle": handle}
    exec(compile(source, f"<operator {record.name}>", "exec"), scope)
    made = scope[name]
    made.__doc__ = docstring(record)
    made.__module__ = "mxcy.ndarray"
    made.__mx_params__ = {name: "NDArray-or-Symbol" for name in record.inputs}
    if record.variadic:
        made.__mx_params__[record.variadic] = "NDArray-or-Symbol[]"
    made.__mx_params__.update((field.name, field.text) for field in record.schema.fields)
    return made


class Namespace:
    """Every operator as an attribute."""

    def __getattr__(self, name):
        try:
            made = function(records.find(name))
        except records.MXNetError as error:
            raise AttributeError(str(error)) from None
        self.__dict__[name] = made
        return made


F = Namespace()
