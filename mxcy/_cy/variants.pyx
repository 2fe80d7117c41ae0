"""Call caches of operators: an OpHandle per record, a Variant per set of static attributes, and a
Prepared per signature (input shapes and dtypes), which has everything needed to run. Look-ups run
no Python code.
"""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

cimport cython

from mxcy._cy.modes cimport call_mode
from mxcy._cy.native cimport mx_kernel_find
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, shape_of
from mxcy._cy.tape cimport MAX_NUMBERS
from mxcy._cy.uses cimport limits

from mxcy._cy import native as library
from mxcy._base.errors import MXNetError
from mxcy.base import _Null

cdef enum:
    NEAR = 8  # signatures compared linearly before the dictionary look-up


@cython.final
cdef class Recent:
    """A two-generation cache: when the younger dictionary is full it becomes the older one; entries
    used there are moved back, the others are dropped at the next change.
    """

    def __cinit__(self):
        self.young, self.old = {}, {}

    cdef object get(self, key):
        entry = self.young.get(key)
        if entry is None and self.old:
            entry = self.old.pop(key, None)
            if entry is not None:
                self.put(key, entry)
        return entry

    cdef int put(self, key, entry) except -1:
        if 2 * len(self.young) >= services.most_signatures:
            self.young, self.old = {}, self.young
        self.young[key] = entry
        return 0


def spec_of(NDArrayBase array not None):
    """Shape and dtype of an array, for messages."""
    return services.spec(array.shape, array.dtype_code)


@cython.final
cdef class Prepared:
    """A prepared call of one signature."""

    def __dealloc__(self):
        free(self.in_layouts)
        free(self.in_dtypes)
        free(self.out_dtypes)
        free(self.patch_number)
        free(self.patch_offset)

    cdef Prepared on_device(self, tuple inputs, int device):
        """Get the call with a device's kernel; None to use the definition."""
        cdef Prepared prepared
        if self.devices is None:
            self.devices = {}
        elif device in self.devices:
            return self.devices[device]
        call = services.prepare_on_device(self.call, device)
        if call is None:
            prepared = None
        else:
            prepared = ready(self.handle, call, inputs)
            prepared.device, prepared.simple = device, False
        self.devices[device] = prepared
        return prepared

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
    """Prepare the call of a new signature; None if its result is sparse."""
    call = services.prepare(
        handle.op, attrs, [services.spec(a.shape, a.dtype_code) for a in inputs], library, force
    )
    return None if call is None else ready(handle, call, inputs)


cdef Prepared ready(OpHandle handle, call, tuple inputs):
    """Convert a prepared call to this front's form."""
    cdef Prepared prepared = Prepared.__new__(Prepared)
    cdef NDArrayBase array
    cdef int i
    prepared.call, prepared.handle, prepared.device = call, handle, HOST
    prepared.nin, prepared.nout, prepared.visible = len(inputs), len(call.outs), call.visible
    prepared.in_layouts = <void **>malloc(8 * max(prepared.nin, 1))
    prepared.in_dtypes = <int32_t *>malloc(4 * max(prepared.nin, 1))
    prepared.out_dtypes = <int32_t *>malloc(4 * max(prepared.nout, 1))
    if prepared.in_layouts == NULL or prepared.in_dtypes == NULL or prepared.out_dtypes == NULL:
        raise MemoryError()
    prepared.in_shapes, prepared.out_shapes = [], []
    for i in range(prepared.nin):
        array = <NDArrayBase>inputs[i]
        prepared.in_shapes.append(array.layout)
        prepared.in_layouts[i] = <void *>array.layout
        prepared.in_dtypes[i] = array.dtype_code
    for i in range(prepared.nout):
        prepared.out_shapes.append(shape_of(tuple(call.outs[i].shape)))
        prepared.out_dtypes[i] = call.outs[i].dtype
    if call.kernel is not None:
        prepared.kernel = mx_kernel_find(call.kernel.encode(), call.dtype, &prepared.flags)
    if call.params is not None:
        prepared.params = call.params
        prepared.params_data = prepared.params
        if len(prepared.params) > MAX_PARAMS:
            raise MXNetError(f"operator {handle.op.name}: the parameter struct is too large")
        prepared.npatches = len(call.patches)
        prepared.patch_number = <int *>malloc(sizeof(int) * max(prepared.npatches, 1))
        prepared.patch_offset = <int *>malloc(sizeof(int) * max(prepared.npatches, 1))
        if prepared.patch_number == NULL or prepared.patch_offset == NULL:
            raise MemoryError()
        for i in range(prepared.npatches):
            prepared.patch_number[i], prepared.patch_offset[i] = call.patches[i]
    prepared.mutated = handle.op.mutated(prepared.nin) or None
    prepared.workspace, prepared.work, prepared.threads = call.workspace, call.work, call.threads
    prepared.inplace, prepared.uses_rng = call.inplace, handle.op.uses_rng
    prepared.has_complex, prepared.mixed = call.has_complex, call.mixed
    prepared.simple = (
        prepared.kernel != NULL and prepared.nout == 1 and 1 <= prepared.nin <= 3
        and prepared.workspace == 0
        and prepared.mutated is None and not prepared.uses_rng and prepared.threads == 1
        and prepared.work < min(NOGIL_WORK, limits.heavy_work)
        and len(call.params or b"") <= SMALL_PARAMS
    )
    return prepared


