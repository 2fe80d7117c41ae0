"""Execution of prepared calls, here or on a worker of the engine."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from mxcy._cy.elements cimport itemsize
from mxcy._cy.engine cimport MX_READS, MX_WRITES, is_naive, mx_operation
from mxcy._cy.native cimport (
    MX_ADD, MX_WRITE, mx_call, mx_gpu_wait, mx_last_error, mx_tensor, mx_threads_up_to,
)
from mxcy._cy.ndarray cimport NDArrayBase, make_array
from mxcy._cy.pending cimport mx_push_kernel
from mxcy._cy.pool cimport Pool, mx_temp_give, mx_temp_take, pool_of
from mxcy._cy.profiler cimport (
    MX_PROFILE_IMPERATIVE, MX_PROFILE_MEMORY, mx_profile_begin, mx_profile_device,
    mx_profile_end, mx_profile_owner, mx_profiled, mx_run_kernel, operator_source,
)
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport Shape
from mxcy._cy.storage cimport Storage, is_quiet, is_readable, wrote
from mxcy._cy.streams cimport Streams
from mxcy._cy.uses cimport Uses, limits, uses_on
from mxcy._cy.variants cimport HOST, MAX_PARAMS, NOGIL_WORK, SMALL_PARAMS, Prepared

from mxcy._base.errors import MXNetError, kernel_error

cdef enum:
    STACK_TENSORS = 16  # calls with more inputs and outputs allocate tensors on the heap

# Where a call runs: here with the GIL, here without it, or on a worker of the engine.
cdef enum:
    LOCKED = 0
    HELD = 1
    PUSHED = 2

cdef inline void fill_tensor(mx_tensor *tensor, NDArrayBase array) noexcept:
    tensor.data = array.data
    tensor.shape = array.layout.extents
    tensor.strides = NULL
    tensor.ndim = array.layout.ndim
    tensor.dtype = array.dtype_code


cdef int name_for_profiler(Prepared prepared, object context) except -1:
    """Report a call to an active profiler, which names the outputs' allocations after it."""
    if mx_profiled(MX_PROFILE_IMPERATIVE | MX_PROFILE_MEMORY):
        if context is not None:
            mx_profile_device(context.device_typeid, context.device_id)
        if prepared.source == 0:
            prepared.source = operator_source(prepared.call)
        if mx_profiled(MX_PROFILE_MEMORY):
            mx_profile_owner(prepared.source)
    return 0


cdef int run(Prepared prepared, tuple inputs, list outputs, const double *numbers, object context,
             const int32_t *reqs, bint strict) except -1:
    """Run a prepared call on arrays, or push it to the engine.

    An output may be None if its request is MX_NULL. `strict`: run synchronously,
    raising errors here.
    """
    cdef Streams streams = None
    cdef Uses uses
    cdef Prepared there
    cdef int how = PUSHED
    if prepared.mutated is not None:
        for position in prepared.mutated:
            wrote((<NDArrayBase>inputs[position]).storage)
    if prepared.uses_rng:
        streams = <Streams?>services.streams_of(context)
    if (prepared.kernel != NULL and prepared.work < NOGIL_WORK and prepared.work < limits.heavy_work
            and prepared.threads == 1
            and inputs_quiet(prepared, inputs) and outputs_quiet(prepared, outputs)
            and (streams is None or streams.is_quiet())):
        return start(
            prepared, inputs, outputs, numbers, context, reqs, streams, None, LOCKED, strict
        )
    uses = uses_of(prepared, inputs, outputs, reqs, streams, context)
    uses.strict = uses.strict or strict
    if (uses.strict or prepared.kernel == NULL or uses.exported or uses.device
            or (uses.quiet and prepared.work < limits.heavy_work)):
        how = HELD
        if not uses.hold():
            return uses.hand_on()
    if uses.device:
        there = for_device(prepared, inputs, outputs, reqs)
        if there is not None:
            context, there.source = uses.context, prepared.source
            return start(
                there, inputs, outputs, numbers, context, reqs, streams, uses, how, strict
            )
    if prepared.kernel == NULL or uses.device:
        return run_by_reference(prepared, inputs, outputs, numbers, uses)
    return start(
        prepared, inputs, outputs, numbers, context, reqs, streams, uses, how, strict
    )


