"""Eager calls of the Cython front: find the prepared call of a signature, allocate outputs, run,
and put the call on the tape.
"""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from mxcy._cy.elements cimport itemsize
from mxcy._cy.engine cimport MX_READS, is_naive, mx_operation
from mxcy._cy.homes cimport home_of, mixes
from mxcy._cy.modes cimport casting, deferred, recording
from mxcy._cy.ndarray cimport NDArrayBase, make_array, make_view
from mxcy._cy.pending cimport mx_push_copy
from mxcy._cy.profiler cimport (
    MX_EVENT_API, MX_PROFILE_API, MX_PROFILE_MEMORY, mx_profile_begin, mx_profile_end,
    mx_profile_owner, mx_profile_source, mx_profiled,
)
from mxcy._cy.running cimport inputs_quiet, name_for_profiler, run, run_simple
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, Shape
from mxcy._cy.storage cimport wrote
from mxcy._cy.tape cimport Node, has_history, keep_output
from mxcy._cy.uses cimport Uses, uses_on
from mxcy._cy.variants cimport CALL_NUMBERS, OpHandle, Prepared, Variant

from mxcy._cy.variants import spec_of
from mxcy._base.errors import MXNetError, TracedValueError
from mxcy._base.suggestions import kind_of
from mxcy.base import _Null

cdef enum:
    MANY_OUTPUTS = 8  # above this, inputs are looked up by storage


cdef object record(OpHandle handle, Prepared prepared, tuple inputs, NDArrayBase only, list outputs,
                   const double *numbers, object context):
    """Record a call if an input is recorded; `only` is the output if there is just one."""
    cdef int i
    cdef NDArrayBase array
    cdef Node node
    cdef bint wanted = False, positions = False
    for i in range(prepared.nin):
        array = <NDArrayBase>inputs[i]
        if has_history(array):
            wanted = True
            positions |= array.node_index != 0
    if not wanted and not deferred():
        return
    node = Node.__new__(Node)
    node.call, node.context = prepared.call, context
    node.nvalues = handle.nnumbers
    for i in range(handle.nnumbers):
        node.values[i] = numbers[i]
    if prepared.nin == 1:
        node.parents = ((<NDArrayBase>inputs[0]).node,)
    elif prepared.nin == 2:
        node.parents = ((<NDArrayBase>inputs[0]).node, (<NDArrayBase>inputs[1]).node)
    else:
        node.parents = tuple([(<NDArrayBase>a).node for a in inputs])
    if positions:
        node.positions = tuple([(<NDArrayBase>a).node_index for a in inputs])
    node.fresh = deferred()
    if node.fresh or handle.need_all_in or len(handle.need_in) == prepared.nin:
        node.saved_inputs = inputs
    elif handle.need_in:
        saved = [None] * prepared.nin
        for i in handle.need_in:
            if i < prepared.nin:
                saved[i] = inputs[i]
        node.saved_inputs = saved
    if only is not None:
        if handle.need_all_out or handle.need_out:
            keep_output(node, only)
        if not prepared.has_complex:  # complex rules need conjugated arrays
            node.handle = handle
        only.node, only.node_index = node, 0
        return
    if handle.need_all_out or handle.need_out:
        node.kept_outputs = [None] * prepared.nout
        for i in range(prepared.nout) if handle.need_all_out else handle.need_out:
            array = <NDArrayBase>outputs[i]
            node.kept_outputs[i] = make_view(array, array.layout, 0, services.array_class)
    for i in range(prepared.nout):
        array = <NDArrayBase>outputs[i]
        array.node, array.node_index = node, i


cdef bint clashes(Prepared prepared, int number, NDArrayBase out, tuple inputs, dict places):
    """Whether writing `out`, output `number`, could overwrite an input before it is read.

    `places` are the positions of inputs by storage; without it all are checked.
    """
    cdef NDArrayBase array
    for position in range(len(inputs)) if places is None else places.get(out.storage, ()):
        array = <NDArrayBase>inputs[position]
        if array.storage is out.storage and (
            not (
                prepared.inplace
                or position in prepared.call.overwrites
                or (prepared.call.turns and position == number * prepared.call.turns)
            )
            or array.data != out.data
            or itemsize[array.dtype_code] != itemsize[out.dtype_code]
            or array.layout is not out.layout
        ):
            return True
    return False


cdef dict places_of(tuple inputs):
    """Map storages to positions of inputs."""
    cdef dict places = {}
    cdef int i
    for i in range(len(inputs)):
        places.setdefault((<NDArrayBase>inputs[i]).storage, []).append(i)
    return places


