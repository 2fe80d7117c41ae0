"""Eager calls of the Cython front: find the prepared call of a signature, allocate outputs, run.

A record gets one OpHandle, each set of static attributes one Variant, and each signature (the
inputs' shapes and element types) one Prepared, which holds all that running needs. A hit runs no
Python code.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython

from mxcy._cy.engine cimport MX_READS, MX_WRITES, is_naive, mx_operation
from mxcy._cy.native cimport (
    MX_ADD, MX_NULL, MX_TAKES_ADD, MX_WRITE, mx_call, mx_kernel_find, mx_last_error,
    mx_tensor, mx_threads_for,
)
from mxcy._cy.ndarray cimport (
    NDArrayBase, Shape, Storage, home_of, is_quiet, itemsize, make_array, make_view, mixes,
    shape_of, wrote,
)
from mxcy._cy.pending cimport mx_push_copy, mx_push_kernel
from mxcy._cy.pool cimport Pool, mx_temp_give, mx_temp_take, pool_of
from mxcy._cy.profiler cimport (
    MX_EVENT_API, MX_PROFILE_API, MX_PROFILE_IMPERATIVE, MX_PROFILE_MEMORY, mx_profile_begin,
    mx_profile_device, mx_profile_end, mx_profile_owner, mx_profile_source, mx_profiled,
    mx_run_kernel, operator_source,
)
from mxcy._cy.streams cimport Streams
from mxcy._cy.tape cimport MAX_NUMBERS, Node, keep_output, recording, training
from mxcy._cy.uses cimport Uses, heavy_work, uses_on

from mxcy._cy import native as library
from mxcy.base import MXNetError, _Null, kernel_error

cdef enum:
    STACK_TENSORS = 16  # calls with more inputs and outputs take their tensors from the heap
    MAX_PARAMS = 4096
    SMALL_PARAMS = 128
    NEAR = 8  # signatures of a variant that are compared one by one before the dictionary is asked
    MAX_CACHED = 8192  # entries of any cache here; then it starts afresh
    MAX_TUPLES = 3  # dynamic tuples of an operator, of 60 numbers each
    CALL_NUMBERS = 8 + MAX_TUPLES * 60  # of one call: MAX_NUMBERS and those of tuples

# Where a call runs: here with the Python lock, here without it, or on a worker of the engine.
cdef enum:
    LOCKED = 0
    HELD = 1
    PUSHED = 2

# Cheaper calls, of a few microseconds at most, keep the Python lock: giving it up costs more.
cdef int64_t NOGIL_WORK = 20000

cdef object prepare_call, spec_class, run_reference, streams_of, context_of


def plug(prepare, spec, reference, streams, context):
    """Set what this front needs from the layers above.

    Parameters
    ----------
    prepare, spec, reference
        `mxcy.ops.prepare.prepare`, `mxcy.ops.infer.Spec` and `mxcy.ops.reference.run`.
    streams : callable
        ``streams(context)`` gives the `Streams` of a context.
    context : callable
        ``context(attrs)`` gives the context of an operator without inputs.
    """
    global prepare_call, spec_class, run_reference, streams_of, context_of
    prepare_call, spec_class, run_reference = prepare, spec, reference
    streams_of, context_of = streams, context


def plugged(str name):
    """What `plug` set: ``'reference'`` or ``'streams'``."""
    return run_reference if name == "reference" else streams_of


@cython.final
cdef class Prepared:
    """A call that is ready to run for one signature."""

    def __dealloc__(self):
        free(self.in_layouts)
        free(self.in_dtypes)
        free(self.out_dtypes)
        free(self.patch_number)
        free(self.patch_offset)

    cdef bint fits(self, tuple inputs):
        cdef int i
        cdef NDArrayBase array
        if self.nin != len(inputs):
            return False
        for i in range(self.nin):
            array = <NDArrayBase>inputs[i]
            if <void *>array.layout != self.in_layouts[i] or array.dtype_code != self.in_dtypes[i]:
                return False
        return True


cdef Prepared prepare_for(OpHandle handle, attrs, tuple inputs, force):
    """Prepare the call of a new signature."""
    cdef Prepared made = Prepared.__new__(Prepared)
    cdef NDArrayBase array
    cdef int i
    call = prepare_call(
        handle.op, attrs, [spec_class(a.shape, a.dtype_code) for a in inputs], library, force
    )
    made.call = call
    made.nin, made.nout, made.visible = len(inputs), len(call.outs), call.visible
    made.in_layouts = <void **>malloc(8 * max(made.nin, 1))
    made.in_dtypes = <int32_t *>malloc(4 * max(made.nin, 1))
    made.out_dtypes = <int32_t *>malloc(4 * max(made.nout, 1))
    if made.in_layouts == NULL or made.in_dtypes == NULL or made.out_dtypes == NULL:
        raise MemoryError()
    made.in_shapes, made.out_shapes = [], []
    for i in range(made.nin):
        array = <NDArrayBase>inputs[i]
        made.in_shapes.append(array.layout)
        made.in_layouts[i] = <void *>array.layout
        made.in_dtypes[i] = array.dtype_code
    for i in range(made.nout):
        made.out_shapes.append(shape_of(tuple(call.outs[i].shape)))
        made.out_dtypes[i] = call.outs[i].dtype
    if call.kernel is not None:
        made.kernel = mx_kernel_find(call.kernel.encode(), call.dtype, &made.flags)
    if call.params is not None:
        made.params = call.params
        made.params_data = made.params
        if len(made.params) > MAX_PARAMS:
            raise MXNetError(f"operator {handle.op.name}: the parameter struct is too large")
        made.npatches = len(call.patches)
        made.patch_number = <int *>malloc(sizeof(int) * max(made.npatches, 1))
        made.patch_offset = <int *>malloc(sizeof(int) * max(made.npatches, 1))
        if made.patch_number == NULL or made.patch_offset == NULL:
            raise MemoryError()
        for i in range(made.npatches):
            made.patch_number[i], made.patch_offset[i] = call.patches[i]
    made.mutated = handle.op.mutated(made.nin) or None
    made.workspace, made.work, made.threads = call.workspace, call.work, call.threads
    made.inplace, made.uses_rng = call.inplace, handle.op.uses_rng
    made.simple = (
        made.kernel != NULL and made.nout == 1 and 1 <= made.nin <= 3 and made.workspace == 0
        and made.mutated is None and not made.uses_rng and made.threads == 1
        and made.work < min(NOGIL_WORK, heavy_work)
        and len(call.params or b"") <= SMALL_PARAMS
    )
    return made


@cython.final
cdef class Variant:
    """An operator with one set of static attributes."""

    cdef Prepared find(self, tuple inputs):
        cdef Prepared prepared
        for prepared in self.near:
            if prepared.fits(inputs):
                return prepared
        if self.far is None:
            prepared = prepare_for(self.handle, self.attrs, inputs, None)
            self.near.append(prepared)
            if len(self.near) == NEAR:
                self.far = {}
            return prepared
        key = tuple([(a.shape, a.dtype_code) for a in inputs])
        found = self.far.get(key)
        if found is None or not (<Prepared>found).fits(inputs):
            found = prepare_for(self.handle, self.attrs, inputs, None)
            if len(self.far) >= MAX_CACHED:
                self.far.clear()
            self.far[key] = found
        return <Prepared>found


@cython.final
cdef class OpHandle:
    """A record as this front sees it."""

    def __init__(self, op):
        self.op, self.schema = op, op.schema
        self.variadic, self.num_args = op.variadic, op.num_args
        self.uses_mode, self.differentiable = op.uses_mode, op.differentiable
        fields = op.schema.fields
        self.is_dynamic = [f in op.schema.dynamic for f in fields]
        self.is_tuple = [f in op.schema.tuples for f in fields]
        self.nfields, self.nnumbers = len(fields), len(op.schema.dynamic)
        self.num_args_field = op.schema.names.index(op.num_args) if op.num_args is not None else -1
        if self.nnumbers > MAX_NUMBERS:
            raise ValueError(f"operator {op.name} has more than {MAX_NUMBERS} dynamic attributes")
        if len(op.schema.tuples) > MAX_TUPLES:
            raise ValueError(f"operator {op.name} has more than {MAX_TUPLES} dynamic tuples")
        self.variants0, self.variants1 = {}, {}
        needs = op.grad_needs
        self.need_all_in = any(kind == "ins" for kind, _ in needs)
        self.need_all_out = any(kind == "outs" for kind, _ in needs)
        self.need_in = tuple([i for kind, i in needs if kind == "in"])
        self.need_out = tuple([i for kind, i in needs if kind == "out"])

    cdef Variant make_variant(self, dict given, bint mode):
        cdef Variant made = Variant.__new__(Variant)
        attrs = self.schema.intern(self.op.name, given)
        if self.uses_mode:
            attrs = attrs.with_values(("train",), (mode,))
        made.handle, made.attrs = self, attrs
        made.arguments = -1 if self.variadic is not None else len(self.op.arguments(attrs))
        made.near = []
        return made

    cdef Variant variant(self, tuple raw, double *numbers, dict extra, int nargs):
        """The variant of raw attribute values in schema order; dynamic ones go to `numbers`."""
        cdef int i, n = 0, further = self.nnumbers
        cdef bint mode = self.uses_mode and training() != 0
        cdef Variant found
        cdef list key = None
        if self.nfields == 0 and not mode and self.plain0 is not None and not extra:
            return self.plain0
        if extra:
            return self.slow_variant(raw, numbers, extra, nargs)
        if self.last is not None and self.last.mode == mode and self.repeats(self.last.raw, raw):
            return self.last
        for i in range(self.nfields):
            value = raw[i]
            if i == self.num_args_field and value is _Null:
                value = nargs
            if self.is_dynamic[i]:
                if PyFloat_CheckExact(value):
                    numbers[n] = PyFloat_AS_DOUBLE(value)
                elif PyLong_CheckExact(value):
                    numbers[n] = value
                else:
                    field = self.schema.fields[i]
                    numbers[n] = self.schema.parse(self.op.name, field, value)
                n += 1
            elif self.is_tuple[i] and value is not _Null:
                field = self.schema.fields[i]
                given = self.schema.parse(self.op.name, field, value)
                for number in given:
                    numbers[further] = number
                    further += 1
                if key is None:
                    key = []
                key.append(i)
                key.append(None)
                key.append(len(given))
            elif value is not _Null:
                if key is None:
                    key = []
                key.append(i)
                key.append(type(value))
                key.append(value)
        if key is None:
            found = self.plain1 if mode else self.plain0
            if found is None:
                found = self.make_variant({}, mode)
                if mode:
                    self.plain1 = found
                else:
                    self.plain0 = found
            return found
        return self.keyed_variant(tuple(key), raw, numbers, mode, nargs)

    cdef bint repeats(self, tuple before, tuple raw) noexcept:
        """Whether all attributes are the very same objects as in the call before."""
        cdef int i
        for i in range(self.nfields):
            if before[i] is not raw[i]:
                return False
        return True

    cdef Variant keyed_variant(self, tuple key, tuple raw, double *numbers, bint mode, int nargs):
        """The variant of static attributes, `key`: each one's index, type and value."""
        cdef Variant found
        variants = self.variants1 if mode else self.variants0
        try:
            cached = variants.get(key)
        except TypeError:  # a list or an array among the values
            return self.slow_variant(raw, numbers, None, nargs)
        if cached is None:
            given = {
                self.schema.names[key[i]]:
                    (0.0,) * key[i + 2] if self.is_tuple[key[i]] else key[i + 2]
                for i in range(0, len(key), 3)
            }
            if not all([is_plain(v) for v in key[2::3]]):
                return self.slow_variant(raw, numbers, None, nargs)
            cached = self.make_variant(given, mode)
            if len(variants) >= MAX_CACHED:
                variants.clear()
            variants[key] = cached
        found = <Variant>cached
        if self.nnumbers == 0 and found.arguments >= 0 and not self.schema.tuples:
            found.raw, found.mode = raw, mode
            self.last = found
        return found

    cdef Variant slow_variant(self, tuple raw, double *numbers, dict extra, int nargs):
        cdef bint mode = self.uses_mode and training() != 0
        given = {
            name: value for name, value in zip(self.schema.names, raw) if value is not _Null
        }
        if extra:
            given.update(extra)
        if self.num_args is not None and self.num_args not in given:
            given[self.num_args] = nargs
        for i, number in enumerate(self.schema.dynamic_values(self.op.name, given)):
            numbers[i] = number
        variants = self.variants1 if mode else self.variants0
        attrs = self.schema.intern(self.op.name, given)
        cached = variants.get(attrs.key)
        if cached is None:
            if len(variants) >= MAX_CACHED:
                variants.clear()
            cached = variants[attrs.key] = self.make_variant(given, mode)
        return <Variant>cached


