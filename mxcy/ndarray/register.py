"""Operator functions, generated lazily from records with signatures and docstrings.

`function(record)` returns the Python function of an operator. Gradient rules use `F`, which offers
every operator under all its names.
"""

from collections import namedtuple

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.functions import (
    Namespace,
    compile_function,
    docstring,
    operands,
    signature,
    tuple_source,
)
from mxcy.ops.core.infer import InferError, Spec, refuse_complex

__all__ = ["F", "function"]

_functions = {}


_AFTER_ATTRIBUTES = (
    "out : NDArray, optional",
    "    Array to write the result to.",
    "",
    "Returns",
    "-------",
    "NDArray or list of NDArrays",
)
_FROM_OUT = {
    "shape": "    if shape is _Null and out is not None:\n        shape = out.shape\n",
    "dtype": "    if dtype is _Null and out is not None:\n        dtype = out.dtype\n",
    # A new output has no previous contents.
    "init_output": "    if out is None:\n        init_output = True\n",
}


def function(record, name=None):
    """Return the function of a record, created once per name."""
    if record.foreign is not None:
        return record.foreign.function
    name = name or record.name
    compiled = _functions.get((record.name, name))
    if compiled is None:
        compiled = _compile(record, name)
        if record.eager is None and record.variadic is None and not record.like_out:
            handle, fields = front.bind(record), record.schema.names
            compiled = front.function(compiled, handle, record.inputs, fields)
        _functions[record.name, name] = compiled
    return compiled


def _eager(record, inputs, raw, out, extra):
    """Call an operator with a value-dependent output shape, by its rule `eager`."""
    options = dict(zip(record.schema.names, raw, strict=True), **extra)
    attrs = record.schema.intern(record.name, options)
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
        outputs = _note_down(record, attrs, beside, inputs)
    else:
        outputs = record.eager(attrs, F, beside, *inputs)
    return outputs if out is None else F._copy(outputs, out=out)


_Noted = namedtuple("_Noted", "op attrs ins outs")  # description of a recorded operation


def _note_down(record, attrs, beside, inputs):
    """Record the operator itself for deferred computation, rather than its rule's operators."""
    number = front.set_deferred(0)
    try:
        result = record.eager(attrs, F, beside, *[array.detach() for array in inputs])
    finally:
        front.set_deferred(number)
    outputs = result if isinstance(result, (list, tuple)) else (result,)
    ins, outs = ([Spec(x.shape, x.dtype_code) for x in group] for group in (inputs, outputs))
    node = front.Node()
    node.call, node.context = _Noted(record, attrs, ins, outs), inputs[0].context
    node.fresh = number
    node.saved_inputs = inputs
    node.parents = tuple(array.node for array in inputs)
    node.positions = tuple(array.node_index for array in inputs)
    for index, array in enumerate(outputs):
        array.node, array.node_index = node, index
    return result


def _compile(record, name):
    adopted = "".join(_FROM_OUT[field] for field in record.like_out)
    fields = record.schema.names
    if "ctx" in fields:  # ctx in MXNet 2
        adopted += "    if 'device' in kwargs:\n        ctx = str(kwargs.pop('device'))\n"
    source = (
        f"def {name}({signature(record, 'out=None', 'name=None')}):\n{adopted}"
        f"    return _call(_handle, {operands(record)}, {tuple_source(fields)}, out, kwargs)\n"
    )
    call, handle = (front.call, front.bind(record)) if record.eager is None else (_eager, record)
    doc = docstring(record, "NDArray", _AFTER_ATTRIBUTES)
    scope = {"_call": call, "_handle": handle}
    return compile_function(record, name, source, scope, "mxcy.ndarray", doc)


F = Namespace(lambda record, name: function(record))
