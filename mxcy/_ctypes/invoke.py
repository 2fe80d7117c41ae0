"""Eager calls of the ctypes front: the same steps as `_cy/invoke.pyx`, in plain Python."""

from mxcy._base.errors import MXNetError, TracedValueError
from mxcy._base.suggestions import kind_of
from mxcy._ctypes import profiler
from mxcy._ctypes.creation import empty
from mxcy._ctypes.engine import READS
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.modes import state
from mxcy._ctypes.ndarray import NDArrayBase, class_of, home_of, in_numpy, mixes
from mxcy._ctypes.services import services
from mxcy._ctypes.tape import Node, history
from mxcy._ctypes.uses import Uses

__all__ = ["call", "clashes", "invoke", "record_view"]


def _record(handle, prepared, inputs, outputs, numbers, context):
    """Record a call on the tape if one of its inputs is recorded."""
    if not state.deferred and not any([history(array) is not None for array in inputs]):
        return
    node = Node()
    node.call, node.context, node.numbers = prepared.call, context, numbers
    node.parents = tuple(array.node for array in inputs)
    node.positions = tuple(array.node_index for array in inputs)
    needs = handle.op.grad_needs
    wanted = {i for kind, i in needs if kind == "in"}
    node.fresh = state.deferred  # recorded, with all inputs
    if node.fresh or any(kind == "ins" for kind, _ in needs):
        wanted = set(range(len(inputs)))
    node.saved_inputs = [a if i in wanted else None for i, a in enumerate(inputs)]
    wanted = {i for kind, i in needs if kind == "out"}
    if any(kind == "outs" for kind, _ in needs):
        wanted = set(range(len(outputs)))
    # Views: an output itself refers to the node, and a cycle would keep both alive.
    node.saved_outputs = [
        a.detached(services.array_class) if i in wanted else None for i, a in enumerate(outputs)
    ]
    for i, array in enumerate(outputs):
        array.node, array.node_index = node, i


def clashes(prepared, number, out, inputs):
    """Whether writing `out`, output `number`, could overwrite an input before it is read."""
    return any(
        array.shares_memory(out)
        and not (
            (
                prepared.call.inplace
                or position in prepared.call.overwrites
                or (prepared.call.turns and position == number * prepared.call.turns)
            )
            and array.address == out.address
            and array.shape == out.shape
            and array._memory.itemsize == out._memory.itemsize
        )
        for position, array in enumerate(inputs)
    )


def _given_outputs(prepared, out):
    """The output arrays of a call with out=, checked; None if one of them is sparse."""
    call = prepared.call
    name, outputs = call.op.name, list(out) if isinstance(out, (list, tuple)) else [out]
    if len(outputs) not in (call.visible, len(call.outs)):
        raise MXNetError(
            f"Error in operator {name}: out takes {call.visible} arrays, got {len(outputs)}"
        )
    for array, spec in zip(outputs, call.outs, strict=False):
        if not isinstance(array, NDArrayBase):
            raise TypeError(f"operator {name}: out must be an NDArray, got {kind_of(array)}")
        if array.kind is None:
            return None
        if array.dtype_code != spec.dtype or array.shape != tuple(spec.shape):
            raise MXNetError(
                f"Error in operator {name}: argument out: expected {spec}, "
                f"got {services.spec(array.shape, array.dtype_code)}"
            )
        if not array.writable:
            raise ValueError(f"operator {name}: argument out is a read-only array")
        if state.deferred:
            raise TracedValueError(f"deferred computation: operator {name} has an out argument")
        if state.recording and history(array) is not None:
            raise MXNetError(
                f"Error in operator {name}: Inplace operations (+=, -=, x[:]=, etc) are not "
                "supported "
                "when recording with autograd."
            )
    return outputs


def _copy_memory(source, target):
    """Copy the elements of an unshared array to one that does not overlap."""
    uses = Uses(target.context)
    uses.add(source._storage, READS)
    uses.add_output(target)
    if not (uses.quiet or uses.exported or uses.device or uses.strict):
        size = target._memory.nbytes
        uses.push("_copy", locked.mx_push_copy, target.address, source.address, size)
    elif uses.hold():
        if uses.device:
            services.store_result(target, source)
        else:
            target._memory[...] = source._memory
        uses.release()
    else:
        uses.hand_on()


def invoke(variant, inputs, numbers, out, cls=None):
    """Run an operator on arrays; return the visible outputs, an array or a list.

    Results have class `cls`; None: determined by the inputs.
    """
    if not profiler.profiled.value & profiler.CALLS:
        return _perform(variant, inputs, numbers, out, cls)
    began = profiler.now()
    prepared = variant.find(inputs)
    if prepared is not None:
        profiler.set_owner(prepared.named_source())
    context = inputs[0].context if inputs else services.context_of(variant.attrs)
    profiler.set_device(context.device_typeid, context.device_id)
    results = _perform(variant, inputs, numbers, out, cls)
    profiler.set_owner(0)
    profiler.api_end("MXImperativeInvokeEx", began)
    return results