cdef bint is_plain(value):
    """Whether a value may be part of a key: (1, 2) and (True, 2.0) are equal and hash alike."""
    return not isinstance(value, tuple) or all([x is None or type(x) is int for x in value])


def bind(op):
    """The handle of a record."""
    handle = op.handles.get("cython")
    if handle is None:
        handle = op.handles["cython"] = OpHandle(op)
    return handle


# --- running -------------------------------------------------------------------------------------

cdef inline void fill_tensor(mx_tensor *tensor, NDArrayBase array) noexcept:
    tensor.data = array.data
    tensor.shape = array.layout.extents
    tensor.strides = NULL
    tensor.ndim = array.layout.ndim
    tensor.dtype = array.dtype_code


cdef inline int name_for_profiler(Prepared prepared, object context) except -1:
    """Tell a listening profiler what runs where; outputs are then listed under its name."""
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
    """Run a prepared call on arrays, or leave it to the engine.

    An output may be None when `reqs` says MX_NULL for it. `strict`: it has run when this returns,
    and raises its error here.
    """
    cdef Streams streams = None
    cdef Uses uses
    cdef int how = PUSHED
    if prepared.mutated is not None:
        for position in prepared.mutated:
            wrote((<NDArrayBase>inputs[position]).storage)
    if prepared.uses_rng:
        streams = <Streams?>streams_of(context)
    if (prepared.kernel != NULL and prepared.work < NOGIL_WORK and prepared.work < heavy_work
            and prepared.threads == 1
            and inputs_quiet(prepared, inputs) and outputs_quiet(prepared, outputs)
            and (streams is None or streams.is_quiet())):
        return start(
            prepared, inputs, outputs, numbers, context, reqs, streams, None, LOCKED, strict
        )
    uses = uses_of(prepared, inputs, outputs, reqs, streams, context)
    uses.strict = uses.strict or strict
    if (uses.strict or prepared.kernel == NULL or uses.exported
            or (uses.quiet and prepared.work < heavy_work)):
        how = HELD
        if not uses.hold():
            return uses.hand_on()
    if prepared.kernel == NULL:
        return run_by_reference(prepared, inputs, outputs, numbers, uses)
    return start(
        prepared, inputs, outputs, numbers, context, reqs, streams, uses, how, strict
    )


