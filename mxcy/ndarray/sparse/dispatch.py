"""Dispatch of calls with sparse arrays: rules of records, and the dense fallback.

The fronts pass on every call with a sparse input or output, and those whose result is sparse. The
record's first matching rule runs; without one, sparse inputs are converted to dense ones, the dense
operator runs, and a warning is logged.
"""

import contextlib

from mxcy._base.suggestions import kind_of
from mxcy._library import front
from mxcy.base import MXNetError, _Null
from mxcy.ndarray.register import F
from mxcy.ndarray.sparse import fallback
from mxcy.ndarray.sparse.base import is_sparse, wrap
from mxcy.ops.core import stypes
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import Call
from mxcy.ops.sparse import compose

__all__ = ["run"]


@contextlib.contextmanager
def _unrecorded():
    before = front.set_recording(False)
    try:
        yield
    finally:
        front.set_recording(before)


def run(op, attrs, inputs, out=None):
    """Run an operator on arrays of any storage types.

    Parameters
    ----------
    op : Op
    attrs : Attrs
        Attributes, including dynamic ones.
    inputs : tuple of NDArray
    out : NDArray or list of NDArray, optional

    Returns
    -------
    NDArray or list of NDArray
    """
    specs = [Spec(array.shape, array.dtype_code) for array in inputs]
    kinds = tuple(array.stype for array in inputs)
    rule = stypes.find(op, attrs, kinds, specs)
    try:
        if rule is None or rule.run is stypes.DENSE:
            return _run_densely(op, attrs, inputs, out, rule)
        return _run_rule(op, attrs, inputs, specs, out, rule)
    except MXNetError as error:
        prefix = f"Error in operator {op.name}"
        if str(error).startswith("Error in operator"):
            raise
        raise MXNetError(f"{prefix}: {error}") from None


def _parts_of(array):
    return array._ordered if is_sparse(array) else array


def _wrapped(result):
    return wrap(result) if isinstance(result, (stypes.Csr, stypes.RowSparse)) else result


def _run_rule(op, attrs, inputs, specs, out, rule):
    """Run the function of a rule and record the call on the tape."""
    outs = op.infer(attrs, specs)
    targets = _listed(out)
    _check_outputs(op, outs, targets)
    if rule.warns:
        fallback.warn(op, attrs, inputs, targets, rule.out)
    with _unrecorded():
        if rule.updates:
            return _run_update(op, attrs, inputs, targets, rule)
        parts = [_parts_of(array) for array in inputs]
        if rule.run is stypes.STORED:
            data = _call(op, attrs, (parts[0].data,))
            results = [_wrapped(parts[0]._replace(data=data))]
        else:
            computed = rule.run(attrs, F, *parts)
            several = isinstance(computed, list)
            results = [_wrapped(each) for each in (computed if several else [computed])]
        for target, result in zip(targets, results, strict=False):
            put(result, target)
    results = targets or results
    if op.differentiable and front.is_recording():
        _record(op, attrs, inputs, specs, results, outs)
    return out if out is not None else results[0] if len(results) == 1 else results


def _run_update(op, attrs, inputs, targets, rule):
    """Run an optimizer's update, whose weight and states store all rows."""
    target = _updated(inputs[0], targets)
    if is_sparse(target) and target._parts.indices.shape[0] != target.shape[0]:
        raise MXNetError("weight: all rows of a row_sparse weight must be stored")
    for i in op.mutated(len(inputs)):
        if is_sparse(inputs[i]) and inputs[i]._parts.indices.shape[0] != inputs[i].shape[0]:
            inputs[i]._parts = compose.with_all_rows(F, inputs[i]._parts)
    rule.run(attrs, F, _parts_of(target), *map(_parts_of, inputs[1:]))
    return target


def _updated(weight, targets):
    """Prepare the array that an optimizer writes to: `out`, filled with the weight."""
    if not targets:
        return weight.copy()
    if targets[0] is not weight:
        weight.copyto(targets[0])
    return targets[0]


def _listed(out):
    if out is None:
        return []
    return list(out) if isinstance(out, (list, tuple)) else [out]


def _check_outputs(op, outs, targets):
    for array, spec in zip(targets, outs, strict=False):
        if not isinstance(array, front.NDArrayBase):
            raise TypeError(f"operator {op.name}: out must be an NDArray, got {kind_of(array)}")
        result = Spec(array.shape, array.dtype_code)
        if result != spec:
            raise MXNetError(f"argument out: expected {spec}, got {result}")
        if not array.writable:
            raise ValueError(f"operator {op.name}: argument out is a read-only array")


def put(result, target, all_rows=False):
    """Write a result to an array of any storage type; `all_rows` keeps zero rows."""
    if result is target:
        return
    if not is_sparse(target):
        result.copyto(target)
    elif is_sparse(result) and result.stype == target.stype:
        target._parts = result._parts
    elif all_rows and target.stype == "row_sparse":
        target._parts = compose.all_rows_of(F, result)
    else:
        dense = compose.to_dense(F, result._parts) if is_sparse(result) else result
        target._parts = compose.cast(F, dense, target.stype)


def _call(op, attrs, inputs, out=None):
    """Call an operator with parsed attributes."""
    raw = tuple(
        _Null if value is field.default else value
        for field in op.schema.fields
        for value in (getattr(attrs, field.name),)
    )
    return front.call(front.bind(op), inputs, raw, out, {})


def _run_densely(op, attrs, inputs, out, rule):
    """Run the dense operator on densified inputs, and copy its results to their targets."""
    dense = tuple(F.cast_storage(x, stype="default") if is_sparse(x) else x for x in inputs)
    targets = _listed(out)
    if rule is None and inputs:
        fallback.warn(op, attrs, inputs, targets, "default")
    replaced = [x for x in targets if is_sparse(x)]
    if not replaced:
        result = _call(op, attrs, dense, out)
    else:
        # The dense operator cannot write to a sparse array's memory.
        result = _call(op, attrs, dense)
        with _unrecorded():
            for array, target in zip(_listed(result), targets, strict=False):
                put(array, target, all_rows=not inputs)
        _keep_place(targets, _listed(result))
        result = out
    with _unrecorded():
        for i in op.mutated(len(inputs)):
            if is_sparse(inputs[i]):
                put(dense[i], inputs[i])
    return result


def _keep_place(targets, results):
    """Transfer results' tape nodes to the arrays they were written to."""
    for target, result in zip(targets, results, strict=False):
        if result.node is not None:
            target.node, target.node_index = result.node, result.node_index


def _record(op, attrs, inputs, specs, results, outs):
    """Record a call on the tape if one of its inputs is recorded."""
    if all(array.node is None for array in inputs):
        return
    node = front.Node()
    node.call, node.context = Call(op, attrs, specs, outs), results[0].context
    node.parents = tuple(array.node for array in inputs)
    node.positions = tuple(array.node_index for array in inputs)
    node.saved_inputs = list(inputs)
    node.saved_outputs = [array.detached() for array in results]
    for i, array in enumerate(results):
        array.node, array.node_index = node, i