@cython.final
cdef class Variant:
    """An operator with one set of static attributes."""

    cdef Prepared find(self, tuple inputs):
        """Find the prepared call for inputs; None if the call involves sparse arrays."""
        cdef Prepared prepared
        for prepared in self.near:
            if prepared.fits(inputs):
                return prepared
        for array in inputs:
            if (<NDArrayBase>array).layout is SPARSE:
                return None
        if self.far is None:
            prepared = prepare_for(self.handle, self.attrs, inputs, None)
            if prepared is None:
                return None
            self.near.append(prepared)
            if len(self.near) == NEAR:
                self.far = Recent()
            return prepared
        key = tuple([(a.shape, a.dtype_code) for a in inputs])
        entry = self.far.get(key)
        if entry is None or not (<Prepared>entry).fits(inputs):
            entry = prepare_for(self.handle, self.attrs, inputs, None)
            if entry is None:
                return None
            self.far.put(key, entry)
        return <Prepared>entry

    cdef Variant exact(self, double factor):
        """The variant of calls after mixed precision was applied."""
        cdef Variant variant = self.final
        if variant is None or self.factor != factor:
            variant = self.final = Variant.__new__(Variant)
            self.factor = factor
            variant.handle, variant.arguments, variant.near = self.handle, self.arguments, []
            variant.attrs = self.attrs.with_values(("exact",), (True,))
            if factor != 1.0:
                scaled = variant.attrs.grad_scale * factor
                variant.attrs = variant.attrs.with_values(("grad_scale",), (scaled,))
        return variant