def _perform(variant, inputs, numbers, out, cls):
    handle, prepared = variant.handle, variant.find(inputs)
    if prepared is None:
        return _perform_sparse(variant, inputs, numbers, out)
    if prepared.call.mixed:
        return _perform_mixed(variant, inputs, numbers, out, cls)
    call, targets = prepared.call, []
    cls = cls or class_of(*inputs)
    if out is not None and cls is in_numpy.cls and _other_type(prepared, out):
        return in_numpy.store(_perform(variant, inputs, numbers, None, cls), out)
    if out is not None:
        targets = _given_outputs(prepared, out)
        if targets is None:
            return _perform_sparse(variant, inputs, numbers, out)
    if inputs:
        context = home_of(inputs[0].context)
        for array in inputs:
            if array.context is not context and not mixes(context, array.context):
                raise MXNetError(
                    f"Error in operator {handle.op.name}: inputs live on different contexts, "
                    f"{context} and {array.context}"
                )
    else:
        context = targets[0].context if targets else services.context_of(variant.attrs)
    outputs, copies = [], []
    for i, (shape, dtype) in enumerate(prepared.outs):
        target = targets[i] if i < len(targets) else None
        if target is not None and clashes(prepared, i, target, inputs):
            copies.append((i, target))
            target = None
        outputs.append(empty(shape, dtype, context, cls) if target is None else target)
    prepared.run(inputs, outputs, numbers, context)
    for i, target in copies:
        _copy_memory(outputs[i], target)
        outputs[i] = target
    if state.deferred or (state.recording and handle.op.differentiable):
        _record(handle, prepared, inputs, outputs, numbers, context)
    if out is not None:
        for array in outputs:
            array.touch()
        return out
    return outputs[0] if call.visible == 1 else outputs[: call.visible]


def _other_type(prepared, out):
    """Whether `out` is an array that differs from the single result only in dtype."""
    if len(prepared.outs) != 1 or not isinstance(out, NDArrayBase):
        return False
    shape, dtype = prepared.outs[0]
    return out.dtype_code != dtype and out.shape == shape


def _perform_mixed(variant, inputs, numbers, out, cls):
    """Run a call that mixed precision changes, unless in gradient rules or with out=."""
    factor = 1.0
    if out is None and state.casting:
        inputs, factor = services.mixed_inputs(variant.handle.op, variant.attrs, inputs)
    return _perform(variant.exact(factor), inputs, numbers, out, cls)


def _perform_sparse(variant, inputs, numbers, out):
    """Run a call that involves sparse arrays."""
    op, attrs = variant.handle.op, variant.attrs
    if state.deferred:
        raise TracedValueError("deferred computation: sparse arrays cannot be recorded")
    attrs = op.schema.filled(attrs, numbers) if numbers else attrs
    return services.run_sparse(op, attrs, inputs, out)


def _given_inputs(op, inputs):
    """Drop optional inputs that are None, at any position."""
    return tuple(
        x
        for x, name in zip(inputs, op.inputs, strict=False)
        if x is not None or name not in op.optional
    )


def _checked_inputs(variant, inputs):
    """Check inputs, dropping missing optional ones."""
    op, n = variant.handle.op, len(inputs)
    if variant.arguments is not None:
        while n > variant.arguments and inputs[n - 1] is None:
            n -= 1
        if n > variant.arguments:
            inputs = _given_inputs(op, inputs)
            n = len(inputs)
        if n != variant.arguments:
            names = op.arguments(variant.attrs)
            raise MXNetError(
                f"Error in operator {op.name}: expected {len(names)} inputs "
                f"({', '.join(names)}), got {n}"
            )
        inputs = inputs[:n]
    for i, array in enumerate(inputs):
        if not isinstance(array, NDArrayBase):
            name = op.input_names(n)[i]
            if array is None:
                raise MXNetError(f"Error in operator {op.name}: argument {name} is missing")
            raise TypeError(
                f"operator {op.name}: argument {name} must have NDArray type, but got {array!r:.80}"
            )
    return inputs


def call(handle, inputs, raw, out, extra, cls=None):
    """Call from generated functions: raw attributes in schema order, `_Null` if not given."""
    if extra or not handle.plain:
        attrs = {**handle.attributes(raw), **extra}
        if handle.op.num_args is not None:
            attrs.setdefault(handle.op.num_args, len(inputs))
        variant = handle.variant(attrs)
        numbers = handle.schema.dynamic_values(handle.op.name, attrs)
    else:
        variant, numbers = handle.known_variant(raw), handle.numbers(raw)
    return invoke(variant, _checked_inputs(variant, inputs), numbers, out, cls)


def record_view(handle, source, attrs, view):
    """Put `view`, which shares the memory of `source`, on the tape; see `_cy/invoke.pyx`."""
    variant = handle.variant(attrs)
    prepared = variant.find((source,))
    if prepared.call.mixed:
        prepared = variant.exact(1.0).find((source,))
    if prepared.outs != [(view.shape, view.dtype_code)]:
        raise MXNetError(
            f"operator {handle.op.name}: expected {prepared.call.outs}, got a view of shape "
            f"{view.shape}"
        )
    numbers = handle.schema.dynamic_values(handle.op.name, attrs)
    _record(handle, prepared, (source,), [view], numbers, source.context)