cdef inline bint inputs_quiet(Prepared prepared, tuple inputs) noexcept:
    """Whether all inputs are quiet; see `is_quiet`."""
    cdef int i
    cdef Storage storage
    for i in range(prepared.nin):
        storage = (<NDArrayBase>inputs[i]).storage
        if storage.var != NULL and not is_quiet(storage):
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
    """What a call reads and writes."""
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


cdef int run_by_reference(Prepared prepared, tuple inputs, list outputs, const double *numbers,
                          Uses uses) except -1:
    """Run the definition of a call whose arrays are held."""
    cdef int64_t began = mx_profile_begin(MX_PROFILE_IMPERATIVE)
    values = prepared.call.attrs
    schema = prepared.call.op.schema
    if numbers != NULL and schema.dynamic_names:
        given = [numbers[i] for i in range(schema.count(values))]
        values = schema.filled(values, given)
    try:
        run_reference(prepared.call, values, inputs, outputs)
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
    """Run the kernel of a call in one of the three ways."""
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
        call.threads = 1 if how == LOCKED else mx_threads_for(-prepared.threads)
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
    """Deal with a failed kernel; `uses` is None when nothing is held."""
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


cdef NDArrayBase run_simple(Prepared prepared, tuple inputs, const double *numbers, object context):
    """What `run` does for a simple call, into a new array."""
    cdef mx_tensor tensors[4]
    cdef char params[SMALL_PARAMS]
    cdef int32_t req = MX_WRITE
    cdef mx_call call
    cdef int i
    cdef Shape layout = <Shape>prepared.out_shapes[0]
    cdef NDArrayBase out = make_array(layout, prepared.out_dtypes[0], context)
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