cdef bint inputs_quiet(Prepared prepared, tuple inputs) noexcept:
    """Whether no input is being written, and no input written here is in use."""
    cdef int i
    cdef Storage storage
    for i in range(prepared.nin):
        storage = (<NDArrayBase>inputs[i]).storage
        if storage.var != NULL and not is_readable(storage):
            return False
    if prepared.mutated is not None:
        for i in prepared.mutated:
            if not is_quiet((<NDArrayBase>inputs[i]).storage):
                return False
    return True


cdef inline bint outputs_quiet(Prepared prepared, list outputs) noexcept:
    """Whether all outputs are quiet."""
    cdef int i
    cdef Storage storage
    for i in range(prepared.nout):
        if outputs[i] is None:
            continue
        storage = (<NDArrayBase>outputs[i]).storage
        if storage.var != NULL and not is_quiet(storage):
            return False
    return True


cdef Uses uses_of(Prepared prepared, tuple inputs, list outputs, const int32_t *reqs,
                  Streams streams, object context):
    """Collect the storages that a call reads and writes."""
    cdef Uses uses = uses_on(context)
    cdef int i
    for i in range(prepared.nin):
        uses.add((<NDArrayBase>inputs[i]).storage, MX_READS)
    if prepared.mutated is not None:
        for i in prepared.mutated:
            uses.add((<NDArrayBase>inputs[i]).storage, MX_READS | MX_WRITES)
    for i in range(prepared.nout):
        if outputs[i] is None:
            continue
        uses.add_output(<NDArrayBase>outputs[i])
        if reqs != NULL and reqs[i] == MX_ADD:
            uses.access[uses.count - 1] |= MX_READS
    if streams is not None:
        uses.quiet = uses.quiet and streams.is_quiet()
        uses.kept.append(streams)
        uses.add_var(streams.var, MX_WRITES)
    return uses


cdef Prepared for_device(Prepared prepared, tuple inputs, list outputs, const int32_t *reqs):
    """Get a device's kernel for a call; None to use the definition.

    That is the case if not all arrays are on the device, or if an output overlaps an input in a way
    that the kernel does not support.
    """
    cdef Prepared there
    cdef NDArrayBase array, other
    cdef int i, j, device = -1
    for i in range(prepared.nin + prepared.nout):
        array = inputs[i] if i < prepared.nin else outputs[i - prepared.nin]
        if array is None or not array.storage.device:
            return None
        j = array.storage.context.device_id
        if device >= 0 and device != j:
            return None
        device = j
    if reqs != NULL:
        for i in range(prepared.nout):
            if reqs[i] != MX_WRITE:
                return None
    there = prepared.on_device(inputs, device)
    if there is None:
        return None
    for i in range(prepared.nout):
        array = outputs[i]
        for j in range(prepared.nin):
            other = inputs[j]
            if other.storage is array.storage and (
                other.data != array.data
                or other.layout is not array.layout
                or itemsize[other.dtype_code] != itemsize[array.dtype_code]
                or not (
                    there.inplace
                    or j in there.call.overwrites
                    or (there.call.turns and j == i * there.call.turns)
                )
            ):
                return None
    return there


cdef int run_by_reference(Prepared prepared, tuple inputs, list outputs, const double *numbers,
                          Uses uses) except -1:
    """Run a call with held arrays by its definition, or on their device."""
    cdef int64_t began = mx_profile_begin(MX_PROFILE_IMPERATIVE)
    values = prepared.call.attrs
    schema = prepared.call.op.schema
    if numbers != NULL and schema.dynamic_names:
        scalars = [numbers[i] for i in range(schema.count(values))]
        values = schema.filled(values, scalars)
    try:
        services.run_reference(prepared.call, values, inputs, outputs)
    except (MXNetError, IndexError) as error:
        return uses.fail(error)
    except BaseException:
        uses.release()
        raise
    uses.release()
    mx_profile_end(prepared.source, began)
    return 0