cdef list given_outputs(Prepared prepared, object out, tuple inputs, list copies):
    """Make the list of output arrays for out=; those that clash are added to `copies`.

    None if one of them is sparse.
    """
    cdef list outputs = list(out) if isinstance(out, (list, tuple)) else [out]
    cdef NDArrayBase array
    cdef Shape layout
    cdef int i
    cdef dict places = places_of(inputs) if len(outputs) > MANY_OUTPUTS else None
    name = prepared.call.op.name
    if len(outputs) != prepared.visible and len(outputs) != prepared.nout:
        raise MXNetError(
            f"Error in operator {name}: out: expected {prepared.visible} arrays, got {len(outputs)}"
        )
    for i in range(len(outputs)):
        if not isinstance(outputs[i], NDArrayBase):
            raise TypeError(f"operator {name}: out must be an NDArray, got {kind_of(outputs[i])}")
        array = <NDArrayBase>outputs[i]
        layout = <Shape>prepared.out_shapes[i]
        if array.layout is SPARSE:
            return None
        if array.dtype_code != prepared.out_dtypes[i] or array.layout.dims != layout.dims:
            raise MXNetError(
                f"Error in operator {name}: argument out: expected {prepared.call.outs[i]}, "
                f"got {spec_of(array)}"
            )
        if not array.writable:
            raise ValueError(f"operator {name}: argument out is a read-only array")
        if deferred():
            raise TracedValueError(f"deferred computation: operator {name} has an out argument")
        if recording() and has_history(array):
            raise MXNetError(
                f"Error in operator {name}: Inplace operations (+=, -=, x[:]=, etc) are not "
                "supported when recording with autograd."
            )
        if clashes(prepared, i, array, inputs, places):
            copies.append((i, array))
            outputs[i] = None
    return outputs


cdef int copy_memory(NDArrayBase source, NDArrayBase target) except -1:
    """Copy the elements of an unshared array to one that does not overlap."""
    cdef mx_operation about
    cdef size_t size = target.layout.size * itemsize[target.dtype_code]
    cdef char *read = source.data
    cdef char *written = target.data
    cdef Uses uses = uses_on(target.storage.context)
    uses.add(source.storage, MX_READS)
    uses.add_output(target)
    if uses.quiet or uses.exported or uses.device or is_naive():
        if not uses.hold():
            return uses.hand_on()
        if uses.device:
            services.store_result(target, source)
            uses.release()
            return 0
        with nogil:
            memcpy(written, read, size)
            uses.release()
        return 0
    uses.describe(&about, "_copy")
    return uses.pushed(&about, mx_push_copy(&about, written, read, size))


cdef int32_t api_source = mx_profile_source(
    MX_EVENT_API, b"MXNET_C_API", b"MXImperativeInvokeEx", NULL
)


cdef object class_for(tuple inputs):
    """The class of a call's results: that of `mx.np` if any input has it."""
    for array in inputs:
        if type(array) is not services.array_class and isinstance(array, services.numpy_class):
            return services.numpy_class
    return services.array_class


cdef object invoke(Variant variant, tuple inputs, const double *numbers, object out, object cls):
    """Run an operator on arrays; return the visible outputs, an array or a list.

    Results have class `cls`; None: determined by the inputs.
    """
    cdef int64_t began = mx_profile_begin(MX_PROFILE_API | MX_PROFILE_MEMORY)
    results = perform(variant, inputs, numbers, out, cls)
    if began:
        mx_profile_owner(0)
        if mx_profiled(MX_PROFILE_API):
            mx_profile_end(api_source, began)
    return results


cdef bint other_type(Prepared prepared, object out):
    """Whether `out` is an array that differs from the single result only in dtype."""
    cdef NDArrayBase array
    if prepared.nout != 1 or not isinstance(out, NDArrayBase):
        return False
    array = <NDArrayBase>out
    return (
        array.dtype_code != prepared.out_dtypes[0]
        and array.layout.dims == (<Shape>prepared.out_shapes[0]).dims
    )


cdef object perform(Variant variant, tuple inputs, const double *numbers, object out, object cls):
    """Run `invoke` without counting an API call."""
    cdef OpHandle handle = variant.handle
    cdef Prepared prepared = variant.find(inputs)
    cdef list outputs, copies = None
    cdef NDArrayBase array
    cdef object context
    cdef int i
    if prepared is None:
        return perform_sparse(variant, inputs, numbers, out)
    if prepared.mixed:
        return perform_mixed(variant, inputs, numbers, out, cls)
    if prepared.nin:
        context = home_of((<NDArrayBase>inputs[0]).storage.context)
        for i in range(1, prepared.nin):
            other = (<NDArrayBase>inputs[i]).storage.context
            if other is not context and not mixes(context, other):
                raise MXNetError(
                    f"Error in operator {handle.op.name}: inputs live on different contexts, "
                    f"{context} and {other}"
                )
    else:
        context = services.context_of(variant.attrs) if out is None else None
    if cls is None:
        cls = services.array_class if services.numpy_class is None else class_for(inputs)
    if out is not None and cls is services.numpy_class and other_type(prepared, out):
        return services.numpy_store(perform(variant, inputs, numbers, None, cls), out)
    name_for_profiler(prepared, context)
    if out is None and prepared.simple and inputs_quiet(prepared, inputs):
        array = run_simple(prepared, inputs, numbers, context, cls)
        if recording() and (handle.differentiable or deferred()):
            record(handle, prepared, inputs, array, None, numbers, context)
        return array
    if out is None:
        outputs = []
    else:
        copies = []
        outputs = given_outputs(prepared, out, inputs, copies)
        if outputs is None:
            return perform_sparse(variant, inputs, numbers, out)
        if context is None:
            first = out[0] if isinstance(out, (list, tuple)) else out
            context = (<NDArrayBase>first).storage.context
    for i in range(prepared.nout):
        if i == len(outputs):
            outputs.append(
                make_array(<Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context, cls)
            )
        elif outputs[i] is None:
            outputs[i] = make_array(
                <Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context, cls
            )
    run(prepared, inputs, outputs, numbers, context, NULL, False)
    if copies:
        for i, target in copies:
            copy_memory(<NDArrayBase>outputs[i], <NDArrayBase>target)
            outputs[i] = target
    if recording() and (handle.differentiable or deferred()):
        only = outputs[0] if prepared.nout == 1 else None
        record(handle, prepared, inputs, only, outputs, numbers, context)
    if out is not None:
        for array in outputs:
            wrote(array.storage)
        return out
    if prepared.visible == 1:
        return outputs[0]
    return outputs[:prepared.visible]