@cython.final
cdef class OpHandle:
    """The data of a record in this front."""

    def __init__(self, op):
        self.op, self.schema = op, op.schema
        self.variadic, self.num_args = op.variadic, op.num_args
        self.uses_mode = op.uses_mode | op.uses_types << 1
        self.differentiable = op.differentiable
        fields = op.schema.fields
        self.is_dynamic = [f in op.schema.dynamic for f in fields]
        self.is_single = [f in op.schema.dynamic and f.type.single for f in fields]
        self.is_tuple = [f in op.schema.tuples for f in fields]
        self.nfields, self.nnumbers = len(fields), len(op.schema.dynamic)
        self.num_args_field = op.schema.names.index(op.num_args) if op.num_args is not None else -1
        if self.nnumbers > MAX_NUMBERS:
            raise ValueError(f"operator {op.name} has more than {MAX_NUMBERS} dynamic attributes")
        if len(op.schema.tuples) > MAX_TUPLES:
            raise ValueError(f"operator {op.name} has more than {MAX_TUPLES} dynamic tuples")
        self.forget()
        needs = op.grad_needs
        self.need_all_in = any(kind == "ins" for kind, _ in needs)
        self.need_all_out = any(kind == "outs" for kind, _ in needs)
        self.need_in = tuple([i for kind, i in needs if kind == "in"])
        self.need_out = tuple([i for kind, i in needs if kind == "out"])

    def forget(self):
        """Discard all prepared calls."""
        self.variants, self.plain = [Recent() for _ in range(4)], [None] * 4
        self.with_number, self.plain0, self.last = [None] * 8, None, None

    cdef int mode_now(self):
        return call_mode() & self.uses_mode if self.uses_mode else 0

    cdef Variant plain_now(self):
        """The variant with default attributes."""
        cdef int mode = self.mode_now()
        if self.plain[mode] is None:
            self.plain[mode] = self.make_variant({}, mode)
            if mode == 0:
                self.plain0 = self.plain[mode]
        return <Variant>self.plain[mode]

    cdef Variant number_variant(self, bint is_int):
        """The variant for a scalar operand, with attributes `scalar` and `is_int`."""
        cdef int place = self.mode_now() * 2 + is_int
        if self.with_number[place] is None:
            self.with_number[place] = self.make_variant({"is_int": is_int}, place >> 1)
        return <Variant>self.with_number[place]

    cdef Variant make_variant(self, dict attributes, int mode):
        cdef Variant variant = Variant.__new__(Variant)
        attrs = self.schema.intern(self.op.name, attributes)
        if self.uses_mode & 1:
            attrs = attrs.with_values(("train",), (bool(mode & 1),))
        if self.uses_mode & 2:
            attrs = attrs.with_values(("numpy_types",), (bool(mode & 2),))
        variant.handle, variant.attrs = self, attrs
        variant.arguments = -1 if self.variadic is not None else len(self.op.arguments(attrs))
        variant.near = []
        return variant

    cdef Variant variant(self, tuple raw, double *numbers, dict extra, int nargs):
        """Find the variant of raw attributes in schema order; dynamic ones go to `numbers`."""
        cdef int i, n = 0, further = self.nnumbers
        cdef int mode = self.mode_now()
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
                    numbers[n] = PyLong_AsDouble(value)
                else:
                    field = self.schema.fields[i]
                    numbers[n] = self.schema.parse(self.op.name, field, value)
                if self.is_single[i]:
                    numbers[n] = <float>numbers[n]
                n += 1
            elif self.is_tuple[i] and value is not _Null:
                field = self.schema.fields[i]
                extents = self.schema.parse(self.op.name, field, value)
                for number in extents:
                    numbers[further] = number
                    further += 1
                if key is None:
                    key = []
                key.append(i)
                key.append(None)
                key.append(len(extents))
            elif value is not _Null:
                if key is None:
                    key = []
                key.append(i)
                key.append(type(value))
                key.append(value)
        if key is None:
            return self.plain_now()
        return self.keyed_variant(tuple(key), raw, numbers, mode, nargs)

    cdef bint repeats(self, tuple before, tuple raw) noexcept:
        """Whether all attributes are identical objects to the previous call's."""
        cdef int i
        for i in range(self.nfields):
            if before[i] is not raw[i]:
                return False
        return True

    cdef Variant keyed_variant(self, tuple key, tuple raw, double *numbers, int mode, int nargs):
        """Find the variant of static attributes `key`: index, type and value of each."""
        cdef Variant variant
        cdef Recent variants = <Recent>self.variants[mode]
        try:
            cached = variants.get(key)
        except (TypeError, NotImplementedError):  # unhashable values, such as a list or array
            return self.slow_variant(raw, numbers, None, nargs)
        if cached is None:
            attributes = {
                self.schema.names[key[i]]:
                    (0.0,) * key[i + 2] if self.is_tuple[key[i]] else key[i + 2]
                for i in range(0, len(key), 3)
            }
            if not all([is_plain(v) for v in key[2::3]]):
                return self.slow_variant(raw, numbers, None, nargs)
            cached = self.make_variant(attributes, mode)
            variants.put(key, cached)
        variant = <Variant>cached
        if self.nnumbers == 0 and variant.arguments >= 0 and not self.schema.tuples:
            variant.raw, variant.mode = raw, mode
            self.last = variant
        return variant

    cdef Variant slow_variant(self, tuple raw, double *numbers, dict extra, int nargs):
        cdef int mode = self.mode_now()
        attributes = {
            name: value for name, value in zip(self.schema.names, raw) if value is not _Null
        }
        if extra:
            attributes.update(extra)
        if self.num_args is not None and self.num_args not in attributes:
            attributes[self.num_args] = nargs
        for i, number in enumerate(self.schema.dynamic_values(self.op.name, attributes)):
            numbers[i] = number
        cdef Recent variants = <Recent>self.variants[mode]
        attrs = self.schema.intern(self.op.name, attributes)
        cached = variants.get(attrs.key)
        if cached is None:
            cached = self.make_variant(attributes, mode)
            variants.put(attrs.key, cached)
        return <Variant>cached


cdef bint is_plain(value):
    """Whether a value may be part of a key, given that (1, 2) == (True, 2.0)."""
    return not isinstance(value, tuple) or all([x is None or type(x) is int for x in value])


def bind(op):
    """Return the handle of a record."""
    handle = op.handles.get("cython")
    if handle is None:
        handle = op.handles["cython"] = OpHandle(op)
    return handle