cdef object record(OpHandle handle, Prepared prepared, tuple inputs, NDArrayBase only, list outputs,
                   const double *numbers, object context):
    """Put a call on the tape if an input is there; `only` is the output when there is one."""
    cdef int i
    cdef NDArrayBase array
    cdef Node node
    cdef bint wanted = False, positions = False
    for i in range(prepared.nin):
        array = <NDArrayBase>inputs[i]
        if array.node is not None:
            wanted = True
            positions |= array.node_index != 0
    if not wanted:
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
    if handle.need_all_in or len(handle.need_in) == prepared.nin:
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
        only.node, only.node_index = node, 0
        return
    if handle.need_all_out or handle.need_out:
        node.kept_outputs = [None] * prepared.nout
        for i in range(prepared.nout) if handle.need_all_out else handle.need_out:
            array = <NDArrayBase>outputs[i]
            node.kept_outputs[i] = make_view(array, array.layout, 0)
    for i in range(prepared.nout):
        array = <NDArrayBase>outputs[i]
        array.node, array.node_index = node, i


cdef bint clashes(Prepared prepared, NDArrayBase out, tuple inputs):
    """Whether writing `out` could destroy an input that is still to be read."""
    cdef NDArrayBase array
    for array in inputs:
        if array.storage is out.storage and (
            not prepared.inplace
            or array.data != out.data
            or itemsize[array.dtype_code] != itemsize[out.dtype_code]
            or array.layout is not out.layout
        ):
            return True
    return False


