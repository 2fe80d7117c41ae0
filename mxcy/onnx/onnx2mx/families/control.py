"""Control flow, expanded inline when a model is imported.

Loops are unrolled. Conditions are known at import, or both branches are computed and one is
selected, like conditions and loops in symbols.
"""

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.values import Value

__all__ = []

#: maximum number of steps of an unrolled loop
_MOST = 1 << 14


@row("If")
def if_(F, a, condition):
    if condition.array is not None:
        branch = a.then_branch if bool(condition.array.reshape(-1)[0]) else a.else_branch
        return tuple(a.run(branch, []))
    then, other = a.run(a.then_branch, []), a.run(a.else_branch, [])
    flag = condition.reshape()
    outputs = []
    for left, right in zip(then, other, strict=True):
        if not isinstance(left, Value) or left.spec.shape != right.spec.shape:
            condition.numbers("the condition of branches with results of different shapes")
        outputs.append(F.where(flag, left, right))
    return tuple(outputs)


def _stacked(F, rows, shape_of):
    if not rows:
        raise MXNetError("a loop without steps whose outputs have unknown shapes")
    return F("_npi_stack", *rows, axis=0)


@row("Loop")
def loop(F, a, trips=None, condition=None, *carried):
    most = None if trips is None else trips.integers("the input M")[0]
    goes_on = True
    if condition is not None and condition.array is not None:
        goes_on = bool(condition.array.reshape(-1)[0])
    elif condition is not None:
        goes_on = bool(condition.numbers("the condition of a loop").reshape(-1)[0])
    states, rows, step = list(carried), [], 0
    while goes_on and (most is None or step < most):
        if step >= _MOST:
            raise MXNetError(f"a loop of more than {_MOST} steps")
        number = F.constant(np.array(step, np.int64))
        outputs = a.run(a.body, [number, F.constant(np.array(True)), *states])
        states = outputs[1 : 1 + len(carried)]
        rows.append(outputs[1 + len(carried) :])
        following = outputs[0]
        goes_on = bool(following.numbers("the condition of a loop's next step").reshape(-1)[0])
        step += 1
    count = len(a.body.output) - 1 - len(carried)
    if not rows:
        return (*states, *(_no_rows(F, a.body.output[1 + len(carried) + i]) for i in range(count)))
    return (*states, *(F("_npi_stack", *column, axis=0) for column in zip(*rows, strict=True)))


def _no_rows(F, output):
    """The empty scan output of a loop without steps, from the shape in the file."""
    from mxcy._base import dtypes
    from mxcy.onnx.onnx2mx.tensors import code_of

    tensor = output.type.tensor_type
    code = code_of(tensor.elem_type)
    extents = [d.dim_value for d in tensor.shape.dim]
    return F.constant(np.zeros((0, *extents), dtypes.dtype_of(code)), code)


@row("Scan", since=8)
def scan_of_batches(F, a, lengths, *values):
    """Scan of opset 8, applied to each sequence of a batch."""
    if lengths is not None:
        raise NotImplementedError("the input sequence_lens is not implemented")
    batch = values[0].full_shape[0]
    outputs = []
    for i in range(batch):
        own = [F.part(value, 0, i, i + 1).reshape(*value.full_shape[1:]) for value in values]
        outputs.append(_scanned(F, a, own, a.directions, None, None, None))
    return tuple(F("_npi_stack", *column, axis=0) for column in zip(*outputs, strict=True))


@row("Scan", since=9)
def scan(F, a, *values):
    return _scanned(
        F,
        a,
        values,
        a.scan_input_directions,
        a.scan_input_axes,
        a.scan_output_directions,
        a.scan_output_axes,
    )


def _scanned(F, a, values, directions, axes, out_directions, out_axes):
    count = a.num_scan_inputs
    states, inputs = list(values[: len(values) - count]), list(values[len(values) - count :])
    directions = directions or (0,) * count
    axes = [axis % v.ndim for axis, v in zip(axes or (0,) * count, inputs, strict=True)]
    steps = inputs[0].shape[axes[0]]
    if steps == -1:
        inputs[0].full_shape  # noqa: B018  raises: the steps have to be known
    if steps > _MOST:
        raise MXNetError(f"a scan of more than {_MOST} steps")
    columns = []
    for value, axis, backwards in zip(inputs, axes, directions, strict=True):
        shape = tuple(n for i, n in enumerate(value.shape) if i != axis)
        parts = [F.part(value, axis, i, i + 1).reshape(*shape) for i in range(steps)]
        columns.append(parts[::-1] if backwards else parts)
    rows = []
    for step in range(steps):
        outputs = a.run(a.body, [*states, *(column[step] for column in columns)])
        states, row_ = outputs[: len(states)], outputs[len(states) :]
        rows.append(row_)
    result = []
    for i, column in enumerate(zip(*rows, strict=True)):
        backwards = bool(out_directions and out_directions[i])
        axis = out_axes[i] if out_axes else 0
        axis %= column[0].ndim + 1
        result.append(F("_npi_stack", *(column[::-1] if backwards else column), axis=axis))
    return (*states, *result)