cdef int start(Prepared prepared, tuple inputs, list outputs, const double *numbers,
               object context, const int32_t *reqs, Streams streams, Uses uses, int how,
               bint strict) except -1:
    """Run the kernel of a call in one of the three modes."""
    cdef mx_tensor tensors[STACK_TENSORS]
    cdef int32_t writes[STACK_TENSORS]
    cdef char params[MAX_PARAMS]
    cdef mx_tensor *ins = tensors
    cdef int32_t *req = writes
    cdef mx_operation about
    cdef mx_call call
    cdef Pool pool = None
    cdef int i, status, n = prepared.nin + prepared.nout
    if n > STACK_TENSORS:
        ins = <mx_tensor *>malloc(n * sizeof(mx_tensor))
        req = <int32_t *>malloc(n * sizeof(int32_t))
        if ins == NULL or req == NULL:
            free(ins)
            free(req)
            raise MemoryError()
    call.workspace = call.state = NULL
    try:
        for i in range(prepared.nin):
            fill_tensor(&ins[i], <NDArrayBase>inputs[i])
        for i in range(prepared.nout):
            req[i] = MX_WRITE if reqs == NULL else reqs[i]
            fill_tensor(&ins[prepared.nin + i], <NDArrayBase>outputs[i])
        call.nin, call.nout = prepared.nin, prepared.nout
        call.inputs, call.outputs, call.req = ins, ins + prepared.nin, req
        call.params = prepared.params_data
        if prepared.npatches:
            memcpy(params, prepared.params_data, len(prepared.params))
            for i in range(prepared.npatches):
                memcpy(params + prepared.patch_offset[i], &numbers[prepared.patch_number[i]], 8)
            call.params = params
        call.workspace_size = prepared.workspace
        call.rng = NULL if streams is None else streams.rng
        pool = pool_of(context)
        if how == PUSHED:
            call.threads = prepared.threads
            uses.describe(&about, prepared.call.op.name)
            status = mx_push_kernel(
                &about, prepared.kernel, &call, len(prepared.params or b""), pool.native,
                prepared.source
            )
            return uses.pushed(&about, status)
        call.threads = 1 if how == LOCKED else mx_threads_up_to(prepared.threads)
        if prepared.workspace:
            call.workspace = mx_temp_take(pool.native, prepared.workspace, 0)
            if call.workspace == NULL:
                fail(prepared, f"workspace: {mx_last_error().decode()}", inputs, outputs, uses,
                     strict)
                return 0
        if how == LOCKED:
            status = mx_run_kernel(prepared.kernel, &call, prepared.source, MX_PROFILE_IMPERATIVE)
        else:
            with nogil:
                status = mx_run_kernel(
                    prepared.kernel, &call, prepared.source, MX_PROFILE_IMPERATIVE
                )
                if status == 0 and prepared.device != HOST and uses.strict:
                    status = mx_gpu_wait(prepared.device)
                if status == 0:
                    uses.release()
        if status != 0:
            fail(prepared, mx_last_error().decode(), inputs, outputs, uses, strict)
    finally:
        if call.workspace != NULL:
            mx_temp_give(pool.native, call.workspace, prepared.workspace)
        if n > STACK_TENSORS:
            free(ins)
            free(req)
    return 0


cdef int fail(Prepared prepared, str text, tuple inputs, list outputs, Uses uses,
              bint strict) except -1:
    """Handle a failed kernel; `uses` is None if nothing is held."""
    error = kernel_error(f"Error in operator {prepared.call.op.name}: ", text)
    if uses is None:
        if strict or is_naive():
            raise error
        uses = uses_on(None)
        for array in outputs:
            uses.add((<NDArrayBase>array).storage, MX_WRITES)
        for position in prepared.mutated or ():
            uses.add((<NDArrayBase>inputs[position]).storage, MX_WRITES)
        uses.hold()
    return uses.fail(error)


cdef NDArrayBase run_simple(Prepared prepared, tuple inputs, const double *numbers, object context,
                            object cls):
    """Like `run` for a simple call with a new output."""
    cdef mx_tensor tensors[4]
    cdef char params[SMALL_PARAMS]
    cdef int32_t req = MX_WRITE
    cdef mx_call call
    cdef int i
    cdef Shape layout = <Shape>prepared.out_shapes[0]
    cdef NDArrayBase out = make_array(layout, prepared.out_dtypes[0], context, cls)
    for i in range(prepared.nin):
        fill_tensor(&tensors[i], <NDArrayBase>inputs[i])
    fill_tensor(&tensors[3], out)
    call.nin, call.nout, call.inputs, call.outputs = prepared.nin, 1, tensors, &tensors[3]
    call.req, call.threads, call.rng = &req, 1, NULL
    call.workspace, call.workspace_size, call.state = NULL, 0, NULL
    call.params = prepared.params_data
    if prepared.npatches:
        memcpy(params, prepared.params_data, len(prepared.params))
        for i in range(prepared.npatches):
            memcpy(params + prepared.patch_offset[i], &numbers[prepared.patch_number[i]], 8)
        call.params = params
    if mx_run_kernel(prepared.kernel, &call, prepared.source, MX_PROFILE_IMPERATIVE) != 0:
        fail(prepared, mx_last_error().decode(), inputs, [out], None, False)
    return out