cdef list given_outputs(Prepared prepared, object out, tuple inputs, list copies):
    """The list of output arrays for a call with out=; those that clash go to `copies`."""
    cdef list outputs = list(out) if isinstance(out, (list, tuple)) else [out]
    cdef NDArrayBase array
    cdef Shape layout
    cdef int i
    name = prepared.call.op.name
    if len(outputs) != prepared.visible and len(outputs) != prepared.nout:
        raise MXNetError(
            f"Error in operator {name}: out takes {prepared.visible} arrays, got {len(outputs)}"
        )
    for i in range(len(outputs)):
        if not isinstance(outputs[i], NDArrayBase):
            kind = type(outputs[i]).__name__
            raise TypeError(f"operator {name}: out must be an NDArray, got {kind}")
        array = <NDArrayBase>outputs[i]
        layout = <Shape>prepared.out_shapes[i]
        if array.dtype_code != prepared.out_dtypes[i] or array.layout.dims != layout.dims:
            raise MXNetError(
                f"Error in operator {name}: argument out: expected {prepared.call.outs[i]}, "
                f"got {spec_class(array.shape, array.dtype_code)}"
            )
        if not array.writable:
            raise ValueError(f"operator {name}: argument out is a read-only array")
        if recording() and array.node is not None:
            raise MXNetError(
                f"Error in operator {name}: Inplace operations (+=, -=, x[:]=, etc) are not "
                "supported when recording with autograd."
            )
        if clashes(prepared, array, inputs):
            copies.append((i, array))
            outputs[i] = None
    return outputs


cdef int copy_memory(NDArrayBase source, NDArrayBase target) except -1:
    """Copy the elements of an array that nobody else refers to, to one that does not overlap."""
    cdef mx_operation about
    cdef size_t size = target.layout.size * itemsize[target.dtype_code]
    cdef char *read = source.data
    cdef char *written = target.data
    cdef Uses uses = uses_on(target.storage.context)
    uses.add(source.storage, MX_READS)
    uses.add_output(target)
    if uses.quiet or uses.exported or is_naive():
        if not uses.hold():
            return uses.hand_on()
        with nogil:
            memcpy(written, read, size)
            uses.release()
        return 0
    uses.describe(&about, "_copy")
    return uses.pushed(&about, mx_push_copy(&about, written, read, size))


cdef int32_t api_source = mx_profile_source(
    MX_EVENT_API, b"MXNET_C_API", b"MXImperativeInvokeEx", NULL
)


cdef object invoke(Variant variant, tuple inputs, const double *numbers, object out):
    """Run an operator on arrays; returns the visible outputs, one array or a list."""
    cdef int64_t began = mx_profile_begin(MX_PROFILE_API | MX_PROFILE_MEMORY)
    found = perform(variant, inputs, numbers, out)
    if began:
        mx_profile_owner(0)
        if mx_profiled(MX_PROFILE_API):
            mx_profile_end(api_source, began)
    return found


cdef object perform(Variant variant, tuple inputs, const double *numbers, object out):
    """`invoke`, not counted as an API call."""
    cdef OpHandle handle = variant.handle
    cdef Prepared prepared = variant.find(inputs)
    cdef list outputs, copies = None
    cdef NDArrayBase array
    cdef object context
    cdef int i
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
        context = context_of(variant.attrs) if out is None else None
    name_for_profiler(prepared, context)
    if out is None and prepared.simple and inputs_quiet(prepared, inputs):
        array = run_simple(prepared, inputs, numbers, context)
        if recording() and handle.differentiable:
            record(handle, prepared, inputs, array, None, numbers, context)
        return array
    if out is None:
        outputs = []
    else:
        copies = []
        outputs = given_outputs(prepared, out, inputs, copies)
        if context is None:
            first = out[0] if isinstance(out, (list, tuple)) else out
            context = (<NDArrayBase>first).storage.context
    for i in range(prepared.nout):
        if i == len(outputs):
            outputs.append(
                make_array(<Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context)
            )
        elif outputs[i] is None:
            outputs[i] = make_array(<Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context)
    run(prepared, inputs, outputs, numbers, context, NULL, False)
    if copies:
        for i, target in copies:
            copy_memory(<NDArrayBase>outputs[i], <NDArrayBase>target)
            outputs[i] = target
    if handle.differentiable and recording():
        only = outputs[0] if prepared.nout == 1 else None
        record(handle, prepared, inputs, only, outputs, numbers, context)
    if out is not None:
        for array in outputs:
            wrote(array.storage)
        return out
    if prepared.visible == 1:
        return outputs[0]
    return outputs[:prepared.visible]