cdef object perform_mixed(Variant variant, tuple inputs, const double *numbers, object out,
                          object cls):
    """Run a call that mixed precision changes, unless in gradient rules or with out=."""
    cdef double factor = 1.0
    if out is None and casting():
        inputs, factor = services.mixed_inputs(variant.handle.op, variant.attrs, inputs)
    return perform(variant.exact(factor), inputs, numbers, out, cls)


cdef object perform_sparse(Variant variant, tuple inputs, const double *numbers, object out):
    """Run a call that involves sparse arrays."""
    schema, attrs = variant.handle.op.schema, variant.attrs
    if deferred():
        raise TracedValueError("deferred computation: sparse arrays cannot be recorded")
    if numbers != NULL and schema.dynamic_names:
        attrs = schema.filled(attrs, [numbers[i] for i in range(schema.count(attrs))])
    return services.run_sparse(variant.handle.op, attrs, inputs, out)


cdef tuple given_inputs(op, tuple inputs):
    """Drop optional inputs that are None, at any position."""
    return tuple([
        x for x, name in zip(inputs, op.inputs, strict=False)
        if x is not None or name not in op.optional
    ])


cdef tuple checked_inputs(Variant variant, tuple inputs):
    """Check inputs, dropping missing optional ones."""
    cdef int n = len(inputs), i
    op = variant.handle.op
    if variant.arguments >= 0:
        while n > variant.arguments and inputs[n - 1] is None:
            n -= 1
        if n > variant.arguments:
            inputs = given_inputs(op, inputs)
            n = len(inputs)
        if n != variant.arguments or len(inputs) < n:
            names = op.arguments(variant.attrs)
            raise MXNetError(
                f"Error in operator {op.name}: expected {len(names)} inputs "
                f"({', '.join(names)}), got {n}"
            )
        if n != len(inputs):
            inputs = inputs[:n]
    for i in range(n):
        if not isinstance(inputs[i], NDArrayBase):
            name = op.input_names(n)[i]
            if inputs[i] is None:
                raise MXNetError(f"Error in operator {op.name}: argument {name} is missing")
            raise TypeError(
                f"operator {op.name}: argument {name} must have NDArray type, "
                f"but got {inputs[i]!r:.80}"
            )
    return inputs


cdef object call_operator(OpHandle handle, tuple inputs, tuple raw, object out, dict extra,
                          object cls):
    """Call from generated functions: raw attributes in schema order, `_Null` if not given."""
    cdef double numbers[CALL_NUMBERS]
    cdef Variant variant = handle.variant(raw, numbers, extra, len(inputs))
    cdef int n = len(inputs), i
    if variant.arguments >= 0 and variant.arguments != n:
        inputs = checked_inputs(variant, inputs)
    else:
        for i in range(n):
            if not isinstance(inputs[i], NDArrayBase):
                inputs = checked_inputs(variant, inputs)
    return invoke(variant, inputs, numbers, out, cls)


def call(OpHandle handle not None, tuple inputs, tuple raw, out, dict extra, cls=None):
    """`call_operator` for Python."""
    return call_operator(handle, inputs, raw, out, extra, cls)


def record_view(OpHandle handle not None, NDArrayBase source not None, dict attrs,
                NDArrayBase view not None):
    """Record `view`, which shares the memory of `source`, as an operator's only output."""
    cdef double numbers[CALL_NUMBERS]
    cdef tuple raw = tuple([attrs.get(name, _Null) for name in handle.schema.names])
    cdef Variant variant = handle.variant(raw, numbers, None, 1)
    cdef tuple inputs = (source,)
    cdef Prepared prepared = variant.find(inputs)
    if prepared.mixed:
        prepared = variant.exact(1.0).find(inputs)
    if prepared.nout != 1 or prepared.out_shapes[0] is not view.layout:
        raise MXNetError(
            f"operator {handle.op.name}: expected {prepared.call.outs}, "
            f"got a view of shape {view.shape}"
        )
    record(handle, prepared, inputs, view, None, numbers, source.storage.context)