cdef tuple given_inputs(op, tuple inputs):
    """Inputs without the optional ones that are None, wherever they stand."""
    return tuple([
        x for x, name in zip(inputs, op.inputs, strict=False)
        if x is not None or name not in op.optional
    ])


cdef tuple checked_inputs(Variant variant, tuple inputs):
    """Inputs without the optional ones that were not given."""
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


def call(OpHandle handle not None, tuple inputs, tuple raw, out, dict extra):
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
    return invoke(variant, inputs, numbers, out)


def record_view(OpHandle handle not None, NDArrayBase source not None, dict attrs,
                NDArrayBase view not None):
    """Put `view`, which shares the memory of `source`, on the tape as an operator's only output."""
    cdef double numbers[CALL_NUMBERS]
    cdef tuple raw = tuple([attrs.get(name, _Null) for name in handle.schema.names])
    cdef Variant variant = handle.variant(raw, numbers, None, 1)
    cdef tuple inputs = (source,)
    cdef Prepared prepared = variant.find(inputs)
    if prepared.nout != 1 or prepared.out_shapes[0] is not view.layout:
        raise MXNetError(
            f"operator {handle.op.name}: expected {prepared.call.outs}, "
            f"got a view of shape {view.shape}"
        )
    record(handle, prepared, inputs, view, None, numbers, source.storage.context)


def execute(op, tuple inputs, dict attrs, list outputs=None, list reqs=None, kernel=None,
            train=False):
    """Run one call without caches or tape, with a kernel of choice; for tests and tools.

    It has run when this returns.

    Parameters
    ----------
    op : Op
    inputs : tuple of NDArrayBase
    attrs : dict
    outputs : list of NDArrayBase, optional
        All outputs, hidden ones included; allocated when not given.
    reqs : list of int, optional
        0 null, 1 write, 3 add for each output.
    kernel : str, optional
        The kernel's name, or ``"ref"``.

    Returns
    -------
    (list of NDArrayBase, str) : all outputs, and the kernel that ran
    """
    cdef OpHandle handle = bind(op)
    cdef double numbers[CALL_NUMBERS]
    cdef int32_t writes[64]
    cdef Prepared prepared
    cdef int i
    values = op.schema.intern(op.name, attrs)
    if op.uses_mode:
        values = values.with_values(("train",), (train,))
    for i, number in enumerate(op.schema.dynamic_values(op.name, attrs)):
        numbers[i] = number
    prepared = prepare_for(handle, values, inputs, kernel)
    context = home_of((<NDArrayBase>inputs[0]).storage.context) if inputs else context_of(values)
    targets = []
    results = []
    for i in range(prepared.nout):
        writes[i] = MX_WRITE if reqs is None else reqs[i]
        target = None if outputs is None else outputs[i]
        direct = target is not None and (
            writes[i] == MX_WRITE
            or (writes[i] == MX_ADD and prepared.flags & MX_TAKES_ADD and prepared.kernel != NULL)
        ) and not clashes(prepared, <NDArrayBase>target, inputs)
        if not direct:
            writes[i] = MX_WRITE
            result = make_array(<Shape>prepared.out_shapes[i], prepared.out_dtypes[i], context)
        else:
            result = target
        results.append(result)
        targets.append(result if target is None else target)
    run(prepared, inputs, results, numbers, context, writes, True)
    for i in range(prepared.nout):
        if results[i] is not targets[i] and (reqs is None or reqs[i] != MX_NULL):
            targets[i].wait_to_write()
            run_reference.store(targets[i], results[i], reqs is not None and reqs[i] == MX_ADD)
    return targets, prepared.call.kernel or "ref"
